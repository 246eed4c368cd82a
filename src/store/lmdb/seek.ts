import type { RangeOptions, Transaction as ReadTransaction } from "lmdb";
import type { DatabaseName } from "../layout/keys.js";
import type { StoreDatabase, StoreDatabases } from "./environment.js";

/** What lmdb-js reads when an iteration begins: another one may begin with other bounds. */
interface SeekOptions {
  start: Buffer | undefined;
  end: Buffer | undefined;
  limit: 1;
  transaction: ReadTransaction | undefined;
}

const optionsOf = (options: SeekOptions): RangeOptions => options as RangeOptions;

/** What lmdb-js's types leave out: the write transaction that is open. */
interface WithEnvironment {
  env: { writeTxn?: unknown };
}

/** The transaction in which lmdb-js reads when it is given none: of what is committed now. Undefined within a write transaction. */
export const sharedTransaction = (database: Pick<StoreDatabase, "useReadTransaction">): ReadTransaction | undefined => {
  if ((database as unknown as WithEnvironment).env.writeTxn) return undefined;
  const shared = database.useReadTransaction();
  shared.done();
  return shared;
};

/**
 * The transaction that lmdb-js has to be given to read in this one; undefined: none. It keeps one cursor of each database for reads to which
 * none is given; for others it makes a native one each time, which costs as much again, and more when it is collected. None need be given
 * until something has been committed since. Within a write transaction, lmdb-js would read what that has written.
 */
export const transactionToGive = (database: StoreDatabase, transaction: ReadTransaction | undefined): ReadTransaction | undefined =>
  sharedTransaction(database) !== transaction ? transaction : undefined;

const seekIn = (database: StoreDatabase, transaction: ReadTransaction | undefined): ((start: Buffer, end: Buffer) => unknown) => {
  const options: SeekOptions = { start: undefined, end: undefined, limit: 1, transaction: undefined };
  const entries = database.getRange(optionsOf(options));
  return (start, end) => {
    options.start = start;
    options.end = end;
    options.transaction = transaction && transactionToGive(database, transaction);
    for (const { value } of entries) return value;
    return undefined;
  };
};

/** Finds the first key of a range, with one iteration for each database that is begun again each time. */
export const createSeek = (db: StoreDatabases, transaction: ReadTransaction | undefined) => {
  const seeks: Partial<Record<DatabaseName, ReturnType<typeof seekIn>>> = {};
  return (database: DatabaseName, { start, end }: { start: Buffer; end: Buffer }): unknown => (seeks[database] ??= seekIn(db[database], transaction))(start, end);
};
