import { loopShare } from "../async/loop-share.js";
import { systemAfter } from "../async/clock.js";
import { type Cursor, cursorText } from "../follow/cursor.js";
import type { Follow, ReadOptions } from "../follow/follow.js";
import { EventValue } from "./event-text.js";
import { createWaiter, pick } from "./reading.js";
import type { Filter } from "./selection.js";

interface FeedPage {
  data: EventValue[];
  meta: { cursor: string; tip: string; more: boolean };
}

export interface FeedNeeds {
  follow: Follow;
  /** Aborts when the client has left. */
  left?: AbortSignal | undefined;
  /** Is told of the milliseconds that it has waited. */
  waited?: ((milliseconds: number) => void) | undefined;
  isStopping(): boolean;
}

/** Milliseconds that one request may look for events: a filter may find none in many blocks. */
const longestLook = 2_000;
/** Milliseconds between two looks at whether the node is stopping. */
const stopInterval = 250;
/** Whoever wants no more events than this needs no more groups; for others as many are read at a time as a few milliseconds give. */
const fewEvents = 10;

/** What comes after a cursor: at most `limit` events but for the rest of the last group. Waits for events for up to `wait` seconds, but no longer than its client. */
export const readFeed = async (from: Cursor, filter: Filter, options: ReadOptions & { limit: number; wait: number }, { follow, left: leaving, waited, isStopping }: FeedNeeds): Promise<FeedPage> => {
  const { limit, wait, ...reading } = options;
  const data: EventValue[] = [];
  const waiter = createWaiter(follow, systemAfter, leaving);
  const begun = performance.now();
  const few = limit <= fewEvents ? { limit } : {};
  let [cursor, more] = [from, true];
  const hasLeft = (): boolean => leaving?.aborted === true;

  /** Reads until there are enough, nothing more, or it takes too long. */
  const look = async (): Promise<void> => {
    const since = performance.now();
    for (more = true; more && performance.now() - since < longestLook; ) {
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
      if (hasLeft()) return;
    }
  };

  try {
    await look();
    for (let left = wait * 1000; data.length === 0 && !more && left > 0 && !isStopping() && !hasLeft(); left = wait * 1000 - (performance.now() - begun)) {
      const since = performance.now();
      await waiter.wait(Math.min(left, stopInterval));
      waited?.(performance.now() - since);
      await look();
    }
    return { data, meta: { cursor: cursorText(cursor), tip: cursorText(await follow.tip(reading)), more } };
  } finally {
    waiter.end();
  }
};
