import { setTimeout as delay } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { derivedEvents } from "../../../src/follow/derive.js";
import { isBookingEvent } from "../../../src/follow/event-names.js";
import type { Dispatched, Stage } from "./stage.js";

/** How far the dispatcher and the webhooks had got. Each event's target has the event's name as its path. */
export interface Mark {
  dispatched: number;
  told: Readonly<Record<string, number>>;
}

export const told = ({ inbox }: Stage, event: string): unknown[] => inbox.at(`/${event}`).map(({ json }) => json.data);

export const markOf = (stage: Stage, events: readonly string[]): Mark => ({
  dispatched: stage.dispatched().length,
  told: Object.fromEntries(events.map((event) => [event, told(stage, event).length])),
});

interface Sides {
  expected: unknown[];
  received: unknown[];
}

const dataOf = (dispatched: readonly Dispatched[], event: string): unknown[] =>
  dispatched.filter(({ name }) => name === event).map(({ data }) => data);

/** Everything since `mark`. */
const sinceMark = (stage: Stage, { dispatched, told: before }: Mark) => {
  const all = stage.dispatched().slice(dispatched);
  return (event: string): Sides => ({ expected: dataOf(all, event), received: told(stage, event).slice(before[event]) });
};

/** Everything since the webhooks were created, at `created` or before; of what was dispatched meanwhile, the last. */
const sinceCreated = (stage: Stage, created: number) => {
  const all = stage.dispatched();
  return (event: string): Sides => {
    const received = told(stage, event);
    const ofEvent = all.filter(({ name }) => name === event);
    const count = Math.max(received.length, ofEvent.filter(({ at }) => at > created).length);
    return { expected: dataOf(ofEvent, event).slice(Math.max(0, ofEvent.length - count)), received };
  };
};

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * Payloads of the chain's events are made from the chain: what both have must be the same, and each may have members that the other has
 * not (the node dispatches some of its own working, Portico adds a transaction's addresses).
 */
const agree = (one: unknown, other: unknown): boolean => {
  if (!isObject(one) || !isObject(other)) return isDeepStrictEqual(one, other);
  const common = Object.keys(one).filter((name) => name in other);
  return common.length > 0 && common.every((name) => agree(one[name], other[name]));
};

interface DelegateWallet {
  publicKey: string;
  attributes: { attributes: { delegate: { username: string; voteBalance: string } } };
}

interface DelegateRow {
  publicKey: string;
  username: string;
  votes: string;
}

const byKey = (rows: readonly DelegateRow[]): Record<string, DelegateRow> => Object.fromEntries(rows.map((row) => [row.publicKey, row]));

/** `round.created` has the rows of `/rounds/{id}/delegates`; the node dispatches the delegates' wallets, in an order of its own. */
const ofRound = (dispatched: unknown): unknown =>
  byKey(
    (dispatched as DelegateWallet[]).map(({ publicKey, attributes: { attributes: { delegate } } }) => ({ publicKey, username: delegate.username, votes: delegate.voteBalance })),
  );

const isSameEvent = (event: string, dispatched: unknown, received: unknown): boolean =>
  event === "round.created" ? isDeepStrictEqual(ofRound(dispatched), byKey(received as DelegateRow[])) : agree(dispatched, received);

/** A transaction, or a list of them, without what Portico adds. */
const withoutAddresses = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutAddresses);
  if (!isObject(value)) return value;
  const { addresses: _, ...rest } = value;
  return rest;
};

const isSame = ({ event, expected, received }: Sides & { event: string }): boolean =>
  derivedEvents.includes(event)
    ? expected.length === received.length && expected.every((data, place) => isSameEvent(event, data, received[place]))
    : isDeepStrictEqual(expected, event.startsWith("transaction.") ? received.map(withoutAddresses) : received);

/**
 * Looks for a moment at which webhooks have received everything that the node's dispatcher dispatched, in order: the node may go on
 * forging, and deliveries take some milliseconds.
 * @returns the number of webhooks received for each event
 * @throws Error that shows the first event that differs
 */
export const compareWebhooks = async (stage: Stage, events: readonly string[], since: number | Mark): Promise<Record<string, number>> => {
  let differing = "";
  for (let tries = 0; tries < 100; tries++) {
    const sidesOf = typeof since === "number" ? sinceCreated(stage, since) : sinceMark(stage, since);
    // Bookings are made from the chain: the node dispatches none.
    const sides = events.filter((event) => !isBookingEvent(event)).map((event) => ({ event, ...sidesOf(event) }));
    const first = sides.find((side) => !isSame(side));
    if (first === undefined) return Object.fromEntries(sides.map(({ event, received }) => [event, received.length]));
    differing = `${first.event}\n  dispatched ${JSON.stringify(first.expected)}\n  told       ${JSON.stringify(first.received)}`;
    await delay(100);
  }
  throw new Error(`webhooks are told otherwise than the dispatcher dispatched: ${differing}`);
};
