import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { RootDatabase } from "lmdb";
import { messageOf, PorticoError } from "../../errors.js";
import { makeDataDir } from "../../files/make-folder.js";
import type { LogEnvironment } from "../../store/follow/host-log.js";
import { textDigest } from "../../store/layout/keys.js";
import { makeWhole, openSound } from "../../store/lmdb/open-file.js";
import { endWriting, noteFile, transactAnyway } from "../../store/lmdb/safe/transact.js";
import { unwatched, type WriteWatch } from "../../store/lmdb/environment.js";
import { becomeWriter } from "../../store/lmdb/writer-lock.js";
import {
  beyondAll,
  counters,
  createTransactions,
  layout,
  openDatabases,
  readNumber,
  type Transactions,
  type WebhookDatabases,
} from "./transactions.js";
import { createDeliveryRows } from "./deliveries.js";
import type { KeptReply, KeptTime, LedgerEntry, Pause, Progress, RecentEvent, WebhookRow } from "./rows.js";

/** Milliseconds that a reply is kept for its key. */
const replyTime = 86_400_000;
/** With each kept reply, 4 others are checked in turn and dropped if they are older than a day. */
const lookedAt = 4;
/** Changes of the register that are kept one by one. */
const keptChanges = 10_000;

const noProgress: Progress = {};

/**
 * The databases, and this store's unique name: made once, by whichever process is first. In one transaction: that in which lmdb-js makes a
 * database by itself may begin too early (transact.js). @throws PorticoError STORE_FOREIGN
 */
const openRows = (environment: LogEnvironment): { db: WebhookDatabases; instance: string } =>
  transactAnyway(environment, () => {
    const db = openDatabases(environment.root);
    const found = db.counters.get(counters.schema) as number | undefined;
    if (found === undefined) {
      db.counters.putSync(counters.schema, layout);
      db.counters.putSync(counters.instance, randomBytes(6).toString("hex"));
    } else if (found !== layout) {
      throw new PorticoError("STORE_FOREIGN", `${environment.path} was written in layout ${found}; this version reads layout ${layout}: move it away, and create its webhooks again`);
    }
    return { db, instance: db.counters.get(counters.instance) as string };
  });

type EntryName = Pick<LedgerEntry, "isReverted" | "height" | "id">;

interface LedgerHeights {
  applied: number;
  reverted: number;
}

/** Keys of a webhook's blocks up to a height. */
const keysOfLedger = ({ ledger }: WebhookDatabases, webhookId: number, upTo: LedgerHeights): [0 | 1, number, number, string][] =>
  ([[0, upTo.applied], [1, upTo.reverted]] as const).flatMap(([side, height]) => [
    ...ledger.getKeys({ start: [side, webhookId, 0, ""], end: [side, webhookId, Math.max(0, height) + 1, ""] }),
  ]);

const registerRows = (db: WebhookDatabases, { tally, count }: Transactions) => {
  const noteChange = (id: number): void => {
    const revision = tally().add(counters.registerRevision, 1);
    db.changes.putSync(revision, id);
    db.changes.removeSync(revision - keptChanges);
  };

  const putWebhook = (row: WebhookRow): void => {
    db.register.putSync(row.id, row);
    noteChange(row.id);
  };

  return {
    /** Increases with every change of a webhook, in whatever process. */
    registerRevision: (): number => readNumber(db, counters.registerRevision),
    /** Ids of the webhooks changed since a revision; undefined if that was too many changes ago to tell. */
    changedSince: (revision: number): number[] | undefined =>
      readNumber(db, counters.registerRevision) - revision > keptChanges
        ? undefined
        : [...new Set([...db.changes.getRange({ start: revision + 1 })].map(({ value }) => value))],
    /** All, ascending by id, each read when it is asked for: it may be large. */
    webhooks: (): Iterable<WebhookRow> => db.register.getRange().map(({ value }) => value),
    /** Of all, without reading them. */
    webhookIds: (): Iterable<number> => db.register.getKeys(),
    webhook: (id: number): WebhookRow | undefined => db.register.get(id),
    addWebhook: (row: Omit<WebhookRow, "id">): WebhookRow => {
      const added = { id: tally().add(counters.lastWebhook, 1), ...row };
      putWebhook(added);
      return added;
    },
    /** One that has its number already, which no other is given from now on. */
    importWebhook: (row: WebhookRow): void => {
      const last = count(counters.lastWebhook);
      if (row.id > last) tally().add(counters.lastWebhook, row.id - last);
      putWebhook(row);
    },
    putWebhook,
    /** Its deliveries are removed later, by `trim`. */
    removeWebhook: (id: number): void => {
      db.register.removeSync(id);
      db.progress.removeSync(id);
      for (const key of keysOfLedger(db, id, { applied: beyondAll, reverted: beyondAll })) db.ledger.removeSync(key);
      db.removed.putSync(id, count(counters.lastDelivery));
      noteChange(id);
    },
    /** Does not count as a change of the register. */
    progress: (id: number): Progress => db.progress.get(id) ?? noProgress,
    putProgress: (id: number, progress: Progress): void => void db.progress.putSync(id, progress),
  };
};

const keyOfEntry = (webhookId: number, { isReverted, height, id }: EntryName): [0 | 1, number, number, string] =>
  [isReverted ? 1 : 0, webhookId, height, id];

const ledgerRows = (db: WebhookDatabases) => ({
  /** The blocks of a webhook's ledger, the highest first: those that it counts as applied, or those that were reverted. */
  ledger: (webhookId: number, isReverted: boolean): LedgerEntry[] => {
    const side = isReverted ? 1 : 0;
    const range = { start: [side, webhookId, beyondAll, ""], end: [side, webhookId, -1, ""], reverse: true };
    return [...db.ledger.getRange(range)].map(({ value }) => value);
  },
  /** Whether the ledger of a webhook, or of any, has blocks that were reverted. */
  hasReverted: (webhookId?: number): boolean =>
    db.ledger.getKeysCount({ start: [1, webhookId ?? 0, 0, ""], end: [1, webhookId ?? beyondAll, beyondAll, ""], limit: 1 }) > 0,
  ledgerEntry: (webhookId: number, entry: EntryName): LedgerEntry | undefined => db.ledger.get(keyOfEntry(webhookId, entry)),
  putLedgerEntry: (webhookId: number, entry: LedgerEntry): void => void db.ledger.putSync(keyOfEntry(webhookId, entry), entry),
  removeLedgerEntry: (webhookId: number, entry: LedgerEntry): void => void db.ledger.removeSync(keyOfEntry(webhookId, entry)),
  /** Removes blocks up to a height: of those that it counts as applied, and of those that were reverted. */
  trimLedger: (webhookId: number, upTo: LedgerHeights): void => {
    for (const key of keysOfLedger(db, webhookId, upTo)) db.ledger.removeSync(key);
  },
});

/** A URL may have any length, and may hold a secret. */
const pauseKey = (target: string): string => counters.pause(textDigest(target).toString("hex"));

/** Replies that are given again for the same key. */
const replyRows = ({ replies }: WebhookDatabases) => {
  /** The last that was looked at. */
  let last: string | undefined;
  return {
    /** Undefined for one that is past its time. */
    keptReply: (key: string, now: number): KeptReply | undefined => {
      const kept = replies.get(key);
      return kept !== undefined && now - kept.at < replyTime ? kept : undefined;
    },
    keepReply: (key: string, kept: KeptReply): void => {
      const some = [...replies.getRange({ ...(last === undefined ? {} : { start: last }), limit: lookedAt })];
      last = some.length < lookedAt ? undefined : some.at(-1)?.key;
      for (const { key: old, value } of some) if (kept.at - value.at >= replyTime) replies.removeSync(old);
      replies.putSync(key, kept);
    },
  };
};

/** What an engine notes for itself, for others and for its next run. */
const noteRows = (db: WebhookDatabases, { tally }: Transactions) => ({
  /** Increases with `announceWork`: processes that share a store tell each other by it that deliveries became due. */
  workRevision: (): number => readNumber(db, counters.workRevision),
  announceWork: (): void => void tally().add(counters.workRevision, 1),
  /** Whether the process before ended without notice: attempts may have been made of which nothing is known. */
  wasKilled: (): boolean => readNumber(db, counters.running) > 0,
  /** Notes that attempts may be under way, or that none is. */
  noteRunning: (running: boolean): void => void db.counters.putSync(counters.running, running ? 1 : 0),
  /** Undefined until it is kept for the first time. */
  time: (): KeptTime | undefined => db.counters.get(counters.time) as KeptTime | undefined,
  keepTime: (time: KeptTime): void => void db.counters.putSync(counters.time, time),
  /** How a target (its URL) was paused last, unless it has answered otherwise since. */
  pause: (target: string): Pause | undefined => db.counters.get(pauseKey(target)) as Pause | undefined,
  /** Null: it has answered otherwise. */
  putPause: (target: string, pause: Pause | null): void =>
    void (pause === null ? db.counters.removeSync(pauseKey(target)) : db.counters.putSync(pauseKey(target), pause)),
  /** Forgets the pauses of which this says so. */
  dropPauses: (isOver: (pause: Pause) => boolean): void => {
    // Hexadecimal digits follow.
    for (const { key, value } of [...db.counters.getRange({ start: counters.pause("0"), end: counters.pause("g") })])
      if (isOver(value as Pause)) db.counters.removeSync(key);
  },
  /** Adds a payload of an event, and keeps only its last `keep`. */
  remember: (event: string, recent: RecentEvent, keep: number): void => {
    const ordinal = tally().add(counters.remembered(event), 1);
    db.recent.putSync([event, ordinal], recent);
    db.recent.removeSync([event, ordinal - keep]);
  },
  /** Newest first. */
  recent: (event: string, limit: number): RecentEvent[] =>
    [...db.recent.getRange({ start: [event, beyondAll], end: [event, 0], reverse: true, limit })].map(({ value }) => value),
});

/** The rows of webhooks, deliveries and ledgers, in an open LMDB environment. @throws PorticoError STORE_FOREIGN */
export const createWebhookStore = (environment: LogEnvironment) => {
  noteFile(environment);
  const { db, instance } = openRows(environment);
  const transactions = createTransactions(environment, db);
  const { transaction, transactionSoon, isChanging } = transactions;
  return {
    /** Identifies this store. */
    instance,
    transaction,
    transactionSoon,
    isChanging,
    ...registerRows(db, transactions),
    ...ledgerRows(db),
    ...replyRows(db),
    ...noteRows(db, transactions),
    ...createDeliveryRows(db, transactions),
  };
};

/** Every method that writes, except `trim`, must be called within `transaction` or `transactionSoon`. */
export type WebhookStore = ReturnType<typeof createWebhookStore>;

/** `webhooks.mdb` in a data folder, made if it is missing. */
export interface WebhookEnvironment {
  store: WebhookStore;
  environment: LogEnvironment;
  close(): Promise<void>;
}

// As for the chain (environment.ts): no failure in a promise that nobody holds, and no wait that may never end.
const rootOptions = { maxDbs: 32, noSubdir: true, eventTurnBatching: false, overlappingSync: false };

const openFile = (path: string) => openSound<never, never>(path, rootOptions);

/**
 * `deliver`: as the engine's option. One process at a time may open it so: two would record events under the same numbers, and each
 * deliver them.
 * @throws PorticoError OPTION_INVALID, STORE_DAMAGED, STORE_FOREIGN, STORE_IN_USE
 */
export const openWebhookStore = (dataDir: string, { deliver = true, writes = unwatched }: { deliver?: boolean | undefined; writes?: WriteWatch } = {}): WebhookEnvironment => {
  const path = resolve(dataDir, "webhooks.mdb");
  let root: RootDatabase<never, never> | undefined;
  let giveUpRole: (() => Promise<void>) | undefined;
  try {
    makeDataDir(dataDir);
    if (!existsSync(path)) makeWhole(path, (draft) => void openFile(draft).close());
    const opened = (root = openFile(path));
    const environment = { path, root: opened, writes };
    const store = createWebhookStore(environment);
    if (deliver) giveUpRole = becomeWriter(path, rootOptions, "start this one as a reader or, with a chain of your own, with `webhooks.deliver` set to false");
    const close = async (): Promise<void> => {
      try {
        endWriting(environment);
        await opened.close();
      } finally {
        await giveUpRole?.();
      }
    };
    return { store, environment, close };
  } catch (cause) {
    void root?.close();
    void giveUpRole?.();
    if (cause instanceof PorticoError) throw cause;
    throw new PorticoError("STORE_DAMAGED", `${path} cannot be opened: ${messageOf(cause)}`, { cause });
  }
};
