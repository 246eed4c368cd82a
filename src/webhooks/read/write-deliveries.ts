import { performance } from "node:perf_hooks";
import { canonicalEvent, isReversal } from "../../follow/event-names.js";
import { cursorText, type FollowEvent } from "../../follow/index.js";
import { keyOf } from "../send/request.js";
import type { Register } from "../register/register.js";
import type { DeliveryRow, LedgerEntry, Message, Position, Recipient, Sent, WebhookRow } from "../rows/rows.js";
import type { WebhookStore } from "../rows/store.js";
import type { OnOutcome } from "../deliver/outcome.js";
import {
  byTarget,
  decide,
  type EventMatch,
  type GroupMatch,
  inBoth,
  isReverted,
  type Knowledge,
  ledgerBlock,
  noKnowledge,
  positionWithin,
  type TargetMatch,
} from "./match.js";
import type { Reader } from "./positions.js";
import { createLedger, type Ledger, type LedgerNeeds, type Withdrawals } from "./ledger.js";

export interface RecorderNeeds extends LedgerNeeds {
  register: Register;
  /** Most deliveries of a webhook that are not settled. */
  window: number;
  /**
   * Called after each transaction with the deliveries that it wrote and the webhooks whose earlier deliveries it changed. If it failed:
   * with no deliveries, and all webhooks that it was to write for.
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

/** The positions of a cohort's readers, within the transactions that write for them. */
export interface Positions {
  /** False if a client has moved the cursor or disabled the webhook since the groups were matched. Nothing is written for it then. */
  isCurrent(reader: Reader): boolean;
  /** Whether they are those of a replay. */
  isOnRequest: boolean;
  /** Heights up to which the ledger of a webhook at that position has no blocks that are applied, and none that are reverted. */
  finalAt(position: Position): { applied: number; reverted: number };
  /** Writes where a webhook is. `floor`: up to which its ledger has nothing. */
  put(reader: Reader, position: Position, floor: number): void;
}

/** By webhook. */
type Readers = ReadonlyMap<number, Reader>;

/** Milliseconds of writing in one transaction. */
const turn = 2;

/** One group for one webhook, while it is written. */
interface Page {
  webhookId: number;
  /** The group's block in the ledger, where it is or will be there. */
  entry: LedgerEntry | undefined;
  known: ReadonlyMap<string, Knowledge>;
  /** Whether the ledger has counted the block as the group says. Then the webhook is within the group, even if no event is taken yet. */
  isBegun: boolean;
}

/** What one transaction writes, beside deliveries. */
interface Transaction extends Withdrawals {
  /** `Positions.isCurrent` by webhook: asked once, as nobody else writes meanwhile. */
  current: Map<number, boolean>;
  /** Where webhooks are at its end. */
  reached: Map<number, Position>;
  /** Pages whose entries have got deliveries. */
  pages: Set<Page>;
  written: NewDeliveries[];
}

const newTransaction = (): Transaction => ({
  superseded: 0,
  changed: new Set(),
  current: new Map(),
  reached: new Map(),
  pages: new Set(),
  written: [],
});

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

/** The position before an event of a group; after the group, where there is no more. */
const positionBefore = ({ group, before, after, isOffCursor }: GroupMatch, next: number | undefined, isBegun: boolean): Position => {
  if (isOffCursor) return before;
  return next === undefined ? after : positionWithin(group, before, next, isBegun);
};

const subjectsIn = ({ events }: GroupMatch): Set<string> => new Set(events.flatMap(({ subject }) => subject ?? []));

/** Whether a group takes something back, also for webhooks that match none of it. */
const takesBack = ({ group, events }: GroupMatch): boolean =>
  isReverted(group) || events.some(({ event, subject }) => subject !== undefined && isReversal(event.event));

/** Writes groups for webhooks, a step at a time, within transactions that begin with `begin` and end with `end`. */
class Writing {
  /** Webhooks that have no room for the next event, and where they stopped. */
  readonly full = new Map<number, Position>();
  private readonly store: WebhookStore;
  private readonly window: number;
  private readonly webhooks: ReadonlyMap<number, WebhookRow>;
  private readonly ledger: Ledger;
  private readonly readers: Readers;
  private readonly positions: Positions;
  /** Webhooks whose ledgers have blocks that were reverted: what is applied may be one of them. */
  private readonly withReverted: ReadonlySet<number>;
  /** Numbers of messages that were written, by event. */
  private readonly messages = new Map<FollowEvent, number>();
  private transaction = newTransaction();

  constructor({ store, register, window }: RecorderNeeds, ledger: Ledger, readers: Readers, positions: Positions) {
    this.store = store;
    this.window = window;
    this.webhooks = register.rows();
    this.ledger = ledger;
    this.readers = readers;
    this.positions = positions;
    this.withReverted = new Set(store.hasReverted() ? [...readers.keys()].filter((id) => store.hasReverted(id)) : []);
  }

  private isCurrent(webhookId: number): boolean {
    const reader = this.readers.get(webhookId);
    const is = this.transaction.current.get(webhookId) ?? (reader !== undefined && this.positions.isCurrent(reader));
    this.transaction.current.set(webhookId, is);
    return is;
  }

  private goesOn(webhookId: number): boolean {
    return !this.full.has(webhookId) && this.isCurrent(webhookId);
  }

  /** Finds the block of a group in a webhook's ledger, and takes back the deliveries that the group supersedes. */
  private openPage(webhookId: number, matched: GroupMatch): Page {
    const { change, after } = matched.group;
    const subject = matched.events.find((one) => one.subject !== undefined)?.subject;
    const block = ledgerBlock({ block: change?.full.block, subject, after: cursorText(after) });
    if (block === undefined) return { webhookId, entry: undefined, known: new Map(), isBegun: false };
    const isReversed = takesBack(matched);
    const found = isReversed
      ? this.ledger.revert(webhookId, block, () => this.sentOf(webhookId, matched), this.transaction)
      : this.ledger.apply(webhookId, block, () => subjectsIn(matched), this.transaction);
    if (found !== undefined && "entry" in found) return { webhookId, ...found, isBegun: true };
    const [height = 0] = block.heights;
    // What is final is not kept in the ledger.
    const isFinal = height <= this.positions.finalAt(matched.after).applied;
    // A block that the ledger does not have is sent whole, even transactions that the receiver knows from a reverted block. `sent` is kept
    // only to decide about reversals later.
    const entry = isFinal ? undefined : { height, id: block.id, isReverted: isReversed, deliveries: [], sent: found?.sent ?? [] };
    return { webhookId, entry, known: new Map(), isBegun: false };
  }

  /** What a webhook was sent of a block that is reverted, by its present conditions. */
  private sentOf(webhookId: number, { events }: GroupMatch): Sent[] {
    const webhook = this.webhooks.get(webhookId);
    if (webhook === undefined) return [];
    return events.flatMap(({ event: { takesBack }, subject, ids }): Sent[] =>
      subject === undefined || takesBack === undefined || !ids.has(webhookId) ? [] : [[subject, keyOf(webhook, takesBack), true]],
    );
  }

  /** The delivery of an event to a webhook. Undefined if it is not sent, or the webhook's window is full. */
  private recipientOf(matched: GroupMatch, match: EventMatch, page: Page): Recipient | undefined {
    const { event, index } = match;
    const { webhookId } = page;
    const webhook = this.webhooks.get(webhookId);
    if (webhook === undefined || !this.goesOn(webhookId)) return undefined;
    const { isOnRequest } = this.positions;
    const known = page.known.get(match.subject ?? "") ?? noKnowledge;
    const { isSent, reverts } = isOnRequest ? { isSent: true } : decide(event.event, webhook, known);
    if (!isSent) return undefined;
    if (!matched.isOffCursor && this.store.countOpen(webhookId) >= this.window) {
      const position = positionBefore(matched, index, page.isBegun);
      this.full.set(webhookId, position);
      this.transaction.reached.set(webhookId, position);
      return undefined;
    }
    const recipient: Recipient = { webhookId, event: spelling(webhook, event.event), key: keyOf(webhook, event.id) };
    if (matched.last.get(webhookId) === index) recipient.last = true;
    if (reverts !== undefined) recipient.reverts = reverts;
    if (isOnRequest && !isReversal(event.event)) recipient.onRequest = true;
    return recipient;
  }

  private writeEvent(matched: GroupMatch, match: EventMatch, pages: ReadonlyMap<number, Page>, ids: readonly number[]): void {
    const { event } = match;
    const recipients = ids.flatMap((id) => {
      const page = pages.get(id);
      return (page && this.recipientOf(matched, match, page)) ?? [];
    });
    if (recipients.length === 0) return;
    const message = messageOf(matched, match);
    const rows = this.store.append(message, recipients, this.messages.get(event));
    const messageId = rows[0]?.messageId ?? 0;
    this.messages.set(event, messageId);
    this.transaction.written.push({ messageId, message, rows });
    const position = positionBefore(matched, matched.events[matched.events.indexOf(match) + 1]?.index, true);
    for (const { webhookId, id } of rows) {
      this.transaction.reached.set(webhookId, position);
      const page = pages.get(webhookId);
      if (page?.entry === undefined) continue;
      page.entry.deliveries.push(id);
      this.transaction.pages.add(page);
    }
  }

  /** Writes a group for the webhooks of a target. */
  private *writeGroup(matched: GroupMatch, target: TargetMatch) {
    const pages = new Map<number, Page>();
    const open = (id: number): void => {
      if (pages.has(id) || !this.goesOn(id)) return;
      const page = this.openPage(id, matched);
      pages.set(id, page);
      if (page.isBegun) this.transaction.reached.set(id, positionBefore(matched, matched.events[0]?.index ?? 0, true));
    };
    const forAll = takesBack(matched);
    for (const id of target.ids) {
      if (!forAll && !this.withReverted.has(id)) continue;
      open(id);
      if (!matched.isOffCursor) yield;
    }
    const concerned = target.concerned.get(matched) ?? new Set<number>();
    for (const match of concerned.size === 0 ? [] : matched.events) {
      const ids = inBoth(match.ids, concerned);
      for (const id of ids) open(id);
      this.writeEvent(matched, match, pages, ids);
      if (!matched.isOffCursor) yield;
    }
    for (const id of pages.keys()) if (this.goesOn(id)) this.transaction.reached.set(id, matched.after);
  }

  begin(): Transaction {
    return (this.transaction = newTransaction());
  }

  /** Whether there may be something to write. Most past blocks match nothing, and cost no transaction. */
  hasWork(all: readonly GroupMatch[]): boolean {
    return this.withReverted.size > 0 || all.some((matched) => matched.last.size > 0 || takesBack(matched));
  }

  *steps(all: readonly GroupMatch[]): Generator<void> {
    const isForAll = all.some(takesBack);
    for (const target of byTarget(all, this.readers.keys(), this.webhooks)) {
      const groups = isForAll || inBoth(this.withReverted, target.ids).length > 0 ? all : target.concerned.keys();
      for (const matched of groups) yield* this.writeGroup(matched, target);
    }
  }

  /** Writes ledgers and positions. */
  end(): void {
    for (const { webhookId, entry } of this.transaction.pages) if (entry !== undefined) this.store.putLedgerEntry(webhookId, entry);
    for (const [webhookId, position] of this.transaction.reached) {
      const reader = this.readers.get(webhookId);
      if (reader === undefined) continue;
      this.store.trimLedger(webhookId, this.positions.finalAt(position));
      // A final block that is begun is not in the ledger either.
      const begun = position.part?.isReversal === false ? position.part.block : position.cursor;
      this.positions.put(reader, position, this.positions.finalAt({ cursor: begun }).applied);
    }
  }
}

export const createRecorder = (needs: RecorderNeeds) => {
  const { store, onWritten, onOutcome } = needs;
  const ledger = createLedger(needs);

  return {
    appliedBlocks: ledger.appliedBlocks,
    /**
     * Writes groups for webhooks in transactions of a few milliseconds: deliveries, ledgers and positions together. Resolves to the
     * webhooks whose window is full, and where they stopped.
     */
    record: async (all: readonly GroupMatch[], readers: Readers, positions: Positions): Promise<ReadonlyMap<number, Position>> => {
      const writing = new Writing(needs, ledger, readers, positions);
      if (!writing.hasWork(all)) return writing.full;
      const steps = writing.steps(all);
      /** Writes as much as a turn allows. */
      const writeSome = (): boolean => {
        const begun = performance.now();
        let isDone: boolean | undefined = false;
        do isDone = steps.next().done;
        while (isDone !== true && performance.now() - begun < turn);
        writing.end();
        return isDone === true;
      };
      for (let isDone = false; !isDone; ) {
        const transaction = writing.begin();
        try {
          isDone = await store.transactionSoon(writeSome, { isLong: true });
        } catch (error) {
          onWritten([], new Set(readers.keys()));
          throw error;
        }
        onWritten(transaction.written, transaction.changed);
        for (let count = 0; count < transaction.superseded; count++) onOutcome?.("superseded");
      }
      return writing.full;
    },
  };
};

export type Recorder = ReturnType<typeof createRecorder>;
