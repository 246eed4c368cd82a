import type { About, DeliveryRow, Recipient, WebhookRow, WebhookStore } from "../../../../types/webhook-store.js";
import { canonicalEvent, isReversal, namesEvent } from "../../../follow/event-names.js";
import { keyOf } from "../../deliver/request.js";
import type { Timekeeper } from "../../timekeeper.js";
import { takenBackBy } from "./plan.js";

/** Deliveries that there are already about a block or transaction, when it is reverted, or applied again. */

export interface EarlierNeeds {
  store: WebhookStore;
  time: Timekeeper;
  /** Whether an attempt of a delivery is under way, or may have been when the process before was killed. */
  mayBeAttempted(row: DeliveryRow): boolean;
  /** Whether an attempt of a delivery is under way whose outcome the row does not have yet. */
  isUnderWay(row: DeliveryRow): boolean;
  /** Whether the target has taken a delivery that is under way; its outcome may wait to be recorded. */
  hasArrived(row: DeliveryRow): boolean;
  /** Told of a delivery under way that the chain takes back: it ends as what it then is. */
  overtake(row: DeliveryRow): void;
  /** Deliveries that are taken back in a transaction which is not committed yet: others still read them as they were, and must not send them. */
  withdrawn: Set<number>;
}

/** What is noted of deliveries that are taken back. */
export interface TakenBack {
  /** The webhooks whose deliveries these are, and others of which earlier deliveries were changed. */
  changed: Set<number>;
  /** In the transaction that is open or being committed. */
  takenBack: number[];
  /** Those of them that are superseded. */
  superseded: number[];
}

const openStates = ["pending", "retrying", "held"] as const satisfies readonly DeliveryRow["state"][];

const isOpen = ({ state }: DeliveryRow): boolean => openStates.some((open) => open === state);

/** Deliveries of a webhook that are not settled. */
export const countOpen = (store: Pick<WebhookStore, "countOf">, webhookId: number): number => openStates.reduce((sum, state) => sum + store.countOf(webhookId, state), 0);

/** What is known of a webhook's deliveries about a block or transaction before it is reverted. */
export interface Prior {
  /** What its receiver may take for applied: the name of that delivery, where there was one. Undefined: nothing. */
  heard: Pick<Recipient, "reverts"> | undefined;
}

/**
 * What a reversal is sent with; undefined where the receiver never heard of what it takes back. A webhook that asks for reversals alone gets all. Where no
 * record tells what was heard, as the webhook was disabled meanwhile, say, it is taken for the last: `takesBack`, an event's id.
 */
export const reversalOf = (webhook: WebhookRow, about: About, prior: Prior | undefined, { isUnseen, takesBack }: { isUnseen: boolean; takesBack: string | undefined }): Pick<Recipient, "reverts"> | undefined => {
  const [opposite] = takenBackBy(about, undefined);
  if (opposite === undefined || !namesEvent(webhook.events.map(canonicalEvent), opposite.event)) return {};
  if (prior !== undefined) return prior.heard;
  if (isUnseen) return undefined;
  return takesBack === undefined ? {} : { reverts: keyOf(webhook, takesBack) };
};

export const createRowsAbout = (store: Pick<WebhookStore, "hasAbout" | "messagesAbout">) => (about: About, blockId: string | undefined) =>
  takenBackBy(about, blockId).flatMap((other) => (store.hasAbout(other.event) ? store.messagesAbout(other) : []));

/** Deliveries to some webhooks about the same, in which it is applied and reverted, in their order. */
const createRowsOf = (store: EarlierNeeds["store"], rowsAbout: ReturnType<typeof createRowsAbout>) => (about: About, blockId: string | undefined, webhookIds: ReadonlySet<number>): DeliveryRow[] => {
  const wanted = [about, ...takenBackBy(about, blockId)].map(({ event }) => event as string);
  const messages = [...rowsAbout(about, blockId), ...(store.hasAbout(about.event) ? store.messagesAbout(about) : [])];
  const rows = messages.flatMap(({ deliveries }) => deliveries).map(({ webhookId, id }) => {
    // Of a webhook that was disabled since, what was under way then is no longer there: what is says too little.
    const row = webhookIds.has(webhookId) && id > store.forgottenUpTo(webhookId) ? store.delivery(webhookId, id) : undefined;
    return row !== undefined && wanted.includes(canonicalEvent(row.event)) ? [row] : [];
  });
  return rows.flat().sort((one, other) => one.id - other.id);
};

/** What is known of earlier deliveries about the same block or transaction, and what becomes of them; within a transaction. */
export const createEarlier = ({ store, time, mayBeAttempted, isUnderWay, hasArrived, overtake, withdrawn }: EarlierNeeds) => {
  const rowsAbout = createRowsAbout(store);
  const rowsOf = createRowsOf(store, rowsAbout);

  /** A block was reverted, or applied again: what was open about it is attempted no more. Returns whose deliveries that were. */
  const takeBack = (about: About, blockId: string | undefined, isConcerned: (webhookId: number) => boolean, { changed, takenBack, superseded }: TakenBack): Set<number> => {
    const found = new Set<number>();
    const isTakenOff = isReversal(about.event);
    for (const { messageId, deliveries } of rowsAbout(about, blockId)) {
      const own = deliveries.filter(({ webhookId }) => isConcerned(webhookId));
      if (own.length === 0) continue;
      // Others that share it may stand elsewhere, and never see this.
      if (own.length === deliveries.length) store.supersede(messageId);
      else store.supersede(messageId, own.map(({ webhookId }) => webhookId));
      for (const { webhookId, id } of own) {
        const row = store.delivery(webhookId, id);
        if (row === undefined || !isOpen(row)) continue;
        if (isUnderWay(row)) {
          overtake(row);
          if (!isTakenOff) found.add(webhookId);
          continue;
        }
        const state = isTakenOff && row.again !== true && !mayBeAttempted(row) ? "dropped" : "superseded";
        if (state === "superseded") superseded.push(id);
        store.changeDelivery(row, { ...row, state, hold: null, dueAt: null, finishedAt: time.passed() });
        withdrawn.add(id);
        takenBack.push(id);
        changed.add(webhookId);
        found.add(webhookId);
      }
    }
    return found;
  };

  /** Whether its receiver may have heard of it. */
  const wasAttempted = (row: DeliveryRow): boolean => row.state !== "dropped" && (row.state !== "pending" || mayBeAttempted(row));

  /** What a receiver takes for applied after a delivery, if that is what it took for applied before it. */
  const heardAfter = (row: DeliveryRow, isOfReversal: boolean, heard: Prior["heard"]): Prior["heard"] => {
    if (!isOfReversal && wasAttempted(row)) return { reverts: row.key };
    if (!isOfReversal) return heard ?? (row.again === true ? { reverts: row.key } : undefined);
    // Or it is on its way.
    if (row.state === "delivered" || (isOpen(row) && !store.isSuperseded(row.messageId, row.webhookId))) return undefined;
    // Superseded before it arrived, when the block or transaction was applied again.
    return heard ?? (row.reverts === undefined ? {} : { reverts: row.reverts });
  };

  /** What was known before of some webhooks, by webhook. */
  const priorOf = (about: About, blockId: string | undefined, webhookIds: ReadonlySet<number>): Map<number, Prior> => {
    const found = new Map<number, Prior>();
    for (const row of rowsOf(about, blockId, webhookIds)) {
      found.set(row.webhookId, { heard: heardAfter(row, canonicalEvent(row.event) === about.event, found.get(row.webhookId)?.heard) });
    }
    return found;
  };

  /** The webhooks whose receivers have taken this, and cannot have heard that it was reverted: they need not be told that it is applied again. */
  const stillTold = (about: About, blockId: string | undefined, webhookIds: ReadonlySet<number>): ReadonlySet<number> => {
    const told = new Set<number>();
    for (const row of rowsOf(about, blockId, webhookIds)) {
      if (canonicalEvent(row.event) === about.event) {
        if (row.state === "delivered" || hasArrived(row)) told.add(row.webhookId);
        // A transaction may have been told of in another block since.
      } else if (mayBeAttempted(row) || store.message(row.messageId)?.block?.id !== blockId) told.delete(row.webhookId);
    }
    return told;
  };

  return { takeBack, priorOf, stillTold };
};
