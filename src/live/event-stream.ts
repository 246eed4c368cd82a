import { setImmediate as nextTurn } from "node:timers/promises";
import { loopShare } from "../async/loop-share.js";
import type { After, FullClock } from "../clock.js";
import { PorticoError } from "../errors.js";
import { type Cursor, cursorText } from "../follow/cursor.js";
import type { Group } from "../follow/event.js";
import type { Batch, Follow, ReadOptions } from "../follow/follow.js";
import { eventJson } from "./event-text.js";
import { createWaiter, pick } from "./reading.js";
import type { Filter } from "./selection.js";

export interface StreamNeeds {
  follow: Follow;
  /** Milliseconds after which something is sent in any case. */
  heartbeat: number;
  clock: Pick<FullClock, "monotonic">;
  after: After;
}

/** A group as server-sent events. Only the last of them moves the client's `Last-Event-ID`: one that leaves within a group gets it again. */
const messagesOf = async (group: Group, filter: Filter): Promise<string> => {
  const picked = await pick(group, filter);
  if (picked.length === 0) return "";
  const [before, after] = [cursorText(group.before), cursorText(group.after)];
  const last = picked.length - 1;
  return picked
    .map((event, place) =>
      place === last ? `event: ${event.event}\ndata: ${eventJson(event, after)}\nid: ${after}\n\n` : `event: ${event.event}\ndata: ${eventJson(event, before)}\n\n`,
    )
    .join("");
};

/** Undefined while the store is being rebuilt, or closed. @throws PorticoError CURSOR_UNKNOWN */
export const readOn = async (follow: Follow, cursor: Cursor, options: ReadOptions & { limit?: number }): Promise<Batch | undefined> => {
  try {
    return await loopShare.run(() => follow.after(cursor, options));
  } catch (error) {
    if (error instanceof PorticoError && error.code === "NOT_READY") return undefined;
    throw error;
  }
};

/** Server-sent events of what comes after a cursor, without an end. */
export async function* eventStream(from: Cursor, filter: Filter, options: ReadOptions, { follow, heartbeat, clock, after, signal }: StreamNeeds & { signal: AbortSignal }): AsyncGenerator<string> {
  const waiter = createWaiter(follow, after, signal);
  let cursor = from;
  let told = cursorText(from);
  let sentAt = clock.monotonic();
  const isOpen = (): boolean => !signal.aborted;
  try {
    // A client that leaves before the first event knows where to go on.
    yield `id: ${told}\n\n`;
    while (isOpen()) {
      await waiter.wait(Math.max(0, heartbeat - (clock.monotonic() - sentAt)));
      for (let atEnd = false; !atEnd && isOpen(); ) {
        const batch: Batch | undefined = await readOn(follow, cursor, options);
        for (const group of batch?.groups ?? []) {
          const messages = await loopShare.run(() => messagesOf(group, filter));
          cursor = group.after;
          if (messages === "") continue;
          told = cursorText(cursor);
          sentAt = clock.monotonic();
          yield messages;
        }
        atEnd = batch?.atEnd ?? true;
        if (clock.monotonic() - sentAt >= heartbeat) {
          const now = cursorText(cursor);
          const isNew = now !== told;
          told = now;
          sentAt = clock.monotonic();
          yield isNew ? `id: ${now}\n\n` : ":\n\n";
        }
        if (!atEnd) await nextTurn();
      }
    }
  } finally {
    waiter.end();
  }
}
