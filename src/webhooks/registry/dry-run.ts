import type { RecentEvent, WebhookStore } from "../../../types/webhook-store.js";
import type { DryRunRequest, DryRunResult } from "../../../types/webhooks.js";
import { inputError, PorticoError } from "../../errors.js";
import { canonicalEvent } from "../../follow/host/known-events.js";
import { combine, compileCondition, type CompiledCondition, explain } from "../conditions/conditions.js";
import { jsonLength } from "../conditions/json-value.js";
import { type Subject, subjectsAt } from "../conditions/operators.js";
import { checkConditions, checkEvent } from "./draft.js";

const defaultLast = 10;

/** What a payload has at the keys of conditions: once for each key, however many conditions test it. */
const createSubjects = (payload: unknown): ((condition: CompiledCondition) => Subject[]) => {
  const subjects = new Map<string, Subject[]>();
  return ({ key, path }) => {
    const there = subjects.get(key) ?? subjectsAt(payload, { key, path });
    subjects.set(key, there);
    return there;
  };
};

/** Tries conditions on a sample, or on the last real payloads of an event. Nothing is sent. @throws PorticoError BAD_REQUEST */
export const dryRun = (request: DryRunRequest, recent: RecentEvents, events: readonly string[]): DryRunResult[] => {
  const { event, conditions, match = "any", last = defaultLast } = request;
  checkConditions(conditions);
  if (event !== undefined) checkEvent(event, events);
  if (jsonLength(request.payload) > largestKept) throw inputError("payload", "payload", `must not have more than ${largestKept} characters as JSON`);
  const compiled = conditions.map(compileCondition);

  const resultOf = (payload: unknown, timestamp: number | null): DryRunResult => {
    const subjectsOf = createSubjects(payload);
    const results = compiled.map((condition) => explain(condition, subjectsOf(condition)));
    return { matches: combine(results.map(({ holds }) => holds), match), timestamp, payload, conditions: results };
  };

  if (request.payload !== undefined) return [resultOf(request.payload, null)];
  if (event === undefined) {
    throw new PorticoError("BAD_REQUEST", '"event" is required if no "payload" is given', { validation: { source: "payload", keys: ["event"] } });
  }
  return recent.last(canonicalEvent(event), last).map(({ at, json }) => resultOf(JSON.parse(json), at));
};

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
