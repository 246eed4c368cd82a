// @ts-check
import { closeSync, ftruncateSync, openSync, rmSync, statfsSync, statSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { threadId } from "node:worker_threads";

/**
 * What is checked before LMDB writes: that its file is still in its place, that there is room, and that a file beside it can be written.
 * LMDB itself must not be the first to find out: when a page cannot be written, lmdb-js composes a message in a buffer that may be too
 * short for it (`mdb_page_flush` in its mdb.c), and what that overwrites may end the process.
 *
 * JavaScript, as commit-thread.js imports it too.
 */

/** Why nothing was written. Its message says what is wrong with the file or its disk, without naming either. */
export class WriteRefused extends Error {
  /** @param {string} reason @param {unknown} [cause] */
  constructor(reason, cause) {
    super(reason, { cause });
    this.name = "WriteRefused";
  }
}

/** Bytes that have to be free, beside what is about to be written: LMDB writes whole pages, and copies those that it changes. */
const leastFree = 16 * 2 ** 20;
/** Bytes that a byte of entries may take in the file. */
const growth = 8;

const trialBytes = Buffer.alloc(4_096);

/** @type {Record<string, string>} */
const reasons = {
  ENOSPC: "its disk is full",
  EDQUOT: "its disk quota is used up",
  EROFS: "its file system is read-only",
  ENOENT: "its file is not in its place any more",
  ENOTDIR: "its file is not in its place any more",
  EFBIG: "its file has reached the size that the system allows",
};

/** @param {unknown} error Of the system. */
export const refusedBy = (error) => {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return new WriteRefused(reasons[code] ?? `its folder cannot be written (${code === "" ? String(error) : code})`, error);
};

/** Identifies a file independently of its name. @param {string} path */
const identityOf = (path) => {
  const { dev, ino } = statSync(path, { bigint: true });
  return `${dev} ${ino}`;
};

/** @param {number} bytes */
const inMegabytes = (bytes) => `${(bytes / 2 ** 20).toFixed(1)} MiB`;

/** @param {string} path @param {number} bytes That are about to be written. */
const checkRoom = (path, bytes) => {
  const { bavail, bsize } = statfsSync(dirname(path));
  const needed = leastFree + growth * bytes;
  if (bavail * bsize < needed) throw new WriteRefused(`its disk is full: ${inMegabytes(bavail * bsize)} are free, ${inMegabytes(needed)} are needed`);
};

/** @param {string} path */
const openTrial = (path) => {
  const name = `${path}-trial-${process.pid}-${threadId}`;
  const file = openSync(name, "w", 0o600);
  // It goes with the process, however that ends.
  rmSync(name, { force: true });
  return file;
};

/**
 * Writes a page as a new one of the file, so that the file system has to find room for it.
 * @param {number} file
 */
const tryToWrite = (file) => {
  ftruncateSync(file);
  if (writeSync(file, trialBytes, 0, trialBytes.length, 0) < trialBytes.length) throw new WriteRefused("its disk is full");
};

/**
 * @typedef {object} Passage
 * @property {string} identity Of the file that was opened.
 * @property {number | undefined} [trial] An open file beside it, without a name. To make one each time waits for what LMDB has the disk sync.
 */

/** @type {WeakMap<object, Passage>} */
const passages = new WeakMap();

/** @param {Passage} passage */
const closeTrial = (passage) => {
  const { trial } = passage;
  // First: its number is another file's at once, also where closing it fails.
  passage.trial = undefined;
  try {
    if (trial !== undefined) closeSync(trial);
  } catch {
    // Nothing in it is needed.
  }
};

/** Notes, once, which file was opened, so that another one in its place is noticed. @param {{ path: string, root: object }} written */
export const noteFile = ({ path, root }) => {
  const passage = passages.get(root) ?? { identity: identityOf(path) };
  passages.set(root, passage);
  return passage;
};

/** To be called when nothing more is written. @param {{ root: object }} written */
export const leaveFile = ({ root }) => {
  const passage = passages.get(root);
  if (passage !== undefined) closeTrial(passage);
  passages.delete(root);
};

/**
 * Each time: a file system that failed since the last time would otherwise be found out by LMDB.
 * @param {string} path
 * @param {Passage} passage
 */
const tryBeside = (path, passage) => {
  passage.trial ??= openTrial(path);
  try {
    tryToWrite(passage.trial);
  } catch (error) {
    closeTrial(passage);
    throw error;
  }
};

/**
 * To be called before a transaction that writes.
 * @param {{ path: string, root: object }} written
 * @param {number} [bytes] About how many are to be written.
 * @throws WriteRefused
 */
export const checkWritable = (written, bytes = 0) => {
  const { path } = written;
  try {
    const passage = noteFile(written);
    if (identityOf(path) !== passage.identity) throw new WriteRefused("another file is in its place");
    checkRoom(path, bytes);
    tryBeside(path, passage);
  } catch (error) {
    throw error instanceof WriteRefused ? error : refusedBy(error);
  }
};

/**
 * What to throw when LMDB could not write: what a trial finds wrong now, or else what LMDB said.
 * @param {{ path: string, root: object }} written
 * @param {unknown} error
 */
export const whyUnwritten = (written, error) => {
  try {
    checkWritable(written);
    return error;
  } catch (refusal) {
    return refusal;
  }
};
