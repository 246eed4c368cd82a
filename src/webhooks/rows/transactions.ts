import { transact, transactSoon } from "../../store/lmdb/safe/transact.js";
import { unwatched, type WriteWatch } from "../../store/lmdb/write-watch.js";
import type { LogEnvironment } from "../../store/follow/host-log.js";
import { readNumber, type WebhookDatabases } from "./databases.js";

/** Counters in one transaction: each is read once, and written once at its end. One that reaches 0 is removed. */
export interface Tally {
  get(key: string): number;
  add(key: string, by: number): number;
}

const createTally = (db: WebhookDatabases): Tally & { flush(): void } => {
  const values = new Map<string, number>();
  const get = (key: string): number => values.get(key) ?? readNumber(db, key);
  return {
    get,
    add: (key, by) => {
      const value = get(key) + by;
      values.set(key, value);
      return value;
    },
    flush: () => {
      for (const [key, value] of values) {
        if (value === 0) db.counters.removeSync(key);
        else db.counters.putSync(key, value);
      }
    },
  };
};

/** One transaction, and what is told of it: what `work` itself throws is no failure of the store. */
const createWatched =
  (writes: WriteWatch, root: LogEnvironment["root"]) =>
  <T>(work: () => T) => {
    let thrown: { error: unknown } | undefined;
    return {
      work: (): T => {
        try {
          return work();
        } catch (error) {
          thrown = { error };
          throw error;
        }
      },
      written: (result: T): T => {
        writes.succeeded("webhooks");
        // Whoever reads in this turn sees it: lmdb-js begins a new read transaction only with the next.
        root.resetReadTxn();
        return result;
      },
      failed: (error: unknown): never => {
        throw thrown !== undefined && thrown.error === error ? error : writes.failed("webhooks", error);
      },
    };
  };

/** The transactions of the store, and the counters of the one that is open. */
export const createTransactions = (environment: LogEnvironment, db: WebhookDatabases) => {
  const { writes = unwatched, root } = environment;
  const watched = createWatched(writes, root);
  let open: Tally | undefined;

  const write = <T>(work: () => T): T => {
    const tally = createTally(db);
    open = tally;
    try {
      const result = work();
      tally.flush();
      return result;
    } finally {
      open = undefined;
    }
  };

  /** Resolves when the last of the long ones has ended. */
  let long: Promise<unknown> = Promise.resolve();

  return {
    /** Runs `work` as one atomic write, within the open transaction if there is one. A throw undoes all of it. */
    transaction: <T>(work: () => T): T => {
      if (open !== undefined) return work();
      const one = watched(() => write(work));
      try {
        return one.written(transact(environment, one.work));
      } catch (error) {
        return one.failed(error);
      }
    },
    /**
     * The same, deferred and batched with other writes, so that nothing blocks on the disk. Resolves once committed. `isLong`: it takes milliseconds. No two of
     * these are in one batch, which is written in one turn of the event loop: everybody else waits for all of it.
     */
    transactionSoon: <T>(work: () => T, { isLong = false }: { isLong?: boolean } = {}): Promise<T> => {
      const one = watched(() => write(work));
      const begin = (): Promise<T> => transactSoon(environment, one.work).then(one.written, one.failed);
      if (!isLong) return begin();
      const written = long.then(begin);
      long = written.catch(() => undefined);
      return written;
    },
    tally: (): Tally => {
      if (open === undefined) throw new Error("The webhook store can be written only within a transaction.");
      return open;
    },
    /** A counter, as the open transaction has changed it. */
    count: (key: string): number => open?.get(key) ?? readNumber(db, key),
  };
};

export type Transactions = ReturnType<typeof createTransactions>;
