import { readFileSync, rmSync, writeFileSync } from "node:fs";
import type { RootDatabase } from "lmdb";
import { PorticoError } from "../errors.js";
import { textKey } from "./keys.js";

/**
 * One process at a time writes a store: two would each write over what the other has worked out. Who writes notes it in a file beside
 * the store. What a process left behind that was killed counts for nothing, even where its number is another one's now: LMDB knows
 * which processes have the store open.
 */

type WrittenRoot = Pick<RootDatabase<unknown, Buffer>, "get" | "readerCheck" | "readerList" | "transactionSync">;

/** Of this process: nothing tells its stores from each other but their paths. */
const writtenHere = new Set<string>();

const isOpenIn = (process: number, root: WrittenRoot): boolean => {
  root.readerCheck();
  return new RegExp(`^ *${process} `, "m").test(root.readerList());
};

/** Whether there was no such file yet. */
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
 * Makes this process the one that writes; once its databases are open, as lmdb-js gives up its place among the readers for that.
 * `otherwise`: what else can be done than to stop the other one. Returns what ends it, once the
 * store is closed. @throws PorticoError STORE_IN_USE
 */
export const becomeWriter = (path: string, root: WrittenRoot, otherwise = "serve the store as a reader"): (() => void) => {
  if (writtenHere.has(path)) throw new PorticoError("STORE_IN_USE", `${path} is being written by this process already`);
  // Who has read once is among those that have the store open, for others to see.
  root.get(textKey("nothing"));
  const file = `${path}-writer`;
  // In a transaction, of which there is one at a time whatever the process: of two that begin at the same moment one is first.
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
