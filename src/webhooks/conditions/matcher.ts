import type { Condition } from "../../../types/webhooks.js";
import { type CompiledCondition, compileCondition } from "./conditions.js";
import { canonical, valueAt } from "./json-value.js";
import { createSubject } from "./operand.js";

/** What the matcher needs to know of a webhook. */
export interface Matchable {
  id: number;
  event: string;
  enabled: boolean;
  conditions: readonly Condition[];
  match: "any" | "all";
}

/** One webhook while an event is matched: how many of its conditions hold, counted for the event numbered `event`. */
interface Candidate {
  id: number;
  needed: number;
  event: number;
  held: number;
}

/** One condition of one webhook. */
interface Entry {
  condition: CompiledCondition;
  candidate: Candidate;
}

/** Conditions on one key. Those with `eq`, by far the most, are looked up by their value instead of being tried one by one. */
interface KeyIndex {
  key: string;
  path: readonly string[];
  equal: Map<string, Set<Entry>>;
  others: Set<Entry>;
}

interface EventIndex {
  /** Webhooks without conditions. */
  always: Set<number>;
  keys: Map<string, KeyIndex>;
  /** Webhooks of the event. */
  size: number;
}

/** Finds the webhooks that an event is to be sent to: indexed by event, then by key, each compiled once. */
export interface Matcher {
  /** Adds or replaces a webhook; undefined removes it. */
  put(id: number, webhook: Matchable | undefined): void;
  /** Whether any webhook listens to the event at all. */
  listens(event: string): boolean;
  /** Ids of the webhooks whose conditions hold, ascending. `payload` is a JSON value. */
  match(event: string, payload: unknown): number[];
}

/** The register takes only what compiles. If another version took what does not compile here, one condition fails, not every event. */
const compileOrFail = (condition: Condition): CompiledCondition => {
  try {
    return compileCondition(condition);
  } catch {
    return { ...condition, path: [condition.key], test: () => false };
  }
};

const keyIndexOf = ({ keys }: EventIndex, { key, path }: CompiledCondition): KeyIndex => {
  const index = keys.get(key) ?? { key, path, equal: new Map(), others: new Set() };
  keys.set(key, index);
  return index;
};

/** Adds a condition. Returns what removes it again, along with its key's index if that is then empty. */
const addEntry = (index: EventIndex, entry: Entry): (() => void) => {
  const { condition } = entry;
  const byKey = keyIndexOf(index, condition);
  const { equal, others } = byKey;
  const value = condition.condition === "eq" ? canonical(condition.value) : undefined;
  const set = value === undefined ? others : (equal.get(value) ?? new Set());
  if (value !== undefined) equal.set(value, set);
  set.add(entry);
  return () => {
    set.delete(entry);
    if (value !== undefined && set.size === 0) equal.delete(value);
    if (equal.size === 0 && others.size === 0) index.keys.delete(condition.key);
  };
};

const addWebhook = (index: EventIndex, { id, conditions, match }: Matchable): (() => void) => {
  index.size++;
  if (conditions.length === 0) index.always.add(id);
  const candidate: Candidate = { id, needed: match === "all" ? conditions.length : 1, event: 0, held: 0 };
  const takeOut = conditions.map((condition) => addEntry(index, { condition: compileOrFail(condition), candidate }));
  return () => {
    index.size--;
    index.always.delete(id);
    for (const take of takeOut) take();
  };
};

export const createMatcher = (webhooks: Iterable<Matchable> = []): Matcher => {
  const events = new Map<string, EventIndex>();
  const takeOut = new Map<number, () => void>();
  let seen = 0;

  const put = (id: number, webhook: Matchable | undefined): void => {
    takeOut.get(id)?.();
    takeOut.delete(id);
    if (webhook?.enabled !== true) return;
    const index = events.get(webhook.event) ?? { always: new Set(), keys: new Map(), size: 0 };
    events.set(webhook.event, index);
    takeOut.set(id, addWebhook(index, webhook));
  };
  for (const webhook of webhooks) put(webhook.id, webhook);

  return {
    put,
    listens: (event) => (events.get(event)?.size ?? 0) > 0,
    match: (event, payload) => {
      const index = events.get(event);
      if (index === undefined) return [];
      const number = ++seen;
      const matched = [...index.always];
      const hit = ({ candidate }: Entry): void => {
        if (candidate.event !== number) {
          candidate.event = number;
          candidate.held = 0;
        }
        if (++candidate.held === candidate.needed) matched.push(candidate.id);
      };
      for (const { key, path, equal, others } of index.keys.values()) {
        const actual = createSubject(valueAt(payload, key, path));
        if (equal.size > 0) equal.get(actual.canonical())?.forEach(hit);
        for (const entry of others) {
          const { candidate, condition } = entry;
          // A webhook for which any one condition is enough needs no second one.
          const isDone = candidate.event === number && candidate.held >= candidate.needed;
          if (!isDone && condition.test(actual)) hit(entry);
        }
      }
      return matched.sort((a, b) => a - b);
    },
  };
};
