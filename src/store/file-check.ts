import { closeSync, existsSync, fstatSync, openSync, rmSync, writeFileSync } from "node:fs";
import { newerMeta, readMeta } from "./meta-pages.js";

const faultOf = (file: number): string | undefined => {
  if (fstatSync(file).size === 0) return undefined;
  const first = readMeta(file, 0);
  if (first === undefined) return "it is no LMDB file";
  const second = readMeta(file, first.pageSize);
  if (second === undefined) return "its second meta page is damaged";
  // After the meta pages: another process may be writing, and what they name is in the file before they name it.
  const { size } = fstatSync(file);
  const { roots, pageSize } = newerMeta(first, second);
  return roots.every((root) => (root + 1n) * BigInt(pageSize) <= BigInt(size)) ? undefined : "it is cut off";
};

/** Bytes: more than a lock file of LMDB has. */
const lockRoom = 16_384;

/** Where there is a lock file, it has its room. */
const hasRoomForLock = (path: string): boolean => {
  if (existsSync(`${path}-lock`)) return true;
  const probe = `${path}-room-${process.pid}`;
  try {
    writeFileSync(probe, Buffer.alloc(lockRoom), { flush: true });
    return true;
  } catch (error) {
    // Of anything else LMDB speaks for itself: who only reads may not be let write, and need not.
    return !["ENOSPC", "EDQUOT", "EFBIG"].includes((error as NodeJS.ErrnoException).code ?? "");
  } finally {
    rmSync(probe, { force: true });
  }
};

/**
 * What keeps a file from being opened by LMDB; undefined when nothing does, or when there is no such file. LMDB maps its file and
 * trusts it: one that is no LMDB file, or is cut off, takes the process down instead of raising an error. So does a lock file, which it
 * maps too, that comes to be on a full disk.
 */
export const lmdbFileFault = (path: string): string | undefined => {
  if (!hasRoomForLock(path)) return "there is no room on its disk";
  let file: number;
  try {
    file = openSync(path, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  try {
    return faultOf(file);
  } finally {
    closeSync(file);
  }
};
