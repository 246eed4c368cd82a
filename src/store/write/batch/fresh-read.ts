import type { Transaction as ReadTransaction } from "lmdb";
import type { Environment } from "../../lmdb/environment.js";
import type { LogBytes } from "../../layout/write-log.js";
import type { Bytes } from "./memtable.js";
import { createReadSession, openTransaction } from "../../lmdb/read-session.js";
import { stateKey } from "../../records/records.js";
import { putRight, transactAnyway } from "../../lmdb/safe/transact.js";

/**
 * Read transactions for the process that writes the store: of the state that it has committed last, or of the one being committed.
 * LMDB by itself may give an older one when another process opens the store at that moment (transact.js).
 */
export interface FreshReads {
  open(): ReadTransaction;
  /** Commits a log of entries, which writes the bytes `state` under the key of the state; undefined: it leaves them as they are. */
  commit(log: LogBytes, state: Bytes | undefined): Promise<void>;
}

const mostTries = 10;

const areEqual = (one: Bytes, other: Bytes): boolean => one === other || (one !== null && other?.equals(one) === true);

export const createFreshReads = (environment: Pick<Environment, "path" | "root" | "db" | "commit">): FreshReads => {
  let committed: Bytes | undefined;
  let coming: Bytes | undefined;

  const stateIn = (transaction?: ReadTransaction): Bytes => createReadSession(environment, transaction).bytes("meta", stateKey) ?? null;

  const isOfNow = (transaction: ReadTransaction): boolean => {
    const state = stateIn(transaction);
    // Nobody else writes blocks: the state found by a transaction that begins at the newest stays until this process commits.
    if (committed === undefined) committed = transactAnyway(environment, () => stateIn());
    return areEqual(state, committed) || (coming !== undefined && areEqual(state, coming));
  };

  return {
    open: () => {
      for (let tries = 0; tries < mostTries; tries++) {
        const transaction = openTransaction(environment);
        if (isOfNow(transaction)) return transaction;
        transaction.done();
        putRight(environment);
      }
      throw new Error(`${environment.path} does not show the last commit`);
    },
    commit: async (log, state) => {
      coming = state && Buffer.from(state);
      try {
        await environment.commit(log);
        if (coming !== undefined) committed = coming;
      } catch (error) {
        // Of a thread that has ended, it is not known whether it had committed.
        committed = undefined;
        throw error;
      } finally {
        coming = undefined;
      }
    },
  };
};
