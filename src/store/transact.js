// @ts-check
import { openSync, readSync, writeSync } from "node:fs";
import { magic, newestTransaction } from "./meta-pages.js";

/**
 * Write transactions of LMDB, each of which begins where the newest ended.
 *
 * How many there were LMDB keeps in its lock file. Whoever opens the store sets that count to what the meta pages said a moment
 * before, and holds no lock while it does: where another process commits in that moment, the count is set back. The next transaction
 * would begin before the newest, and write over it: what it had written were gone. So each is held against the meta pages first. Until
 * then, who reads may be given what was committed before the newest.
 *
 * JavaScript, as commit-thread.js writes by it too.
 */

/**
 * @typedef {object} Written An open LMDB environment.
 * @property {string} path Its file.
 * @property {Pick<import("lmdb").RootDatabase<any, any>, "transactionSync" | "childTransaction" | "getWriteTxnId">} root
 */

/** Of liblmdb's `MDB_txbody`, at the beginning of the lock file. */
const lockOffsets = Object.freeze({ magic: 0, count: 8, end: 16 });
const countLength = lockOffsets.end - lockOffsets.count;

/** How far the count is set back at the most: an opening takes no longer than so many commits. */
const furthestBack = 1_000n;

/** How often the count is put right before it is given up: each time somebody must have opened the store in the middle of a commit. */
const mostTries = 10;

/**
 * Lock files that were opened here. They are never closed: with one, the locks would go that the process has on it, by which others
 * know that it reads.
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
 * To be done within a transaction, which keeps others from writing.
 * @param {Written} written
 * @param {bigint} newest
 */
const putCountRight = (written, newest) => {
  const file = lockFileOf(written);
  const head = Buffer.alloc(lockOffsets.end);
  readSync(file, head, 0, head.length, 0);
  const count = head.readBigUInt64LE(lockOffsets.count);
  // Another that is within the same transaction of lmdb-js's has done it.
  if (count === newest) return;
  if (head.readUInt32LE(lockOffsets.magic) !== magic || count > newest || count < newest - furthestBack) {
    throw new Error(`${written.path} has seen ${newest} transactions, and its lock file is not as it should be: stop all processes that use it, and start them anew`);
  }
  head.writeBigUInt64LE(newest, lockOffsets.count);
  writeSync(file, head, lockOffsets.count, countLength, lockOffsets.count);
};

/** What a transaction gives that wrote nothing, as it began too early. */
const tooEarly = Symbol("too early");

/**
 * What is done in a transaction: `work`, where that begins where the newest ended. Where it does not, the next one will.
 * @template T
 * @param {Written} written
 * @param {() => T} work
 * @returns {() => T | typeof tooEarly}
 */
const unlessTooEarly = (written, work) => () => {
  const newest = newestTransaction(written.path);
  if (BigInt(written.root.getWriteTxnId()) === newest + 1n) return work();
  putCountRight(written, newest);
  return tooEarly;
};

/** @param {Written} written */
const givenUp = ({ path }) => new Error(`${path} cannot be written: others set its count of transactions back without a pause`);

/**
 * Does `work` in a transaction, which undoes what it has written where it throws.
 * @template T
 * @param {Written} written
 * @param {() => T} work Called once at the most.
 * @returns {T}
 */
export const transact = (written, work) => {
  for (let tries = 0; tries < mostTries; tries++) {
    const result = written.root.transactionSync(unlessTooEarly(written, work));
    if (result !== tooEarly) return result;
  }
  throw givenUp(written);
};

/**
 * What is thrown when a transaction that came soon failed. Why LMDB could not commit lmdb-js tells by a promise of its own, which it
 * may reject later: where nobody holds that, it ends the process.
 * @param {Written} written
 * @param {unknown} error
 */
const whatFailed = ({ path }, error) => {
  const commitError = error instanceof Error && "commitError" in error ? error.commitError : undefined;
  if (!(commitError instanceof Promise)) return error;
  commitError.catch(() => undefined);
  return new Error(`LMDB cannot write ${path}: its disk may be full`, { cause: error });
};

/**
 * The same, when lmdb-js comes to it. In a transaction within its own: those it puts together do not undo what was written before a throw.
 * @template T
 * @param {Written} written
 * @param {() => T} work Called once at the most.
 * @returns {Promise<T>}
 */
export const transactSoon = async (written, work) => {
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
 * Has LMDB see what was committed last.
 * @param {Written} written
 */
export const putRight = (written) => transact(written, () => undefined);
