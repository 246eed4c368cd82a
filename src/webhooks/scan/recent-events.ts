import type { RecentEvent, WebhookStore } from "../../../types/webhook-store.js";

interface Waiting {
  at: number;
  json(): string;
}

/** Largest payload that is kept, in characters of JSON. */
export const largestKept = 65_536;

/**
 * Keeps the last payloads of every event for dry runs, whether or not a webhook listens to it. They are written now and then, so they
 * may be lost when the process ends.
 */
export interface RecentEvents {
  note(event: string, waiting: Waiting): void;
  /** Whether anything noted is not written yet. */
  hasNoted(): boolean;
  /** Writes what was noted, within an open transaction of the store or in one of its own. */
  flush(): void;
  last(event: string, limit: number): RecentEvent[];
}

export const createRecentEvents = (store: WebhookStore, keep: number): RecentEvents => {
  const noted = new Map<string, Waiting[]>();

  const flush = (): void => {
    if (noted.size === 0) return;
    store.transaction(() => {
      for (const [event, waiting] of noted) {
        for (const { at, json } of waiting.slice(-keep)) {
          const text = json();
          if (text.length <= largestKept) store.remember(event, { at, json: text }, keep);
        }
      }
    });
    noted.clear();
  };

  return {
    note: (event, waiting) => {
      if (keep === 0) return;
      const list = noted.get(event);
      if (list === undefined) noted.set(event, [waiting]);
      else if (list.push(waiting) >= 2 * keep) list.splice(0, keep);
    },
    hasNoted: () => noted.size > 0,
    flush,
    last: (event, limit) => {
      flush();
      return store.recent(event, limit);
    },
  };
};
