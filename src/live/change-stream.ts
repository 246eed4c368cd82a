import { setImmediate as nextTurn } from "node:timers/promises";
import { loopShare } from "../async/loop-share.js";
import type { After, FullClock } from "../async/clock.js";
import { blockLine } from "../chain/blocks/block.js";
import { type Cursor, cursorText } from "../follow/cursor.js";
import type { Batch, Change, Follow, Group } from "../follow/follow.js";
import { readOn } from "./channel.js";
import { createWaiter } from "./waiter.js";

interface ChangeStreamNeeds {
  follow: Follow;
  /** Milliseconds after which something is sent in any case. */
  heartbeat: number;
  clock: Pick<FullClock, "monotonic">;
  after: After;
  signal: AbortSignal;
}

/** Lines of the last blocks, made once for all readers. */
const lines = new WeakMap<Change, string>();

const lineOf = ({ change, after }: Group): string => {
  if (change === undefined) return "";
  const known = lines.get(change);
  if (known !== undefined) return known;
  const digest = change.digest === undefined ? "" : `,"digest":"${change.digest}"`;
  const line = `{"kind":"${change.kind}","block":${blockLine(change.full)},"cursor":${JSON.stringify(cursorText({ block: after.block }))}${digest}}\n`;
  lines.set(change, line);
  return line;
};

const end = "}\n";

/** With what makes the events of a replica those of its node. */
const timedLine = (group: Group): string => {
  const line = lineOf(group);
  return group.change === undefined
    ? line
    : `${line.slice(0, -end.length)},"timestamp":${group.change.at},"times":${group.change.times}${end}`;
};

interface ChangeOptions {
  /** Lines, at most. */
  limit: number;
  /** Whether it goes on at the tip. */
  endless: boolean;
  /** Whether lines tell when and how often this node applied or reverted the block. */
  timed: boolean;
}

/**
 * Changes after a cursor, one JSON line each; an empty line where there is nothing to tell for long, so that either side learns of a
 * broken connection.
 */
export async function* changeStream(
  from: Cursor,
  { limit, endless, timed }: ChangeOptions,
  { follow, heartbeat, clock, after, signal }: ChangeStreamNeeds,
): AsyncGenerator<string> {
  const waiter = createWaiter(follow, after, signal);
  let [cursor, left, sentAt] = [from, limit, clock.monotonic()];
  const idle = (): number => clock.monotonic() - sentAt;
  try {
    while (left > 0 && !signal.aborted) {
      const batch: Batch | undefined = await readOn(follow, cursor, { hostEvents: false, ...(left < 100 ? { limit: left } : {}) });
      const groups = (batch?.groups ?? []).slice(0, left);
      cursor = groups.at(-1)?.after ?? cursor;
      left -= groups.length;
      // One line at a time: a chunk of many full blocks would be held for a client that reads slowly.
      for (const group of groups) yield await loopShare.run(() => (timed ? timedLine(group) : lineOf(group)));
      if (groups.length > 0) sentAt = clock.monotonic();
      if (batch?.atEnd === false) await nextTurn();
      else if (!endless) return;
      else await waiter.wait(Math.max(0, heartbeat - idle()));
      if (idle() < heartbeat) continue;
      sentAt = clock.monotonic();
      yield "\n";
    }
  } finally {
    waiter.end();
  }
}
