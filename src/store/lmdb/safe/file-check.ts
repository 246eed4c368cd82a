import { accessSync, constants, existsSync, rmSync, statSync, writeFileSync } from "node:fs";
import { messageOf } from "../../../errors.js";
import { type DatabasesVisitor, walkDatabases, walkFreePages, newestMeta, openPageFile, type PageFile } from "./page-file.js";
import { type Meta, metaOffsets, wholeLength } from "./meta-pages.js";

const remedy = "restore it from a backup, or move it away and start anew: a chain is then reindexed from its blocks, and webhooks of `webhooks.mdb` must be created again";

/** Bytes, as a message names them. */
const shown = (bytes: number): string => `${bytes.toLocaleString("en")} byte${bytes === 1 ? "" : "s"}`;

/** Name in `meta` of the note that the file is kept at full length. */
export const fullLengthName = "length kept";

const nothing = (): undefined => undefined;

/** Whether any page that is used lies behind the end of the file. */
const lacksUsed = (file: PageFile, meta: Meta): boolean => {
  const first = Math.floor(file.size() / meta.pageSize);
  let [free, faults] = [0, 0];
  const fault = (): void => void faults++;
  const countFree = (page: number, count: number): void => void (free += Math.max(0, page + count - Math.max(page, first)));
  for (const _ of walkFreePages(meta, file, { page: nothing, fault, free: countFree }));
  if (faults > 0 || free === meta.lastPage + 1 - first) return faults > 0;
  // LMDB may have lost some of its free pages: those that are used have to be looked at.
  for (const _ of walkDatabases(meta, file, { page: nothing, fault, entry: nothing, order: nothing })) if (faults > 0) return true;
  // A root that is missing itself is found without a page.
  return faults > 0;
};

/** Whether the file was at full length when it was closed: a process that was killed has left its note, and perhaps a shorter file. */
const hadFullLength = (file: PageFile, meta: Meta): boolean => {
  if (existsSync(`${file.path}-writer`)) return false;
  let isNoted = false;
  const entry: DatabasesVisitor["entry"] = (_, { key }) => {
    isNoted ||= key.toString("utf8") === fullLengthName;
  };
  for (const _ of walkDatabases(meta, file, { only: "meta", page: nothing, fault: nothing, entry, order: nothing }));
  return isNoted;
};

/** Pages that may be missing, beyond as many as there are: more than one transaction ever frees. */
const mostFree = 2 ** 20;

/** A file that is too short, unless LMDB itself may have left it so (meta-pages.js). */
const truncation = (file: PageFile, meta: Meta): string | undefined => {
  const [size, whole] = [file.size(), wholeLength(meta)];
  if (size >= whole) return undefined;
  if (whole > 2 * size + mostFree * meta.pageSize) return "its newest meta page is damaged";
  if (!hadFullLength(file, meta) && !lacksUsed(file, meta)) return undefined;
  return `it is truncated: of ${shown(whole)}, the last ${shown(whole - size)} ${whole - size === 1 ? "is" : "are"} missing`;
};

const metaFault = (file: PageFile): string | undefined => {
  const [first, second] = file.metas();
  const size = file.size();
  if (size === 0) return "it is empty";
  if (size < metaOffsets.end) return `it is not an LMDB file: it ends within its first meta page, after ${shown(size)}`;
  if (first === undefined) return "it is not an LMDB file, or its first meta page is damaged";
  if (size < first.pageSize + metaOffsets.end) return `its second meta page is damaged: the file ends before it, after ${shown(size)}`;
  return second?.pageSize === first.pageSize ? undefined : "its second meta page is damaged";
};

const contentFault = (file: PageFile): string | undefined => {
  const meta = newestMeta(file);
  if (meta === undefined) return metaFault(file);
  const roots = [meta.free.root ?? 0, meta.main.root ?? 0];
  return metaFault(file) ?? (roots.some((root) => root > meta.lastPage) ? "its newest meta page is damaged" : truncation(file, meta));
};

/** How often the file is looked at while another process writes it: what a meta page leads to may be gone a moment later. */
const mostLooks = 10;

const faultOf = (file: PageFile): string | undefined => {
  for (let looks = 1; ; looks++) {
    const before = newestMeta(file)?.transaction;
    const fault = contentFault(file);
    if (fault === undefined || looks === mostLooks || newestMeta(file)?.transaction === before) return fault && `${fault}; ${remedy}`;
  }
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
    return ["ENOENT", "ENOTDIR"].includes(code) ? undefined : `its lock file ${lock} cannot be created: ${code}: ${messageOf(error)}`;
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
  return mayReadAndWrite(lock) ? undefined : `its lock file ${lock} cannot be written, which is necessary even for reading`;
};

/**
 * Why LMDB cannot open a file; undefined if it can, or if there is no such file. LMDB maps its file and trusts it: one that is no LMDB
 * file, or is cut off, takes the process down instead of raising an error. So does creating the lock file, which it maps too, on a full
 * disk.
 */
export const lmdbFileFault = (path: string): string | undefined => {
  const fault = lockFault(path);
  if (fault !== undefined) return fault;
  let file: PageFile;
  try {
    file = openPageFile(path);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
  try {
    return faultOf(file);
  } finally {
    file.close();
  }
};
