import { readFileSync, rmSync, writeFileSync } from "node:fs";
import type { RootDatabase } from "lmdb";
import { PorticoError } from "../errors.js";
import { textKey } from "./keys.js";

/**
 * One process at a time writes a store: two would overwrite each other's work. The one that writes keeps its process id in a file beside
 * the store. A file left behind by a process that was killed counts for nothing, even if its id is another process's now: LMDB knows
 * which processes have the store open.
 */

type WrittenRoot = Pick<RootDatabase<unknown, Buffer>, "get" | "readerCheck" | "readerList" | "transactionSync">;

/** Paths of the stores that this process writes: they share its process id. */
const writtenHere = new Set<string>();

const isOpenIn = (process: number, root: WrittenRoot): boolean => {
  root.readerCheck();
  return new RegExp(`^ *${process} `, "m").test(root.readerList());
};

/** Creates the file, with this process's id. False if there is one already. */
const isNoted = (file: string): boolean => {
  try {
    writeFileSync(file, String(process.pid), { flag: "wx" });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
};

/**
 * Makes this process the one that writes. To be called once its databases are open, since opening them makes lmdb-js give up its place
 * among the readers. `otherwise`: for the error message, what can be done other than stopping the other process. Returns what ends the
 * role, to be called once the store is closed. @throws PorticoError STORE_IN_USE
 */
export const becomeWriter = (path: string, root: WrittenRoot, otherwise = "serve the store as a reader"): (() => void) => {
  if (writtenHere.has(path)) throw new PorticoError("STORE_IN_USE", `${path} is already being written by this process`);
  // A process that has read once is in LMDB's table of readers, where others see it.
  root.get(textKey("nothing"));
  const file = `${path}-writer`;
  // In a write transaction, since there is one at a time among all processes: of two that begin at the same moment, one is first.
  root.transactionSync(() => {
    if (isNoted(file)) return;
    const other = Number(readFileSync(file, "utf8"));
    if (other !== process.pid && isOpenIn(other, root)) {
      throw new PorticoError("STORE_IN_USE", `${path} is being written by process ${other}: stop it, or ${otherwise}`);
    }
    writeFileSync(file, String(process.pid));
  });
  writtenHere.add(path);
  return () => {
    writtenHere.delete(path);
    rmSync(file, { force: true });
  };
};
