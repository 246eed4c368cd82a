// @ts-check
import { openSync, readSync, writeSync } from "node:fs";
import { magic, newestTransaction } from "./meta-pages.js";

/**
 * Write transactions of LMDB, each of which begins where the newest ended.
 *
 * How many there were LMDB keeps in its lock file. Whoever opens the store sets that count to what the meta pages said a moment
 * before, and holds no lock while it does: where another process commits in that moment, the count is set back. The next transaction
 * would begin before the newest, and write over it: what it had written were gone. So each is held against the meta pages first.
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

/** How often the count is put right before it is given up: each time somebody must have opened the store in the middle of a commit. */
const longestTry = 10;

/**
 * Within a transaction, which keeps others from writing.
 * @param {string} path
 * @param {bigint} wrong
 * @param {bigint} right
 */
const putCountRight = (path, wrong, right) => {
  // Never closed: with it the locks that the process has on that file would go, by which others know that it reads.
  const file = openSync(`${path}-lock`, "r+");
  const head = Buffer.alloc(lockOffsets.end);
  readSync(file, head, 0, head.length, 0);
  const found = head.readBigUInt64LE(lockOffsets.count);
  // Another that is within the same transaction of lmdb-js's has done it.
  if (found === right) return;
  if (found !== wrong || head.readUInt32LE(lockOffsets.magic) !== magic) {
    throw new Error(`${path} counts ${wrong} transactions, not ${right}, and its lock file is not as it should be: stop all processes that use it, and start them anew`);
  }
  head.writeBigUInt64LE(right, lockOffsets.count);
  writeSync(file, head, lockOffsets.count, lockOffsets.end - lockOffsets.count, lockOffsets.count);
};

/**
 * Whether the transaction that is open begins where the newest ended. Where it does not, the next one will.
 * @param {Written} written
 */
const beginsAtNewest = ({ path, root }) => {
  const begun = BigInt(root.getWriteTxnId()) - 1n;
  const newest = newestTransaction(path);
  if (begun === newest) return true;
  putCountRight(path, begun, newest);
  return false;
};

/** What a transaction gives that wrote nothing, as it began too early. */
const tooEarly = Symbol("too early");

/** @param {string} path */
const givenUp = (path) => new Error(`${path} cannot be written: others set its count of transactions back without a pause`);

/**
 * Does `work` in a transaction, which undoes what it has written where it throws.
 * @template T
 * @param {Written} written
 * @param {() => T} work Called once at the most.
 * @returns {T}
 */
export const transact = (written, work) => {
  for (let tries = 0; tries < longestTry; tries++) {
    const result = written.root.transactionSync(() => (beginsAtNewest(written) ? work() : tooEarly));
    if (result !== tooEarly) return /** @type {T} */ (result);
  }
  throw givenUp(written.path);
};

/**
 * The same, when lmdb-js comes to it. In a transaction within its own: those it puts together do not undo what was written before a throw.
 * @template T
 * @param {Written} written
 * @param {() => T} work Called once at the most.
 * @returns {Promise<T>}
 */
export const transactSoon = async (written, work) => {
  for (let tries = 0; tries < longestTry; tries++) {
    const result = await written.root.childTransaction(() => (beginsAtNewest(written) ? work() : tooEarly));
    if (result !== tooEarly) return /** @type {T} */ (result);
  }
  throw givenUp(written.path);
};
