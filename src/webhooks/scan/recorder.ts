import type { Logger } from "../../../types/node-context.js";
import type { About, DeliveryRow, Recipient, WebhookRow, WebhookStore } from "../../../types/webhook-store.js";
import { messageOf } from "../../errors.js";
import { isChange, takenBackBy } from "../../follow/known-events.js";
import type { Timekeeper } from "../timekeeper.js";
import type { RecentEvents } from "./recent-events.js";
import type { Register } from "../registry/register.js";

export interface RecorderNeeds {
  store: WebhookStore;
  register: Register;
  recent: RecentEvents;
  time: Timekeeper;
  logger: Logger;
  /** Told of webhooks that got something to deliver. */
  onWork(webhookIds: Iterable<number>): void;
}

/** What an event is about, and in which block. */
export interface Place {
  subject: "block" | "transaction";
  height: number;
}

export interface Happening {
  event: string;
  at: number;
  /** The payload as JSON text; made only when it is needed. */
  json(): string;
  place?: Place | undefined;
  /** Id of the block or transaction that was applied or reverted, where the event is that. */
  id?: string | undefined;
}

/** Stands for a block whose height the host does not tell: the next block that is applied. */
export const nextBlock = Number.MAX_SAFE_INTEGER;

/** Records what happened, matched and ready to be delivered. All but `committed` is called within a transaction of the store. */
export interface Recorder {
  record(happening: Happening): void;
  /** A block was applied: gives its height to deliveries that waited for the next block, and releases those with enough confirmations. */
  release(height: number): void;
  /** A block was reverted: drops the deliveries that waited for confirmations. */
  drop(height: number): void;
  /** Called after the commit: notifies whoever delivers. */
  committed(): void;
}

/** Held deliveries that are looked at together. */
const batchSize = 500;

/** Confirmations are counted as the interface shows them: a block's from 0, a transaction's from 1. */
const releaseHeightOf = ({ subject, height }: Place, confirmations: number): number =>
  height === nextBlock ? nextBlock : height + confirmations - (subject === "transaction" ? 1 : 0);

const recipientOf = ({ id: webhookId, event, confirmations }: WebhookRow, place: Place | undefined): Recipient => {
  if (place === undefined || confirmations === 0) return { webhookId, event, begin: { state: "pending" } };
  const releaseHeight = releaseHeightOf(place, confirmations);
  if (releaseHeight === place.height && releaseHeight !== nextBlock) return { webhookId, event, begin: { state: "pending" } };
  return { webhookId, event, begin: { state: "held", releaseHeight, blockHeight: place.height } };
};

/**
 * A delivery whose block or transaction was reverted, or applied again, since. One that was never attempted is dropped; but a reversal
 * that was not is still attempted once, for webhooks that count reversals: those to one target go out before what comes after them.
 */
const takenBack = (row: DeliveryRow, { event }: About, now: number): DeliveryRow => {
  const isOpen = row.state === "pending" || row.state === "retrying" || row.state === "held";
  const isFirst = row.attemptCount === 0;
  if (!isOpen || (isFirst && event.endsWith(".reverted"))) return row;
  return { ...row, state: isFirst ? "dropped" : "superseded", hold: null, dueAt: null, finishedAt: now };
};

export const createRecorder = ({ store, register, recent, time, logger, onWork }: RecorderNeeds): Recorder => {
  let touched = new Set<number>();

  const matching = (event: string, json: string): WebhookRow[] => {
    try {
      const { ids } = register.matcher().match(event, JSON.parse(json));
      return ids.map((id) => register.find(id)).filter((row) => row !== undefined);
    } catch (error) {
      logger.error(`webhooks: ${event} cannot be matched: ${messageOf(error)}`);
      return [];
    }
  };

  const changeAll = (list: () => { webhookId: number; id: number }[], change: (row: DeliveryRow) => DeliveryRow): void => {
    for (let found = list(); found.length > 0; found = list()) {
      for (const { webhookId, id } of found) {
        const row = store.delivery(webhookId, id);
        if (row === undefined) continue;
        store.changeDelivery(row, change(row));
        touched.add(webhookId);
      }
    }
  };

  const place = (row: DeliveryRow, height: number): DeliveryRow => {
    const confirmations = register.find(row.webhookId)?.confirmations ?? 0;
    return { ...row, hold: { blockHeight: height, releaseHeight: releaseHeightOf({ subject: "transaction", height }, confirmations) } };
  };

  const supersede = (about: About): void => {
    for (const { webhookId, id } of store.supersede(about)) {
      const row = store.delivery(webhookId, id);
      if (row === undefined) continue;
      store.changeDelivery(row, takenBack(row, about, time.passed()));
      touched.add(webhookId);
    }
  };

  return {
    record: ({ event, at, json, place, id }) => {
      recent.note(event, { at, json });
      const about = id !== undefined && isChange(event) ? { event, id } : undefined;
      if (about !== undefined) supersede(takenBackBy(about));
      if (!register.matcher().listens(event)) return;
      const text = json();
      const recipients = matching(event, text).map((webhook) => recipientOf(webhook, place));
      if (recipients.length === 0) return;
      store.append({ at, json: text, ...(about === undefined ? {} : { about }) }, recipients);
      for (const { webhookId } of recipients) touched.add(webhookId);
    },
    release: (height) => {
      changeAll(
        () => store.heldFrom(nextBlock, batchSize),
        (row) => place(row, height),
      );
      changeAll(
        () => store.releasable(height, batchSize),
        (row) => ({ ...row, state: "pending", hold: null }),
      );
    },
    drop: (height) =>
      changeAll(
        () => store.heldFrom(height, batchSize),
        (row) => ({ ...row, state: "dropped", hold: null, finishedAt: time.passed() }),
      ),
    committed: () => {
      if (touched.size === 0) return;
      const webhooks = touched;
      touched = new Set();
      onWork(webhooks);
    },
  };
};
