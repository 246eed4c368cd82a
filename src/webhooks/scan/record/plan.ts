import type { About, PartOfGroup, Place, WebhookRow } from "../../../../types/webhook-store.js";
import { runSliced, type Sliced } from "../../../async/time-slicing.js";
import { cursorText, type FollowEvent, type Group } from "../../../follow/index.js";
import { isReversal } from "../../../follow/event-names.js";
import type { Undecided } from "../../conditions/matching.js";
import type { Register } from "../../registry/register.js";

/** One event of a group, and which webhooks it is for. */
export interface PlannedEvent {
  event: FollowEvent;
  /** Its place in the group. */
  index: number;
  /** What it applies or reverts, or what it is a consequence of; undefined for other events of the host. */
  about: About | undefined;
  /** Transactions of the group up to and including this event. */
  transactions: number;
  /** Ids of webhooks whose conditions hold, ascending. */
  ids: number[];
}

/** A group, matched: what is to be written of it. */
export interface Plan {
  /** Where the webhooks are before it. */
  place: Place;
  group: Group;
  events: PlannedEvent[];
  /** The last event of the group for each webhook. */
  last: ReadonlyMap<number, number>;
  /** Of a block that is reverted after only a part of it was looked at: how many of its transactions were. */
  seenTransactions: number | undefined;
}

const textIn = (data: unknown, name: string): string | undefined => {
  const value = typeof data === "object" && data !== null ? (data as Record<string, unknown>)[name] : undefined;
  return typeof value === "string" ? value : undefined;
};

/** Where the host keeps the chain: by what it emits. */
const aboutHostEvent = ({ event, data }: FollowEvent): About | undefined => {
  const id = textIn(data, "id");
  if (id === undefined) return undefined;
  return event === "block.applied" || event === "block.reverted" || event === "transaction.applied" || event === "transaction.reverted" ? { event, id } : undefined;
};

/**
 * What each event of a group is about. The id of a transaction that is applied is followed by that of its block: it may be applied in
 * another one later. That of a reversal is not: whichever block has the transaction next supersedes it.
 */
export const createAboutOf = ({ change }: Group): ((event: FollowEvent) => About | undefined) => {
  if (change === undefined) return aboutHostEvent;
  const blockId = change.full.block.id;
  let transactionId: string | undefined;
  return ({ event, data }) => {
    if (event.startsWith("block.") || event.startsWith("round.")) return { event: `block.${change.kind}`, id: blockId };
    if (event === `transaction.${change.kind}`) transactionId = textIn(data, "id");
    if (transactionId === undefined) return undefined;
    return change.kind === "applied" ? { event: "transaction.applied", id: `${transactionId} ${blockId}` } : { event: "transaction.reverted", id: transactionId };
  };
};

/** Under which names messages may be found that an event takes back: those of earlier versions, and of hosts that keep the chain, are without the block. */
export const takenBackBy = ({ event, id }: About, blockId: string | undefined): About[] => {
  const [plain = id] = id.split(" ", 1);
  switch (event) {
    case "block.applied":
      return [{ event: "block.reverted", id }];
    case "transaction.applied":
      return [{ event: "transaction.reverted", id: plain }];
    case "block.reverted":
      return [{ event: "block.applied", id }];
    case "transaction.reverted":
      return [{ event: "transaction.applied", id }, ...(blockId === undefined ? [] : [{ event: "transaction.applied", id: `${plain} ${blockId}` } as const])];
  }
};

/** What a reader still has to look at of the group: all of it, or what it left. */
export const restOf = (events: readonly PlannedEvent[], part: PartOfGroup | undefined): readonly PlannedEvent[] =>
  part === undefined ? events : events.filter(({ index }) => index >= part.taken);

/** Matches the rest of a group for some webhooks: for each, what is certain, and what only patterns decide that are tried on long texts. */
const planOf = function* (register: Register, group: Group, place: Place, ids: ReadonlySet<number>, seenTransactions: number | undefined): Sliced<{ plan: Plan; undecided: Map<number, Undecided[]> }> {
  const aboutOf = createAboutOf(group);
  const [last, undecided, events] = [new Map<number, number>(), new Map<number, Undecided[]>(), [] as PlannedEvent[]];
  const matcher = register.matcher();
  let transactions = 0;
  for (const [index, event] of group.events.entries()) {
    if (event.event === "transaction.applied") transactions++;
    const planned: PlannedEvent = { event, index, about: aboutOf(event), transactions, ids: [] };
    events.push(planned);
    if (!matcher.listens(event.event)) continue;
    const matched = matcher.match(event.event, event.data);
    planned.ids = matched.ids.filter((id) => ids.has(id));
    for (const one of matched.undecided) if (ids.has(one.id)) undecided.set(one.id, [...(undecided.get(one.id) ?? []), one]);
    for (const id of planned.ids) last.set(id, index);
    yield;
  }
  return { plan: { place, group, events: [...restOf(events, place.part)], last, seenTransactions }, undecided };
};

/** Deliveries after which no further group is planned with those before it. */
const enough = 100;

/** Where readers are that have seen all of a group. */
export const placeAfter = ({ group }: Pick<Plan, "group">): Place => ({ cursor: cursorText(group.after) });

/** Where readers are that have seen a part of a group. */
export const placeWithin = ({ group }: Pick<Plan, "group">, taken: number, transactions: number): Place => ({ cursor: cursorText(group.after), part: { before: cursorText(group.before), taken, transactions } });

/** It takes back what others brought: that must be written before. */
const takesBack = ({ events }: Group): boolean => events.some(({ event }) => isReversal(event));

/**
 * Plans the first groups: as many as are worth one transaction, for where each has an event or two, a transaction each would be most of the work. One that
 * takes something back, or in which something is undecided, stands alone.
 */
export const planFirst = async (register: Register, groups: readonly Group[], place: Place, ids: ReadonlySet<number>, seenTransactions: number | undefined) => {
  const plans: Plan[] = [];
  let undecided: ReadonlyMap<number, Undecided[]> = new Map();
  let deliveries = 0;
  for (const group of groups) {
    const before = plans.at(-1);
    if (before !== undefined && (deliveries >= enough || takesBack(before.group) || takesBack(group))) break;
    const [at, seen] = before === undefined ? [place, seenTransactions] : [placeAfter(before), undefined];
    const found = await runSliced(planOf(register, group, at, ids, seen), "cooperative");
    if (before !== undefined && found.undecided.size > 0) break;
    plans.push(found.plan);
    ({ undecided } = found);
    if (undecided.size > 0) break;
    for (const event of found.plan.events) deliveries += event.ids.length;
  }
  return { plans, undecided };
};

/**
 * Webhooks that are taken through the events of a plan together: about a sixteenth of them. At the end of each transaction, something is written
 * for each; the fewer there are, the more events of each one has. Of up to eight, the messages stand on sheets (message-sheet.ts).
 */
const [parts, leastInChunk, mostInChunk] = [16, 8, 50];

/**
 * Some webhooks each, in chunks. Those of one target stay together: it is told of events in their order, whichever webhook they are for. `takesBack`:
 * the plan may take back what others brought, which is looked for once for each chunk.
 */
export const sharesOf = (webhookIds: Iterable<number>, webhooks: ReadonlyMap<number, WebhookRow>, takesBack: boolean): ReadonlySet<number>[][] => {
  const byTarget = new Map<string, number[]>();
  let count = 0;
  for (const id of webhookIds) {
    count++;
    const target = webhooks.get(id)?.target ?? "";
    const there = byTarget.get(target);
    if (there === undefined) byTarget.set(target, [id]);
    else there.push(id);
  }
  const size = takesBack ? mostInChunk : Math.min(mostInChunk, Math.max(leastInChunk, Math.ceil(count / parts)));
  const shares: number[][] = [];
  for (const ids of byTarget.values()) {
    const open = shares.at(-1);
    if (open === undefined || open.length + ids.length > size) shares.push([...ids]);
    else open.push(...ids);
  }
  return shares.map((ids) => Array.from({ length: Math.ceil(ids.length / size) }, (_, index) => new Set(ids.slice(index * size, (index + 1) * size))));
};
