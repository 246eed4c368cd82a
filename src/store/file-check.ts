import { closeSync, fstatSync, openSync } from "node:fs";
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

/**
 * What keeps a file from being opened by LMDB; undefined when nothing does, or when there is no such file. LMDB maps its file and
 * trusts it: one that is no LMDB file, or is cut off, takes the process down instead of raising an error.
 */
export const lmdbFileFault = (path: string): string | undefined => {
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
