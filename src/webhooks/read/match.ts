import { runSliced, type Sliced } from "../../async/time-slicing.js";
import { cursorText, type FollowEvent, type Group } from "../../follow/index.js";
import { isReversal } from "../../follow/event-names.js";
import type { Undecided } from "../conditions/matching.js";
import type { Register } from "../register/register.js";
import type { Position } from "../rows/rows.js";
import { subjectOf } from "./decide.js";
import { withLogOf } from "./position.js";

/** One event of a group, and which webhooks it is for. */
export interface MatchedEvent {
  event: FollowEvent;
  /** Its place in the group. */
  index: number;
  /** The block or transaction that it applies or reverts. */
  subject: string | undefined;
  /** Ids of webhooks whose conditions hold, ascending. */
  ids: readonly number[];
}

/** A group, matched: what is to be written of it. */
export interface Matched {
  group: Group;
  /** Where the webhooks are before and after it. */
  before: Position;
  after: Position;
  isApart: boolean;
  events: readonly MatchedEvent[];
  /** The last event of the group for each webhook. */
  last: ReadonlyMap<number, number>;
}

export interface Read {
  groups: readonly Group[];
  /** Where the webhooks are. */
  position: Position;
  /** How many events of the first group are taken already. */
  taken: number;
  /** Whether a block of the ledger is taken back that is not the position's: that stays. */
  isApart?: boolean | undefined;
}

/** Matches a group for some webhooks: for each, what is certain, and what only patterns decide that are tried on long texts. */
const matchGroup = function* (register: Register, group: Group, { position: before, taken, isApart = false }: Omit<Read, "groups">, ids: ReadonlySet<number>): Sliced<{ matched: Matched; undecided: Map<number, Undecided[]> }> {
  const [last, undecided, events] = [new Map<number, number>(), new Map<number, Undecided[]>(), [] as MatchedEvent[]];
  const matcher = register.matcher();
  for (const [index, event] of group.events.entries()) {
    if (index < taken) continue;
    const found = matcher.listens(event.event) ? matcher.match(event.event, event.data) : undefined;
    const matching = found?.ids.filter((id) => ids.has(id)) ?? [];
    for (const one of found?.undecided ?? []) if (ids.has(one.id)) undecided.set(one.id, [...(undecided.get(one.id) ?? []), one]);
    for (const id of matching) last.set(id, index);
    events.push({ event, index, subject: subjectOf(event), ids: matching });
    if (found !== undefined) yield;
  }
  // A block that was read by itself has no place in the host's log.
  const after = cursorText(group.after);
  const matched = { group, before, after: isApart ? before : { cursor: group.after.log === undefined ? withLogOf(after, before.cursor) : after }, isApart, events, last };
  return { matched, undecided };
};

/** Deliveries after which no further group is matched with those before it. */
const enough = 100;

/** It takes back what others brought: that must be written before. */
const takesBack = ({ events }: Group): boolean => events.some(({ event }) => isReversal(event));

/**
 * Matches the first groups: as many as are worth one transaction, for where each has an event or two, a transaction each would be most of the work. One that
 * takes something back, or in which something is undecided, stands alone.
 */
export const matchFirst = async (register: Register, { groups, ...first }: Read, ids: ReadonlySet<number>) => {
  const all: Matched[] = [];
  let undecided: ReadonlyMap<number, Undecided[]> = new Map();
  let deliveries = 0;
  for (const group of groups) {
    const earlier = all.at(-1);
    if (earlier !== undefined && (deliveries >= enough || takesBack(earlier.group) || takesBack(group))) break;
    const at = earlier === undefined ? first : { position: earlier.after, taken: 0 };
    const found = await runSliced(matchGroup(register, group, at, ids), "cooperative");
    if (earlier !== undefined && found.undecided.size > 0) break;
    all.push(found.matched);
    ({ undecided } = found);
    if (undecided.size > 0) break;
    for (const event of found.matched.events) deliveries += event.ids.length;
  }
  return { all, undecided };
};
