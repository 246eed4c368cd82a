// @ts-check
import { closeSync, ftruncateSync, openSync, readSync, rmSync, statfsSync, statSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { threadId } from "node:worker_threads";
import { magic, newestAtFullLength } from "./meta-pages.js";

/**
 * What is checked before LMDB writes: that its file is still in its place, that there is room, and that a file beside it can be written.
 * LMDB itself must not be the first to find out: when a page cannot be written, lmdb-js composes a message in a buffer that may be too
 * short for it (`mdb_page_flush` in its mdb.c), and what that overwrites may end the process.
 *
 * JavaScript, as commit-thread.js imports it too. README.md names what goes wrong upstream.
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
  if (bavail * bsize < needed)
    throw new WriteRefused(`its disk is full: ${inMegabytes(bavail * bsize)} are free, ${inMegabytes(needed)} are needed`);
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
 * @property {number | undefined} [trial] An open file beside it, without a name. To make one each time waits for what LMDB has the disk
 * sync.
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

/** Notes, once, which file was opened, so that another one in its place is noticed. @param {{ path: string, root: object }} target */
export const noteFile = ({ path, root }) => {
  const passage = passages.get(root) ?? { identity: identityOf(path) };
  passages.set(root, passage);
  return passage;
};

/** To be called when nothing more is written. @param {{ root: object }} target */
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
 * @param {{ path: string, root: object }} target
 * @param {number} [bytes] About how many are to be written.
 * @throws WriteRefused
 */
export const checkWritable = (target, bytes = 0) => {
  const { path } = target;
  try {
    const passage = noteFile(target);
    if (identityOf(path) !== passage.identity) throw new WriteRefused("another file is in its place");
    checkRoom(path, bytes);
    tryBeside(path, passage);
  } catch (error) {
    throw error instanceof WriteRefused ? error : refusedBy(error);
  }
};

/**
 * What to throw when LMDB could not write: what a trial finds wrong now, or else what LMDB said.
 * @param {{ path: string, root: object }} target
 * @param {unknown} error
 */
export const whyUnwritten = (target, error) => {
  try {
    checkWritable(target);
    return error;
  } catch (refusal) {
    return refusal;
  }
};

/**
 * Write transactions of LMDB, each of which begins where the newest ended.
 *
 * LMDB counts transactions in its lock file. Whoever opens the store sets that count to what the meta pages said a moment before, without
 * holding a lock: if another process commits in that moment, the count is set back. The next transaction would then begin before the
 * newest and overwrite it, and what that had written would be lost (LMDB ITS#9496; `mdb_env_open2` of the liblmdb that lmdb-js 3.5 brings
 * sets `mti_txnid` so still). So each transaction is first checked against the meta pages. Until
 * one has been, readers may be given a state older than the newest.
 */

/**
 * @typedef {object} WriteTarget An open LMDB environment.
 * @property {string} path Its file.
 * @property {Pick<import("lmdb").RootDatabase<any, any>, "transactionSync" | "childTransaction" | "getWriteTxnId">} root
 */

/** Of liblmdb's `MDB_txbody`, at the beginning of the lock file. */
const lockOffsets = Object.freeze({ magic: 0, count: 8, end: 16 });
const countLength = lockOffsets.end - lockOffsets.count;

/** How far the count is set back, at the most: opening a store takes no longer than so many commits. */
const furthestBack = 1_000n;

/** How often the count is corrected before giving up: each time, somebody must have opened the store in the middle of a commit. */
const mostTries = 10;

/**
 * Lock files that were opened here. They are never closed: that would release the locks that the process has on the file, by which
 * others know that it reads.
 * @type {WeakMap<object, number>}
 */
const lockFiles = new WeakMap();

/** @param {WriteTarget} target */
const lockFileOf = ({ path, root }) => {
  const file = lockFiles.get(root) ?? openSync(`${path}-lock`, "r+");
  lockFiles.set(root, file);
  return file;
};

/**
 * To be called within a write transaction, which keeps others from writing.
 * @param {WriteTarget} target
 * @param {bigint} newest
 */
const putCountRight = (target, newest) => {
  const file = lockFileOf(target);
  const head = Buffer.alloc(lockOffsets.end);
  readSync(file, head, 0, head.length, 0);
  const count = head.readBigUInt64LE(lockOffsets.count);
  // Another call within the same transaction of lmdb-js has corrected it already.
  if (count === newest) return;
  if (head.readUInt32LE(lockOffsets.magic) !== magic || count > newest || count < newest - furthestBack) {
    throw new Error(`${target.path} has seen ${newest} transactions, but its lock file does not match: stop all processes that use it, then start them again`);
  }
  head.writeBigUInt64LE(newest, lockOffsets.count);
  writeSync(file, head, lockOffsets.count, countLength, lockOffsets.count);
};

/** The result of a transaction that wrote nothing because it began too early. */
const tooEarly = Symbol("too early");

/**
 * What is done in a transaction: `work`, if it begins where the newest ended. If not, the count is corrected, so that the next one does.
 * @template T
 * @param {WriteTarget} target
 * @param {() => T} work
 * @returns {() => T | typeof tooEarly}
 */
const unlessTooEarly = (target, work) => () => {
  const newest = newestAtFullLength(target.path);
  if (BigInt(target.root.getWriteTxnId()) === newest + 1n) return work();
  putCountRight(target, newest);
  return tooEarly;
};

/** @param {WriteTarget} target */
const givenUp = ({ path }) => new Error(`${path} cannot be written: other processes keep setting back its count of transactions`);

/**
 * Does `work` in a transaction, which is aborted if it throws, whether or not there is room to write: for work that only reads, or writes
 * a few bytes while the store is opened.
 * @template T
 * @param {WriteTarget} target
 * @param {() => T} work Called at most once.
 * @returns {T}
 */
export const transactAnyway = (target, work) => {
  for (let tries = 0; tries < mostTries; tries++) {
    const result = target.root.transactionSync(unlessTooEarly(target, work));
    if (result !== tooEarly) return result;
  }
  throw givenUp(target);
};

/**
 * Does `work` in a transaction, which is aborted if it throws.
 * @template T
 * @param {WriteTarget} target
 * @param {() => T} work Called at most once.
 * @returns {T}
 * @throws WriteRefused if nothing can be written now.
 */
export const transact = (target, work) => {
  checkWritable(target);
  return transactAnyway(target, work);
};

/**
 * What to throw when `transactSoon` failed. lmdb-js tells why LMDB could not commit by a separate promise, which it may reject later: if
 * nobody handles that, it ends the process.
 * @param {WriteTarget} target
 * @param {unknown} error
 */
const whatFailed = (target, error) => {
  const commitError = error instanceof Error && "commitError" in error ? error.commitError : undefined;
  if (!(commitError instanceof Promise)) return error;
  commitError.catch(() => undefined);
  return whyUnwritten(target, new Error("LMDB cannot write: its disk may be full", { cause: error }));
};

/**
 * The same, as soon as lmdb-js gets to it. In a child transaction: what lmdb-js batches in one transaction is not undone by a throw.
 * @template T
 * @param {WriteTarget} target
 * @param {() => T} work Called at most once.
 * @returns {Promise<T>}
 * @throws WriteRefused if nothing can be written now.
 */
export const transactSoon = async (target, work) => {
  checkWritable(target);
  for (let tries = 0; tries < mostTries; tries++) {
    try {
      const result = await target.root.childTransaction(unlessTooEarly(target, work));
      if (result !== tooEarly) return result;
    } catch (error) {
      throw whatFailed(target, error);
    }
  }
  throw givenUp(target);
};

/**
 * Makes LMDB see what was committed last.
 * @param {WriteTarget} target
 */
export const putRight = (target) => transactAnyway(target, () => undefined);

/**
 * To be called before it is closed: brings the file to its full length, unless it cannot be written any more.
 * @param {WriteTarget} target
 */
export const endWriting = (target) => {
  try {
    putRight(target);
  } catch {
    // It is then only known to have been cut off if a page is missing that is used.
  } finally {
    leaveFile(target);
  }
};
