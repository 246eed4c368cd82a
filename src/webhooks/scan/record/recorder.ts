import { performance } from "node:perf_hooks";
import type { About, DeliveryRow, Message, Place, Recipient, WebhookRow } from "../../../../types/webhook-store.js";
import { cursorText, type FollowEvent } from "../../../follow/index.js";
import { canonicalEvent, isReversal } from "../../../follow/event-names.js";
import { memberOf } from "../../../follow/payload.js";
import { keyOf } from "../../deliver/request.js";
import type { Register } from "../../registry/register.js";
import type { OnOutcome } from "../../send/http-sender.js";
import { countOpen, createEarlier, createRowsAbout, type EarlierNeeds, reversalOf, type TakenBack } from "./earlier.js";
import type { Holding } from "./holding.js";
import { placeAfter, placeWithin, type Plan, type PlannedEvent, sharesOf } from "./plan.js";

export interface RecorderNeeds extends EarlierNeeds {
  register: Register;
  /** Most deliveries of a webhook that are not settled. */
  window: number;
  holding: Holding;
  /** After each commit: the messages that it wrote, each with its deliveries, in the order in which they were written. */
  onWritten(written: readonly Written[]): void;
  /**
   * After each commit: webhooks whose earlier deliveries were changed, so that what was read of them is out of date. What was taken back is still
   * `withdrawn` then. After a commit that failed: all that were recorded for, as LMDB may have committed nevertheless.
   */
  onChanged(webhookIds: Iterable<number>): void;
  /** Is told of deliveries that are given up. */
  onOutcome?: OnOutcome | undefined;
}

/** A message of an event, and its deliveries. */
export interface Written {
  messageId: number;
  message: Message;
  event: FollowEvent;
  rows: readonly DeliveryRow[];
}

/** What is noted while plans are written: `full` over all transactions, the rest in the one that is open or being committed. */
interface Writing extends TakenBack {
  /** Webhooks that have no room for the next event, and where they stopped. */
  full: Map<number, Place>;
  written: Written[];
}

/** What one transaction knows: nobody else writes meanwhile. */
interface Turn extends Pick<PlanPlaces, "isCurrent" | "isOnRequest" | "mayBeTold"> {
  webhooks: ReadonlyMap<number, WebhookRow>;
  /** Deliveries that are not settled, by webhook, as far as they were counted. */
  unsettled: Map<number, number>;
  /** Places that are written at its end: each webhook's last one. */
  reached: Map<number, Place>;
}

/** Where the webhooks of plans are, within the transactions that write these. */
export interface PlanPlaces {
  /** False where it was set elsewhere, or its webhook disabled, since the plan was made: then nothing is written for it. */
  isCurrent(webhookId: number): boolean;
  /** Whether they are those of a replay. */
  isOnRequest: boolean;
  /** Whether a webhook may have been told of a block on the chain: before its cursor went back, or before it asked for a replay. */
  mayBeTold(webhookId: number, height: number): boolean;
  /** Tells whose place in the store is to be written, and where that is. */
  put(webhookId: number, place: Place): void;
}

/** Writes plans, a few milliseconds at a time: in each transaction the deliveries of some events to some webhooks, and the places of these after them. */
export interface Recorder {
  /** Resolves to the webhooks that have no room for the next event, and where they stopped. */
  record(plans: readonly Plan[], webhookIds: ReadonlySet<number>, places: PlanPlaces): Promise<ReadonlyMap<number, Place>>;
}

/** Milliseconds of writing in one transaction. */
const turn = 2;

/** One event for a chunk of webhooks. */
interface Piece {
  plan: Plan;
  planned: PlannedEvent;
  chunk: ReadonlySet<number>;
}

const sequenceOf = (data: unknown): number => {
  const sequence = memberOf(data, "sequence");
  return typeof sequence === "number" ? sequence : -1;
};

const spelling = (webhook: WebhookRow, event: string): string => webhook.events.find((name) => canonicalEvent(name) === event) ?? event;

const messageOf = ({ group }: Plan, { event, about }: PlannedEvent): Message => ({
  at: event.at,
  eventId: event.id,
  event: event.event,
  ...(event.block === null ? { json: event.json } : { block: event.block }),
  before: cursorText(group.before),
  after: cursorText(group.after),
  ...(about === undefined ? {} : { about }),
});

/** Writes one piece of a plan; within a transaction. */
const createWritePiece = (needs: RecorderNeeds) => {
  const { store, window, holding } = needs;
  const { takeBack, priorOf, stillTold } = createEarlier(needs);

  return ({ plan, planned, chunk }: Piece, writing: Writing, { webhooks, isCurrent, isOnRequest, mayBeTold, unsettled, reached }: Turn): void => {
    const { changed, full, written } = writing;
    const { event, index, about } = planned;
    const blockId = event.block?.id;
    const isChange = about !== undefined && about.event === event.event;
    // Before it is taken back: what was never attempted is not told apart afterwards.
    const takesBack = isChange && isReversal(event.event);
    const prior = takesBack ? priorOf(about, blockId, chunk) : undefined;
    // Not of a webhook that was set elsewhere since: it may find there that the chain is as it was told of.
    const lost = isChange ? takeBack(about, blockId, (webhookId) => chunk.has(webhookId) && !full.has(webhookId) && isCurrent(webhookId), writing) : new Set<number>();
    // A host that keeps the chain does not say in which block a transaction is.
    const isSame = about?.event === "block.applied" || event.block !== null;
    const told = isChange && !takesBack && !isOnRequest && isSame && lost.size > 0 ? stillTold(about, blockId, lost) : new Set<number>();
    if (event.block === null) for (const webhookId of holding.look(event, chunk)) changed.add(webhookId);
    // What was taken back, or held and dropped, leaves room.
    if (lost.size > 0 || event.block === null) unsettled.clear();
    // Of what is reverted: how many of its transactions were told of when it was applied.
    const transactions = plan.group.change?.kind === "reverted" ? (plan.seenTransactions ?? Number.MAX_SAFE_INTEGER) : planned.transactions;
    const isUnseen = plan.seenTransactions !== undefined && event.event === "transaction.reverted" && sequenceOf(event.data) >= plan.seenTransactions;
    const recipients: Recipient[] = [];
    for (const webhookId of planned.ids) {
      if (!chunk.has(webhookId)) continue;
      const webhook = webhooks.get(webhookId);
      if (webhook === undefined || full.has(webhookId) || !isCurrent(webhookId)) continue;
      const reversal = takesBack ? reversalOf(webhook, about, prior?.get(webhookId), { isUnseen, takesBack: event.takesBack }) : {};
      if (reversal === undefined || told.has(webhookId)) continue;
      const open = unsettled.get(webhookId) ?? countOpen(store, webhookId);
      unsettled.set(webhookId, open);
      if (open >= window) {
        // What is taken back of it is gone: though nothing is told yet, it is to be seen if the chain goes the other way again.
        full.set(webhookId, index === 0 && !lost.has(webhookId) ? plan.place : placeWithin(plan, index, transactions - (event.event === "transaction.applied" ? 1 : 0)));
        continue;
      }
      const isLast = plan.last.get(webhookId) === index;
      const recipient: Recipient = { webhookId, event: spelling(webhook, event.event), key: keyOf(webhook, event.id), begin: holding.beginOf(webhook, event) };
      if (isLast) recipient.last = true;
      if (reversal.reverts !== undefined) recipient.reverts = reversal.reverts;
      if (isOnRequest && !isReversal(event.event)) recipient.onRequest = true;
      if (isChange && !takesBack && (lost.has(webhookId) || (event.block !== null && mayBeTold(webhookId, event.block.height)))) recipient.again = true;
      recipients.push(recipient);
    }
    if (recipients.length > 0) {
      const message = messageOf(plan, planned);
      const rows = store.append(message, recipients);
      written.push({ messageId: store.lastMessage(), message, event, rows });
    }
    const place = placeWithin(plan, index + 1, transactions);
    // With what was taken back: if the process is killed now, and the chain returns to where they were, they are to look at it again.
    for (const webhookId of lost) if (isCurrent(webhookId) && !full.has(webhookId)) reached.set(webhookId, place);
    for (const { webhookId, last } of recipients) {
      unsettled.set(webhookId, (unsettled.get(webhookId) ?? 0) + 1);
      reached.set(webhookId, last === true ? placeAfter(plan) : place);
    }
  };
};

/** After a transaction, committed or not. `outOfDate`: webhooks of which what was read is. */
const beginAnew = ({ changed, written, takenBack, superseded }: Writing, outOfDate: ReadonlySet<number>, { withdrawn, onChanged }: RecorderNeeds): void => {
  if (outOfDate.size > 0) onChanged(outOfDate);
  for (const id of takenBack) withdrawn.delete(id);
  changed.clear();
  for (const list of [written, takenBack, superseded]) list.length = 0;
};

export const createRecorder = (needs: RecorderNeeds): Recorder => {
  const { store, register, onWritten, onOutcome } = needs;
  const writePiece = createWritePiece(needs);

  /** What is to be written, share by share. Most blocks of the past match nothing: they cost no transaction, and the store is asked little about them. */
  const piecesOf = (plan: Plan, webhookIds: ReadonlySet<number>): Piece[] => {
    const asked = new Map<About["event"], boolean>();
    const hasAbout = (event: About["event"]): boolean => {
      const has = asked.get(event) ?? store.hasAbout(event);
      asked.set(event, has);
      return has;
    };
    const rowsAbout = createRowsAbout({ messagesAbout: store.messagesAbout, hasAbout });
    const concernsAll = ({ event, about }: PlannedEvent): boolean =>
      event.block === null || (about !== undefined && about.event === event.event && rowsAbout(about, event.block.id).length > 0);
    const others = new Set(plan.events.filter(concernsAll));
    const events = plan.events.filter((planned) => planned.ids.length > 0 || others.has(planned));
    if (events.length === 0) return [];
    const concerned = others.size > 0 ? webhookIds : [...webhookIds].filter((id) => plan.last.has(id));
    return sharesOf(concerned, register.rows(), others.size > 0).flatMap((chunks) => events.flatMap((planned) => chunks.map((chunk) => ({ plan, planned, chunk }))));
  };

  /** Writes as many pieces as a turn allows. Returns how many are done then. */
  const writeSome = (pieces: readonly Piece[], done: number, writing: Writing, places: PlanPlaces): number => {
    const begun = performance.now();
    const current = new Map<number, boolean>();
    const isCurrent = (webhookId: number): boolean => {
      const is = current.get(webhookId) ?? places.isCurrent(webhookId);
      current.set(webhookId, is);
      return is;
    };
    const webhooks = register.rows();
    const unsettled: Turn["unsettled"] = new Map();
    const reached: Turn["reached"] = new Map();
    let next = done;
    do {
      const piece = pieces[next++];
      if (piece !== undefined) writePiece(piece, writing, { webhooks, isCurrent, isOnRequest: places.isOnRequest, mayBeTold: places.mayBeTold, unsettled, reached });
    } while (next < pieces.length && performance.now() - begun < turn);
    for (const [webhookId, place] of reached) places.put(webhookId, place);
    return next;
  };

  return {
    record: async (plans, webhookIds, places) => {
      const writing: Writing = { changed: new Set(), full: new Map(), takenBack: [], superseded: [], written: [] };
      const pieces = plans.flatMap((plan) => piecesOf(plan, webhookIds));
      for (let done = 0; done < pieces.length; ) {
        let isWritten = false;
        try {
          done = await store.transactionSoon(() => writeSome(pieces, done, writing, places), { isLong: true });
          if (writing.written.length > 0) onWritten(writing.written);
          writing.superseded.forEach(() => onOutcome?.("superseded"));
          isWritten = true;
        } finally {
          beginAnew(writing, isWritten ? writing.changed : webhookIds, needs);
        }
      }
      return writing.full;
    },
  };
};
