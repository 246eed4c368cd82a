import { readFileSync, rmSync, writeFileSync } from "node:fs";
import type { RootDatabase, RootDatabaseOptionsWithPath } from "lmdb";
import type { Logger } from "../../../types/node-context.js";
import { type FullClock, retrying } from "../../async/clock.js";
import { messageOf, PorticoError } from "../../errors.js";
import { openSound } from "./open-file.js";

// One process at a time writes a store: two would overwrite each other's work. The one that writes keeps its process id in a file beside
// the store. A file left behind by a process that was killed counts for nothing, even if its id is another process's now: LMDB knows
// which processes have the store open.

/** Paths of the stores that this process writes: they share its process id. */
const writtenHere = new Set<string>();

const isOpenIn = (process: number, root: RootDatabase<unknown, Buffer>): boolean => {
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
 * Makes this process the one that writes. `options`: as those with which the process opens the store. `otherwise`: for the error message,
 * what can be done other than stopping the other process. Returns what ends the role, to be called once the store is closed.
 * @throws PorticoError STORE_IN_USE
 */
export const becomeWriter = (path: string, options: Omit<RootDatabaseOptionsWithPath, "path">, otherwise = "serve the store as a reader"): (() => Promise<void>) => {
  if (writtenHere.has(path)) throw new PorticoError("STORE_IN_USE", `${path} is already being written by this process`);
  // Opened once more, only to hold a place among LMDB's readers, where others see this process: lmdb-js gives up the place of a root in
  // which a database is opened, or a read transaction ended.
  const place = openSound<unknown, Buffer>(path, options);
  const file = `${path}-writer`;
  const note = (): void => {
    if (isNoted(file)) return;
    const other = Number(readFileSync(file, "utf8"));
    if (other !== process.pid && isOpenIn(other, place)) {
      throw new PorticoError("STORE_IN_USE", `${path} is being written by process ${other}: stop it, or ${otherwise}`);
    }
    writeFileSync(file, String(process.pid));
  };
  try {
    // In a write transaction, since there is one at a time among all processes: of two that begin at the same moment, one is first.
    place.transactionSync(note);
  } catch (error) {
    void place.close();
    throw error;
  }
  writtenHere.add(path);
  return async () => {
    writtenHere.delete(path);
    rmSync(file, { force: true });
    await place.close();
  };
};

const isInUse = (error: unknown): boolean => error instanceof PorticoError && error.code === "STORE_IN_USE";

interface WhenFreeNeeds {
  logger: Logger;
  clock: FullClock;
  signal?: AbortSignal;
}

/**
 * Opens a store, after a wait if the process that writes it is just ending. Undefined if the signal is aborted meanwhile. @throws as `open`
 */
export const whenFree = async <T>(open: () => T, { logger, clock, signal }: WhenFreeNeeds): Promise<T | undefined> => {
  try {
    return await retrying(open, { isTransient: isInUse, onWait: (error) => logger.info(`waiting: ${messageOf(error)}`), now: clock.monotonic, signal });
  } catch (error) {
    if (signal?.aborted === true) return undefined;
    throw error;
  }
};
