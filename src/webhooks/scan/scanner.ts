import { performance } from "node:perf_hooks";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Logger } from "../../../types/node-context.js";
import type { WebhookStore } from "../../../types/webhook-store.js";
import { logFailure } from "../log-failure.js";
import { type Cursor, cursorText, type Follow, type Group } from "../../follow/index.js";
import type { Undecided } from "../conditions/matcher.js";
import type { PatternWorker } from "../conditions/pattern-worker.js";
import type { Register } from "../registry/register.js";
import type { After } from "../timekeeper.js";
import { createAboutOf, type Plan, type PlannedEvent, restOf } from "./plan.js";
import { createPlaces, type Place, type Places, type Seat } from "./places.js";
import type { RecentEvents } from "./recent-events.js";
import type { Recorder } from "./recorder.js";

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
  /** Told of webhooks that got something to deliver. */
  onWork(webhookIds: Iterable<number>): void;
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
  /** Writes the places of those that have moved on without a match; within a transaction. */
  keepPlaces(): void;
  /** Whether there are such. */
  hasMoved(): boolean;
  stop(): Promise<void>;
}

/** Milliseconds of matching before the event loop gets its turn. */
const turn = 3;
/** Milliseconds until reading is tried again after it failed. */
const retryDelay = 1_000;

export const createScanner = (needs: ScannerNeeds): Scanner => {
  const { follow, register, recorder, recent, patterns, after, logger, onWork } = needs;
  const places: Places = createPlaces(needs);
  let state: "idle" | "running" | "stopped" = "idle";
  let scanning: Promise<void> | undefined;
  let again = false;
  let unwatch: (() => void) | undefined;
  let cancelRetry: (() => void) | undefined;
  /** Webhooks that wait for the thread that tries patterns, by themselves. */
  const alone = new Set<Promise<void>>();

  /** Matches the rest of a group for some webhooks. `decide`: waits for patterns; otherwise the webhooks that they decide about are left. */
  const planOf = async (group: Group, place: Place, ids: ReadonlySet<number>, seenTransactions: number | undefined): Promise<{ plan: Plan; undecided: Map<number, Undecided[]> }> => {
    const aboutOf = createAboutOf(group);
    const [last, undecided, events] = [new Map<number, number>(), new Map<number, Undecided[]>(), [] as PlannedEvent[]];
    let [begun, transactions] = [performance.now(), 0];
    for (const [index, event] of group.events.entries()) {
      if (event.event === "transaction.applied") transactions++;
      const planned: PlannedEvent = { event, index, about: aboutOf(event), transactions, ids: [] };
      if (register.matcher().listens(event.event)) {
        const matched = register.matcher().match(event.event, event.data);
        planned.ids = matched.ids.filter((id) => ids.has(id));
        for (const one of matched.undecided) if (ids.has(one.id)) undecided.set(one.id, [...(undecided.get(one.id) ?? []), one]);
        for (const id of planned.ids) last.set(id, index);
      }
      events.push(planned);
      if (performance.now() - begun < turn) continue;
      await nextTurn();
      begun = performance.now();
    }
    return { plan: { group, events: [...restOf(events, place.part)], last, seenTransactions }, undecided };
  };

  /** The groups that come next, and whether there are more. */
  const read = async ({ place, options, until }: Seat): Promise<{ groups: readonly Group[]; atEnd: boolean; place: Place; seenTransactions: number | undefined }> => {
    const { part, cursor } = place;
    if (part !== undefined) {
      const [group] = (await follow.after(await follow.locate(part.before), { ...options, limit: 1 })).groups;
      if (group !== undefined && cursorText(group.after) === cursor) {
        return { groups: [group], atEnd: false, place, seenTransactions: group.change?.kind === "reverted" ? part.transactions : undefined };
      }
    }
    const { groups, atEnd } = await follow.after(await follow.locate(cursor), options);
    const wanted = until === undefined ? groups : groups.filter(({ change }) => change?.kind === "applied" && change.full.block.height <= until);
    return { groups: wanted, atEnd: atEnd || (until !== undefined && groups.length > 0 && wanted.length < groups.length), place: { cursor }, seenTransactions: part?.transactions };
  };

  /** Takes the webhooks of a seat through one group. */
  const take = async (seat: Seat, group: Group, place: Place, seenTransactions: number | undefined): Promise<void> => {
    const present = new Set([...seat.ids].filter((id) => places.isAt(seat, id, place)));
    const { plan, undecided } = await planOf(group, place, present, seenTransactions);
    for (const id of undecided.keys()) present.delete(id);
    const mine = (planned: readonly PlannedEvent[]): PlannedEvent[] => planned.map((one) => ({ ...one, ids: one.ids.filter((id) => present.has(id)) }));
    await write(seat, { ...plan, events: mine(plan.events) }, present);
    for (const id of undecided.keys()) takeAlone(seat, plan, id, place);
  };

  const write = async (seat: Seat, plan: Plan, ids: ReadonlySet<number>): Promise<void> => {
    const end = cursorText(plan.group.after);
    const recording = recorder.record(plan, ids, {
      isCurrent: (id) => places.isCurrent(seat, id),
      put: (id, part) => places.put(seat, id, { cursor: end, part }),
    });
    const { touched, full } = await recording.catch((error: unknown) => {
      // What was to be taken back, and is not, may be sent.
      onWork(ids);
      throw error;
    });
    for (const id of ids) {
      const left = full.get(id);
      if (!full.has(id)) places.move(seat, id, { cursor: end });
      else places.wait(seat, id, left === undefined ? undefined : { cursor: end, part: left });
    }
    if (touched.size > 0) onWork(touched);
  };

  /** A webhook whose patterns have to be tried on a long text: the others do not wait for it. */
  const takeAlone = (seat: Seat, plan: Plan, id: number, place: Place): void => {
    places.busy(seat, id, true);
    const work = (async () => {
      const events: PlannedEvent[] = [];
      for (const planned of plan.events) {
        const found = planned.ids.includes(id) || (await decideOne(planned, id));
        events.push({ ...planned, ids: found ? [id] : [] });
      }
      const last = events.findLast(({ ids }) => ids.length > 0)?.index;
      if (state !== "running" || !places.isAt(seat, id, place, true)) return;
      await write(seat, { ...plan, events, last: new Map(last === undefined ? [] : [[id, last]]) }, new Set([id]));
    })()
      .catch(failed)
      .finally(() => {
        places.busy(seat, id, false);
        alone.delete(work);
        wake();
      });
    alone.add(work);
  };

  const decideOne = async ({ event }: PlannedEvent, id: number): Promise<boolean> => {
    const undecided = register.matcher().match(event.event, event.data).undecided.find((one) => one.id === id);
    return undecided !== undefined && undecided.decide(patterns);
  };

  /** Takes the webhooks of a seat as far as one reading goes. */
  const step = async (seat: Seat): Promise<void> => {
    const { groups, atEnd, place, seenTransactions } = await read(seat);
    // Of the group that was taken in part, the rest is not on the chain any more.
    if (seat.place.part !== undefined && place.part === undefined) for (const id of seat.ids) places.move(seat, id, place);
    let at = place;
    for (const [index, group] of groups.entries()) {
      if (state !== "running") return;
      await take(seat, group, at, index === 0 ? seenTransactions : undefined);
      at = { cursor: cursorText(group.after) };
    }
    if (atEnd || groups.length === 0) places.rest(seat, at);
  };

  const failed = (error: unknown): void => {
    if (state !== "running") return;
    logFailure(logger, "the chain cannot be read for them", error);
    cancelRetry?.();
    cancelRetry = after(retryDelay, () => {
      cancelRetry = undefined;
      wake();
    });
  };

  /** Notes what happens, for dry runs, from the start on. */
  const observe = async (): Promise<void> => {
    if (observed === undefined) {
      observed = await follow.tip();
      return;
    }
    for (let atEnd = false; !atEnd && state === "running"; ) {
      const batch = await follow.after(observed);
      for (const { events } of batch.groups) for (const event of events) recent.note(event.event, { at: event.at, json: () => event.json });
      observed = batch.cursor;
      atEnd = batch.atEnd || batch.groups.length === 0;
      if (!atEnd) await nextTurn();
    }
  };
  let observed: Cursor | undefined;

  const observeSafely = async (): Promise<void> => {
    try {
      await observe();
    } catch {
      // Not ready, or moved to another chain: it begins again.
      observed = undefined;
    }
  };

  const isRunning = (): boolean => state === "running";

  const scan = async (): Promise<void> => {
    while (again && isRunning()) {
      again = false;
      await Promise.all([places.locate(), observeSafely()]);
      for (const seat of places.seats()) {
        if (!isRunning()) return;
        try {
          await step(seat);
          again = true;
        } catch (error) {
          if (!(await places.recover(seat, error))) failed(error);
        }
        await nextTurn();
      }
    }
  };

  const wake = (): void => {
    if (state !== "running") return;
    again = true;
    scanning ??= scan()
      .catch(failed)
      .finally(() => {
        scanning = undefined;
        if (again && cancelRetry === undefined) wake();
      });
  };

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
      while (state === "running" && (scanning !== undefined || alone.size > 0)) await Promise.all([scanning, ...alone]);
    },
    reload: (webhookId) => {
      places.reload(webhookId);
      wake();
    },
    keepPlaces: places.keep,
    hasMoved: places.hasMoved,
    stop: async () => {
      state = "stopped";
      unwatch?.();
      cancelRetry?.();
      await patterns.close();
      await Promise.all([scanning, ...alone]);
    },
  };
};
