import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { retrying, type RetryOptions } from "../../../src/async/clock.js";
import { noteOf, readNote, stillRuns } from "./noted-process.js";
import { codeOf, HostError, messageOf } from "../program/host-error.js";

/** Identifies a file, whatever path leads to it; undefined if there is none any more. */
const identityOf = (path: string): string | undefined => {
  try {
    const { dev, ino } = statSync(path, { bigint: true });
    return `${dev} ${ino}`;
  } catch {
    return undefined;
  }
};

/** Whether a process has a file of the folder open. True where the system does not say. */
const uses = (pid: number, folder: string): boolean => {
  let open: string[];
  try {
    open = readdirSync(`/proc/${pid}/fd`).map((name) => `/proc/${pid}/fd/${name}`);
  } catch {
    return true;
  }
  const files = new Set(readdirSync(folder).map((name) => identityOf(join(folder, name))));
  files.delete(undefined);
  return open.some((path) => files.has(identityOf(path)));
};

/** Empty if the holder has just removed it. */
const noteIn = (path: string): string => {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return "";
    throw error;
  }
};

/** The process that holds the lock, if it is still running. This process's own number was left by an earlier process that had it. */
const holderOf = (path: string, dataDir: string): number | undefined => {
  const noted = readNote(noteIn(path));
  if (noted === undefined || noted.pid === process.pid || !stillRuns(noted)) return undefined;
  // A bare number may be any process's by now.
  return noted.begin === undefined && !uses(noted.pid, dataDir) ? undefined : noted.pid;
};

/** The folder is in use by a process that may be about to end. */
class FolderInUse extends HostError {}

/** @throws HostError */
const take = (path: string, dataDir: string, note: string): void => {
  try {
    writeFileSync(path, note, { flag: "wx" });
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw new HostError(`The data folder ${dataDir} cannot be written: ${messageOf(error)}.`, { cause: error });
    const holder = holderOf(path, dataDir);
    if (holder !== undefined) throw new FolderInUse(`The data folder ${dataDir} is in use by process ${holder}; if that process is not a node, remove ${path}.`);
    writeFileSync(path, note);
  }
};

/**
 * Reserves a data folder for one node: two nodes that forge into it would break each other's chain. A node that is just ending is waited
 * for.
 * @throws HostError
 */
export const lockFolder = async (dataDir: string, waiting: Omit<RetryOptions, "isTransient"> = {}): Promise<{ release(): Promise<void> }> => {
  const path = join(dataDir, "node.pid");
  const note = noteOf(process.pid);
  await retrying(() => take(path, dataDir, note), { ...waiting, isTransient: (error) => error instanceof FolderInUse });
  return { release: async () => Promise.resolve(rmSync(path, { force: true })) };
};
