import { setImmediate as nextTurn } from "node:timers/promises";
import type { Logger } from "../../../types/node-context.js";
import type { Place, WebhookStore } from "../../../types/webhook-store.js";
import type { Follow, Group } from "../../follow/index.js";
import type { PatternWorker } from "../conditions/pattern.js";
import type { Standstill } from "../log-failure.js";
import type { Register } from "../registry/register.js";
import type { After } from "../timekeeper.js";
import { createObserve } from "./observe.js";
import { blockAt, samePlace, wholeHeight } from "./places/place.js";
import { placeAfter, type Plan, planFirst, type PlannedEvent } from "./record/plan.js";
import { isNotReady } from "./places/locate.js";
import { createPlaces, type Places } from "./places/places.js";
import type { RecentEvents } from "../registry/dry-run.js";
import { read } from "./read.js";
import type { Recorder } from "./record/recorder.js";
import { createRounds } from "./rounds.js";
import type { Seat } from "./places/seat.js";
import { findLost, isReverted, type Lost, lostGroup } from "./places/told.js";

export interface ScannerNeeds {
  store: WebhookStore;
  follow: Follow;
  register: Register;
  recorder: Recorder;
  recent: RecentEvents;
  patterns: PatternWorker;
  after: After;
  logger: Logger;
  standstill: Standstill;
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

/** What a part of the scanner has of the whole. */
interface Life {
  isRunning(): boolean;
  failed(error: unknown): void;
  wake(): void;
}

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
      isOnRequest: seat.role !== "live",
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
      .finally(() => {
        places.busy(seat, id, false);
        alone.delete(work);
      })
      .then(life.wake, life.failed);
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

/** One round: every seat goes as far as one reading does. Says whether any was read for. */
const createRound = (needs: ScannerNeeds, places: Places, { isRunning, failed }: Life, take: ReturnType<typeof createTake>["take"]) => {
  const { follow } = needs;
  const observe = createObserve(needs, isRunning);

  /** Takes back the highest block that the chain has lost of what the webhooks of a seat were told. */
  const takeBack = async (seat: Seat, lost: Lost | { unknown: Place }): Promise<void> => {
    if ("unknown" in lost) await places.forgetTold(seat, lost.unknown);
    else await take(places.lose(seat, lost.block), [lost.group], lost.place, lost.seenTransactions);
  };

  /** A replay sends again what the webhook has seen, and no more: nothing overtakes. Up to there it may be read now, if that is beyond its place. */
  const upToSeen = async (seat: Seat): Promise<Seat | undefined> => {
    const seen = places.seen(seat);
    if (seen === undefined || (await lostGroup(follow, blockAt(seen), seat)) !== undefined) return undefined;
    const until = Math.min(seat.until ?? 0, wholeHeight(seen));
    return wholeHeight(seat.place) >= until && until !== seat.until ? undefined : places.upTo(seat, until);
  };

  /** Takes the webhooks of a seat as far as one reading goes. Says whether there was anything to do. */
  const step = async (from: Seat): Promise<boolean> => {
    const seat = from.role === "live" ? from : await upToSeen(from);
    if (seat === undefined) return false;
    const { groups, atEnd, place, seenTransactions } = await read(follow, seat);
    if (seat.told.length > 0) {
      // After the reading: what is on the chain now was on it then.
      const lost = await findLost(follow, seat);
      if (lost !== undefined) await takeBack(seat, lost);
      // A chain that answers later may have changed meanwhile.
      if (lost !== undefined || groups.some(isReverted)) return true;
      places.endTold(seat);
    }
    // Of the group that was taken in part, the rest is not on the chain any more.
    if (!samePlace(seat.place, place)) for (const id of seat.ids) places.move(seat, id, place);
    let at = place;
    for (let left = groups; left.length > 0; ) {
      if (!isRunning()) return true;
      const { taken, end } = await take(seat, left, at, left === groups ? seenTransactions : undefined);
      [left, at] = [left.slice(taken), end];
    }
    if (atEnd) places.rest(seat, at);
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
        if (await places.recover(seat, error)) hasRead = true;
        else if (!isNotReady(error)) failed(error);
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
  const rounds = createRounds(needs, { isRunning, round: () => round(), isBusy: () => alone.size > 0 });
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
