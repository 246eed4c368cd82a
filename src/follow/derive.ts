import type { ChangesView, KeptBlock, OrphanBlock } from "../../types/chain-adapter.js";
import type { RoundDelegate, Transaction } from "../../types/chain.js";
import { type Booking, bookingsOf, forgingOf } from "../chain/bookings.js";
import type { ChainRules } from "../chain/rules.js";
import { bookingEvents, isBookingEvent } from "./event-names.js";
import { blockPayload, bookingPayload, roundPayload, transactionPayload } from "./payload.js";
import type { BlockName } from "./cursor.js";
import type { Change, FollowEvent } from "./follow.js";
import { LRUCache } from "lru-cache";
import { ask, type Asking } from "../async/maybe-promise.js";

/** Events that are derived from the chain, and not taken from the host as well. */
export const derivedEvents: readonly string[] = [
  "block.applied",
  "block.reverted",
  "transaction.applied",
  "transaction.reverted",
  "delegate.registered",
  "delegate.resigned",
  "wallet.vote",
  "wallet.unvote",
  "round.applied",
  "round.created",
  ...bookingEvents,
];

/** Most readers ask for the payloads of a few events only. */
class ChainEvent implements FollowEvent {
  readonly id: string;
  readonly event: string;
  readonly at: number;
  readonly block: BlockName;
  readonly takesBack: string | undefined;
  private readonly make: () => unknown;
  private made: { value: unknown } | undefined;
  private text: string | undefined;

  constructor(id: string, event: string, at: number, block: BlockName, takesBack: string | undefined, make: () => unknown) {
    this.id = id;
    this.event = event;
    this.at = at;
    this.block = block;
    this.takesBack = takesBack;
    this.make = make;
  }

  get data(): unknown {
    this.made ??= { value: this.make() };
    return this.made.value;
  }

  get json(): string {
    return (this.text ??= JSON.stringify(this.data));
  }
}

/** A change, with all that its events are derived from. */
export interface DerivedChange extends Change {
  /** How often this node had applied the block before. */
  readonly times: number;
  /** The delegates of the round that begins after the block; undefined where none does, or the adapter does not know. */
  readonly round?: readonly RoundDelegate[] | undefined;
  /** Made when first asked for, then kept. */
  readonly events: readonly FollowEvent[];
  readonly eventsWithBookings: readonly FollowEvent[];
}

/** What an event is called, and its payload, before it has its place in the group. */
interface Derived {
  event: string;
  data: () => unknown;
  /** Of a reversal: which of the events of its block, as it was applied, it takes back. */
  takesBack?: number | undefined;
}

const once = <T>(make: () => T): (() => T) => {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
};

/** What a transaction causes. */
const causedBy = (transaction: Transaction, data: () => unknown, rules: ChainRules): Derived[] => {
  if (transaction.typeGroup !== 1) return [];
  switch (rules.types.of(transaction).key) {
    case "delegateRegistration":
      return [{ event: "delegate.registered", data }];
    case "delegateResignation":
      return [{ event: "delegate.resigned", data }];
    case "vote": {
      const votes = (transaction.asset?.votes ?? []) as unknown[];
      return votes
        .filter((vote) => typeof vote === "string")
        .map((vote) => ({
          event: vote.startsWith("+") ? "wallet.vote" : "wallet.unvote",
          data: () => ({ delegate: vote, transaction: data() }),
        }));
    }
    default:
      return [];
  }
};

const [bookingApplied, bookingReverted] = bookingEvents;

/** The bookings of a block, apart by transaction, and those of its forger. */
const bookingsIn = (full: DerivedChange["full"], rules: ChainRules) => {
  const locks = new Map(full.locks?.map((lock) => [lock.lockId, lock]));
  const payloads = (bookings: readonly Booking[]) => bookings.map((booking) => () => bookingPayload(booking, full.block));
  return {
    of: (transaction: Transaction) => payloads(bookingsOf(transaction, (lockId) => locks.get(lockId), rules)),
    ofForger: () => payloads(forgingOf(full, rules)),
  };
};

const appliedEvents = function* ({ full, round }: DerivedChange, rules: ChainRules, hasBookings: boolean): Generator<Derived> {
  const bookings = hasBookings ? bookingsIn(full, rules) : undefined;
  yield { event: "block.applied", data: () => blockPayload(full.block) };
  for (const transaction of full.transactions) {
    const data = once(() => transactionPayload(transaction, rules));
    yield { event: "transaction.applied", data };
    yield* causedBy(transaction, data, rules);
    for (const booking of bookings?.of(transaction) ?? []) yield { event: bookingApplied, data: booking };
  }
  for (const booking of bookings?.ofForger() ?? []) yield { event: bookingApplied, data: booking };
  if (round === undefined) return;
  yield { event: "round.applied", data: () => null };
  yield { event: "round.created", data: () => roundPayload(round) };
};

/** What was applied is taken back: the block, then in the opposite order its bookings and transactions. */
const revertedEvents = function* ([block, ...events]: readonly Derived[]): Generator<Derived> {
  if (block !== undefined) yield { event: "block.reverted", data: block.data, takesBack: 0 };
  for (const [index, { event, data }] of [...events.entries()].toReversed()) {
    if (event === bookingApplied) yield { event: bookingReverted, data, takesBack: index + 1 };
    if (event === "transaction.applied") yield { event: "transaction.reverted", data, takesBack: index + 1 };
  }
};

/** Bookings between two events of a group, at the most: places are fractions of it. */
const mostBookings = 2 ** 20;

/** The place of an event in its group, by its id. Bookings lie between the others, which have the same places with or without them. */
export const placeIn = (eventId: string): number => {
  const [event = "", booking = ""] = (eventId.split(".")[2] ?? "").split("+");
  return (Number(event) || 0) + (Number(booking) || 0) / mostBookings;
};

/** Each event's number. A booking has that of the event before it, and how many bookings there have been since: `3+2`. */
const numbersOf = (derived: readonly Derived[]): string[] => {
  let [events, bookings] = [0, 0];
  return derived.map(({ event }) => {
    if (isBookingEvent(event)) return `${events - 1}+${++bookings}`;
    bookings = 0;
    return `${events++}`;
  });
};

/** The events of a change, always the same and in the same order. */
const eventsOf = (change: DerivedChange, rules: ChainRules, hasBookings: boolean): FollowEvent[] => {
  const { kind, at, times, full } = change;
  const { height, id } = full.block;
  const again = times === 0 ? "" : `.${times}`;
  const asApplied = [...appliedEvents(change, rules, hasBookings)];
  const numbersApplied = numbersOf(asApplied);
  const derived = kind === "applied" ? asApplied : [...revertedEvents(asApplied)];
  const numbers = kind === "applied" ? numbersApplied : numbersOf(derived);
  return derived.map(({ event, data, takesBack }, index) => {
    const takenBack = takesBack === undefined ? undefined : `${id}.applied.${numbersApplied[takesBack]}${again}`;
    return new ChainEvent(`${id}.${kind}.${numbers[index]}${again}`, event, at, { height, id }, takenBack, data);
  });
};

class LazyChange implements DerivedChange {
  readonly kind: Change["kind"];
  readonly full: DerivedChange["full"];
  readonly at: number;
  readonly times: number;
  readonly digest: string | undefined;
  readonly round: DerivedChange["round"];
  private readonly rules: ChainRules;
  private made: readonly FollowEvent[] | undefined;
  private madeWithBookings: readonly FollowEvent[] | undefined;

  constructor(change: Omit<DerivedChange, "events" | "eventsWithBookings">, rules: ChainRules) {
    this.kind = change.kind;
    this.full = change.full;
    this.at = change.at;
    this.times = change.times;
    this.round = change.round;
    this.digest = change.digest;
    this.rules = rules;
  }

  get events(): readonly FollowEvent[] {
    return (this.made ??= eventsOf(this, this.rules, false));
  }

  get eventsWithBookings(): readonly FollowEvent[] {
    return (this.madeWithBookings ??= eventsOf(this, this.rules, true));
  }
}

/** A block that was applied. `round`: the delegates of the round that begins after it, if one does. */
export const appliedChange = (
  { block, transactions, locks, appliedAt, times = 0, digest }: KeptBlock,
  round: readonly RoundDelegate[] | undefined,
  rules: ChainRules,
): DerivedChange => {
  const at = appliedAt ?? rules.epoch.toMilliseconds(block.timestamp);
  return new LazyChange({ kind: "applied", full: { block, transactions, locks }, at, times, round, digest }, rules);
};

/** A block that was reverted. */
export const revertedChange = ({ block, transactions, locks, revertedAt, times = 0 }: OrphanBlock, rules: ChainRules): DerivedChange =>
  new LazyChange({ kind: "reverted", full: { block, transactions, locks }, at: revertedAt, times }, rules);

/** Changes that are kept: a reader at the tip is seldom further behind than this. */
const keptChanges = 32;
/** Transactions of all changes that are kept. */
const keptTransactions = 5_000;

/** The last changes, each made into events once for all readers. */
interface RecentChanges {
  /** A change as it is in a state; undefined where it is not kept. */
  find(view: ChangesView, kind: Change["kind"], block: BlockName): Asking<DerivedChange | undefined>;
  putApplied(kept: KeptBlock, round: readonly RoundDelegate[] | undefined): DerivedChange;
  putReverted(orphan: OrphanBlock): DerivedChange;
}

function* timesOf(view: ChangesView, kind: Change["kind"], block: BlockName): Asking<number> {
  if (view.timesOf !== undefined) return yield* ask(view.timesOf(kind, block));
  const kept = kind === "applied" ? (yield* ask(view.blocks(block.height, 1)))[0] : yield* ask(view.orphan(block.id));
  return kept?.times ?? 0;
}

export const createRecentChanges = (rules: ChainRules): RecentChanges => {
  const changes = new LRUCache<string, DerivedChange>({
    max: 2 * keptChanges,
    maxSize: keptTransactions,
    sizeCalculation: ({ full }) => 1 + full.transactions.length,
  });
  const put = (change: DerivedChange): DerivedChange => {
    changes.set(`${change.kind} ${change.full.block.id}`, change);
    return change;
  };
  return {
    // Between two reads, a block may have been taken off the chain and put on it again: that is another change than before.
    find: function* (view, kind, block) {
      const known = changes.get(`${kind} ${block.id}`);
      return known !== undefined && (yield* timesOf(view, kind, block)) === known.times ? known : undefined;
    },
    putApplied: (kept, round) => put(appliedChange(kept, round, rules)),
    putReverted: (orphan) => put(revertedChange(orphan, rules)),
  };
};
