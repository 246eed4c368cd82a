import { runSliced, type Sliced } from "../../async/time-slicing.js";
import { type Cursor, cursorText, type FollowEvent, type Group, parseCursor } from "../../follow/index.js";
import { placeIn } from "../../follow/derive.js";
import { canonicalEvent, eventsFor, isReversal, ledgerEvent, namesEvent } from "../../follow/event-names.js";
import type { Undecided } from "../conditions/matcher.js";
import type { PatternWorker } from "../conditions/pattern.js";
import type { Register } from "../register/register.js";
import type { LedgerEntry, Message, Position, WebhookRow } from "../rows/rows.js";
import { memberOf } from "../../follow/payload.js";

// Decisions about what a webhook is sent. They are pure: the ledger says what its receiver knows.

/**
 * Whether a receiver knows that a block or transaction was applied:
 *
 * | what was sent of it                      | from → to   |
 * |------------------------------------------|-------------|
 * | applied, answered 2xx                    | → yes       |
 * | applied, attempted but not answered so   | no → maybe  |
 * | reverted, answered 2xx                   | → no        |
 * | reverted, attempted but not answered so  | yes → maybe |
 * | never attempted                          | no change   |
 */
export interface Knowledge {
  known: "no" | "maybe" | "yes";
  /** The `webhook-id` of what it was sent last when that was applied. */
  key?: string | undefined;
}

/** A delivery of a block or transaction. */
export interface PastDelivery {
  isReversal: boolean;
  key: string;
  attempt: "none" | "failed" | "arrived";
}

export const noKnowledge: Knowledge = { known: "no" };

export const knowledgeAfter = (before: Knowledge, { isReversal: isReverted, key, attempt }: PastDelivery): Knowledge => {
  if (attempt === "none") return before;
  if (!isReverted) return { known: attempt === "arrived" || before.known === "yes" ? "yes" : "maybe", key };
  if (attempt === "arrived") return noKnowledge;
  return before.known === "yes" ? { ...before, known: "maybe" } : before;
};

/** `block.reverted` for `block.applied` and the other way round. Undefined for events that have no opposite. */
const oppositeOf = (event: string): string | undefined => {
  const [, kind, deed] = ledgerEvent.exec(event) ?? [];
  return kind === undefined ? undefined : `${kind}.${deed === "applied" ? "reverted" : "applied"}`;
};

/** What an event applies or reverts: `block ID`, `transaction ID`, `booking ADDRESS ID`. */
const subjectOf = ({ event, data }: Pick<FollowEvent, "event" | "data">): string | undefined => {
  const [, kind] = ledgerEvent.exec(event) ?? [];
  const id = kind === undefined ? undefined : memberOf(data, "id");
  if (typeof id !== "string") return undefined;
  return kind === "booking" ? `booking ${String(memberOf(data, "address"))} ${id}` : `${kind} ${id}`;
};

export interface Decision {
  isSent: boolean;
  /** Of a reversal: the `webhook-id` of what it takes back, where there is one. */
  reverts?: string | undefined;
}

/**
 * Whether a webhook is sent an event that its conditions match. An applied block or transaction is sent unless the receiver knows of it, a
 * reverted one only if the receiver may know of it. A webhook that listens to one of the two alone is sent every event.
 */
export const decide = (event: string, webhook: Pick<WebhookRow, "events">, { known, key }: Knowledge): Decision => {
  const opposite = oppositeOf(event);
  if (opposite === undefined || !namesEvent(webhook.events.map(canonicalEvent), opposite)) return { isSent: true };
  return isReversal(event) ? { isSent: known !== "no", reverts: key } : { isSent: known !== "yes" };
};

// Positions of readers, and how they lie to each other.

/** Of a cursor's block. */
export const heightOf = (cursor: string): number => Number.parseInt(cursor, 10) || 0;

const cursorIn = (text: string): Cursor => {
  const parsed = parseCursor(text);
  return parsed.kind === "cursor" ? parsed.cursor : { block: undefined };
};

/** A cursor of one's block, and of another's place in the host's log. */
export const withLogOf = (cursor: string, other: string): string => cursorText({ block: cursorIn(cursor).block, log: cursorIn(other).log });

/** A cursor without its place in the host's log. */
export const withoutLog = (cursor: string): string => cursorText({ block: cursorIn(cursor).block });

export const blockName = ({ height, id }: Pick<LedgerEntry, "height" | "id">): string => `${height}-${id}`;

/** A block as the ledger names it, or where a host's own chain offers no changes, a block or transaction. */
export interface LedgerBlock {
  id: string;
  /** Where it may be in the ledger; a new one is put at the first. */
  heights: readonly number[];
}

/**
 * A host without `changes` does not tell the block of its events. The ledger then uses pseudo-heights: 10,000 events of the host's log make
 * one, and the last 3 are kept. So at least the last 20,000 events can be reverted.
 */
const eventsPerHeight = 10_000;
const heightsKept = 3;

const logHeightOf = (cursor: string): number => 1 + Math.floor((cursorIn(cursor).log?.sequence ?? 0) / eventsPerHeight);

/** The highest block of the ledger that is not kept at a position in a host's log. */
export const finalInLog = (cursor: string): number => Math.max(0, logHeightOf(cursor) - heightsKept);

/** What an event applies or reverts. `after`: the cursor after it. */
export const ledgerBlock = ({ block, subject, after = "" }: Pick<Message, "block" | "subject" | "after">): LedgerBlock | undefined => {
  if (block !== undefined) return { id: block.id, heights: [block.height] };
  if (subject === undefined) return undefined;
  const height = logHeightOf(after);
  return { id: subject, heights: Array.from({ length: heightsKept }, (_, back) => height - back) };
};

/** The block that a group applies or reverts, as a cursor. */
export const changedBlock = ({ change, before, after }: Group): string | undefined =>
  change === undefined ? undefined : cursorText({ block: (change.kind === "applied" ? after : before).block });

export const isReverted = ({ change }: Group): boolean => change?.kind === "reverted";

/** The same for the same positions. */
export const positionText = ({ cursor, part }: Position): string =>
  part === undefined ? cursor : `${cursor} ${part.block} ${part.isReversal ? "-" : "+"}${part.taken}`;

export const samePosition = (one: Position, other: Position): boolean => positionText(one) === positionText(other);

/** The position after `taken` events of a group. `isBegun`: the ledger has the group, even if no event is taken yet. */
export const positionWithin = (group: Group, before: Position, taken: number, isBegun: boolean): Position => {
  const block = changedBlock(group);
  if (block === undefined || (taken === 0 && !isBegun)) return { cursor: before.cursor };
  const parent = withLogOf(cursorText(isReverted(group) ? group.after : group.before), before.cursor);
  return { cursor: parent, part: { block, isReversal: isReverted(group), taken } };
};

/** One event of a group, and which webhooks it is for. */
export interface EventMatch {
  event: FollowEvent;
  /** Its place in the group. */
  index: number;
  /** The block or transaction that it applies or reverts. */
  subject: string | undefined;
  /** Ids of webhooks whose conditions hold, ascending. */
  ids: ReadonlySet<number>;
}

/** A group, matched: what is to be written of it. */
export interface GroupMatch {
  group: Group;
  /** Where the webhooks are before and after it. */
  before: Position;
  after: Position;
  /** See `ReadRange`. */
  isOffCursor: boolean;
  events: readonly EventMatch[];
  /** The last event of the group for each webhook. */
  last: ReadonlyMap<number, number>;
}

export interface ReadRange {
  groups: readonly Group[];
  /** Where the webhooks are. */
  position: Position;
  /** Place of the next event of the first group. */
  taken: number;
  /**
   * The group reverts a block of the ledger that the cursor does not stand on (see `createWalk`). It is written whole, regardless of the
   * window, and the cursor stays.
   */
  isOffCursor?: boolean | undefined;
}

/** Matches a group for some webhooks: for each, what is certain, and what only patterns decide that are tried on long texts. */
const matchGroup = function* (
  register: Register,
  group: Group,
  { position: before, taken, isOffCursor = false, ids }: Omit<ReadRange, "groups"> & { ids: ReadonlyMap<number, unknown> },
): Sliced<{ matched: GroupMatch; undecided: Map<number, Undecided[]> }> {
  const [last, undecided, events] = [new Map<number, number>(), new Map<number, Undecided[]>(), [] as EventMatch[]];
  const matcher = register.matcher();
  for (const event of eventsFor(group, (name) => matcher.listens(name))) {
    const index = group.change === undefined ? 0 : placeIn(event.id);
    if (index < taken) continue;
    const found = matcher.listens(event.event) ? matcher.match(event.event, event.data) : undefined;
    const matching = new Set(found?.ids.filter((id) => ids.has(id)));
    for (const one of found?.undecided ?? []) if (ids.has(one.id)) undecided.set(one.id, [...(undecided.get(one.id) ?? []), one]);
    for (const id of matching) last.set(id, index);
    events.push({ event, index, subject: subjectOf(event), ids: matching });
    if (found !== undefined) yield;
  }
  // A block that was read by itself has no place in the host's log.
  const cursor = group.after.log === undefined ? withLogOf(cursorText(group.after), before.cursor) : cursorText(group.after);
  const matched = { group, before, after: isOffCursor ? before : { cursor }, isOffCursor, events, last };
  return { matched, undecided };
};

/** Deliveries after which no further group is matched with those before it. */
const enough = 100;

/** A group with reversals. What it takes back must have been written before. */
const takesBack = ({ events }: Group): boolean => events.some(({ event }) => isReversal(event));

/**
 * Matches the first groups, up to `enough` deliveries, so that blocks with an event or two share a transaction. A group that takes
 * something back, or in which something is undecided, stands alone.
 */
export const matchFirst = async (register: Register, { groups, ...first }: ReadRange, ids: ReadonlyMap<number, unknown>) => {
  const all: GroupMatch[] = [];
  let undecided: ReadonlyMap<number, Undecided[]> = new Map();
  let deliveries = 0;
  for (const group of groups) {
    const earlier = all.at(-1);
    if (earlier !== undefined && (deliveries >= enough || takesBack(earlier.group) || takesBack(group))) break;
    const at = earlier === undefined ? first : { position: earlier.after, taken: 0 };
    const found = await runSliced(matchGroup(register, group, { ...at, ids }), "cooperative");
    if (earlier !== undefined && found.undecided.size > 0) break;
    all.push(found.matched);
    ({ undecided } = found);
    if (undecided.size > 0) break;
    for (const event of found.matched.events) deliveries += event.ids.size;
  }
  return { all, undecided };
};

/** A group as it matches one webhook, whose patterns are tried on long texts by a thread. Undefined if nobody waits for it any more. */
export const matchAlone = async (
  register: Pick<Register, "matcher">,
  matched: GroupMatch,
  { id, patterns, isOver }: { id: number; patterns: PatternWorker; isOver(): boolean },
): Promise<GroupMatch | undefined> => {
  const events: EventMatch[] = [];
  for (const one of matched.events) {
    if (isOver()) return undefined;
    const { event, data } = one.event;
    const undecided = one.ids.has(id) ? undefined : register.matcher().match(event, data).undecided.find((other) => other.id === id);
    const isMatch = one.ids.has(id) || (undecided !== undefined && (await undecided.decide(patterns)));
    events.push({ ...one, ids: new Set(isMatch ? [id] : []) });
  }
  const last = events.findLast(({ ids }) => ids.size > 0)?.index;
  return { ...matched, events, last: new Map(last === undefined ? [] : [[id, last]]) };
};

/** The webhooks of one target. They are written for together, as a target receives events in order, whichever of its webhooks they are for. */
export interface TargetMatch {
  ids: Set<number>;
  /** By group, the webhooks that any event of it is for, ascending. A group with no such event is absent. */
  concerned: Map<GroupMatch, Set<number>>;
}

/** Groups by target: what each target's webhooks are told of. */
export const byTarget = (all: readonly GroupMatch[], webhookIds: Iterable<number>, webhooks: ReadonlyMap<number, WebhookRow>): Iterable<TargetMatch> => {
  const targets = new Map<string, TargetMatch>();
  const targetOf = new Map<number, TargetMatch>();
  for (const id of webhookIds) {
    const url = webhooks.get(id)?.target ?? "";
    const target = targets.get(url) ?? { ids: new Set(), concerned: new Map() };
    targets.set(url, target);
    target.ids.add(id);
    targetOf.set(id, target);
  }
  for (const matched of all) {
    for (const id of [...matched.last.keys()].sort((a, b) => a - b)) {
      const concerned = targetOf.get(id)?.concerned;
      const there = concerned?.get(matched);
      if (there === undefined) concerned?.set(matched, new Set([id]));
      else there.add(id);
    }
  }
  return targets.values();
};

/** The ids that are in both, which ascend. */
export const inBoth = (one: ReadonlySet<number>, other: ReadonlySet<number>): number[] =>
  one.size < other.size ? [...one].filter((id) => other.has(id)) : [...other].filter((id) => one.has(id));
