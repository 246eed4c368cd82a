import { closeSync, fstatSync, openSync, readSync } from "node:fs";

/**
 * LMDB maps its file and trusts it: one that is no LMDB file, or is cut off, takes the process down instead of raising an
 * error. So the two meta pages are looked at first. Offsets are those of liblmdb's `MDB_page` and `MDB_meta`.
 */
export const metaOffsets = { magic: 24, pageSize: 48, freeRoot: 88, mainRoot: 136, transaction: 152, end: 160 } as const;
const magic = 0xbeefc0de;
const noPage = 0xffffffffffffffffn;

interface Meta {
  pageSize: number;
  transaction: bigint;
  roots: bigint[];
}

const readMeta = (file: number, position: number): Meta | undefined => {
  const page = Buffer.alloc(metaOffsets.end);
  if (readSync(file, page, 0, page.length, position) < page.length || page.readUInt32LE(metaOffsets.magic) !== magic) return undefined;
  return {
    pageSize: page.readUInt32LE(metaOffsets.pageSize),
    transaction: page.readBigUInt64LE(metaOffsets.transaction),
    roots: [page.readBigUInt64LE(metaOffsets.freeRoot), page.readBigUInt64LE(metaOffsets.mainRoot)].filter((root) => root !== noPage),
  };
};

const faultOf = (file: number): string | undefined => {
  if (fstatSync(file).size === 0) return undefined;
  const first = readMeta(file, 0);
  if (first === undefined) return "it is no LMDB file";
  const second = readMeta(file, first.pageSize);
  if (second === undefined) return "its second meta page is damaged";
  // After the meta pages: another process may be writing, and what they name is in the file before they name it.
  const { size } = fstatSync(file);
  const { roots, pageSize } = first.transaction > second.transaction ? first : second;
  return roots.every((root) => (root + 1n) * BigInt(pageSize) <= BigInt(size)) ? undefined : "it is cut off";
};

/** What keeps a file from being opened by LMDB; undefined when nothing does, or when there is no such file. */
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
