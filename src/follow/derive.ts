import type { ChangesView, KeptBlock, OrphanBlock } from "../../types/chain-adapter.js";
import type { RoundDelegate, Transaction } from "../../types/chain.js";
import type { ChainRules } from "../chain/rules.js";
import { blockPayload, roundPayload, transactionPayload } from "./payload.js";
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
}

/**
 * What an event is called, and its payload, before it has its place in the group; of a reversal, the place in its group of what it takes
 * back.
 */
type Derived = readonly [event: string, data: () => unknown, takesBack?: number | undefined];

const once = <T>(make: () => T): (() => T) => {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
};

/** What a transaction causes. */
const causedBy = (transaction: Transaction, payload: () => unknown, rules: ChainRules): Derived[] => {
  if (transaction.typeGroup !== 1) return [];
  switch (rules.types.of(transaction).key) {
    case "delegateRegistration":
      return [["delegate.registered", payload]];
    case "delegateResignation":
      return [["delegate.resigned", payload]];
    case "vote": {
      const votes = (transaction.asset?.votes ?? []) as unknown[];
      return votes
        .filter((vote) => typeof vote === "string")
        .map((vote) => [vote.startsWith("+") ? "wallet.vote" : "wallet.unvote", () => ({ delegate: vote, transaction: payload() })]);
    }
    default:
      return [];
  }
};

const appliedEvents = function* ({ full: { block, transactions }, round }: DerivedChange, rules: ChainRules): Generator<Derived> {
  yield ["block.applied", () => blockPayload(block)];
  for (const transaction of transactions) {
    const payload = once(() => transactionPayload(transaction, rules));
    yield ["transaction.applied", payload];
    yield* causedBy(transaction, payload, rules);
  }
  if (round === undefined) return;
  yield ["round.applied", () => null];
  yield ["round.created", () => roundPayload(round)];
};

const revertedEvents = function* (change: DerivedChange, rules: ChainRules): Generator<Derived> {
  const { block, transactions } = change.full;
  const places = [...appliedEvents(change, rules)].flatMap(([event], place) => (event === "transaction.applied" ? [place] : []));
  yield ["block.reverted", () => blockPayload(block), 0];
  for (const transaction of transactions.toReversed())
    yield ["transaction.reverted", () => transactionPayload(transaction, rules), places.pop()];
};

/** The events of a change, always the same and in the same order. */
const eventsOf = (change: DerivedChange, rules: ChainRules): FollowEvent[] => {
  const { kind, at, times, full } = change;
  const { height, id } = full.block;
  const again = times === 0 ? "" : `.${times}`;
  const derived = kind === "applied" ? appliedEvents(change, rules) : revertedEvents(change, rules);
  const events: FollowEvent[] = [];
  for (const [event, make, takesBack] of derived) {
    const takenBack = takesBack === undefined ? undefined : `${id}.applied.${takesBack}${again}`;
    events.push(new ChainEvent(`${id}.${kind}.${events.length}${again}`, event, at, { height, id }, takenBack, make));
  }
  return events;
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

  constructor(change: Omit<DerivedChange, "events">, rules: ChainRules) {
    this.kind = change.kind;
    this.full = change.full;
    this.at = change.at;
    this.times = change.times;
    this.round = change.round;
    this.digest = change.digest;
    this.rules = rules;
  }

  get events(): readonly FollowEvent[] {
    return (this.made ??= eventsOf(this, this.rules));
  }
}

/** A block that was applied. `round`: the delegates of the round that begins after it, if one does. */
export const appliedChange = (
  { block, transactions, appliedAt, times = 0, digest }: KeptBlock,
  round: readonly RoundDelegate[] | undefined,
  rules: ChainRules,
): DerivedChange =>
  new LazyChange(
    { kind: "applied", full: { block, transactions }, at: appliedAt ?? rules.epoch.toMilliseconds(block.timestamp), times, round, digest },
    rules,
  );

/** A block that was reverted. */
export const revertedChange = ({ block, transactions, revertedAt, times = 0 }: OrphanBlock, rules: ChainRules): DerivedChange =>
  new LazyChange({ kind: "reverted", full: { block, transactions }, at: revertedAt, times }, rules);

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
