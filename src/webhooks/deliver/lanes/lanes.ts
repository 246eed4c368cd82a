import type { DeliveryRow, WebhookRow } from "../../../../types/webhook-store.js";
import { createLimit, type Limit, type Place } from "./concurrency.js";

/**
 * What attempts are made from. Deliveries wait in the store; kept here are only the next few of each webhook, however long its queue is.
 *
 * - lane    the deliveries of one webhook
 * - target  one URL with the lanes that lead to it: their first attempts go out in the order of their events
 * - origin  one scheme, host and port, whose connections are limited
 */
export interface Lane {
  readonly webhook: WebhookRow;
  /** The ids of deliveries that are taken: see `UnderWay`. */
  readonly underWay: Pick<UnderWay, "has">;
  /** Attempts under way, or failed and not yet recorded as such; and deliveries that are taken. */
  readonly open: { count: number; taken: number };
  /** The next first attempts, in order, as the store had them: whatever changes one of them has the lane look again. */
  ready: DeliveryRow[];
  /** All deliveries of the webhook up to this id are known: those that wait are in `ready`, or were taken. */
  passed: number;
  /** How many the store is asked for next. Undefined where it has been read to its end: what is written from then on is handed over. */
  more: number | undefined;
  /** One for all lanes. */
  readonly handed: Handed;
  /** No retry is due before this time; the store is asked when it comes. */
  nextDue: number;
  /** Whether a retry was due that was taken when the store was asked. */
  skipped: boolean;
  /** When the next delivery may be sent, by its rate: milliseconds of the monotonic clock. */
  mayAt: number;
  /** Since when an incomplete batch waits. */
  batchSince: number | undefined;
  readonly target: Target;
  /** Whether a delivery is being taken back, although the store still shows it as it was. */
  isWithdrawn(id: number): boolean;
  /** How many first attempts are read ahead, at the most. */
  mostReady(): number;
}

/** The id up to which all that was written has been handed to those lanes that have read the store to its end. */
interface Handed {
  upTo: number;
}

/**
 * Deliveries that are taken, by id. The row of one has an attempt more than when it was taken before it is let go of: between the two, it may be
 * taken back.
 */
export type UnderWay = Map<number, Attempt>;

export interface Target {
  readonly url: string;
  readonly origin: Origin;
  readonly lanes: Map<number, Lane>;
  /** Its own, and those that it shares with others. */
  readonly limit: Limit;
  readonly limits: readonly Limit[];
  /** In the order in which they began. */
  readonly underWay: Set<Attempt>;
  /** First attempts under way that others wait for. */
  firsts: number;
  /** Which kind was sent last: firsts and retries take turns. */
  last: "first" | "retry";
  /** Until when nothing is sent, as it asked; a time of the schedule. */
  pausedUntil: number;
  /** For how long it was paused the last time; 0 once it has answered otherwise. */
  lastPause: number;
  /** Whether its last attempt was slow. Unknown is not slow. */
  wasSlow: boolean;
}

export interface Origin {
  readonly name: string;
  readonly limit: Limit;
  /** Number of its targets. */
  targets: number;
}

/** What is to be sent in one request. */
export interface Next {
  readonly lane: Lane;
  readonly rows: readonly DeliveryRow[];
  readonly kind: "first" | "retry" | "ping";
}

/** One request, from when it is taken until its outcome is recorded. */
export interface Attempt extends Next {
  readonly target: Target;
  state: "taken" | "sending" | "recording";
  /** Milliseconds since 1970. */
  readonly at: number;
  /** The revisions of the store when its rows were read, or before. */
  readonly seen: Revisions;
  readonly place: Place;
  /** Whether other first attempts wait for it. */
  readonly isAwaited: boolean;
  /** Whether the chain has taken back what it tells, since it was taken: nothing new is sent to its target until it has ended. */
  isOvertaken: boolean;
  /** Whether its target has taken what it tells; its outcome may wait to be recorded. */
  hasArrived: boolean;
}

/** As long as these are the same, no client has changed a webhook or a delivery. */
export interface Revisions {
  readonly register: number;
  readonly work: number;
}

export interface LaneRules {
  ordered: boolean;
  concurrencyPerTarget: number;
  /** Deliveries of one webhook that may be open. */
  window: number;
}

export interface Times {
  /** Of the schedule. */
  schedule: number;
  monotonic: number;
}

/** First attempts that the store is asked for at first. */
export const firstSize = 4;
/** First attempts that are read ahead of one webhook: the more webhooks there are, the fewer, down to `leastRead`. */
const [leastRead, mostRead, readOfAll] = [8, 256, 4_096];

/** For when the queue may have changed: what was read ahead may be gone, or there may be something before it. */
export const lookAgain = (lane: Lane): void => {
  lane.ready = [];
  lane.passed = 0;
  lane.more = firstSize;
};

/** Adds a delivery that has just been written, after all others that the lane knows of. A lane that has still to read, or has no room, reads it later. */
export const addWritten = (lane: Lane, row: DeliveryRow): void => {
  if (lane.more !== undefined || row.id <= lane.passed) return;
  if (lane.ready.length >= lane.mostReady()) {
    lane.more = firstSize;
    return;
  }
  lane.ready.push(row);
  lane.passed = row.id;
};

/** The lanes of all enabled webhooks, by webhook. */
export interface Lanes {
  find(webhookId: number): Lane | undefined;
  target(url: string): Target | undefined;
  targets(): Iterable<Target>;
  readonly handed: Handed;
  /** Ids of the webhooks that have one. */
  ids(): Iterable<number>;
  /** Brings a webhook's lane into line with its row; what is under way stays under way. Returns the target of a new lane. */
  align(webhookId: number, row: WebhookRow | undefined): Target | undefined;
  /** The earliest time after `now` at which a retry may be due. */
  nextDue(now: number): number;
}

/** How many times as many attempts may be under way at an origin as are quick. */
const placesPerQuick = 16;

export interface LanesNeeds extends LaneRules, Pick<Lane, "isWithdrawn" | "underWay"> {
  /** Of all attempts. */
  limit: Limit;
  /** What is left of a target's pause, from before it had a lane. */
  pauseOf(url: string): Pick<Target, "pausedUntil" | "lastPause">;
}

export const createLanes = ({ limit: ofAll, concurrencyPerTarget, underWay, isWithdrawn, pauseOf }: LanesNeeds): Lanes => {
  const lanes = new Map<number, Lane>();
  const targets = new Map<string, Target>();
  const origins = new Map<string, Origin>();
  /** By webhook. Outlives the lane of one that is disabled while deliveries of it are under way. */
  const openOf = new Map<number, Lane["open"]>();
  const mostReady = (): number => Math.max(leastRead, Math.min(mostRead, Math.floor(readOfAll / lanes.size)));
  const handed: Handed = { upTo: 0 };

  const originOf = (url: string): Origin => {
    const name = new URL(url).origin;
    const origin = origins.get(name) ?? { name, limit: createLimit(concurrencyPerTarget, placesPerQuick * concurrencyPerTarget), targets: 0 };
    origins.set(name, origin);
    origin.targets++;
    return origin;
  };

  const targetOf = (url: string): Target => {
    const there = targets.get(url);
    if (there !== undefined) return there;
    const limit = createLimit(concurrencyPerTarget, concurrencyPerTarget);
    const origin = originOf(url);
    const made: Target = { url, origin, lanes: new Map(), limit, limits: [limit, origin.limit, ofAll], underWay: new Set(), firsts: 0, last: "retry", ...pauseOf(url), wasSlow: false };
    targets.set(url, made);
    return made;
  };

  const takeOff = ({ webhook, target }: Lane): void => {
    target.lanes.delete(webhook.id);
    if (target.lanes.size > 0) return;
    targets.delete(target.url);
    if (--target.origin.targets === 0) origins.delete(target.origin.name);
  };

  return {
    find: (webhookId) => lanes.get(webhookId),
    target: (url) => targets.get(url),
    targets: () => targets.values(),
    handed,
    ids: () => lanes.keys(),
    nextDue: (now) => Math.min(Infinity, ...[...lanes.values()].map((lane) => lane.nextDue).filter((due) => due > now)),
    align: (webhookId, row) => {
      if (row === undefined) openOf.delete(webhookId);
      const old = lanes.get(webhookId);
      const url = row?.enabled === true ? row.target : undefined;
      // The new one first: the target it shares with the old keeps its places.
      const target = url === undefined ? undefined : targetOf(url);
      if (old !== undefined && old.target !== target) takeOff(old);
      if (row === undefined || target === undefined) {
        lanes.delete(webhookId);
        return undefined;
      }
      const open = openOf.get(webhookId) ?? { count: 0, taken: 0 };
      openOf.set(webhookId, open);
      const { mayAt = 0 } = old ?? {};
      const lane: Lane = { webhook: row, underWay, open, skipped: false, ready: [], passed: 0, more: firstSize, handed, nextDue: 0, mayAt, batchSince: undefined, target, isWithdrawn, mostReady };
      target.lanes.set(webhookId, lane);
      lanes.set(webhookId, lane);
      return target;
    },
  };
};
