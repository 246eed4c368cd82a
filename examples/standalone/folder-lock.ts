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

/** The process that holds the lock, if it is still running. This process's own number was left by an earlier process that had it. */
const holderOf = (path: string): number | undefined => {
  const pid = Number(readFileSync(path, "utf8"));
  return Number.isSafeInteger(pid) && pid > 0 && pid !== process.pid && isAlive(pid) ? pid : undefined;
};

/** Reserves a data folder for one node: two nodes that forge into it would break each other's chain. @throws HostError */
export const lockFolder = (dataDir: string): { release(): Promise<void> } => {
  const path = join(dataDir, "node.pid");
  const take = (flag: "wx" | "w"): void => writeFileSync(path, String(process.pid), { flag });
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
