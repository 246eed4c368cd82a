import { setImmediate as nextTurn } from "node:timers/promises";
import type { Logger } from "../../../types/node-context.js";
import type { Place, WebhookStore } from "../../../types/webhook-store.js";
import { logFailure } from "../log-failure.js";
import { type Cursor, cursorText, type Follow, type Group } from "../../follow/index.js";
import type { PatternWorker } from "../conditions/pattern.js";
import type { Register } from "../registry/register.js";
import type { After } from "../timekeeper.js";
import { beforeReversal, blockAt, samePlace, wholeHeight } from "./place.js";
import { placeAfter, type Plan, planFirst, type PlannedEvent } from "./plan.js";
import { createPlaces, type Places } from "./places.js";
import type { RecentEvents } from "../registry/dry-run.js";
import type { Recorder } from "./recorder.js";
import type { Seat } from "./seat.js";
import { findLost, isReverted, reversalOf } from "./told.js";

export interface ScannerNeeds {
  store: WebhookStore;
  follow: Follow;
  register: Register;
  recorder: Recorder;
  recent: RecentEvents;
  patterns: PatternWorker;
  after: After;
  logger: Logger;
  /** Whether events of an index are taken from the chain: webhooks that ask for no other need no log of the host. */
  keepsChain: boolean;
  window: number;
}

/**
 * Reads the chain for the webhooks: from each one's cursor, those at the same place together. What matches is written as deliveries; a
 * webhook that has `window` of them open waits until some are settled.
 */
export interface Scanner {
  start(): void;
  /** Webhooks have more room than before. */
  hasRoom(): void;
  /** Resolves when all have seen what there is, or wait for room. */
  settled(): Promise<void>;
  /** Takes the places as they are in the store now. */
  reload(webhookId: number): void;
  /** Writes the places of some that have moved on without a match, at most so many; within a transaction. Returns whether there are more. */
  keepPlaces(most: number): boolean;
  /** Writes the place of one, if it has; within a transaction. */
  keepPlace(webhookId: number): void;
  /** Whether there are such. */
  hasMoved(): boolean;
  stop(): Promise<void>;
}

/** Milliseconds until reading is tried again after it failed. */
const retryDelay = 1_000;

/** What a part of the scanner has of the whole. */
interface Life {
  isRunning(): boolean;
  failed(error: unknown): void;
  wake(): void;
}

/** The groups that come next, and whether there are more. */
const read = async (follow: Follow, seat: Seat): Promise<{ groups: readonly Group[]; atEnd: boolean; place: Place; seenTransactions: number | undefined }> => {
  const { place, options, until } = seat;
  const { part, cursor } = place;
  if (part !== undefined) {
    const [group] = (await follow.after(await follow.locate(part.before), { ...options, limit: 1 })).groups;
    if (group !== undefined && cursorText(group.after) === cursor) return { groups: [group], atEnd: false, place, seenTransactions: isReverted(group) ? part.transactions : undefined };
  }
  const { groups, atEnd } = await follow.after(await follow.locate(cursor), options);
  const wanted = until === undefined ? groups : groups.filter(({ change }) => change?.kind === "applied" && change.full.block.height <= until);
  // While nothing comes, what is left of the group may be on the chain again.
  const [next] = groups;
  const isLost = part !== undefined && next !== undefined && isReverted(next) && cursorText(next.before) === cursor;
  const from = next === undefined ? place : isLost ? beforeReversal(cursor, cursorText(next.after), part.transactions) : { cursor };
  return { groups: wanted, atEnd: atEnd || (until !== undefined && groups.length > 0 && wanted.length < groups.length), place: from, seenTransactions: part?.transactions };
};

const decideOne = async ({ register, patterns }: ScannerNeeds, { event }: PlannedEvent, id: number): Promise<boolean> => {
  const undecided = register.matcher().match(event.event, event.data).undecided.find((one) => one.id === id);
  return undecided !== undefined && undecided.decide(patterns);
};

/** Takes the webhooks of a seat through the groups that come next. */
const createTake = (needs: ScannerNeeds, places: Places, life: Life) => {
  const { register, recorder } = needs;
  /** Webhooks that wait for the thread that tries patterns, by themselves. */
  const alone = new Set<Promise<void>>();

  const write = async (seat: Seat, plans: readonly Plan[], ids: ReadonlySet<number>, end: Place): Promise<void> => {
    const full = await recorder.record(plans, ids, {
      isCurrent: (id) => places.isCurrent(seat, id),
      put: (id, place) => places.put(seat, id, place),
      mayBeTold: (id, height) => places.mayBeTold(seat, id, height),
    });
    for (const id of ids) {
      const place = full.get(id);
      if (place === undefined) places.move(seat, id, end);
      else places.wait(seat, id, place);
    }
  };

  /** A webhook whose patterns have to be tried on a long text: the others do not wait for it. */
  const takeAlone = (seat: Seat, plan: Plan, id: number, place: Place): void => {
    places.busy(seat, id, true);
    const work = (async () => {
      const events: PlannedEvent[] = [];
      for (const planned of plan.events) {
        const found = planned.ids.includes(id) || (await decideOne(needs, planned, id));
        events.push({ ...planned, ids: found ? [id] : [] });
      }
      const last = events.findLast(({ ids }) => ids.length > 0)?.index;
      if (!life.isRunning() || !places.isAt(seat, id, place, true)) return;
      await write(seat, [{ ...plan, events, last: new Map(last === undefined ? [] : [[id, last]]) }], new Set([id]), placeAfter(plan)).catch((error: unknown) => {
        // Perhaps nothing was written: its place is as the store has it.
        places.reload(id);
        throw error;
      });
    })()
      .then(life.wake, life.failed)
      .finally(() => {
        places.busy(seat, id, false);
        alone.delete(work);
      });
    alone.add(work);
  };

  /** Returns how many groups were taken, and where that leads. */
  const take = async (seat: Seat, groups: readonly Group[], place: Place, seenTransactions: number | undefined): Promise<{ taken: number; end: Place }> => {
    const present = places.present(seat, place);
    const { plans, undecided } = await planFirst(register, groups, place, present, seenTransactions);
    for (const id of undecided.keys()) present.delete(id);
    const [last] = plans.slice(-1);
    const end = last === undefined ? place : placeAfter(last);
    await write(seat, plans, present, end);
    for (const id of undecided.keys()) if (last !== undefined) takeAlone(seat, last, id, place);
    return { taken: plans.length, end };
  };

  return { take, alone };
};

/** Notes what happens, for dry runs, from the start on. */
const createObserve = ({ follow, recent }: ScannerNeeds, isRunning: () => boolean) => {
  let observed: Cursor | undefined;

  const observe = async (): Promise<void> => {
    if (observed === undefined) {
      observed = await follow.tip();
      return;
    }
    for (let atEnd = false; !atEnd && isRunning(); ) {
      const batch = await follow.after(observed);
      for (const { events } of batch.groups) for (const event of events) recent.note(event.event, { at: event.at, json: () => event.json });
      observed = batch.cursor;
      atEnd = batch.atEnd || batch.groups.length === 0;
      if (!atEnd) await nextTurn();
    }
  };

  return async (): Promise<void> => {
    try {
      await observe();
    } catch {
      // Not ready, or moved to another chain: it begins again.
      observed = undefined;
    }
  };
};

/** Does rounds of work, again for as long as there was some or it is woken meanwhile; after a failure, in a moment. */
const createRounds = ({ after, logger }: ScannerNeeds, isRunning: () => boolean, round: () => Promise<boolean>) => {
  let going: Promise<void> | undefined;
  let again = false;
  let cancelRetry: (() => void) | undefined;

  const failed = (error: unknown): void => {
    if (!isRunning()) return;
    logFailure(logger, "the chain cannot be read for them", error);
    cancelRetry?.();
    cancelRetry = after(retryDelay, () => {
      cancelRetry = undefined;
      wake();
    });
  };

  const run = async (): Promise<void> => {
    while (again && isRunning()) {
      again = false;
      if (await round()) again = true;
    }
  };

  const wake = (): void => {
    if (!isRunning()) return;
    again = true;
    // In another turn: of a webhook that has just been written, all is read again, and it may be large.
    going ??= nextTurn()
      .then(run)
      .catch(failed)
      .finally(() => {
        going = undefined;
        if (again && cancelRetry === undefined) wake();
      });
  };

  return { failed, wake, going: () => going, stop: (): void => cancelRetry?.() };
};

/** One round: every seat goes as far as one reading does. Says whether any was read for. */
const createRound = (needs: ScannerNeeds, places: Places, { isRunning, failed }: Life, take: ReturnType<typeof createTake>["take"]) => {
  const { follow } = needs;
  const observe = createObserve(needs, isRunning);

  /** Takes back the next block of what the chain has lost. Returns whether there was one. */
  const takeBack = async (seat: Seat): Promise<boolean> => {
    const lost = await findLost(follow, seat);
    if (lost === undefined) {
      places.endTold(seat);
      return false;
    }
    if ("unknown" in lost) await places.forgetTold(seat, lost.unknown);
    else await take(places.lose(seat, lost.block), [lost.group], lost.place, lost.seenTransactions);
    return true;
  };

  /** A replay sends again what the webhook has seen, and no more: nothing overtakes. Up to there it may be read now, if that is beyond its place. */
  const replayed = async (seat: Seat): Promise<Seat | undefined> => {
    const seen = places.seen(seat);
    if (seen === undefined || (await reversalOf(follow, blockAt(seen), seat)) !== undefined) return undefined;
    const until = Math.min(seat.until ?? 0, wholeHeight(seen));
    return wholeHeight(seat.place) >= until && until !== seat.until ? undefined : places.upTo(seat, until);
  };

  /** Takes the webhooks of a seat as far as one reading goes. Says whether there was anything to do. */
  const step = async (from: Seat): Promise<boolean> => {
    const seat = from.role === "live" ? from : await replayed(from);
    if (seat === undefined) return false;
    if (seat.told.length > 0 && (await takeBack(seat))) return true;
    const { groups, atEnd, place, seenTransactions } = await read(follow, seat);
    // A chain that answers later may have changed since.
    if (seat.told.length > 0 && (groups.some(isReverted) || (await findLost(follow, seat)) !== undefined)) return true;
    // Of the group that was taken in part, the rest is not on the chain any more.
    if (!samePlace(seat.place, place)) for (const id of seat.ids) places.move(seat, id, place);
    let at = place;
    for (let left = groups; left.length > 0; ) {
      if (!isRunning()) return true;
      const { taken, end } = await take(seat, left, at, left === groups ? seenTransactions : undefined);
      [left, at] = [left.slice(taken), end];
    }
    if (atEnd || groups.length === 0) places.rest(seat, at);
    return true;
  };

  return async (): Promise<boolean> => {
    let hasRead = false;
    await Promise.all([places.locate(), observe()]);
    for (const seat of places.seats()) {
      if (!isRunning()) return false;
      try {
        if (await step(seat)) hasRead = true;
      } catch (error) {
        if (!(await places.recover(seat, error))) failed(error);
      }
      await nextTurn();
    }
    return hasRead;
  };
};

export const createScanner = (needs: ScannerNeeds): Scanner => {
  const { follow, patterns } = needs;
  const places: Places = createPlaces(needs);
  let state: "idle" | "running" | "stopped" = "idle";
  let unwatch: (() => void) | undefined;
  const isRunning = (): boolean => state === "running";
  const rounds = createRounds(needs, isRunning, () => round());
  const { wake } = rounds;
  const life: Life = { isRunning, failed: rounds.failed, wake };
  const { take, alone } = createTake(needs, places, life);
  const round = createRound(needs, places, life, take);

  return {
    start: () => {
      state = "running";
      unwatch = follow.watch(() => {
        places.stir();
        wake();
      });
      wake();
    },
    hasRoom: wake,
    settled: async () => {
      places.stir();
      wake();
      while (state === "running" && (rounds.going() !== undefined || alone.size > 0)) await Promise.all([rounds.going(), ...alone]);
    },
    reload: (webhookId) => {
      places.reload(webhookId);
      wake();
    },
    keepPlaces: places.keep,
    keepPlace: places.keepOne,
    hasMoved: places.hasMoved,
    stop: async () => {
      state = "stopped";
      unwatch?.();
      rounds.stop();
      await patterns.close();
      await Promise.all([rounds.going(), ...alone]);
    },
  };
};
