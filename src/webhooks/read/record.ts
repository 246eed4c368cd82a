import { performance } from "node:perf_hooks";
import { canonicalEvent, isReversal } from "../../follow/event-names.js";
import { cursorText, type FollowEvent } from "../../follow/index.js";
import { memberOf } from "../../follow/payload.js";
import { keyOf } from "../send/request.js";
import type { Register } from "../register/register.js";
import type { DeliveryRow, LedgerEntry, Message, Position, Recipient, WebhookRow } from "../rows/rows.js";
import type { WebhookStore } from "../rows/store.js";
import type { OnOutcome } from "../send/http-sender.js";
import {
  byTarget,
  decide,
  type Decision,
  type EventMatch,
  type GroupMatch,
  idsByShare,
  isReverted,
  type Knowledge,
  noKnowledge,
  positionWithin,
} from "./match.js";
import { createLedger, type Ledger, type LedgerBlock, type LedgerNeeds, type Withdrawals } from "./ledger.js";

export interface RecorderNeeds extends LedgerNeeds {
  register: Register;
  /** Most deliveries of a webhook that are not settled. */
  window: number;
  /** Deliveries that an uncommitted transaction takes back. The dispatcher still reads them as open, and must not send them. */
  withdrawn: Set<number>;
  /**
   * Called after each transaction with the deliveries that it wrote and the webhooks whose earlier deliveries it changed. If it failed: with
   * no deliveries, and all webhooks that it was to write for.
   */
  onWritten(written: readonly NewDeliveries[], changed: ReadonlySet<number>): void;
  /** Is told of deliveries that are given up. */
  onOutcome?: OnOutcome | undefined;
}

/** A message of an event, and deliveries of it. */
export interface NewDeliveries {
  messageId: number;
  message: Message;
  rows: readonly DeliveryRow[];
}

/** The positions of a cohort's webhooks, within the transactions that write for them. */
export interface Positions {
  /** False if a client has moved the cursor or disabled the webhook since the groups were matched. Nothing is written for it then. */
  isCurrent(webhookId: number): boolean;
  /** Whether they are those of a replay. */
  isOnRequest: boolean;
  /** Height of the last block that is final: the ledger has none up to it. */
  final: number;
  floorOf(webhookId: number): number;
  hasReverted(webhookId: number): boolean;
  /** Notes that it has blocks that were reverted. */
  noteReverted(webhookId: number): void;
  /** Writes where a webhook is. `floor`: up to which its ledger has no blocks. */
  put(webhookId: number, position: Position | undefined, floor: number): void;
}

/** Milliseconds of writing in one transaction. */
const turn = 2;
/** Blocks for which the ledger of a host's own chain without changes is kept. */
const hostDepth = 200;

/** The ledger entry of a group's block for one webhook, while the group is written for it. */
interface Page {
  entry: LedgerEntry | undefined;
  known: ReadonlyMap<string, Knowledge>;
  /** Whether the ledger had the block already. It now counts as applied or reverted, as the group says. */
  isBegun: boolean;
  isChanged: boolean;
}

/** What one transaction has written. */
interface Outcome extends Withdrawals {
  written: NewDeliveries[];
  changed: Set<number>;
}

/** What lasts over all transactions of one recording. */
interface Recording {
  webhookIds: ReadonlySet<number>;
  positions: Positions;
  webhooks: ReadonlyMap<number, WebhookRow>;
  /** Webhooks that have no room for the next event, and where they stopped. */
  full: Map<number, Position>;
  /** Numbers of messages that were written, by event. */
  messages: Map<FollowEvent, number>;
}

/** What one transaction has read so far, which nobody else changes meanwhile, and what it writes. */
interface Transaction {
  /** `Positions.isCurrent` by webhook. */
  current: Map<number, boolean>;
  /** Number of unsettled deliveries by webhook. */
  open: Map<number, number>;
  /** Positions of webhooks at its end, and the pages that have changed. */
  reached: Map<number, Position>;
  pages: Map<Page, number>;
  written: Outcome;
}

const positionAfter = ({ group, before, after, isApart }: GroupMatch, taken: number, isBegun: boolean): Position => {
  if (isApart) return before;
  return taken === group.events.length ? after : positionWithin(group, before, taken, isBegun);
};

const spelling = (webhook: WebhookRow, event: string): string => webhook.events.find((name) => canonicalEvent(name) === event) ?? event;

const messageOf = ({ group }: GroupMatch, { event, subject }: EventMatch): Message => ({
  at: event.at,
  eventId: event.id,
  event: event.event,
  ...(event.block === null ? {} : { block: event.block }),
  before: cursorText(group.before),
  after: cursorText(group.after),
  json: event.json,
  ...(subject === undefined ? {} : { subject }),
});

const heightIn = (data: unknown): number | undefined => {
  const height = memberOf(data, "blockHeight") ?? memberOf(data, "height");
  return typeof height === "number" && Number.isSafeInteger(height) ? height : undefined;
};

/**
 * The block under which the ledger has a group. If the host's chain offers no changes, that is the block or transaction that the event is
 * about. Events of transactions need not name a height: then it is the last height that any event named, and may differ from event to event.
 */
const createBlockOf = () => {
  let lastHeight = 0;
  return {
    noteHeights: (all: readonly GroupMatch[]): void => {
      for (const { group } of all) if (group.change === undefined) lastHeight = heightIn(group.events[0]?.data) ?? lastHeight;
    },
    blockOf: ({ group: { change, events } }: GroupMatch, subject: string | undefined): LedgerBlock | undefined => {
      if (change !== undefined) return { height: change.full.block.height, id: change.full.block.id, isExact: true };
      if (subject === undefined) return undefined;
      const height = heightIn(events[0]?.data);
      return { height: height ?? lastHeight, id: subject, isExact: false };
    },
  };
};

type BlockOf = ReturnType<typeof createBlockOf>;

/** One group for one webhook. */
interface GroupForWebhook {
  webhookId: number;
  matched: GroupMatch;
  /** The block or transaction that the group applies or reverts, if its events say so. */
  subject: string | undefined;
}

const isReversalGroup = ({ group }: GroupMatch, subject: string | undefined): boolean =>
  isReverted(group) || (group.change === undefined && subject !== undefined && isReversal(group.events[0]?.event ?? ""));

const subjectsIn = ({ events }: GroupMatch): Set<string> => new Set(events.flatMap(({ subject }) => subject ?? []));

/** Opens the page of a webhook for a group, and takes back the deliveries that the group supersedes. */
const createOpenPage = (ledger: Ledger, { blockOf }: BlockOf) =>
  ({ webhookId, matched, subject }: GroupForWebhook, positions: Positions, { written, pages, open }: Transaction): Page => {
    const block = blockOf(matched, subject);
    if (block === undefined) return { entry: undefined, known: new Map(), isBegun: false, isChanged: false };
    const isReversed = isReversalGroup(matched, subject);
    const hasReverted = positions.hasReverted(webhookId);
    const subjects = hasReverted && !isReversed ? subjectsIn(matched) : new Set<string>();
    const before = written.changedOpen;
    const found = isReversed
      ? ledger.revert(webhookId, block, written)
      : ledger.apply(webhookId, block, { subjects, hasReverted, taken: written });
    if (isReversed && found !== undefined) positions.noteReverted(webhookId);
    if (written.changedOpen > before) {
      written.changed.add(webhookId);
      open.delete(webhookId);
    }
    const { height, id } = block;
    // What is final is not kept in the ledger. Nothing is where the host's chain offers no changes.
    const isFinal = block.isExact && height <= positions.final;
    const added = isFinal ? undefined : { height, id, isReverted: isReversed, deliveries: [], sent: [] };
    const known = found?.known ?? new Map<string, Knowledge>();
    const page: Page = { entry: found?.entry ?? added, known, isBegun: found !== undefined, isChanged: false };
    if (found !== undefined) pages.set(page, webhookId);
    return page;
  };

/** What a receiver knows of an event's subject. A block at or below the floor counts as sent. */
const knowledgeFor = (webhook: WebhookRow, { event, subject }: EventMatch, { known }: Page, positions: Positions): Knowledge => {
  const found = subject === undefined ? undefined : known.get(subject);
  if (found !== undefined) return found;
  const isBelow = event.block !== null && event.takesBack !== undefined && event.block.height <= positions.floorOf(webhook.id);
  return isBelow ? { known: "maybe", key: keyOf(webhook, event.takesBack ?? "") } : noKnowledge;
};

const isCurrent = (webhookId: number, positions: Positions, { current }: Transaction): boolean => {
  const is = current.get(webhookId) ?? positions.isCurrent(webhookId);
  current.set(webhookId, is);
  return is;
};

const isHostReversal = ({ event, subject }: EventMatch): boolean => event.block === null && subject !== undefined && isReversal(event.event);

/** Whether there may be something to write. Most past blocks match nothing, and cost no transaction. */
const hasWork = (all: readonly GroupMatch[], webhookIds: ReadonlySet<number>, positions: Positions): boolean =>
  all.some(({ group, last, events }) => last.size > 0 || isReverted(group) || events.some(isHostReversal)) ||
  [...webhookIds].some((id) => positions.hasReverted(id));

/** Writes the ledgers and positions at the end of a transaction. */
const flush = (store: WebhookStore, { positions, full }: Recording, { reached, pages, current }: Transaction): void => {
  for (const [{ entry, isChanged }, webhookId] of pages) {
    if (entry === undefined || !isChanged) continue;
    store.putLedgerEntry(webhookId, entry);
    if (entry.isReverted) positions.noteReverted(webhookId);
  }
  const heights = new Map([...pages].map(([{ entry }, webhookId]) => [webhookId, entry?.height ?? 0]));
  for (const [webhookId, height] of heights) {
    const until = positions.final > 0 ? positions.final : height - hostDepth;
    if (until > 0) store.trimLedger(webhookId, until);
    positions.put(webhookId, reached.get(webhookId) ?? full.get(webhookId), until);
  }
  // The ledger has nothing of what is final already.
  for (const [webhookId, position] of reached) {
    if (!heights.has(webhookId) && current.get(webhookId) !== false) positions.put(webhookId, position, positions.final);
  }
};

interface EventToWrite {
  matched: GroupMatch;
  match: EventMatch;
  /** The webhooks that it is for, and the pages of all. */
  ids: readonly number[];
  pages: ReadonlyMap<number, Page>;
}

/** Writes one event for some webhooks. */
const createWriteEvent = ({ store, window }: RecorderNeeds) => {
  /** The delivery of an event to a webhook. Undefined if it is not sent, or the webhook's window is full. */
  const recipientOf = ({ matched, match, pages }: EventToWrite, webhookId: number, recording: Recording, transaction: Transaction): Recipient | undefined => {
    const { event, index } = match;
    const { positions, webhooks, full } = recording;
    const { open, reached } = transaction;
    const [webhook, page] = [webhooks.get(webhookId), pages.get(webhookId)];
    if (webhook === undefined || page === undefined || full.has(webhookId) || !isCurrent(webhookId, positions, transaction)) return undefined;
    const decision: Decision = positions.isOnRequest
      ? { isSent: true }
      : decide(event.event, webhook, knowledgeFor(webhook, match, page, positions));
    const { isSent, reverts } = decision;
    if (!isSent) return undefined;
    const count = open.get(webhookId) ?? store.countOpen(webhookId);
    open.set(webhookId, count);
    if (count >= window && !matched.isApart) {
      full.set(webhookId, positionAfter(matched, index, page.isBegun));
      reached.delete(webhookId);
      return undefined;
    }
    open.set(webhookId, count + 1);
    const recipient: Recipient = { webhookId, event: spelling(webhook, event.event), key: keyOf(webhook, event.id) };
    if (matched.last.get(webhookId) === index) recipient.last = true;
    if (reverts !== undefined) recipient.reverts = reverts;
    if (positions.isOnRequest && !isReversal(event.event)) recipient.onRequest = true;
    return recipient;
  };

  return (toWrite: EventToWrite, recording: Recording, transaction: Transaction): void => {
    const { matched, match, ids, pages } = toWrite;
    const { event, index } = match;
    const { reached, written } = transaction;
    const { messages } = recording;
    const recipients = ids.flatMap((webhookId) => recipientOf(toWrite, webhookId, recording, transaction) ?? []);
    if (recipients.length === 0) return;
    const message = messageOf(matched, match);
    const rows = store.append(message, recipients, messages.get(event));
    const messageId = rows[0]?.messageId ?? 0;
    messages.set(event, messageId);
    written.written.push({ messageId, message, rows });
    const position = positionAfter(matched, index + 1, true);
    for (const { webhookId, id } of rows) {
      reached.set(webhookId, position);
      const page = pages.get(webhookId);
      if (page?.entry === undefined) continue;
      page.entry.deliveries.push(id);
      page.isChanged = true;
      transaction.pages.set(page, webhookId);
    }
  };
};

/** All that is to be written for some groups, in steps between which a transaction may end. */
const createSteps = (needs: RecorderNeeds, ledger: Ledger, blocks: BlockOf) => {
  const openPage = createOpenPage(ledger, blocks);
  const writeEvent = createWriteEvent(needs);

  return function* writeAll(all: readonly GroupMatch[], recording: Recording, transaction: () => Transaction): Generator<void> {
    const { positions, webhooks, webhookIds, full } = recording;
    const shares = byTarget(webhookIds, webhooks);
    const idsOf = idsByShare(all, shares);
    for (const [index, share] of shares.entries()) {
      for (const matched of all) {
        const pages = new Map<number, Page>();
        const subject = matched.events.find((one) => one.subject !== undefined)?.subject;
        const open = (id: number): void => {
          if (pages.has(id) || full.has(id) || !isCurrent(id, positions, transaction())) return;
          const page = openPage({ webhookId: id, matched, subject }, positions, transaction());
          pages.set(id, page);
          if (page.isBegun) transaction().reached.set(id, positionAfter(matched, matched.events[0]?.index ?? 0, true));
        };
        const takesBack = matched.events.some(({ event }) => isReversal(event.event)) || isReverted(matched.group);
        for (const id of share) {
          if (!takesBack && !positions.hasReverted(id)) continue;
          open(id);
          if (!matched.isApart) yield;
        }
        for (const event of matched.events) {
          const ids = idsOf[index]?.get(event);
          if (ids === undefined) continue;
          for (const id of ids) open(id);
          writeEvent({ matched, match: event, ids, pages }, recording, transaction());
          // What is taken back apart is so as a whole.
          if (!matched.isApart) yield;
        }
        for (const id of pages.keys()) if (!full.has(id)) transaction().reached.set(id, matched.after);
      }
    }
  };
};

export const createRecorder = (needs: RecorderNeeds) => {
  const { store, register, withdrawn, onWritten, onOutcome } = needs;
  const ledger = createLedger(needs);
  const blocks = createBlockOf();
  const writeAll = createSteps(needs, ledger, blocks);

  /** Writes as much as a turn allows. */
  const writeSome = (steps: Generator<void>, recording: Recording, transaction: Transaction): boolean => {
    const begun = performance.now();
    let isDone: boolean | undefined = false;
    do isDone = steps.next().done;
    while (isDone !== true && performance.now() - begun < turn);
    flush(store, recording, transaction);
    for (const id of transaction.written.ids) withdrawn.add(id);
    return isDone === true;
  };

  return {
    standing: ledger.standing,
    /**
     * Writes groups for webhooks in transactions of a few milliseconds: deliveries, ledgers and positions together. Resolves to the webhooks
     * whose window is full, and where they stopped.
     */
    record: async (all: readonly GroupMatch[], webhookIds: ReadonlySet<number>, positions: Positions): Promise<ReadonlyMap<number, Position>> => {
      const recording: Recording = { webhookIds, positions, webhooks: register.rows(), full: new Map(), messages: new Map() };
      blocks.noteHeights(all);
      if (!hasWork(all, webhookIds, positions)) return recording.full;
      let transaction: Transaction;
      const steps = writeAll(all, recording, () => transaction);
      for (let isDone = false; !isDone; ) {
        const written: Outcome = { ids: [], superseded: 0, changedOpen: 0, written: [], changed: new Set() };
        transaction = { current: new Map(), open: new Map(), reached: new Map(), pages: new Map(), written };
        let isWritten = false;
        try {
          const own = transaction;
          isDone = await store.transactionSoon(() => writeSome(steps, recording, own), { isLong: true });
          isWritten = true;
          for (let count = 0; count < written.superseded; count++) onOutcome?.("superseded");
        } finally {
          onWritten(isWritten ? written.written : [], isWritten ? written.changed : webhookIds);
          for (const id of written.ids) withdrawn.delete(id);
        }
      }
      return recording.full;
    },
  };
};

export type Recorder = ReturnType<typeof createRecorder>;
