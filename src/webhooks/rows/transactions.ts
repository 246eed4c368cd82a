import { transact, transactSoon } from "../../store/lmdb/safe/transact.js";
import { unwatched, type WriteWatch } from "../../store/lmdb/environment.js";
import type { LogEnvironment } from "../../store/follow/host-log.js";
import type { Database, RootDatabase } from "lmdb";
import type { DeliveryState } from "../../../types/webhooks.js";
import { rowEncoder } from "../../store/layout/row-encoding.js";
import type { DeliveryRow, KeptReply, KeptTime, LedgerEntry, Message, Pause, Progress, RecentEvent, WebhookRow } from "./rows.js";

/** The databases of `webhooks.mdb`, and their keys: arrays in lmdb's ordered binary form, which sort element by element. */
export interface WebhookDatabases {
  /** Webhook id -> webhook. */
  register: Database<WebhookRow, number>;
  /** Webhook id -> where it is. Apart from the webhook, which may be large. */
  progress: Database<Progress, number>;
  /** 1 if it was reverted and else 0, webhook id, height, id -> a block of the ledger. */
  ledger: Database<LedgerEntry, [0 | 1, number, number, string]>;
  /** Key of a request -> its reply. */
  replies: Database<KeptReply, string>;
  /** Revision of the register -> id of the webhook that changed with it; the last ones only. */
  changes: Database<number, number>;
  /** Number -> a message, and how many deliveries share it. */
  messages: Database<Message & { references: number }, number>;
  /** Webhook id, delivery id -> delivery. */
  deliveries: Database<DeliveryRow, [number, number]>;
  /** Webhook id, state, delivery id. */
  states: Database<true, [number, DeliveryState, number]>;
  /** Webhook id, due time, delivery id: deliveries between attempts, and pings. */
  due: Database<true, [number, number, number]>;
  /** "dead" or "done", finish time, webhook id, delivery id: what retention looks at. */
  finished: Database<true, ["dead" | "done", number, number, number]>;
  /** Id of a webhook that was removed -> the last delivery that may be one of its. */
  removed: Database<number, number>;
  /** Event, ordinal -> one of its last payloads. */
  recent: Database<RecentEvent, [string, number]>;
  /** Single values by name, and counts of deliveries by webhook and state. */
  counters: Database<number | string | KeptTime | Pause, string>;
}

export const counters = {
  schema: "schema",
  instance: "instance",
  lastWebhook: "last-webhook",
  lastMessage: "last-message",
  lastDelivery: "last-delivery",
  registerRevision: "register-revision",
  workRevision: "work-revision",
  running: "running",
  time: "time",
  /** Deliveries of a webhook in a state. */
  inState: (webhookId: number, state: DeliveryState) => `in-state ${webhookId} ${state}`,
  /** How a target was paused, by the digest of its URL. */
  pause: (digest: string) => `pause ${digest}`,
  /** Payloads of an event that were ever kept. */
  remembered: (event: string) => `remembered ${event}`,
} as const;

/** A file of another layout is refused. */
export const layout = 1;

const names = ["register", "progress", "ledger", "replies", "changes", "messages", "deliveries", "states", "due", "finished", "removed", "recent", "counters"] as const satisfies readonly (keyof WebhookDatabases)[];

/** Records are self-contained, and whole numbers may have any size. */
const encoding = { encoding: "msgpack", keyEncoding: "ordered-binary", encoder: { useRecords: false, useBigIntExtension: true } } as const;

/** Rows that say where requests go, and what has been sent, have a checksum. They are few; rows of deliveries are many, and have none. */
const checked = new Set(["register", "progress", "ledger"]);

export const openDatabases = (root: Pick<RootDatabase<never, never>, "openDB">): WebhookDatabases =>
  Object.fromEntries(names.map((name) => [name, root.openDB({ name: `webhooks-${name}`, ...encoding, ...(checked.has(name) ? { encoder: rowEncoder } : {}) } as never)])) as unknown as WebhookDatabases;

/** Above every number, in keys. */
export const beyondAll = Number.MAX_VALUE;

/** A counter: 0 where it was never set. */
export const readNumber = (db: Pick<WebhookDatabases, "counters">, key: string): number =>
  (db.counters.get(key) as number | undefined) ?? 0;

/** Counters in one transaction: each is read once, and written once at its end if it has changed. One that reaches 0 is removed. */
export interface Tally {
  get(key: string): number;
  add(key: string, by: number): number;
}

const createTally = (db: WebhookDatabases): Tally & { flush(): void } => {
  const values = new Map<string, number>();
  const changed = new Set<string>();
  const get = (key: string): number => {
    const value = values.get(key) ?? readNumber(db, key);
    values.set(key, value);
    return value;
  };
  return {
    get,
    add: (key, by) => {
      const value = get(key) + by;
      values.set(key, value);
      changed.add(key);
      return value;
    },
    flush: () => {
      for (const key of changed) {
        const value = get(key);
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
  let open: { tally: Tally; changed: Set<number> } | undefined;
  /** Deliveries that each deferred transaction has changed, until it is committed. */
  const uncommitted = new Set<ReadonlySet<number>>();

  const write = <T>(work: () => T, changed = new Set<number>()): T => {
    const tally = createTally(db);
    open = { tally, changed };
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
     * The same, deferred and batched with other writes, so that nothing blocks on the disk. Resolves once committed. `isLong`: it takes
     * milliseconds. No two of these are in one batch, which is written in one turn of the event loop: everybody else waits for all of it.
     */
    transactionSoon: <T>(work: () => T, { isLong = false }: { isLong?: boolean } = {}): Promise<T> => {
      const changed = new Set<number>();
      const one = watched(() => write(work, changed));
      const begin = async (): Promise<T> => {
        uncommitted.add(changed);
        try {
          return await transactSoon(environment, one.work).then(one.written, one.failed);
        } finally {
          uncommitted.delete(changed);
        }
      };
      if (!isLong) return begin();
      const written = long.then(begin);
      long = written.catch(() => undefined);
      return written;
    },
    tally: (): Tally => {
      if (open === undefined) throw new Error("The webhook store can be written only within a transaction.");
      return open.tally;
    },
    /** A counter, as the open transaction has changed it. */
    count: (key: string): number => open?.tally.get(key) ?? readNumber(db, key),
    noteChanged: (delivery: number): void => void open?.changed.add(delivery),
    /** Whether a delivery was changed by a transaction that is not committed: whoever reads it meanwhile finds it as it was. */
    isChanging: (delivery: number): boolean => {
      for (const changed of uncommitted) if (changed.has(delivery)) return true;
      return false;
    },
  };
};

export type Transactions = ReturnType<typeof createTransactions>;
