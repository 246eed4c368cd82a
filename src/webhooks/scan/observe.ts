import { setImmediate as nextTurn } from "node:timers/promises";
import type { Cursor, Follow } from "../../follow/index.js";
import type { RecentEvents } from "../registry/dry-run.js";

export interface ObserveNeeds {
  follow: Follow;
  recent: RecentEvents;
}

/** Notes what happens, for dry runs, from the start on. */
export const createObserve = ({ follow, recent }: ObserveNeeds, isRunning: () => boolean) => {
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
