import type { Condition } from "../../types/webhooks.js";
import { type CompiledCondition, compileCondition } from "./conditions.js";
import { canonical, valueAt } from "./json-value.js";
import { createSubject } from "./subject.js";

/** What the matcher needs to know of a webhook. */
export interface Matchable {
  id: number;
  event: string;
  enabled: boolean;
  conditions: readonly Condition[];
  match: "any" | "all";
}

/** One webhook while an event is looked at: how many of its conditions hold. `event` tells counts of another event apart. */
interface Candidate {
  id: number;
  needed: number;
  event: number;
  held: number;
}

/** Conditions on one key. Those of `eq`, the most by far, are found by their value instead of being tried one by one. */
interface KeyIndex {
  key: string;
  path: readonly string[];
  equal: Map<string, Candidate[]>;
  others: { condition: CompiledCondition; candidate: Candidate }[];
}

interface EventIndex {
  /** Webhooks without conditions. */
  always: number[];
  keys: Map<string, KeyIndex>;
}

/** Finds the webhooks that an event is to be sent to: indexed by event, then by key, compiled once. */
export interface Matcher {
  /** Whether any webhook listens to the event at all. */
  listens(event: string): boolean;
  /** Ids of the webhooks whose conditions hold, ascending. `payload` is a JSON value. */
  match(event: string, payload: unknown): number[];
}

const addCondition = (index: EventIndex, condition: CompiledCondition, candidate: Candidate): void => {
  let entry = index.keys.get(condition.key);
  if (entry === undefined) {
    entry = { key: condition.key, path: condition.path, equal: new Map(), others: [] };
    index.keys.set(condition.key, entry);
  }
  if (condition.condition !== "eq") {
    entry.others.push({ condition, candidate });
    return;
  }
  const value = canonical(condition.value);
  const same = entry.equal.get(value);
  if (same === undefined) entry.equal.set(value, [candidate]);
  else same.push(candidate);
};

/** The register takes only what compiles. Should another version think otherwise, one condition fails, not every event. */
const compileOrFail = (condition: Condition): CompiledCondition => {
  try {
    return compileCondition(condition);
  } catch {
    return { ...condition, path: [condition.key], test: () => false };
  }
};

const addWebhook = (events: Map<string, EventIndex>, webhook: Matchable): void => {
  const index = events.get(webhook.event) ?? { always: [], keys: new Map<string, KeyIndex>() };
  events.set(webhook.event, index);
  const { id, conditions } = webhook;
  if (conditions.length === 0) {
    index.always.push(id);
    return;
  }
  const candidate: Candidate = { id, needed: webhook.match === "all" ? conditions.length : 1, event: 0, held: 0 };
  for (const condition of conditions) addCondition(index, compileOrFail(condition), candidate);
};

export const createMatcher = (webhooks: Iterable<Matchable>): Matcher => {
  const events = new Map<string, EventIndex>();
  for (const webhook of webhooks) if (webhook.enabled) addWebhook(events, webhook);
  let seen = 0;

  return {
    listens: (event) => events.has(event),
    match: (event, payload) => {
      const index = events.get(event);
      if (index === undefined) return [];
      const number = ++seen;
      const matched = [...index.always];
      const hit = (candidate: Candidate): void => {
        if (candidate.event !== number) {
          candidate.event = number;
          candidate.held = 0;
        }
        if (++candidate.held === candidate.needed) matched.push(candidate.id);
      };
      for (const { key, path, equal, others } of index.keys.values()) {
        const actual = createSubject(valueAt(payload, key, path));
        if (equal.size > 0) equal.get(actual.canonical())?.forEach(hit);
        for (const { condition, candidate } of others) {
          // A webhook that any condition is enough for needs no second one.
          const isDone = candidate.event === number && candidate.held >= candidate.needed;
          if (!isDone && condition.test(actual)) hit(candidate);
        }
      }
      return matched.sort((a, b) => a - b);
    },
  };
};
