import type { Transaction as ReadTransaction } from "lmdb";
import type { StateRecord } from "./codec.js";
import type { Environment } from "./environment.js";
import { createReading } from "./reading.js";
import { readState, stateKey } from "./records.js";

/** What lmdb-js's types leave out: it reads within a transaction too. */
interface BytesWithin {
  getBinaryFast(key: Buffer, within: { transaction?: ReadTransaction }): Buffer | undefined;
}

/**
 * Reads the state that was committed last. Its bytes are compared first, and parsed only where they are not those of the time
 * before: that is what makes it cheap enough to be asked with every request.
 */
export const createLastState = ({ db }: Environment) => {
  const meta: BytesWithin = db.meta;
  let last: { bytes: Buffer; state: StateRecord } | undefined;
  return (transaction?: ReadTransaction): StateRecord | undefined => {
    const within = transaction === undefined ? {} : { transaction };
    // lmdb-js's one buffer for all reads: it is written over by the next, and longer than the value that it holds.
    const read = meta.getBinaryFast(stateKey, within);
    if (read !== undefined && last?.bytes.compare(read, 0, read.length) === 0) return last.state;
    const reading = createReading({ db }, transaction);
    const bytes = reading.bytes("meta", stateKey);
    const state = readState(reading);
    last = bytes === undefined || state === undefined ? undefined : { bytes, state };
    return state;
  };
};
