import { randomUUID } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Delivery, Webhooks } from "../../../types/webhooks.js";
import { type FullClock, readingsOf } from "../../async/clock.js";
import { PorticoError } from "../../errors.js";
import { webhookRow } from "./register.js";
import { type DeliveryRow, pingEvent, type WebhookRow } from "../rows/rows.js";
import type { WebhookStore } from "../rows/store.js";
import { endOf } from "../deliver/outcome.js";
import { isReversal } from "../../follow/event-names.js";
import { keyOf } from "../send/request.js";
import type { Timekeeper } from "../timekeeper.js";
import { payloadJson } from "../../follow/payload.js";

export interface DeliveriesNeeds {
  store: WebhookStore;
  clock: FullClock;
  time: Timekeeper;
  /** Told of webhooks that got something to deliver. */
  onWork(webhookIds: Iterable<number>): void;
}

type Deliveries = Pick<Webhooks, "ping" | "recover" | "deliveries" | "delivery" | "redeliver">;

/** Deliveries that are looked at in one transaction. */
const batchSize = 500;

/** The delivery as one that is due now, whether or not it was ever attempted: it waits for nothing but its turn. */
const dueNow = ({ stepSince: _, scheduledAt: __, ...row }: DeliveryRow, now: number): DeliveryRow => {
  const due: DeliveryRow = { ...row, state: "retrying", dueAt: now, finishedAt: null, failures: 0 };
  if (row.finishedAt !== null && !isReversal(row.event)) due.onRequest = true;
  return due;
};

/** A ping is one attempt, at once and for itself: sent again, it is what it was at first. */
const dueAgain = (row: DeliveryRow, now: number): DeliveryRow =>
  row.event === pingEvent ? { ...dueNow(row, 0), state: "pending" } : dueNow(row, now);

/** @throws PorticoError BAD_REQUEST */
const checkPings = ({ enabled }: WebhookRow): void => {
  if (!enabled) throw new PorticoError("BAD_REQUEST", "The webhook is disabled. Enable it to ping it.", { validation: { source: "params", keys: ["id"] } });
};

/** Deliveries of a webhook as clients see them: none is sent again before its target's pause ends. */
const showing = ({ store, clock, time }: DeliveriesNeeds, { target }: WebhookRow): ((row: DeliveryRow) => Delivery) => {
  const pausedUntil = endOf(store.pause(target), readingsOf(clock)) ?? 0;
  return ({ id, webhookId, key, event, state, at, dueAt, attemptCount, attempts }) => ({
    id,
    webhookId,
    messageId: key,
    event,
    state,
    timestamp: at,
    dueAt: state !== "retrying" || dueAt === null ? null : Math.max(time.wallOfDue(dueAt), pausedUntil),
    attemptCount,
    attempts,
  });
};

/** @throws PorticoError WEBHOOK_NOT_FOUND, DELIVERY_NOT_FOUND */
const find = (store: WebhookStore, webhookId: number, id: number): { webhook: WebhookRow; row: DeliveryRow } => {
  const webhook = webhookRow(store, webhookId);
  const row = store.delivery(webhookId, id);
  if (row === undefined) throw new PorticoError("DELIVERY_NOT_FOUND");
  return { webhook, row };
};

/** Why a delivery is not sent again: the receiver's last word would not be what the chain says. */
const takenBack = (): PorticoError =>
  new PorticoError("BAD_REQUEST", "The chain has since undone what the delivery reports, so it is not sent again.", {
    validation: { source: "params", keys: ["deliveryId"] },
  });

type Window = Parameters<Deliveries["recover"]>[1];

/** Makes one batch due again; within a transaction. Returns the last id looked at, and how many became due. */
const recoverBatch = ({ store, time }: DeliveriesNeeds, webhookId: number, state: "dead" | "retrying", window: Window, after: number) => {
  const ids = store.deliveryIds(webhookId, state, after, batchSize);
  const rows = ids.map((id) => store.delivery(webhookId, id)).filter((row) => row !== undefined);
  // A ping counts for nothing: it is one attempt, and its outcome is what was asked for.
  const chosen = rows.filter(
    ({ at, event, isTakenBack }) => event !== pingEvent && at >= window.since && at <= window.until && isTakenBack !== true,
  );
  for (const row of chosen) store.changeDelivery(row, dueNow(row, time.dueTime()));
  return { last: ids.at(-1), count: chosen.length };
};

/** What clients can do with deliveries. */
export const createDeliveries = (needs: DeliveriesNeeds): Deliveries => {
  const { store, clock, time, onWork } = needs;
  const show = ({ webhook, row }: ReturnType<typeof find>): Delivery => showing(needs, webhook)(row);

  /** Writes a change that makes deliveries due, and notifies the workers that send them, in this process and others. */
  const work = <T>(webhookId: number, change: () => T): T => {
    const result = store.transaction(() => {
      store.announceWork();
      return change();
    });
    onWork([webhookId]);
    return result;
  };

  return {
    ping: (webhookId) => {
      const webhook = webhookRow(store, webhookId);
      checkPings(webhook);
      const at = clock.now();
      const message = { at, json: payloadJson({ webhook: webhookId }) };
      const key = keyOf(webhook, `${store.instance}.${pingEvent}.${randomUUID()}`);
      const [row] = work(webhookId, () => store.append(message, [{ webhookId, event: pingEvent, key, isPing: true }]));
      return show(find(store, webhookId, row?.id ?? 0));
    },
    recover: async (webhookId, window) => {
      webhookRow(store, webhookId);
      let count = 0;
      // Retrying first: dead deliveries become retrying ones, and must not be counted twice.
      for (const state of ["retrying", "dead"] as const) {
        for (let after: number | undefined = 0; after !== undefined; ) {
          const from: number = after;
          const batch = work(webhookId, () => recoverBatch(needs, webhookId, state, window, from));
          count += batch.count;
          after = batch.last;
          await nextTurn();
        }
      }
      return count;
    },
    deliveries: (webhookId, state, page) => {
      const shown = showing(needs, webhookRow(store, webhookId));
      const { rows, total } = store.deliveries(webhookId, state, page);
      return { rows: rows.map(shown), total };
    },
    delivery: (webhookId, id) => {
      const found = find(store, webhookId, id);
      const payload: unknown = JSON.parse(store.message(found.row.messageId)?.json ?? "null");
      return { ...show(found), payload };
    },
    redeliver: (webhookId, id) => {
      // Before anything is written: the answer may be that there is no such delivery.
      find(store, webhookId, id);
      return work(webhookId, () => {
        // Read within the transaction: the outcome of an attempt may have been committed a moment before it.
        const { webhook, row } = find(store, webhookId, id);
        if (row.event === pingEvent) checkPings(webhook);
        if (row.isTakenBack === true) throw takenBack();
        const due = dueAgain(row, time.dueTime());
        store.changeDelivery(row, due);
        return show({ webhook, row: due });
      });
    },
  };
};
