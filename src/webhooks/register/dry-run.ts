import { setImmediate as nextTurn } from "node:timers/promises";
import type { RecentEvent } from "../rows/rows.js";
import type { WebhookStore } from "../rows/store.js";
import type { ConditionResult, DryRunRequest, DryRunResult } from "../../../types/webhooks.js";
import { loopShare } from "../../async/loop-share.js";
import { inputError, PorticoError } from "../../errors.js";
import { canonicalEvent } from "../../follow/event-names.js";
import type { Cursor, Follow } from "../../follow/index.js";
import { combine, compileCondition, type CompiledCondition, explain, type Subject, subjectsAt } from "../conditions/conditions.js";
import { jsonLength } from "../conditions/json-value.js";
import { createPatternWorker, type PatternWorker } from "../conditions/pattern.js";
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

/** Patterns are tried in a thread on texts of so many characters and more, where one may take 20 ms. */
const longText = 500;

/** For whoever writes `data.height` for `height`: it is `data` that conditions are about. */
const pathHint = (payload: unknown, [first, ...path]: readonly string[]): string => {
  const key = path.join(".");
  return first === "data" && subjectsAt(payload, { key, path }).length > 0 ? `. Write "${key}"; keys are relative to "data"` : "";
};

const holds = async (condition: CompiledCondition, subjects: readonly Subject[], patterns: Pick<PatternWorker, "test">): Promise<boolean> => {
  const texts = condition.condition === "regexp" ? subjects.map((subject) => subject.text() ?? "") : [];
  if (texts.every((text) => text.length < longText)) return condition.test(subjects);
  for (const subject of subjects) {
    const text = subject.text();
    if (text !== undefined && (await patterns.test(String(condition.value), text))) return true;
  }
  return false;
};

interface DryRunNeeds {
  recent: RecentEvents;
  /** Names of all events. */
  events: readonly string[];
}

const tryOut = async (request: DryRunRequest, { recent, events, patterns }: DryRunNeeds & { patterns: PatternWorker }): Promise<DryRunResult[]> => {
  const { event, conditions, match = "any", last = defaultLast } = request;
  checkConditions(conditions);
  if (event !== undefined) checkEvent(event, events);
  if (jsonLength(request.payload) > largestKept)
    throw inputError("payload", "payload", `must not have more than ${largestKept} characters as JSON`);
  const compiled = conditions.map(compileCondition);

  const resultOf = async (payload: unknown, timestamp: number | null): Promise<DryRunResult> => {
    const subjectsOf = createSubjects(payload);
    const results: ConditionResult[] = [];
    for (const condition of compiled) {
      const subjects = subjectsOf(condition);
      const result = await loopShare.run(async () => explain(condition, subjects, await holds(condition, subjects, patterns)));
      results.push(subjects.length > 0 ? result : { ...result, reason: result.reason + pathHint(payload, condition.path) });
    }
    return { matches: combine(results.map((result) => result.holds), match), timestamp, payload, conditions: results };
  };

  if (request.payload !== undefined) return [await resultOf(request.payload, null)];
  if (event === undefined) {
    throw new PorticoError("BAD_REQUEST", '"event" is required if no "payload" is given', {
      validation: { source: "payload", keys: ["event"] },
    });
  }
  const found: DryRunResult[] = [];
  for (const { at, json } of recent.last(canonicalEvent(event), last)) found.push(await resultOf(JSON.parse(json), at));
  return found;
};

/** Tries conditions on a sample, or on the last real payloads of an event. Nothing is sent. */
export interface DryRuns {
  /** @throws PorticoError BAD_REQUEST */
  dryRun(request: DryRunRequest): Promise<DryRunResult[]>;
  close(): Promise<void>;
}

/** They have a thread of their own for patterns: deliveries do not wait for whoever tries one. */
export const createDryRuns = (needs: DryRunNeeds): DryRuns => {
  const patterns = createPatternWorker();
  return { dryRun: (request) => tryOut(request, { ...needs, patterns }), close: patterns.close };
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

/** Payloads of each event that are kept. */
const keep = 100;

export const createRecentEvents = (store: WebhookStore): RecentEvents => {
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

/** Follows the chain from its tip and remembers the last events for dry runs. What it returns reads up to the tip. */
export const createObserver = ({ follow, recent }: { follow: Pick<Follow, "tip" | "after">; recent: RecentEvents }, isRunning: () => boolean) => {
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
