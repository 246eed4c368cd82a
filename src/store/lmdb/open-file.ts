import { chmodSync, statSync, existsSync, linkSync, renameSync, rmSync } from "node:fs";
import { open, type RootDatabase, type RootDatabaseOptionsWithPath } from "lmdb";
import { PorticoError } from "../../errors.js";
import { lmdbFileFault } from "./safe/file-check.js";

/**
 * Restricts a file to its owner, or to owner and group if the group may write it. Where the file system knows no owners, it stays as it
 * is.
 */
export const keepFromOthers = (file: string): void => {
  try {
    const { mode } = statSync(file);
    const isShared = (mode & 0o020) !== 0;
    chmodSync(file, isShared ? mode & 0o660 : 0o600);
  } catch {
    // The store works all the same.
  }
};

/**
 * Notes this process among LMDB's readers, which it knows by their process ids alone. lmdb-js tries that for some ten seconds, then goes on
 * without.
 */
const takePlace = (path: string, root: RootDatabase<unknown, string>): void => {
  try {
    root.get("nothing");
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const message = `${path} is in use by a process with this one's id, ${process.pid}, in another container: processes that share a store must share a PID namespace`;
    throw new PorticoError("STORE_IN_USE", message, { cause: error });
  }
};

/**
 * Opens an LMDB file.
 * @throws Error where it is not sound, since LMDB would take the process down; PorticoError STORE_IN_USE
 */
export const openSound = <V, K extends Parameters<RootDatabase<V>["get"]>[0]>(path: string, options: Omit<RootDatabaseOptionsWithPath, "path">): RootDatabase<V, K> => {
  const fault = lmdbFileFault(path);
  if (fault !== undefined) throw new Error(fault);
  const root = open<V, K>({ ...options, path });
  try {
    takePlace(path, root as unknown as RootDatabase<unknown, string>);
    return root;
  } catch (error) {
    void root.close();
    throw error;
  }
};

/** Gives a file its final name, unless that is taken. */
const giveName = (file: string, path: string): void => {
  try {
    linkSync(file, path);
  } catch {
    if (existsSync(path)) return;
    // Some file systems have no hard links.
    renameSync(file, path);
  }
};

/**
 * Makes an LMDB file by `make`, which is given another name for it. It appears as a whole or not at all: while one process creates an LMDB
 * file, no other may open it, as readers that wait for it would.
 */
export const makeWhole = (path: string, make: (draft: string) => void): void => {
  const draft = `${path}-${process.pid}`;
  const remove = (): void => [draft, `${draft}-lock`].forEach((file) => rmSync(file, { force: true }));
  remove();
  try {
    make(draft);
    // It holds webhooks and their secrets.
    keepFromOthers(draft);
    giveName(draft, path);
  } finally {
    remove();
  }
};
