import { accessSync, closeSync, constants, existsSync, fstatSync, openSync, rmSync, statSync, writeFileSync } from "node:fs";
import { newerMeta, readMeta } from "./meta-pages.js";

const faultOf = (file: number): string | undefined => {
  if (fstatSync(file).size === 0) return "it is empty";
  const first = readMeta(file, 0);
  if (first === undefined) return "it is not an LMDB file";
  const second = readMeta(file, first.pageSize);
  if (second === undefined) return "its second meta page is damaged";
  // Read after the meta pages: another process may be writing, and a page is in the file before a meta page names it.
  const { size } = fstatSync(file);
  const { roots, pageSize } = newerMeta(first, second);
  return roots.every((root) => (root + 1n) * BigInt(pageSize) <= BigInt(size)) ? undefined : "it is truncated";
};

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? "";

const mayReadAndWrite = (path: string): boolean => {
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
    return true;
  } catch {
    return false;
  }
};

/** Bytes: more than LMDB's lock file takes. */
const lockRoom = 16_384;

/** Why a lock file cannot be created, found out with another file. */
const creationFault = (path: string, lock: string): string | undefined => {
  const probe = `${path}-room-${process.pid}`;
  try {
    writeFileSync(probe, Buffer.alloc(lockRoom), { flush: true });
    return undefined;
  } catch (error) {
    const code = codeOf(error);
    if (["ENOSPC", "EDQUOT", "EFBIG"].includes(code)) return "there is no space left on its disk";
    // Without a folder, LMDB itself reports that.
    return ["ENOENT", "ENOTDIR"].includes(code) ? undefined : `its lock file ${lock} cannot be created`;
  } finally {
    rmSync(probe, { force: true });
  }
};

/**
 * Whoever opens a store, if only to read, notes itself in the lock file. Without that, LMDB's writer would reuse the pages that are being
 * read; and where LMDB cannot open that file, lmdb-js takes the process down.
 */
const lockFault = (path: string): string | undefined => {
  const lock = `${path}-lock`;
  if (!existsSync(lock)) return creationFault(path, lock);
  if (!statSync(lock).isFile()) return `its lock file ${lock} is not a file`;
  // Not opened to find out: closing it would release the locks that this process has on it.
  return mayReadAndWrite(lock) ? undefined : `its lock file ${lock} cannot be written, which is needed to read, too`;
};

/**
 * Why LMDB cannot open a file; undefined if it can, or if there is no such file. LMDB maps its file and trusts it: one that is no LMDB
 * file, or is cut off, takes the process down instead of raising an error. So does creating the lock file, which it maps too, on a full
 * disk.
 */
export const lmdbFileFault = (path: string): string | undefined => {
  const fault = lockFault(path);
  if (fault !== undefined) return fault;
  let file: number;
  try {
    file = openSync(path, "r");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
  try {
    return faultOf(file);
  } finally {
    closeSync(file);
  }
};
