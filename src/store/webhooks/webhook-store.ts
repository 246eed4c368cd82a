import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { RootDatabase } from "lmdb";
import type { KeptTime, Pause, Progress, WebhookRow, WebhookStore } from "../../../types/webhook-store.js";
import { messageOf, PorticoError } from "../../errors.js";
import { makeFolder } from "../../files/make-folder.js";
import { textDigest } from "../layout/keys.js";
import { makeWhole, openSound } from "../lmdb/open-file.js";
import { becomeWriter } from "../lmdb/writer-lock.js";
import { endWriting, transactAnyway, noteFile } from "../lmdb/safe/transact.js";
import { unwatched, type WriteWatch } from "../lmdb/write-watch.js";
import type { LogEnvironment } from "../follow/host-log.js";
import { beyondAll, counters, type OpenEnvironment, openWebhookDatabases, readNumber, schemaVersion, type WebhookDatabases } from "./databases.js";
import { migrate, type MigrationNeeds } from "./migrate.js";
import { createOutboxReader, createOutboxReaders } from "./outbox/outbox.js";
import type { SheetReader } from "./outbox/sheets.js";
import { createTransactions, type Transactions } from "./transactions.js";
import { canBeTrimmed, trimDeliveries } from "./outbox/trim.js";

/** Milliseconds that a reply is kept for its key. */
const replyTime = 86_400_000;

const noProgress: Progress = { failingSince: null };

/** States of deliveries that are not settled. */
const unsettled = ["pending", "retrying", "held"] as const;

/** Changes of the register that are kept one by one. */
const keptChanges = 10_000;

/** The databases, and this store's unique name: made once, by whichever process is first. A store of another layout is refused. */
const openDatabases = (environment: OpenEnvironment, needs: MigrationNeeds): { db: WebhookDatabases; instance: string } => {
  const db = openWebhookDatabases(environment);
  const schema = db.counters.get(counters.schema) as number | undefined;
  if (schema === undefined) {
    db.counters.putSync(counters.schema, schemaVersion);
    db.counters.putSync(counters.instance, randomBytes(6).toString("hex"));
  } else if (schema > schemaVersion || migrate(db, schema, needs) !== schemaVersion) {
    throw new PorticoError("STORE_FOREIGN", `the webhooks were written in layout ${schema}; this version reads layout ${schemaVersion}`);
  }
  return { db, instance: db.counters.get(counters.instance) as string };
};

type RegisterPart = Pick<WebhookStore, "registerRevision" | "changedSince" | "webhooks" | "webhook" | "addWebhook" | "putWebhook" | "removeWebhook" | "progress" | "putProgress">;

const registerPart = (db: WebhookDatabases, { writing, current }: Transactions): RegisterPart => {
  const noteChange = (id: number): void => {
    const revision = writing().tally.add(counters.registerRevision, 1);
    db.changes.putSync(revision, id);
    db.changes.removeSync(revision - keptChanges);
  };

  const putWebhook = (row: WebhookRow): void => {
    db.register.putSync(row.id, row);
    noteChange(row.id);
  };

  return {
    registerRevision: () => readNumber(db, counters.registerRevision),
    changedSince: (revision) => {
      if (readNumber(db, counters.registerRevision) - revision > keptChanges) return undefined;
      return [...new Set([...db.changes.getRange({ start: revision + 1 })].map(({ value }) => value))];
    },
    webhooks: () => db.register.getRange().map(({ value }) => value),
    webhook: (id) => db.register.get(id),
    addWebhook: (row) => {
      const { tally } = writing();
      const added = { id: tally.add(counters.lastWebhook, 1), ...row };
      putWebhook(added);
      return added;
    },
    putWebhook,
    removeWebhook: (id) => {
      db.register.removeSync(id);
      writing().progress.put(id, undefined);
      db.removed.putSync(id, Number.MAX_SAFE_INTEGER);
      noteChange(id);
    },
    progress: (id) => (current()?.progress ?? db.progress).get(id) ?? noProgress,
    putProgress: (id, row) => writing().progress.put(id, row),
  };
};

/** A URL may have any length, and may hold a secret. */
const pauseKey = (target: string): string => counters.pause(textDigest(target).toString("hex"));

/** Replies that are looked at with each that is kept, in turn: those past their time go faster than new ones come. */
const lookedAt = 4;

const createKeepReply = ({ replies }: WebhookDatabases): WebhookStore["keepReply"] => {
  /** The last that was looked at. */
  let last: string | undefined;
  return (key, kept) => {
    const some = [...replies.getRange({ ...(last === undefined ? {} : { start: last }), limit: lookedAt })];
    last = some.length < lookedAt ? undefined : some.at(-1)?.key;
    for (const { key: old, value } of some) if (kept.at - value.at >= replyTime) replies.removeSync(old);
    replies.putSync(key, kept);
  };
};

type NotesPart = Pick<
  WebhookStore,
  "keptReply" | "keepReply" | "pause" | "putPause" | "dropPauses" | "workRevision" | "announceWork" | "journalPosition" | "setJournalPosition" | "wasKilled" | "noteRunning" | "time" | "keepTime" | "remember" | "recent"
>;

/** What an engine notes for itself, for others and for its next run. */
const notesPart = (db: WebhookDatabases, { writing }: Transactions): NotesPart => ({
  keptReply: (key, now) => {
    const kept = db.replies.get(key);
    return kept !== undefined && now - kept.at < replyTime ? kept : undefined;
  },
  keepReply: createKeepReply(db),
  workRevision: () => readNumber(db, counters.workRevision),
  announceWork: () => void writing().tally.add(counters.workRevision, 1),
  journalPosition: () => readNumber(db, counters.journalPosition),
  setJournalPosition: (number) => db.counters.putSync(counters.journalPosition, number),
  wasKilled: () => readNumber(db, counters.running) > 0,
  noteRunning: (running) => db.counters.putSync(counters.running, running ? 1 : 0),
  time: () => db.counters.get(counters.time) as KeptTime | undefined,
  keepTime: (time) => db.counters.putSync(counters.time, time),
  pause: (target) => db.counters.get(pauseKey(target)) as Pause | undefined,
  putPause: (target, pause) => void (pause === null ? db.counters.removeSync(pauseKey(target)) : db.counters.putSync(pauseKey(target), pause)),
  dropPauses: (isOver) => {
    // Hexadecimal digits follow.
    for (const { key, value } of [...db.counters.getRange({ start: counters.pause("0"), end: counters.pause("g") })]) if (isOver(value as Pause)) db.counters.removeSync(key);
  },
  remember: (event, recent, keep) => {
    const ordinal = writing().tally.add(counters.remembered(event), 1);
    db.recent.putSync([event, ordinal], recent);
    db.recent.removeSync([event, ordinal - keep]);
  },
  recent: (event, limit) =>
    [...db.recent.getRange({ start: [event, beyondAll], end: [event, 0], reverse: true, limit })].map(({ value }) => value),
});

type DeliveriesPart = Omit<WebhookStore, keyof RegisterPart | keyof NotesPart | "instance" | "transaction" | "transactionSoon">;

const createDropOpen =
  ({ deliveryIds, delivery }: ReturnType<typeof createOutboxReader>, { writing }: Transactions) =>
  (webhookId: number): void => {
    const { outbox } = writing();
    for (const state of unsettled) {
      for (const id of deliveryIds(webhookId, state, 0, Number.MAX_SAFE_INTEGER)) {
        const row = delivery(webhookId, id);
        if (row !== undefined) outbox.removeDelivery(row);
      }
    }
  };

const deliveriesPart = (db: WebhookDatabases, sheets: SheetReader, reader: ReturnType<typeof createOutboxReader>, transactions: Transactions): DeliveriesPart => {
  const { writing, transaction, count } = transactions;
  const dropOpen = createDropOpen(reader, transactions);
  return {
    ...reader,
    dropOpen,
    forgetDeliveries: (webhookId) => {
      dropOpen(webhookId);
      db.removed.putSync(webhookId, writing().tally.get(counters.lastDelivery));
    },
    forgottenUpTo: (webhookId) => db.removed.get(webhookId) ?? 0,
    lastDelivery: () => readNumber(db, counters.lastDelivery),
    lastMessage: () => count(counters.lastMessage),
    append: (message, recipients) => writing().outbox.append(message, recipients),
    hasAbout: (event) => count(counters.about(event)) > 0,
    supersede: (messageId, webhookIds) => writing().outbox.supersede(messageId, webhookIds),
    isSuperseded: (messageId, webhookId) => count(counters.superseded(messageId)) > 0 || count(counters.superseded(messageId, webhookId)) > 0,
    changeDelivery: (before, after) => writing().outbox.changeDelivery(before, after),
    trim: (before, limit) => {
      if (!canBeTrimmed(before, { db, sheets })) return 0;
      return transaction(() => trimDeliveries({ ...writing(), delivery: reader.delivery }, before, limit, { db, sheets }));
    },
  };
};

/**
 * The webhook store in an open LMDB environment, beside whatever else that keeps: what is written while a transaction of that
 * environment is open is committed or aborted with it. `maxDbs` has to leave room for its databases (databases.ts).
 * @throws PorticoError STORE_FOREIGN
 */
export const createWebhookStore = (environment: OpenEnvironment & { writes?: WriteWatch }, needs: MigrationNeeds = { keepsChain: true }): WebhookStore => {
  noteFile(environment);
  const { db, instance } = transactAnyway(environment, () => openDatabases(environment, needs));
  const readers = createOutboxReaders(db);
  const transactions = createTransactions(environment, db, readers);
  const { transaction, transactionSoon } = transactions;
  return {
    instance,
    transaction,
    transactionSoon,
    ...registerPart(db, transactions),
    ...notesPart(db, transactions),
    ...deliveriesPart(db, readers.sheets, createOutboxReader(db, instance, { ...readers, countOfKey: transactions.count, writing: () => transactions.current()?.outbox }), transactions),
  };
};

/** A separate webhook store, for hosts whose chain is kept elsewhere: `webhooks.mdb` in a folder, made if it is missing. */
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
 * @throws PorticoError STORE_DAMAGED, STORE_FOREIGN, STORE_IN_USE
 */
export const openWebhookStore = (dataDir: string, { deliver = true, writes = unwatched }: { deliver?: boolean | undefined; writes?: WriteWatch } = {}): WebhookEnvironment => {
  const path = resolve(dataDir, "webhooks.mdb");
  let root: RootDatabase<never, never> | undefined;
  let giveUpRole: (() => Promise<void>) | undefined;
  try {
    makeFolder(dataDir);
    if (!existsSync(path)) makeWhole(path, (draft) => void openFile(draft).close());
    const opened = (root = openFile(path));
    const store = createWebhookStore({ path, root: opened, writes }, { keepsChain: false });
    if (deliver) giveUpRole = becomeWriter(path, rootOptions, "start this one with `webhooks.deliver` set to false");
    const close = async (): Promise<void> => {
      try {
        endWriting({ path, root: opened });
        await opened.close();
      } finally {
        await giveUpRole?.();
      }
    };
    return { store, environment: { path, root: opened, writes }, close };
  } catch (cause) {
    void root?.close();
    void giveUpRole?.();
    if (cause instanceof PorticoError) throw cause;
    throw new PorticoError("STORE_DAMAGED", `${path} cannot be opened: ${messageOf(cause)}`, { cause });
  }
};
