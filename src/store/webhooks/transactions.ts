import type { WebhookStore } from "../../../types/webhook-store.js";
import { transact, transactSoon } from "../lmdb/transact.js";
import { unwatched, type WriteWatch } from "../lmdb/write-watch.js";
import { type OpenEnvironment, readNumber, type WebhookDatabases } from "./databases.js";
import { createOutboxWriter, type OutboxReaders, type OutboxWriter } from "./outbox/outbox.js";
import { createProgressRows, createTally, type ProgressRows, type Tally } from "./tally.js";

/** What writes use while a transaction is open. */
export interface Writing {
  tally: Tally;
  outbox: OutboxWriter;
  progress: ProgressRows;
}

/** The transactions of the store, and what writes use while one is open. */
export const createTransactions = (environment: OpenEnvironment & { writes?: WriteWatch }, db: WebhookDatabases, readers: OutboxReaders) => {
  const { writes = unwatched } = environment;
  let open: Writing | undefined;

  /** Gives `work` what writes need, in a transaction that is open already. */
  const write = <T>(work: () => T): T => {
    const tally = createTally(db);
    open = { tally, outbox: createOutboxWriter(db, tally, readers), progress: createProgressRows(db) };
    try {
      const result = work();
      open.outbox.flush();
      open.progress.flush();
      tally.flush();
      return result;
    } finally {
      open = undefined;
    }
  };

  /** One transaction, and what is told of it: what `work` itself throws is no failure of the store. */
  const begin = <T>(work: () => T) => {
    let thrown: { error: unknown } | undefined;
    return {
      work: (): T => {
        try {
          return write(work);
        } catch (error) {
          thrown = { error };
          throw error;
        }
      },
      written: (result: T): T => {
        writes.succeeded("webhooks");
        return result;
      },
      failed: (error: unknown): never => {
        throw thrown?.error === error ? error : writes.failed("webhooks", error);
      },
    };
  };

  const transaction: WebhookStore["transaction"] = (work) => {
    if (open !== undefined) return work();
    const one = begin(work);
    try {
      return one.written(transact(environment, one.work));
    } catch (error) {
      return one.failed(error);
    }
  };

  const transactionSoon: WebhookStore["transactionSoon"] = async (work) => {
    const one = begin(work);
    return transactSoon(environment, one.work).then(one.written, one.failed);
  };

  return {
    transaction,
    transactionSoon,
    writing: (): Writing => {
      if (open === undefined) throw new Error("The webhook store can be written only within a transaction.");
      return open;
    },
    /** The same, but undefined while no transaction is open. */
    current: (): Writing | undefined => open,
    /** A counter, as the open transaction has changed it. */
    count: (key: string): number => open?.tally.get(key) ?? readNumber(db, key),
  };
};

export type Transactions = ReturnType<typeof createTransactions>;
