import { PorticoError } from "../errors.js";
import { loopShare } from "../async/loop-share.js";
import { systemAfter } from "../async/clock.js";
import { type Cursor, cursorText } from "../follow/cursor.js";
import type { Follow, FollowEvent, ReadOptions } from "../follow/follow.js";
import { type Filter, pick } from "./selection.js";
import { createWaiter } from "./waiter.js";

/** Characters of conditions that do not count: as many requests as there may be connections take some 100 MB. */
const notCounted = 16_384;

/** Characters that all longer ones may have together. A list of 100,000 addresses has 3.7 million, and takes 10 MB of memory. */
const mostLength = 67_108_864;

/** The long conditions of requests that are under way: each may wait for a minute, and hundreds of them would take all memory. */
export const createConditionBudget = () => {
  let sum = 0;
  return {
    /** Returns what is to be called once they are no longer needed. @throws PorticoError STREAMS_FULL */
    hold: (length: number): (() => void) => {
      if (length <= notCounted) return () => undefined;
      if (sum + length > mostLength)
        throw new PorticoError("STREAMS_FULL", "Too many requests with long conditions are running.");
      sum += length;
      return () => void (sum -= length);
    },
  };
};

/**
 * An event as a JSON value, whose payload is parsed when it is written: there may be a thousand large ones. A class, as each would have a
 * function of its own.
 */
class EventValue {
  readonly id: string;
  readonly event: string;
  readonly timestamp: number;
  readonly cursor: string;
  readonly block: FollowEvent["block"];
  readonly #event: FollowEvent;

  constructor(event: FollowEvent, cursor: Cursor) {
    this.id = event.id;
    this.event = event.event;
    this.timestamp = event.at;
    this.cursor = cursorText(cursor);
    this.block = event.block;
    this.#event = event;
  }

  get data(): unknown {
    return this.#event.data;
  }
}

interface FeedPage {
  data: EventValue[];
  meta: { cursor: string; tip: string; more: boolean };
}

export interface FeedNeeds {
  follow: Follow;
  /** Aborted when the client has left. */
  clientGone?: AbortSignal | undefined;
  /** Aborted when the node stops. */
  stopping: AbortSignal;
  /** Is told of the milliseconds that it has waited. */
  waited?: ((milliseconds: number) => void) | undefined;
}

/** Milliseconds that one request may look for events: a filter may find none in many blocks. */
const longestLook = 2_000;
/** Milliseconds between two looks: another process may write the log of the host's events, and tells nobody. */
const lookInterval = 250;
/** Whoever wants no more events than this needs no more groups; for others as many are read at a time as a few milliseconds give. */
const fewEvents = 10;

/**
 * What comes after a cursor: at most `limit` events but for the rest of the last group. Waits for events for up to `wait` seconds, but no
 * longer than its client.
 */
export const readFeed = async (
  from: Cursor,
  filter: Filter,
  options: ReadOptions & { limit: number; wait: number },
  { follow, clientGone, stopping, waited }: FeedNeeds,
): Promise<FeedPage> => {
  const { limit, wait, ...reading } = options;
  const data: EventValue[] = [];
  const waiter = createWaiter(follow, systemAfter, clientGone, stopping);
  const begun = performance.now();
  const few = limit <= fewEvents ? { limit } : {};
  let [cursor, more] = [from, true];
  const isGone = (): boolean => clientGone?.aborted === true;

  /** Reads until there are enough, nothing more, or it takes too long. */
  const look = async (): Promise<void> => {
    const since = performance.now();
    for (more = true; more && performance.now() - since < longestLook;) {
      const { groups, atEnd } = await loopShare.run(() => follow.after(cursor, { ...reading, ...few }));
      more = !atEnd;
      for (const [place, group] of groups.entries()) {
        const picked = await pick(group, filter);
        picked.forEach((event, index) => data.push(new EventValue(event, index === picked.length - 1 ? group.after : group.before)));
        cursor = group.after;
        if (data.length < limit) continue;
        more ||= place < groups.length - 1;
        return;
      }
      if (isGone()) return;
    }
  };

  try {
    await look();
    for (
      let remainingMs = wait * 1000;
      data.length === 0 && !more && remainingMs > 0 && !stopping.aborted && !isGone();
      remainingMs = wait * 1000 - (performance.now() - begun)
    ) {
      const since = performance.now();
      await waiter.wait(Math.min(remainingMs, lookInterval));
      waited?.(performance.now() - since);
      await look();
    }
    return { data, meta: { cursor: cursorText(cursor), tip: cursorText(await follow.tip(reading)), more } };
  } finally {
    waiter.end();
  }
};
