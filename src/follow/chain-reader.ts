import { performance } from "node:perf_hooks";
import type { ChainChanges, ChangesView } from "../../types/chain-adapter.js";
import type { HostLog, LoggedEvent } from "../../types/host-log.js";
import { andThen, ask, type Asking, drive } from "../async/maybe-promise.js";
import { finalHeightAt } from "../chain/milestones.js";
import { endsRound, roundOf } from "../chain/rounds.js";
import type { ChainRules } from "../chain/rules.js";
import { PorticoError } from "../errors.js";
import { type BlockName, type Cursor, cursorError, type CursorText, type LogPlace, parseCursors } from "./cursor.js";
import { createRecentChanges, type DerivedChange } from "./derive.js";
import type { Batch, Follow, Group, LocateOptions, ReadOptions } from "./follow.js";
import { cursorOf, heightOnChain, hostGroup, placeOf, sequenceFrom } from "./host-events.js";

interface ChainReaderNeeds {
  changes: ChainChanges;
  log: () => HostLog | undefined;
  rules: ChainRules;
  finality: number | undefined;
}

/** Milliseconds of reading, where a reader does not say how many groups it wants. */
const longestRead = 5;
/**
 * Events after which such a reading ends, too. A reader that is held up by its client holds what it has read: thousands of readers may,
 * and blocks
 * that are at hand are read in no time.
 */
const mostEvents = 250;
/** Blocks read at a time: at first, and at the most. */
const blocksTogether = { first: 8, most: 100 };
/**
 * Events of the log read at a time: at first, and at the most. A hundred large ones take longer than one reading may: it would take the
 * first, and leave the others to be read again.
 */
const eventsTogether = { first: 8, most: 100 };

/** One reader, while it reads: where it is, and what has been read ahead for it. */
interface Reading {
  readonly view: ChangesView;
  readonly log: HostLog | undefined;
  readonly options: ReadOptions & { limit?: number };
  block: BlockName | undefined;
  sequence: number;
  /**
   * Whether the reader has been told of all events up to `sequence`, and wants those that follow: not from genesis, or another node's
   * cursor.
   */
  isPlaced: boolean;
  /** Events after `sequence`, ascending; undefined: not read yet. */
  events: LoggedEvent[] | undefined;
  /** Changes of the blocks above `block`, ascending. */
  ahead: DerivedChange[];
  /** How many blocks, and events of the log, are read next. */
  blocksNext: number;
  eventsNext: number;
  groups: Group[];
  /** About how many events they have. */
  size: number;
}

const named = ({ height, id }: BlockName): BlockName => ({ height, id });

const parentOf = ({ block: { height, previousBlock } }: DerivedChange["full"]): BlockName | undefined =>
  previousBlock === null || height === 1 ? undefined : { height: height - 1, id: previousBlock };

const placeIn = ({ log, sequence }: Pick<Reading, "log" | "sequence">): LogPlace | undefined => log && placeOf(log.node, sequence);

class ChangeGroup implements Group {
  readonly change: DerivedChange;
  readonly before: Cursor;
  readonly after: Cursor;

  constructor(change: DerivedChange, log: LogPlace | undefined) {
    const [block, parent] = [named(change.full.block), parentOf(change.full)];
    this.change = change;
    this.before = cursorOf(change.kind === "applied" ? parent : block, log);
    this.after = cursorOf(change.kind === "applied" ? block : parent, log);
  }

  get events() {
    return this.change.events;
  }

  get eventsWithBookings() {
    return this.change.eventsWithBookings;
  }
}

function* unknown(view: ChangesView): Asking<PorticoError> {
  const oldest = { height: 1, id: yield* ask(view.idAt(1)) };
  return new PorticoError("CURSOR_UNKNOWN", undefined, { members: { code: "CURSOR_UNKNOWN", oldest, tip: named(view.tip) } });
}

/** Where events of the host were removed that a reader wants. */
function* lost(view: ChangesView): Asking<PorticoError> {
  const { members = {} } = yield* unknown(view);
  return new PorticoError(
    "CURSOR_UNKNOWN",
    'This node has removed host events after the cursor (followHostEvents). To continue with those that it still has, leave out "~" and what follows it.',
    { members },
  );
}

function* isOnChain(view: ChangesView, block: BlockName | undefined): Asking<boolean> {
  return block === undefined || (yield* ask(view.idAt(block.height))) === block.id;
}

function* sequenceOf(view: ChangesView, log: HostLog | undefined, { block, log: place }: Cursor): Asking<number> {
  if (log === undefined) return 0;
  return place !== undefined && place.node === log.node ? Math.min(place.sequence, log.last()) : yield* sequenceFrom(view, log, block);
}

const take = (reading: Reading, change: DerivedChange): void => {
  const group = new ChangeGroup(change, placeIn(reading));
  reading.groups.push(group);
  reading.size += 1 + change.full.transactions.length;
  reading.block = group.after.block;
};

function* isDue(view: ChangesView, position: BlockName | null, block: BlockName | undefined): Asking<boolean> {
  if (position?.id === block?.id) return true;
  // Before what was taken off the chain is reverted, only what arrived at that very block.
  if (!(yield* isOnChain(view, block))) return false;
  return (yield* heightOnChain(view, position)) <= (block?.height ?? 0);
}

/** The next event of the host, if it comes before the next change of the chain, or if there is none (`isLast`). */
function* takeHostEvent(reading: Reading, isLast: boolean): Asking<boolean> {
  const { log, view, block, options } = reading;
  if (log === undefined) return false;
  if (reading.events === undefined || (reading.events.length === 0 && log.last() > reading.sequence)) {
    reading.events = log.read(reading.sequence, Math.min(reading.eventsNext, options.limit ?? eventsTogether.most));
    reading.eventsNext = Math.min(eventsTogether.most, 2 * reading.eventsNext);
  }
  const [next] = reading.events;
  if (next === undefined) return false;
  if (reading.isPlaced && next.sequence !== reading.sequence + 1) throw yield* lost(view);
  const comesNext = isLast || (yield* isDue(view, next.position, block));
  if (!comesNext) return false;
  reading.events.shift();
  reading.groups.push(hostGroup(log.node, next, cursorOf(block, placeIn(reading))));
  reading.size++;
  reading.sequence = next.sequence;
  reading.isPlaced = options.whole === true;
  return true;
}

const cursorNow = (reading: Reading): Cursor => cursorOf(reading.block, placeIn(reading));

/** What reading and locating share. */
const createChain = ({ log, rules, finality }: ChainReaderNeeds) => ({
  milestones: rules.milestones,
  recent: createRecentChanges(rules),
  /** The highest block that a reader is told of. */
  highest: ({ tip }: ChangesView, { confirmations = 0 }: ReadOptions): number =>
    confirmations === "final" ? finalHeightAt(tip.height, rules.milestones, finality) : tip.height - confirmations,
  logFor: ({ hostEvents = true }: ReadOptions): HostLog | undefined => (hostEvents ? log() : undefined),
});

type Chain = ReturnType<typeof createChain>;

/** Takes the changes of a chain one by one. */
const createTakeChange = ({ milestones, recent, highest }: Chain) => {
  function* roundAfter(view: ChangesView, height: number) {
    return endsRound(height, milestones) ? yield* ask(view.round(roundOf(height + 1, milestones).round)) : undefined;
  }

  /**
   * The changes of the next blocks of the chain, up to a height: one at least. More with each time: many a reader has no room for more
   * than a few.
   */
  function* readAhead(reading: Reading, from: number, last: number): Asking<DerivedChange[]> {
    const { view, options } = reading;
    const id = yield* ask(view.idAt(from));
    const known = id === undefined ? undefined : yield* recent.find(view, "applied", { height: from, id });
    if (known !== undefined) return [known];
    const found: DerivedChange[] = [];
    const wanted = Math.min(reading.blocksNext, options.limit ?? blocksTogether.most, last - from + 1);
    reading.blocksNext = Math.min(blocksTogether.most, 2 * reading.blocksNext);
    for (const kept of yield* ask(view.blocks(from, wanted))) {
      found.push(recent.putApplied(kept, yield* roundAfter(view, kept.block.height)));
    }
    return found;
  }

  /** Takes the next change of the chain. Returns whether there was one. */
  function* takeChange(reading: Reading): Asking<boolean> {
    const { view, block, options } = reading;
    const next = reading.ahead.shift();
    if (next !== undefined) {
      take(reading, next);
      return true;
    }
    if (yield* isOnChain(view, block)) {
      const height = block?.height ?? 0;
      const last = highest(view, options);
      if (height >= last) return false;
      reading.ahead = yield* readAhead(reading, height + 1, last);
      return reading.ahead.length > 0 && (yield* takeChange(reading));
    }
    const known = block && (yield* recent.find(view, "reverted", block));
    const orphan = known === undefined && block !== undefined ? yield* ask(view.orphan(block.id)) : undefined;
    const change = known ?? (orphan && recent.putReverted(orphan));
    if (change === undefined) throw yield* unknown(view);
    take(reading, change);
    return true;
  }

  return takeChange;
};

/** Reads on from a cursor. */
const createReadOn = (chain: Chain) => {
  const takeChange = createTakeChange(chain);

  return function* readOn(view: ChangesView, cursor: Cursor, options: Reading["options"]): Asking<Batch> {
    const log = chain.logFor(options);
    const isPlaced = options.whole === true && log !== undefined && cursor.log?.node === log.node;
    const sequence = yield* sequenceOf(view, log, cursor);
    const reading: Reading = {
      view,
      log,
      options,
      block: cursor.block,
      sequence,
      isPlaced,
      events: undefined,
      ahead: [],
      blocksNext: blocksTogether.first,
      eventsNext: eventsTogether.first,
      groups: [],
      size: 0,
    };
    const begun = performance.now();
    const { limit } = options;
    const hasRoom = (): boolean =>
      limit === undefined ? reading.size < mostEvents && performance.now() - begun < longestRead : reading.groups.length < limit;
    while (hasRoom() || reading.groups.length === 0) {
      if (yield* takeHostEvent(reading, false)) continue;
      if (yield* takeChange(reading)) continue;
      if (yield* takeHostEvent(reading, true)) continue;
      return { groups: reading.groups, cursor: cursorNow(reading), atEnd: true };
    }
    return { groups: reading.groups, cursor: cursorNow(reading), atEnd: false };
  };
};

/** Whether events were removed from the log that come after a cursor. */
const hasLost = (log: HostLog | undefined, { log: place }: Cursor): boolean =>
  log !== undefined &&
  place?.node === log.node &&
  place.sequence < log.last() &&
  log.read(place.sequence, 1)[0]?.sequence !== place.sequence + 1;

/** Finds cursors. */
const createLocating = ({ highest, logFor }: Chain) => {
  function* tipOf(view: ChangesView, options: ReadOptions): Asking<Cursor> {
    const log = logFor(options);
    const height = highest(view, options);
    const id = yield* ask(view.idAt(height));
    return cursorOf(id === undefined ? undefined : { height, id }, log && placeOf(log.node, log.last()));
  }

  function* find(view: ChangesView, text: CursorText, options: ReadOptions): Asking<Cursor | "lost" | undefined> {
    if (text.kind === "tip") return yield* tipOf(view, options);
    const log = logFor(options);
    if (text.kind === "height") {
      if (text.height > view.tip.height) return undefined;
      const id = text.height === 0 ? undefined : yield* ask(view.idAt(text.height));
      const block = id === undefined ? undefined : { height: text.height, id };
      return cursorOf(block, log && placeOf(log.node, yield* sequenceFrom(view, log, block)));
    }
    const { block } = text.cursor;
    const isKnown =
      (yield* isOnChain(view, block)) || (block !== undefined && (yield* ask(view.orphan(block.id)))?.block.height === block.height);
    if (!isKnown) return undefined;
    if (options.whole === true && hasLost(log, text.cursor)) return "lost";
    return cursorOf(block, log && placeOf(log.node, yield* sequenceOf(view, log, text.cursor)));
  }

  function* locate(view: ChangesView, text: string, options: LocateOptions): Asking<Cursor> {
    const texts = parseCursors(text, options.field);
    let isLost = false;
    for (const one of texts) {
      const found = yield* find(view, one, options);
      if (found === "lost") isLost = true;
      else if (found !== undefined) return found;
    }
    if (isLost) throw yield* lost(view);
    if (texts.every(({ kind }) => kind === "height"))
      throw cursorError(`must not be above the height of the tip (${view.tip.height})`, options.field);
    throw yield* unknown(view);
  }

  return { tipOf, locate };
};

/** Following a chain that offers its changes. */
export const createChainReader = (needs: ChainReaderNeeds): Pick<Follow, "locate" | "tip" | "after" | "height"> => {
  const { changes } = needs;
  const chain = createChain(needs);
  const readOn = createReadOn(chain);
  const { tipOf, locate } = createLocating(chain);

  /** Does work on one state of the chain. */
  const within = <T>(work: (view: ChangesView) => Asking<T>) =>
    drive(
      (function* (): Asking<T> {
        const view = yield* ask(changes.view());
        if (view === undefined) throw new PorticoError("NOT_READY");
        try {
          return yield* work(view);
        } finally {
          view.release?.();
        }
      })(),
    );

  return {
    locate: (text, options = {}) => within((view) => locate(view, text, options)),
    tip: (options = {}) => within((view) => tipOf(view, options)),
    after: (cursor, options = {}) => within((view) => readOn(view, cursor, options)),
    height: () =>
      andThen(changes.view(), (view) => {
        const height = view?.tip.height;
        view?.release?.();
        return height;
      }),
  };
};
