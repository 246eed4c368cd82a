import type { Transaction as ReadTransaction } from "lmdb";
import type { StateRecord } from "../layout/codec.js";
import type { Environment } from "../lmdb/environment.js";
import { createCheckedReading, createReading } from "../lmdb/reading.js";
import { readState, stateKey } from "../records/records.js";

/** What lmdb-js's types leave out: it can read within a given transaction. */
interface BytesWithin {
  getBinaryFast(key: Buffer, within: { transaction?: ReadTransaction }): Buffer | undefined;
}

/**
 * Reads the state that was committed last. Its bytes are parsed only when they differ from those read before, which makes it cheap
 * enough for every request.
 */
export const createTipCache = ({ db }: Environment) => {
  const meta: BytesWithin = db.meta;
  let last: { bytes: Buffer; state: StateRecord } | undefined;
  return (transaction?: ReadTransaction): StateRecord | undefined => {
    const within = transaction === undefined ? {} : { transaction };
    // This is lmdb-js's one buffer for all reads: the next one overwrites it, and it is longer than the value that it holds.
    const read = meta.getBinaryFast(stateKey, within);
    if (read !== undefined && last?.bytes.compare(read, 0, read.length) === 0) return last.state;
    const reading = createCheckedReading(createReading({ db }, transaction));
    const bytes = reading.bytes("meta", stateKey);
    const state = readState(reading);
    last = bytes === undefined || state === undefined ? undefined : { bytes, state };
    return state;
  };
};
