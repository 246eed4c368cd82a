import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { codeOf, HostError, messageOf } from "./host-error.js";

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // A process of another user may not be signalled, but it exists.
    return codeOf(error) === "EPERM";
  }
};

/** When a process began, as Linux counts it: another process that has got its number since began at another time. Empty elsewhere. */
const beginOf = (pid: number): string => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name, in parentheses, may itself have spaces and parentheses.
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
  } catch {
    return "";
  }
};

const signature = (pid: number): string => `${pid} ${beginOf(pid)}`.trim();

/** The process that holds the lock, if it is still running. This process's own number was left by an earlier process that had it. */
const holderOf = (path: string): number | undefined => {
  const held = readFileSync(path, "utf8").trim();
  const pid = Number(held.split(" ")[0]);
  if (!Number.isSafeInteger(pid) || pid <= 0 || pid === process.pid || !isAlive(pid)) return undefined;
  return held.includes(" ") && held !== signature(pid) ? undefined : pid;
};

/** Reserves a data folder for one node: two nodes that forge into it would break each other's chain. @throws HostError */
export const lockFolder = (dataDir: string): { release(): Promise<void> } => {
  const path = join(dataDir, "node.pid");
  const take = (flag: "wx" | "w"): void => writeFileSync(path, signature(process.pid), { flag });
  try {
    take("wx");
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw new HostError(`The data folder ${dataDir} cannot be written: ${messageOf(error)}.`, { cause: error });
    const holder = holderOf(path);
    if (holder !== undefined) throw new HostError(`The data folder ${dataDir} is in use by process ${holder}; if that process is not a node, remove ${path}.`);
    take("w");
  }
  return { release: async () => Promise.resolve(rmSync(path, { force: true })) };
};
