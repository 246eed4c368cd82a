import type { WebhookStore } from "../../../types/webhook-store.js";
import { transact, transactSoon } from "../lmdb/safe/transact.js";
import { unwatched, type WriteWatch } from "../lmdb/write-watch.js";
import { type OpenEnvironment, readNumber, type WebhookDatabases } from "./databases.js";
import { createHandOn } from "./known.js";
import { createOutboxWriter, type OutboxReaders, type OutboxWriter } from "./outbox/outbox.js";
import { createProgressRows, createTally, type ProgressRows, type Tally } from "./tally.js";

/** What writes use while a transaction is open. */
export interface Writing {
  tally: Tally;
  outbox: OutboxWriter;
  progress: ProgressRows;
}

/** What is to be called once the transaction is committed. */
type OnCommit = () => void;

/** Gives `work` what writes need, in a transaction that is open already. */
const createWrite = (environment: OpenEnvironment, db: WebhookDatabases, readers: OutboxReaders) => {
  const handOn = createHandOn(environment);
  let open: Writing | undefined;
  return {
    current: (): Writing | undefined => open,
    write: <T>(work: () => T): { result: T; onCommit: OnCommit | undefined } => {
      const known = handOn.take();
      const tally = createTally(db, known.counters);
      open = { tally, outbox: createOutboxWriter(db, tally, readers, known.lastSheets), progress: createProgressRows(db, known.progress) };
      try {
        const result = work();
        open.outbox.flush();
        const [movesOn, counts] = [open.progress.flush(), tally.flush()];
        return { result, onCommit: movesOn || counts ? handOn.give(known) : undefined };
      } finally {
        open = undefined;
      }
    },
  };
};

/** One transaction, and what is told of it: what `work` itself throws is no failure of the store. */
const createBegin =
  (writes: WriteWatch, { write }: ReturnType<typeof createWrite>) =>
  <T>(work: () => T) => {
    let thrown: { error: unknown } | undefined;
    let onCommit: OnCommit | undefined;
    return {
      work: (): T => {
        try {
          const written = write(work);
          onCommit = written.onCommit;
          return written.result;
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
      committed: () => onCommit?.(),
    };
  };

/** The transactions of the store, and what writes use while one is open. */
export const createTransactions = (environment: OpenEnvironment & { writes?: WriteWatch }, db: WebhookDatabases, readers: OutboxReaders) => {
  const { writes = unwatched } = environment;
  const writing = createWrite(environment, db, readers);
  const begin = createBegin(writes, writing);
  const { current } = writing;

  const transaction: WebhookStore["transaction"] = (work) => {
    if (current() !== undefined) return work();
    const one = begin(work);
    try {
      return one.written(transact(environment, one.work));
    } catch (error) {
      return one.failed(error);
    }
  };

  /** Resolves when the last of the long ones has ended. */
  let long: Promise<unknown> = Promise.resolve();

  const transactionSoon: WebhookStore["transactionSoon"] = (work, { isLong = false } = {}) => {
    const one = begin(work);
    const write = async (): Promise<ReturnType<typeof work>> => {
      const written = await transactSoon(environment, one.work).then(one.written, one.failed);
      one.committed();
      return written;
    };
    if (!isLong) return write();
    const written = long.then(write);
    long = written.catch(() => undefined);
    return written;
  };

  return {
    transaction,
    transactionSoon,
    writing: (): Writing => {
      const open = current();
      if (open === undefined) throw new Error("The webhook store can be written only within a transaction.");
      return open;
    },
    /** The same, but undefined while no transaction is open. */
    current,
    /** A counter, as the open transaction has changed it. */
    count: (key: string): number => current()?.tally.get(key) ?? readNumber(db, key),
  };
};

export type Transactions = ReturnType<typeof createTransactions>;
