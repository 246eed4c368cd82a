import { readFileSync } from "node:fs";

/** What a process has used of the machine. */
export interface Usage {
  /** Microseconds of processor time. */
  cpu: number;
  /** Bytes of memory that are not backed by files: what the page cache holds of the store is not counted. */
  own: number;
}

export const usage = (): Usage => {
  const { user, system } = process.cpuUsage();
  const kilobytes = /^RssAnon:\s+(\d+) kB/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1];
  return { cpu: user + system, own: Number(kilobytes) * 1_024 };
};
