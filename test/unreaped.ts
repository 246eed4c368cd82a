import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";

/** A process whose parent does not ask for its exit code: when it ends, it stays a zombie until `clear`. */
export interface Unreaped {
  readonly pid: number;
  /** Its output so far. */
  readonly lines: readonly string[];
  /** Resolves with the first line of its output that matches. */
  line(pattern: RegExp): Promise<string>;
  /** Kills it. Resolves when it is a zombie. */
  kill(): Promise<void>;
  /** Ends its parent, too. */
  clear(): Promise<void>;
}

/** Whether a process is a zombie whose last thread has ended: until then, its files are open and its locks are held. */
const isZombie = (pid: number): boolean => {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return /^State:\s+Z/m.test(status) && /^Threads:\s+1$/m.test(status);
};

const signal = (pid: number): void => {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It is gone.
  }
};

/** Linux only. */
export const startUnreaped = async (args: readonly string[], options: { cwd?: URL } = {}): Promise<Unreaped> => {
  // The shell becomes `sleep`, which never waits for the process that the shell has started. The shell itself does, for one that ends before.
  const parent: ChildProcess = spawn("sh", ["-c", `"$0" "$@" & echo "pid $!"; exec sleep 600`, process.execPath, ...args], { ...options, stdio: ["ignore", "pipe", "inherit"] });
  const lines: string[] = [];
  const told: (() => void)[] = [];
  createInterface(parent.stdout!).on("line", (text) => {
    lines.push(text);
    for (const tell of told.splice(0)) tell();
  });
  const line = async (pattern: RegExp): Promise<string> => {
    for (;;) {
      const found = lines.find((text) => pattern.test(text));
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => told.push(resolve));
    }
  };
  const pid = Number((await line(/^pid \d+$/)).slice(4));
  while (readFileSync(`/proc/${parent.pid ?? 0}/comm`, "utf8") !== "sleep\n") await delay(5);
  return {
    pid,
    lines,
    line,
    kill: async () => {
      signal(pid);
      while (!isZombie(pid)) await delay(5);
    },
    clear: async () => {
      signal(pid);
      if (parent.exitCode !== null || parent.signalCode !== null) return;
      const ended = once(parent, "exit");
      parent.kill("SIGKILL");
      await ended;
    },
  };
};
