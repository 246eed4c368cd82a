import type { RangeOptions, Transaction as ReadTransaction } from "lmdb";
import { PorticoError } from "../../errors.js";
import { canBeKey, type DatabaseName } from "../layout/keys.js";
import type { Environment, StoreDatabase } from "./environment.js";
import { newestTransaction } from "./safe/meta-pages.js";
import { putRight } from "./safe/transact.js";

/**
 * Reads of one state, all through one LMDB read transaction. The bytes within a block or transaction that is not unpacked yet, and values
 * of a `view` (keys.ts), last until the next read.
 */
export interface ReadSession {
  get(database: DatabaseName, key: Buffer): unknown;
  /** The value of a key, as it is stored. */
  bytes(database: DatabaseName, key: Buffer): Buffer | undefined;
  /** Keys and values in order, from `start` (inclusive) to `end` (exclusive); in reverse from `start` downwards. */
  range(database: DatabaseName, options: RangeOptions): Iterable<{ key: Buffer; value: unknown }>;
  keys(database: DatabaseName, options: RangeOptions): Iterable<Buffer>;
  /** The value of the first key of a range. */
  first(database: DatabaseName, bounds: { start: Buffer; end: Buffer }): unknown;
  /** How many keys a range has. */
  count(database: DatabaseName, options: RangeOptions): number;
}

/** Reads one value by its key. */
export type Lookup = Pick<ReadSession, "get">;

/** From `start` (inclusive) to `end` (exclusive). */
export interface KeyBounds {
  start?: Buffer;
  end?: Buffer;
}

/** The reads that writing blocks needs: only these have to take pending writes into account. */
export interface WriterReads extends Lookup {
  range(database: DatabaseName, bounds: KeyBounds): Iterable<{ key: Buffer; value: unknown }>;
  count(database: DatabaseName, bounds: KeyBounds): number;
}

/** What lmdb-js's types leave out: it can read within a given transaction. */
interface BytesWithin {
  getBinary(key: Buffer, within: { transaction?: ReadTransaction }): Buffer | undefined;
}

/** A read transaction of what is committed now: lmdb-js by itself reuses one until the event loop has turned. */
export const openTransaction = ({ root }: Pick<Environment, "root">): ReadTransaction => {
  root.resetReadTxn();
  return root.useReadTransaction();
};

/** In LMDB's list of readers: one of this process, and the number of its transaction. */
const ownReader = new RegExp(`^ *${process.pid} +\\S+ +(\\d+)$`, "gm");

/** Numbers of the transactions in which this process reads, in ascending order. */
const numbersRead = ({ root }: Pick<Environment, "root">): bigint[] =>
  Array.from(root.readerList().matchAll(ownReader), ([, number = ""]) => BigInt(number)).sort((a, b) => Number(a - b));

/** How often LMDB's count is corrected before giving up: each time, another process must have opened the store during a commit. */
const mostTries = 10;

/** 0 where the file cannot be reached, as on a disk that fails: LMDB has it mapped, and the next commit says what is wrong. */
const newestIn = ({ path }: Pick<Environment, "path">): bigint => {
  try {
    return newestTransaction(path);
  } catch {
    return 0n;
  }
};

/**
 * A read transaction for the process that writes: never older than the last commit. LMDB by itself may open an older one after another
 * process has opened the store (safe/transact.js).
 */
export const openNewest = (environment: Pick<Environment, "path" | "root">): ReadTransaction => {
  for (let tries = 0; tries < mostTries; tries++) {
    const newest = newestIn(environment);
    environment.root.resetReadTxn();
    const before = numbersRead(environment);
    const transaction = openTransaction(environment);
    const opened = numbersRead(environment).find((number, place) => number !== before[place]);
    // lmdb-js opens none where it has one that is the newest.
    if (opened === undefined || opened >= newest) return transaction;
    transaction.done();
    putRight(environment);
  }
  throw new Error(`${environment.path} does not show the last commit`);
};

const damaged = (database: DatabaseName, cause: unknown): PorticoError =>
  new PorticoError("RECORD_DAMAGED", `The store is damaged: a record of "${database}" cannot be read.`, { cause });

/** The entries of a range, or what is wrong with the record at which it ends. */
function* checked<T>(database: DatabaseName, entries: Iterable<T>): Generator<T, void> {
  try {
    yield* entries;
  } catch (error) {
    throw damaged(database, error);
  }
}

/** The same reads; what LMDB or the decoding of a record throws becomes PorticoError RECORD_DAMAGED. */
export const createCheckedSession = (reading: ReadSession): ReadSession => {
  const checking = <T>(database: DatabaseName, read: () => T): T => {
    try {
      return read();
    } catch (error) {
      throw damaged(database, error);
    }
  };
  return {
    get: (database, key) => checking(database, () => reading.get(database, key)),
    bytes: (database, key) => checking(database, () => reading.bytes(database, key)),
    range: (database, options) => checked(database, checking(database, () => reading.range(database, options))),
    keys: (database, options) => checked(database, checking(database, () => reading.keys(database, options))),
    first: (database, bounds) => checking(database, () => reading.first(database, bounds)),
    count: (database, options) => checking(database, () => reading.count(database, options)),
  };
};

/** What lmdb-js's types leave out: the write transaction that is open. */
interface WithEnvironment {
  env: { writeTxn?: unknown };
}

/**
 * The transaction that lmdb-js has to be given to read a range in this one; undefined: none. It keeps one cursor of each database for its
 * own transaction, of what is committed now, and makes a native cursor for each range in another: lists then take up to a quarter longer,
 * and the state at an earlier height twice as long. Within a write transaction, lmdb-js would read what that has written.
 */
const transactionToGive = (database: StoreDatabase, transaction: ReadTransaction | undefined): ReadTransaction | undefined => {
  if ((database as unknown as WithEnvironment).env.writeTxn) return transaction;
  const own = database.useReadTransaction();
  own.done();
  return own === transaction ? undefined : transaction;
};

export const createReadSession = ({ db }: Pick<Environment, "db">, transaction?: ReadTransaction): ReadSession => {
  const within = transaction === undefined ? {} : { transaction };
  /** A copy: lmdb-js adds to what it is given. What is spread comes last: the other way round, V8 keeps a hidden class of each copy. */
  const inTransaction = (database: DatabaseName, options: RangeOptions): RangeOptions =>
    ({ transaction: transaction && transactionToGive(db[database], transaction), ...options }) as RangeOptions;
  return {
    get: (database, key) => (canBeKey(key) ? db[database].get(key, within) : undefined),
    bytes: (database, key) => (db[database] as BytesWithin).getBinary(key, within),
    range: (database, options) => db[database].getRange(inTransaction(database, options)),
    keys: (database, options) => db[database].getKeys(inTransaction(database, options)),
    first: (database, bounds) => {
      for (const { value } of db[database].getRange(inTransaction(database, { ...bounds, limit: 1 }))) return value;
      return undefined;
    },
    count: (database, options) => db[database].getKeysCount(inTransaction(database, options)),
  };
};
