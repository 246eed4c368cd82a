import { placeIn } from "../../follow/derive.js";
import { isReversal } from "../../follow/event-names.js";
import {
  type DeliveryRow,
  isOpen,
  isOwnEvent,
  type LedgerEntry,
  type Message,
  openStates,
  type Position,
  type Progress,
  type Sent,
} from "../rows/rows.js";
import type { WebhookStore } from "../rows/store.js";
import type { Timekeeper } from "../timekeeper.js";
import {
  blockName,
  heightOf,
  type Knowledge,
  knowledgeAfter,
  type LedgerBlock,
  ledgerBlock,
  noKnowledge,
  type PastDelivery,
  withLogOf,
} from "./match.js";

// The ledger of a webhook: the blocks that it was sent events of and that are not final. A fork, a cursor that a client moves back and a
// webhook that is disabled are the same walk: from the top of the ledger down to the chain, block by block, within a transaction.

/** What the dispatcher knows of attempts whose outcomes are not recorded yet. */
export interface Attempts {
  /** Whether one is under way, or has failed, whose outcome the row does not have yet. */
  isUnderWay(row: DeliveryRow): boolean;
  /** Whether one was answered 2xx, and the row does not have that yet. */
  hasArrived(row: DeliveryRow): boolean;
  /** A delivery under way is taken back. Its attempt ends first. */
  overtake(row: DeliveryRow): void;
}

/** Nothing is under way. */
const noAttempts: Attempts = { isUnderWay: () => false, hasArrived: () => false, overtake: () => undefined };

/** Another process delivers: it may be sending any of what is open. */
export const attemptsElsewhere: Attempts = { isUnderWay: () => true, hasArrived: () => false, overtake: () => undefined };

export interface LedgerNeeds {
  store: WebhookStore;
  time: Pick<Timekeeper, "passed">;
  attempts: Attempts;
}

/** A delivery of the ledger. */
interface LedgerDelivery {
  row: DeliveryRow;
  message: Message;
  entry: LedgerEntry;
}

const attemptOf = (row: DeliveryRow, { isUnderWay, hasArrived }: Attempts): PastDelivery["attempt"] => {
  if (row.state === "delivered" || row.attempts.some(({ stage }) => stage === null) || hasArrived(row)) return "arrived";
  return row.attemptCount > 0 || row.maybeSent === true || isUnderWay(row) ? "failed" : "none";
};

const isReversalOf = ({ event = "" }: Message): boolean => isReversal(event);

/** The deliveries of some blocks, in the order in which they were written. */
const deliveriesIn = (store: WebhookStore, webhookId: number, entries: readonly LedgerEntry[]): LedgerDelivery[] => {
  const found: LedgerDelivery[] = [];
  for (const entry of entries) {
    for (const id of entry.deliveries) {
      const row = store.delivery(webhookId, id);
      const message = row && store.message(row.messageId);
      if (row !== undefined && message !== undefined) found.push({ row, message, entry });
    }
  }
  return found.sort((one, other) => one.row.id - other.row.id);
};

const knowledgeOfSent = ([, key, isCertain]: Sent): Knowledge => ({ known: isCertain === true ? "yes" : "maybe", key });

const sentAs = (subject: string, { known, key }: Knowledge, delivery: number): Sent[] =>
  known === "no" || key === undefined ? [] : [[subject, key, known === "yes", delivery]];

type KnowledgeOfEntry = Knowledge & { entry?: LedgerEntry | undefined };

/** What a receiver knows of each subject, and the block with which it was last sent that. */
const knowledgeOf = (
  entries: readonly LedgerEntry[],
  entered: readonly LedgerDelivery[],
  attempts: Attempts,
): Map<string, KnowledgeOfEntry> => {
  const known = new Map<string, KnowledgeOfEntry>();
  const kept = entered.flatMap(({ row, message, entry }) => {
    const isReversed = isReversalOf(message);
    const next = (before: KnowledgeOfEntry): KnowledgeOfEntry => {
      const after = knowledgeAfter(before, { isReversal: isReversed, key: row.key, attempt: attemptOf(row, attempts) });
      return { ...after, entry: isReversed || after === before ? before.entry : entry };
    };
    return message.subject === undefined ? [] : [{ id: row.id, subject: message.subject, next }];
  });
  const noted = entries.flatMap((entry) =>
    entry.sent.map((sent) => ({ id: sent[3] ?? 0, subject: sent[0], next: (): KnowledgeOfEntry => ({ ...knowledgeOfSent(sent), entry }) })),
  );
  // A transaction may have been in several of the blocks: its deliveries count in their order. What is noted follows the delivery that it
  // names.
  const inOrder = [...kept, ...noted].sort((one, other) => one.id - other.id);
  for (const { subject, next } of inOrder) known.set(subject, next(known.get(subject) ?? noKnowledge));
  return known;
};

/** Deliveries of a webhook that are not settled, by id, with their messages. */
const openOf = (store: WebhookStore, webhookId: number): { row: DeliveryRow; message: Message | undefined }[] => {
  const ids = openStates.flatMap((state) => store.deliveryIds(webhookId, state, 0, Number.MAX_SAFE_INTEGER)).sort((a, b) => a - b);
  return ids.flatMap((id) => {
    const row = store.delivery(webhookId, id);
    return row === undefined ? [] : [{ row, message: store.message(row.messageId) }];
  });
};

/** For a webhook that is removed; within a transaction. */
export const removeOpen = (store: WebhookStore, webhookId: number): void => {
  for (const { row } of openOf(store, webhookId)) store.removeDelivery(row);
};

/** What a transaction has taken back. */
export interface Withdrawals {
  superseded: number;
  /** Webhooks of which open deliveries were taken back, also such whose attempts are under way. */
  changed: Set<number>;
}

/** A block of the ledger, which now counts as applied or reverted, and what the receiver knows. */
export interface FoundEntry {
  entry: LedgerEntry;
  known: ReadonlyMap<string, Knowledge>;
}

/** Has deliveries attempted no more: what was never attempted is dropped. */
const createTakeBack =
  ({ store, time, attempts }: LedgerNeeds) =>
  (entered: readonly LedgerDelivery[], known: ReadonlyMap<string, Knowledge>, taken: Withdrawals): void => {
    for (const { row, message } of entered) {
      if (row.isTakenBack === true) continue;
      const back: DeliveryRow = { ...row, isTakenBack: true };
      if (isOpen(row)) taken.changed.add(row.webhookId);
      if (!isOpen(row)) store.changeDelivery(row, back);
      else if (attempts.isUnderWay(row) || attempts.hasArrived(row)) {
        attempts.overtake(row);
        store.changeDelivery(row, back);
      } else {
        const { known: isKnown } = known.get(message.subject ?? "") ?? noKnowledge;
        const isUnheard = attemptOf(row, attempts) === "none" && isKnown === "no";
        const state = isUnheard && !isReversalOf(message) ? "dropped" : "superseded";
        store.changeDelivery(row, { ...back, state, dueAt: null, finishedAt: time.passed() });
        if (state === "superseded") taken.superseded++;
      }
    }
  };

/** Finds and moves blocks of ledgers. */
const createEntries = (store: WebhookStore) => {
  const find = (webhookId: number, { id, heights }: LedgerBlock, isReverted: boolean): LedgerEntry | undefined => {
    for (const height of heights) {
      const entry = store.ledgerEntry(webhookId, { id, height, isReverted });
      if (entry !== undefined) return entry;
    }
    return undefined;
  };

  /** A block that had been final: the ledger no longer has it. All that was `sent` of it counts as received, except what is still open. */
  const findFinal = (webhookId: number, { id, heights: [height = 0] }: LedgerBlock, sent: () => Sent[]): LedgerEntry | undefined => {
    if (height > (store.progress(webhookId).floor ?? 0)) return undefined;
    const open = openOf(store, webhookId).filter(({ message }) => message?.block?.id === id && !isReversalOf(message));
    const subjects = new Set(open.map(({ message }) => message?.subject));
    const received = sent().flatMap(([subject, key]): Sent[] =>
      subjects.has(subject) ? [] : [[subject, key, true, store.lastDelivery()]],
    );
    if (open.length === 0 && received.length === 0) return undefined;
    return { height, id, isReverted: false, deliveries: open.map(({ row }) => row.id), sent: received };
  };

  const move = (webhookId: number, entry: LedgerEntry, isReverted: boolean): LedgerEntry => {
    const moved = { ...entry, isReverted };
    store.removeLedgerEntry(webhookId, entry);
    store.putLedgerEntry(webhookId, moved);
    return moved;
  };

  return { find, findFinal, move };
};

export const createLedger = (needs: LedgerNeeds) => {
  const { store, attempts } = needs;
  const { find, findFinal, move } = createEntries(store);
  const takeBack = createTakeBack(needs);

  /** What a receiver was sent of a block, and of others that were reverted: transactions of it may have been in those, too. */
  const withReverted = (webhookId: number, entry: LedgerEntry | undefined, reverted: readonly LedgerEntry[]) => {
    const entries = [...reverted.filter(({ id }) => id !== entry?.id), ...(entry === undefined ? [] : [entry])];
    const entered = deliveriesIn(store, webhookId, entries);
    return { entered, known: knowledgeOf(entries, entered, attempts) };
  };

  return {
    /** A block was reverted. `sent`: what was sent of it, if it had been final. Undefined if the ledger does not have it. */
    revert: (webhookId: number, block: LedgerBlock, sent: () => Sent[], taken: Withdrawals): FoundEntry | undefined => {
      const entry = find(webhookId, block, false) ?? find(webhookId, block, true) ?? findFinal(webhookId, block, sent);
      if (entry === undefined) return undefined;
      const { entered, known } = withReverted(webhookId, entry, store.ledger(webhookId, true));
      takeBack(entered.filter((one) => one.entry === entry && !isReversalOf(one.message)), known, taken);
      return { entry: move(webhookId, entry, true), known };
    },
    /**
     * A block was applied, which supersedes open reversals of it and of its `subjects`. If the ledger does not have it: what the receiver
     * was sent of its subjects with other blocks, which may become final before this one's deliveries are attempted.
     */
    apply: (webhookId: number, block: LedgerBlock, subjects: () => ReadonlySet<string>, taken: Withdrawals): FoundEntry | { sent: Sent[] } => {
      const reverted = store.ledger(webhookId, true);
      const entry = (reverted.length === 0 ? undefined : find(webhookId, block, true)) ?? find(webhookId, block, false);
      const { entered, known } = withReverted(webhookId, entry, reverted);
      const applied: ReadonlySet<string> = reverted.length > 0 ? subjects() : new Set();
      if (reverted.length > 0) {
        const isOver = ({ message, entry: of }: LedgerDelivery): boolean => of === entry || applied.has(message.subject ?? "");
        takeBack(entered.filter((one) => isReversalOf(one.message) && isOver(one)), known, taken);
      }
      if (entry !== undefined) return { entry: move(webhookId, entry, false), known };
      return { sent: [...applied].flatMap((subject) => sentAs(subject, known.get(subject) ?? noKnowledge, store.lastDelivery())) };
    },
    /** The blocks of which it counts some as applied, the highest first. */
    standing: (webhookId: number): LedgerEntry[] => store.ledger(webhookId, false),
  };
};

export type Ledger = ReturnType<typeof createLedger>;

/** Called before a delivery that has ended is removed: what its receiver was sent of a block stays in the ledger as long as the block. */
export const keepSent = (store: WebhookStore, row: DeliveryRow): void => {
  const message = store.message(row.messageId);
  const { block, subject } = message === undefined ? {} : { subject: message.subject, block: ledgerBlock(message) };
  if (message === undefined || block === undefined || subject === undefined) return;
  const sides = block.heights.flatMap((height) => [true, false].map((isReverted) => ({ id: block.id, height, isReverted })));
  for (const side of sides) {
    const entry = store.ledgerEntry(row.webhookId, side);
    if (entry?.deliveries.includes(row.id) !== true) continue;
    const past = { isReversal: isReversalOf(message), key: row.key, attempt: attemptOf(row, noAttempts) };
    const before = entry.sent.find(([one]) => one === subject);
    const after = knowledgeAfter(before === undefined ? noKnowledge : knowledgeOfSent(before), past);
    const sent = [...entry.sent.filter(([one]) => one !== subject), ...sentAs(subject, after, row.id)];
    store.putLedgerEntry(row.webhookId, { ...entry, deliveries: entry.deliveries.filter((id) => id !== row.id), sent });
  }
};

/** A delivery that a client asked for again, in the state it had before. It can be asked for once more. */
const asItWas = ({ onRequest: _, batch: __, stepSince: ___, scheduledAt: ____, ...row }: DeliveryRow, finishedAt: number): DeliveryRow => {
  const hasArrived = row.attempts.some(({ stage }) => stage === null);
  return { ...row, state: hasArrived ? "delivered" : "dead", dueAt: null, finishedAt };
};

/** Before a message's event, within its block. */
const positionOf = (message: Message & { block: { height: number; id: string } }): Position => {
  const taken = placeIn(message.eventId ?? "");
  return { cursor: message.before ?? "", part: taken === 0 ? undefined : { block: blockName(message.block), isReversal: false, taken } };
};

/** Before all that is open: on the chain before its lowest block, in the host's log before its first event. Else `live` stays. */
const positionBefore = (open: readonly Message[], live: Position): Position => {
  const ofChain = open.flatMap((message) => (message.block === undefined ? [] : [positionOf({ ...message, block: message.block })]));
  const ofHost = open.find(({ block }) => block === undefined);
  const stays: Position = { cursor: live.cursor, part: live.part?.isReversal === true ? undefined : live.part };
  const [first = stays] = ofChain.sort((one, other) => heightOf(one.cursor) - heightOf(other.cursor));
  return { cursor: withLogOf(first.cursor, ofHost?.before ?? live.cursor), part: first.part };
};

/** The ledger of a webhook without its deliveries, and the position from which its open deliveries are found again. Writes nothing. */
export const foldLedger = ({ store, attempts }: Pick<LedgerNeeds, "store" | "attempts">, webhookId: number) => {
  const entries = [...store.ledger(webhookId, true), ...store.ledger(webhookId, false)];
  const known = knowledgeOf(entries, deliveriesIn(store, webhookId, entries), attempts);
  const folded = new Map<string, LedgerEntry>();
  const keep = ({ height, id }: Pick<LedgerEntry, "height" | "id">, subject: string, key: string): void => {
    const name = blockName({ height, id });
    const entry = folded.get(name) ?? { height, id, isReverted: false, deliveries: [], sent: [] };
    folded.set(name, { ...entry, sent: [...entry.sent, [subject, key]] });
  };
  for (const [subject, { known: is, key, entry }] of known)
    if (is !== "no" && key !== undefined && entry !== undefined) keep(entry, subject, key);
  const open = openOf(store, webhookId);
  const first: Message[] = [];
  for (const { row, message } of open) {
    if (message?.before === undefined || row.onRequest === true) continue;
    const isReversed = isReversalOf(message);
    // On the chain, the walk finds the block again; in the host's log, the event is read again.
    if (!isReversed || message.block === undefined) first.push(message);
    // An open reversal is sent again, though the ledger may be trimmed, and webhooks of reversals alone have nothing in it.
    const { block, subject = "" } = { block: ledgerBlock(message), subject: message.subject };
    if (!isReversed || block === undefined || row.isTakenBack === true || attemptOf(row, attempts) === "arrived") continue;
    const [height = 0] = block.heights;
    if ((known.get(subject) ?? noKnowledge).known === "no") keep({ height, id: block.id }, subject, row.reverts ?? row.key);
  }
  const { cursor, part } = store.progress(webhookId);
  return { entries, folded: [...folded.values()], open, position: cursor === undefined ? {} : positionBefore(first, { cursor, part }) };
};

/** Removes the open deliveries of a webhook, and moves it back before the first. What its receiver may know stays in the ledger. */
export const letGo = (needs: LedgerNeeds, webhookId: number): void => {
  const { store, time, attempts } = needs;
  const { entries, folded, open, position } = foldLedger(needs, webhookId);
  for (const entry of entries) store.removeLedgerEntry(webhookId, entry);
  for (const entry of folded) store.putLedgerEntry(webhookId, entry);
  for (const { row } of open) {
    attempts.overtake(row);
    if (row.onRequest === true && row.attempts.length > 0) store.changeDelivery(row, asItWas(row, time.passed()));
    // Events about webhooks are not found again.
    else if (!isOwnEvent(row.event)) store.removeDelivery(row);
  }
  const { part: _, ...progress }: Progress = store.progress(webhookId);
  store.putProgress(webhookId, { ...progress, ...position, isBeyond: folded.length > 0, replays: [], epoch: (progress.epoch ?? 0) + 1 });
};
