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

/** Whether a transaction is the one in which lmdb-js reads when it is given none: it is, until something has been committed since. */
const isShared = (database: StoreDatabase, transaction: ReadTransaction): boolean => {
  const shared = database.useReadTransaction();
  shared.done();
  return shared === transaction;
};

const seekIn = (database: StoreDatabase, transaction: ReadTransaction | undefined): ((start: Buffer, end: Buffer) => unknown) => {
  const options: SeekOptions = { start: undefined, end: undefined, limit: 1, transaction: undefined };
  const entries = database.getRange(optionsOf(options));
  return (start, end) => {
    options.start = start;
    options.end = end;
    options.transaction = transaction === undefined || isShared(database, transaction) ? undefined : transaction;
    for (const { value } of entries) return value;
    return undefined;
  };
};

/**
 * Finds the first key of a range. lmdb-js keeps one cursor of each database for reads to which no transaction is given; for others it makes
 * a native one each time, which costs as much again, and more when it is collected. So none is given where it would be the same.
 * Not for use within a write transaction: there, lmdb-js reads what that has written if it is given none.
 */
export const createSeek = (db: StoreDatabases, transaction: ReadTransaction | undefined) => {
  const seeks: Partial<Record<DatabaseName, ReturnType<typeof seekIn>>> = {};
  return (database: DatabaseName, { start, end }: { start: Buffer; end: Buffer }): unknown => (seeks[database] ??= seekIn(db[database], transaction))(start, end);
};
