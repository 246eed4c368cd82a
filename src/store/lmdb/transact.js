// @ts-check
import { openSync, readSync, writeSync } from "node:fs";
import { magic, newestAtFullLength } from "./file/meta-pages.js";
import { checkWritable, leaveFile, whyUnwritten } from "./write-gate.js";

/**
 * Write transactions of LMDB, each of which begins where the newest ended.
 *
 * LMDB counts transactions in its lock file. Whoever opens the store sets that count to what the meta pages said a moment before, without
 * holding a lock: if another process commits in that moment, the count is set back. The next transaction would then begin before the
 * newest and overwrite it, and what that had written would be lost (LMDB ITS#9496; `mdb_env_open2` of the liblmdb that lmdb-js 3.5 brings
 * sets `mti_txnid` so still). So each transaction is first checked against the meta pages. Until
 * one has been, readers may be given a state older than the newest.
 *
 * JavaScript, as commit-thread.js imports it too.
 */

/**
 * @typedef {object} Written An open LMDB environment.
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

/** @param {Written} written */
const lockFileOf = ({ path, root }) => {
  const file = lockFiles.get(root) ?? openSync(`${path}-lock`, "r+");
  lockFiles.set(root, file);
  return file;
};

/**
 * To be called within a write transaction, which keeps others from writing.
 * @param {Written} written
 * @param {bigint} newest
 */
const putCountRight = (written, newest) => {
  const file = lockFileOf(written);
  const head = Buffer.alloc(lockOffsets.end);
  readSync(file, head, 0, head.length, 0);
  const count = head.readBigUInt64LE(lockOffsets.count);
  // Another call within the same transaction of lmdb-js has corrected it already.
  if (count === newest) return;
  if (head.readUInt32LE(lockOffsets.magic) !== magic || count > newest || count < newest - furthestBack) {
    throw new Error(`${written.path} has seen ${newest} transactions, but its lock file does not match: stop all processes that use it, then start them again`);
  }
  head.writeBigUInt64LE(newest, lockOffsets.count);
  writeSync(file, head, lockOffsets.count, countLength, lockOffsets.count);
};

/** The result of a transaction that wrote nothing because it began too early. */
const tooEarly = Symbol("too early");

/**
 * What is done in a transaction: `work`, if it begins where the newest ended. If not, the count is corrected, so that the next one does.
 * @template T
 * @param {Written} written
 * @param {() => T} work
 * @returns {() => T | typeof tooEarly}
 */
const unlessTooEarly = (written, work) => () => {
  const newest = newestAtFullLength(written.path);
  if (BigInt(written.root.getWriteTxnId()) === newest + 1n) return work();
  putCountRight(written, newest);
  return tooEarly;
};

/** @param {Written} written */
const givenUp = ({ path }) => new Error(`${path} cannot be written: other processes keep setting back its count of transactions`);

/**
 * Does `work` in a transaction, which is aborted if it throws, whether or not there is room to write: for work that only reads, or writes
 * a few bytes while the store is opened.
 * @template T
 * @param {Written} written
 * @param {() => T} work Called at most once.
 * @returns {T}
 */
export const transactAnyway = (written, work) => {
  for (let tries = 0; tries < mostTries; tries++) {
    const result = written.root.transactionSync(unlessTooEarly(written, work));
    if (result !== tooEarly) return result;
  }
  throw givenUp(written);
};

/**
 * Does `work` in a transaction, which is aborted if it throws.
 * @template T
 * @param {Written} written
 * @param {() => T} work Called at most once.
 * @returns {T}
 * @throws WriteRefused if nothing can be written now.
 */
export const transact = (written, work) => {
  checkWritable(written);
  return transactAnyway(written, work);
};

/**
 * What to throw when `transactSoon` failed. lmdb-js tells why LMDB could not commit by a separate promise, which it may reject later: if
 * nobody handles that, it ends the process.
 * @param {Written} written
 * @param {unknown} error
 */
const whatFailed = (written, error) => {
  const commitError = error instanceof Error && "commitError" in error ? error.commitError : undefined;
  if (!(commitError instanceof Promise)) return error;
  commitError.catch(() => undefined);
  return whyUnwritten(written, new Error("LMDB cannot write: its disk may be full", { cause: error }));
};

/**
 * The same, as soon as lmdb-js gets to it. In a child transaction: what lmdb-js batches in one transaction is not undone by a throw.
 * @template T
 * @param {Written} written
 * @param {() => T} work Called at most once.
 * @returns {Promise<T>}
 * @throws WriteRefused if nothing can be written now.
 */
export const transactSoon = async (written, work) => {
  checkWritable(written);
  for (let tries = 0; tries < mostTries; tries++) {
    try {
      const result = await written.root.childTransaction(unlessTooEarly(written, work));
      if (result !== tooEarly) return result;
    } catch (error) {
      throw whatFailed(written, error);
    }
  }
  throw givenUp(written);
};

/**
 * Makes LMDB see what was committed last.
 * @param {Written} written
 */
export const putRight = (written) => transactAnyway(written, () => undefined);

/**
 * To be called before it is closed: brings the file to its full length, unless it cannot be written any more.
 * @param {Written} written
 */
export const endWriting = (written) => {
  try {
    putRight(written);
  } catch {
    // It is then only known to have been cut off if a page is missing that is used.
  } finally {
    leaveFile(written);
  }
};
