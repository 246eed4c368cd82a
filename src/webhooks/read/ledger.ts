import { isReversal } from "../../follow/event-names.js";
import { isOwnEvent, type DeliveryRow, isOpen, type LedgerEntry, type Message, openStates, type Position, type Progress } from "../rows/rows.js";
import type { WebhookStore } from "../rows/store.js";
import type { Timekeeper } from "../timekeeper.js";
import { blockName, hasLog, heightOf, type Knowledge, knowledgeAfter, noKnowledge, type PastDelivery, withLogOf } from "./match.js";

/**
 * The ledger of a webhook: the blocks that it was sent events of and that are not final. A fork, a cursor that a client moves back and a
 * webhook that is disabled are the same walk: from the top of the ledger down to the chain, block by block, within a transaction.
 */

/** What the dispatcher knows of attempts whose outcomes are not recorded yet. */
export interface Attempts {
  /** Whether one is under way, or has failed, whose outcome the row does not have yet. */
  isUnderWay(row: DeliveryRow): boolean;
  /** Whether one was answered 2xx, and the row does not have that yet. */
  hasArrived(row: DeliveryRow): boolean;
  /** A delivery under way is taken back. Its attempt ends first. */
  overtake(row: DeliveryRow): void;
}

/** Another process delivers: it may be sending any of what is open. */
export const attemptsElsewhere: Attempts = { isUnderWay: () => true, hasArrived: () => false, overtake: () => undefined };

export interface LedgerNeeds {
  store: WebhookStore;
  time: Pick<Timekeeper, "passed">;
  attempts: Attempts;
}

/** A block as a group names it. `isExact`: under the height at which the ledger has it. If not, its id alone says which it is. */
export interface LedgerBlock {
  height: number;
  id: string;
  isExact: boolean;
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

type KnowledgeOfEntry = Knowledge & { entry?: LedgerEntry };

/** What a receiver knows of each subject, and the block with which it was last sent that. */
const knowledgeOf = (
  entries: readonly LedgerEntry[],
  entered: readonly LedgerDelivery[],
  attempts: Attempts,
): Map<string, KnowledgeOfEntry> => {
  const known = new Map<string, KnowledgeOfEntry>();
  for (const entry of entries) for (const [subject, key] of entry.sent) known.set(subject, { known: "maybe", key, entry });
  for (const { row, message, entry } of entered) {
    const { subject } = message;
    if (subject === undefined) continue;
    const before = known.get(subject) ?? noKnowledge;
    const after = knowledgeAfter(before, { isReversal: isReversalOf(message), key: row.key, attempt: attemptOf(row, attempts) });
    known.set(subject, after === before || isReversalOf(message) ? { ...before, ...after, key: after.key } : { ...after, entry });
  }
  return known;
};

/** The deliveries that a transaction has taken back. */
export interface Withdrawals {
  /** Must not be sent from now on, though others still read them as they were until this is committed. */
  ids: number[];
  superseded: number;
  /** Open deliveries that were taken back, with those whose attempts are under way. */
  changedOpen: number;
}

export const createLedger = ({ store, time, attempts }: LedgerNeeds) => {
  /** Deliveries are attempted no more: what was never attempted is dropped. */
  const takeBack = (entered: readonly LedgerDelivery[], known: ReadonlyMap<string, Knowledge>, taken: Withdrawals): void => {
    for (const { row, message } of entered) {
      if (row.isTakenBack === true) continue;
      const back: DeliveryRow = { ...row, isTakenBack: true };
      if (!isOpen(row)) store.changeDelivery(row, back);
      else if (attempts.isUnderWay(row) || attempts.hasArrived(row)) {
        attempts.overtake(row);
        store.changeDelivery(row, back);
        taken.changedOpen++;
      } else {
        const { known: isKnown } = known.get(message.subject ?? "") ?? noKnowledge;
        const isUnheard = attemptOf(row, attempts) === "none" && isKnown === "no";
        const state = isUnheard && !isReversalOf(message) ? "dropped" : "superseded";
        store.changeDelivery(row, { ...back, state, dueAt: null, finishedAt: time.passed() });
        taken.ids.push(row.id);
        taken.changedOpen++;
        if (state === "superseded") taken.superseded++;
      }
    }
  };

  const move = (webhookId: number, entry: LedgerEntry, isReverted: boolean): LedgerEntry => {
    const moved = { ...entry, isReverted };
    store.removeLedgerEntry(webhookId, entry);
    store.putLedgerEntry(webhookId, moved);
    return moved;
  };

  return {
    /** A block was reverted. Returns what its receiver knows, and the block in the ledger; undefined where it is not there. */
    revert: (webhookId: number, block: LedgerBlock, taken: Withdrawals) => {
      const found = store.ledgerEntry(webhookId, { ...block, isReverted: false });
      const entry = found ?? (block.isExact ? undefined : store.ledger(webhookId, false).find(({ id }) => id === block.id));
      const before = store.ledger(webhookId, true);
      if (entry === undefined) {
        // Its reversal was begun before.
        const begun = before.find(({ id }) => id === block.id);
        return begun && { entry: begun, known: knowledgeOf(before, deliveriesIn(store, webhookId, before), attempts) };
      }
      const [own, others] = [deliveriesIn(store, webhookId, [entry]), deliveriesIn(store, webhookId, before)];
      const known = knowledgeOf([...before, entry], [...others, ...own].sort((one, other) => one.row.id - other.row.id), attempts);
      takeBack(own.filter(({ message }) => !isReversalOf(message)), known, taken);
      return { entry: move(webhookId, entry, true), known };
    },
    /** A block was applied, which supersedes open reversals of it and its transactions. Returns what its receiver knows of the block. */
    apply: (
      webhookId: number,
      block: LedgerBlock,
      { subjects, hasReverted, taken }: { subjects: ReadonlySet<string>; hasReverted: boolean; taken: Withdrawals },
    ) => {
      const reverted = hasReverted ? store.ledger(webhookId, true) : [];
      const back = reverted.find(({ id }) => id === block.id);
      if (reverted.length > 0) {
        const isOfBlock = ({ message: { subject }, entry }: LedgerDelivery): boolean => entry === back || (subject !== undefined && subjects.has(subject));
        const open = deliveriesIn(store, webhookId, reverted).filter((one) => isReversalOf(one.message) && isOfBlock(one));
        takeBack(open, new Map(), taken);
      }
      const entry = back === undefined ? store.ledgerEntry(webhookId, { ...block, isReverted: false }) : move(webhookId, back, false);
      return entry && { entry, known: knowledgeOf([entry], deliveriesIn(store, webhookId, [entry]), attempts) };
    },
    /** The blocks of which it counts some as applied, the highest first. */
    standing: (webhookId: number): LedgerEntry[] => store.ledger(webhookId, false),
  };
};

export type Ledger = ReturnType<typeof createLedger>;

/** A delivery that a client asked for again, in the state it had before. It can be asked for once more. */
const asItWas = ({ onRequest: _, batch: __, stepSince: ___, scheduledAt: ____, ...row }: DeliveryRow, finishedAt: number): DeliveryRow => {
  const hasArrived = row.attempts.some(({ stage }) => stage === null);
  return { ...row, state: hasArrived ? "delivered" : "dead", dueAt: null, finishedAt };
};

/** The place of an event in its group, which its id ends in but for how often the block was applied before. */
const placeInGroup = ({ eventId }: Message): number => Number(eventId?.split(".")[2]) || 0;

/** Before the first of what is open: on the chain the lowest block of it, and in the host's log the first event. */
const positionBefore = (open: readonly Message[], live: Position): Position => {
  const beforeOf = ({ before = live.cursor }: Message): string => before;
  const [first] = open;
  if (first === undefined) return { cursor: live.cursor, part: live.part?.isReversal === true ? undefined : live.part };
  const lowest = open.reduce((low, one) => (heightOf(beforeOf(one)) < heightOf(beforeOf(low)) ? one : low), first);
  const before = beforeOf(lowest);
  const hostEvent = open.find(({ block }) => block === undefined);
  // What a replay sends has no place in the log.
  const log = hostEvent === undefined ? (hasLog(before) ? before : live.cursor) : beforeOf(hostEvent);
  const cursor = withLogOf(before, log);
  const taken = placeInGroup(lowest);
  if (lowest.block === undefined || taken === 0 || cursor !== before) return { cursor };
  return { cursor, part: { block: blockName(lowest.block), isReversal: false, taken } };
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
  for (const [subject, { known: is, key, entry }] of known) if (is !== "no" && key !== undefined && entry !== undefined) keep(entry, subject, key);
  const ids = openStates.flatMap((state) => store.deliveryIds(webhookId, state, 0, Number.MAX_SAFE_INTEGER)).sort((a, b) => a - b);
  const open = ids.map((id) => store.delivery(webhookId, id)).filter((row) => row !== undefined);
  const first: Message[] = [];
  for (const row of open) {
    const message = row.onRequest === true ? undefined : store.message(row.messageId);
    if (message?.before === undefined) continue;
    const { block, subject } = message;
    if (block === undefined || !isReversalOf(message)) first.push(message);
    // An open reversal is sent again, though the ledger may be trimmed, and webhooks of reversals alone have nothing in it.
    else if (subject !== undefined && row.isTakenBack !== true && attemptOf(row, attempts) !== "arrived") {
      if ((known.get(subject) ?? noKnowledge).known === "no") keep(block, subject, row.reverts ?? row.key);
    }
  }
  const { cursor, part } = store.progress(webhookId);
  return { entries, folded: [...folded.values()], open, position: cursor === undefined ? {} : positionBefore(first, { cursor, part }) };
};

/** Removes the open deliveries of a webhook, and moves it back before the first. What its receiver may know stays in the ledger. */
export const letGo = (needs: LedgerNeeds, webhookId: number): void => {
  const { store, time } = needs;
  const { entries, folded, open, position } = foldLedger(needs, webhookId);
  for (const entry of entries) store.removeLedgerEntry(webhookId, entry);
  for (const entry of folded) store.putLedgerEntry(webhookId, entry);
  for (const row of open) {
    if (row.onRequest === true && row.attempts.length > 0) store.changeDelivery(row, asItWas(row, time.passed()));
    // Events about webhooks are not found again.
    else if (!isOwnEvent(row.event)) store.removeDelivery(row);
  }
  const { part: _, ...progress }: Progress = store.progress(webhookId);
  store.putProgress(webhookId, { ...progress, ...position, isBeyond: folded.length > 0, replays: [], epoch: (progress.epoch ?? 0) + 1 });
};
