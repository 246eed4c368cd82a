import type { Condition } from "../../../types/webhooks.js";
import { atOnce, type Sliced } from "../../async/time-slicing.js";
import { isNamePattern, namesEvent } from "../../follow/event-names.js";
import { compileCondition, type CompiledCondition, type Subject, subjectsAt } from "./conditions.js";
import { canonical } from "./json-value.js";
import { compilePattern, type PatternWorker } from "./pattern.js";

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
  /** Instructions of its pattern; 0 where it has none. */
  size: number;
  /** The last event for which it was found by its value: a payload may have several that it takes. */
  found: number;
}

/** Conditions on one key. Those that ask for values, by far the most, are looked up by these instead of being tried one by one. */
interface KeyIndex {
  key: string;
  path: readonly string[];
  /** `eq` and `in`, by each value. */
  equal: ByValue;
  /** `contains`, by the element that an array must have. */
  element: ByValue;
  /** `contains`, for texts. */
  part: Set<Entry>;
  others: Set<Entry>;
}

/** Most values have one entry: a set for each would cost more than all else. */
type ByValue = Map<string, Entry | Set<Entry>>;

/** A webhook about which patterns decide that have to be tried on texts too long to do so at once. */
export interface Undecided {
  id: number;
  /** Rejects as `PatternWorker.test` does. */
  decide(worker: Pick<PatternWorker, "test">): Promise<boolean>;
}

interface Postponed {
  entry: Entry;
  texts: string[];
}

/** Matching of one event, numbered. */
class Matching {
  readonly ids: number[];
  private readonly postponed: Postponed[] = [];
  private readonly number: number;
  private left: number;

  constructor(number: number, always: Iterable<number>, mostInline: number) {
    this.number = number;
    this.left = mostInline;
    this.ids = [...always];
  }

  private count(candidate: Candidate): void {
    if (candidate.event !== this.number) {
      candidate.event = this.number;
      candidate.held = 0;
    }
    if (++candidate.held === candidate.needed) this.ids.push(candidate.id);
  }

  private find(entry: Entry): void {
    if (entry.found === this.number) return;
    entry.found = this.number;
    this.count(entry.candidate);
  }

  private findAll(there: Entry | Set<Entry> | undefined): void {
    if (there instanceof Set) for (const entry of there) this.find(entry);
    else if (there !== undefined) this.find(there);
  }

  /** A webhook for which any one condition is enough needs no second one. */
  private isDone({ event, held, needed }: Candidate): boolean {
    return event === this.number && held >= needed;
  }

  private isPostponed(entry: Entry, subjects: readonly Subject[]): boolean {
    if (entry.size === 0) return false;
    const texts = subjects.map((subject) => subject.text()).filter((text) => text !== undefined);
    const cost = texts.reduce((sum, text) => sum + text.length * entry.size, 0);
    if (cost <= this.left) {
      this.left -= cost;
      return false;
    }
    this.postponed.push({ entry, texts });
    return true;
  }

  private tryAll(entries: Iterable<Entry>, subjects: readonly Subject[]): void {
    for (const entry of entries) {
      if (this.isDone(entry.candidate) || this.isPostponed(entry, subjects)) continue;
      if (entry.condition.test(subjects)) this.find(entry);
    }
  }

  key({ equal, element, part, others }: KeyIndex, subjects: readonly Subject[]): void {
    for (const subject of subjects) {
      if (equal.size > 0) this.findAll(equal.get(subject.canonical()));
      if (element.size === 0) continue;
      const elements = subject.elements();
      if (elements !== undefined) for (const value of elements) this.findAll(element.get(value));
      else if (typeof subject.value === "string") this.tryAll(part, [subject]);
    }
    this.tryAll(others, subjects);
  }

  undecided(): Undecided[] {
    const patternsOf = new Map<Candidate, Postponed[]>();
    for (const one of this.postponed) {
      const { candidate } = one.entry;
      if (this.isDone(candidate)) continue;
      patternsOf.set(candidate, [...(patternsOf.get(candidate) ?? []), one]);
    }
    return [...patternsOf].flatMap(([candidate, patterns]) => {
      const missing = candidate.needed - (candidate.event === this.number ? candidate.held : 0);
      return missing > patterns.length
        ? []
        : [{ id: candidate.id, decide: (worker: Pick<PatternWorker, "test">) => decide(patterns, missing, worker) }];
    });
  }
}

const holdsForAny = async ({ entry, texts }: Postponed, worker: Pick<PatternWorker, "test">): Promise<boolean> => {
  for (const text of texts) if (await worker.test(String(entry.condition.value), text)) return true;
  return false;
};

/** Whether at least `missing` of the patterns hold. */
const decide = async (patterns: readonly Postponed[], missing: number, worker: Pick<PatternWorker, "test">): Promise<boolean> => {
  let [needed, left] = [missing, patterns.length];
  for (const pattern of patterns) {
    if (needed > left) return false;
    left--;
    if (await holdsForAny(pattern, worker)) needed--;
    if (needed === 0) return true;
  }
  return false;
};

/** What the matcher needs to know of a webhook, or of whoever else picks events by conditions. */
export interface Matchable {
  id: number;
  /** Names and patterns such as `transaction.*`. */
  events: readonly string[];
  enabled: boolean;
  conditions: readonly Condition[];
  match: "any" | "all";
}

export interface MatchResult {
  /** Ids of the webhooks whose conditions hold, ascending. */
  ids: number[];
  undecided: Undecided[];
}

/** Finds the webhooks that an event is to be sent to: indexed by event, then by key, then by value, each compiled once. */
export interface Matcher {
  /** Adds or replaces a webhook; undefined removes it. */
  put(id: number, webhook: Matchable | undefined): void;
  /** The same in slices, as conditions may list many values. Until the last of them, nothing may be matched, and nothing else be put. */
  change(id: number, webhook: Matchable | undefined): Sliced<void>;
  /** Whether any webhook listens to the event at all. */
  listens(event: string): boolean;
  /** `payload` is a JSON value. */
  match(event: string, payload: unknown): MatchResult;
}

interface EventIndex {
  /** Webhooks without conditions. */
  always: Set<number>;
  keys: Map<string, KeyIndex>;
  /** Webhooks of the event. */
  size: number;
}

/** Takes out again what was added. */
type TakeOut = () => Sliced<void>;

/**
 * Patterns tried at once for one event cost at most this, in instructions times characters: about 3 ms in the worst case. What is beyond
 * is left to the worker.
 */
const inlineCost = 200_000;

/** The register takes only what compiles. If another version took what does not compile here, one condition fails, not every event. */
const compileOrFail = (condition: Condition): CompiledCondition => {
  try {
    return compileCondition(condition);
  } catch {
    return { ...condition, path: [condition.key], test: () => false };
  }
};

const sizeOf = ({ condition, value }: Condition): number => {
  try {
    return condition === "regexp" ? compilePattern(value as string).programSize() : 0;
  } catch {
    return 0;
  }
};

const addTo = (index: ByValue, value: string, entry: Entry): void => {
  const there = index.get(value);
  if (there === undefined) index.set(value, entry);
  else if (there === entry) return;
  else if (there instanceof Set) there.add(entry);
  else index.set(value, new Set([there, entry]));
};

const removeFrom = (index: ByValue, value: string, entry: Entry): void => {
  const there = index.get(value);
  if (there === entry) index.delete(value);
  else if (there instanceof Set && there.delete(entry) && there.size === 0) index.delete(value);
};

const keyIndexOf = ({ keys }: EventIndex, { key, path }: CompiledCondition): KeyIndex => {
  const index = keys.get(key) ?? { key, path, equal: new Map(), element: new Map(), part: new Set(), others: new Set() };
  keys.set(key, index);
  return index;
};

const isEmpty = ({ equal, element, part, others }: KeyIndex): boolean => equal.size + element.size + part.size + others.size === 0;

/** By which values an entry is found, and in which of a key's lists it is tried. */
const placeOf = ({ condition: { condition, value } }: Entry, { equal, element, part, others }: KeyIndex): { index?: ByValue; values: string[]; tried?: Set<Entry> } => {
  if (condition === "eq") return { index: equal, values: [canonical(value)] };
  if (condition === "in" && Array.isArray(value)) return { index: equal, values: value.map(canonical) };
  if (condition === "contains") return { index: element, values: [canonical(value)], tried: part };
  return { values: [], tried: others };
};

/** Values that are added or taken out in one slice: a fraction of a millisecond. */
const sliceOf = 1_000;

function* forEach(values: readonly string[], work: (value: string) => void): Sliced<void> {
  for (const [at, value] of values.entries()) {
    work(value);
    if (at % sliceOf === sliceOf - 1) yield;
  }
}

/** Adds a condition. Returns what removes it again, along with its key's index if that is then empty. */
function* addEntry(index: EventIndex, entry: Entry): Sliced<TakeOut> {
  const byKey = keyIndexOf(index, entry.condition);
  const { index: byValue, values, tried } = placeOf(entry, byKey);
  tried?.add(entry);
  if (byValue !== undefined) yield* forEach(values, (value) => addTo(byValue, value, entry));
  return function* () {
    // Computed again: kept, the values would take the memory of a second list.
    const { values: added } = placeOf(entry, byKey);
    tried?.delete(entry);
    if (byValue !== undefined) yield* forEach(added, (value) => removeFrom(byValue, value, entry));
    if (isEmpty(byKey)) index.keys.delete(entry.condition.key);
  };
}

function* addWebhook(index: EventIndex, { id, conditions, match }: Matchable): Sliced<TakeOut> {
  index.size++;
  if (conditions.length === 0) index.always.add(id);
  const candidate: Candidate = { id, needed: match === "all" ? conditions.length : 1, event: 0, held: 0 };
  const takeOut: TakeOut[] = [];
  for (const condition of conditions)
    takeOut.push(yield* addEntry(index, { condition: compileOrFail(condition), candidate, size: sizeOf(condition), found: 0 }));
  return function* () {
    index.size--;
    index.always.delete(id);
    for (const take of takeOut) yield* take();
  };
}

/** `mostInline`: what patterns tried at once may cost for one event; see `inlineCost`. */
export const createMatcher = (webhooks: Iterable<Matchable> = [], mostInline = inlineCost): Matcher => {
  const indexes = new Map<string, EventIndex>();
  /** Webhooks with patterns of names: an event that is asked for for the first time may be one of theirs. */
  const byPattern = new Map<number, Matchable>();
  const takeOut = new Map<number, TakeOut[]>();
  let seen = 0;

  function* add(index: EventIndex, webhook: Matchable): Sliced<void> {
    const added = yield* addWebhook(index, webhook);
    takeOut.set(webhook.id, [...(takeOut.get(webhook.id) ?? []), added]);
  }

  const indexOf = (event: string): EventIndex => {
    const there = indexes.get(event);
    if (there !== undefined) return there;
    const made: EventIndex = { always: new Set(), keys: new Map(), size: 0 };
    indexes.set(event, made);
    for (const webhook of byPattern.values()) if (namesEvent(webhook.events, event)) atOnce(add(made, webhook));
    return made;
  };

  function* change(id: number, webhook: Matchable | undefined): Sliced<void> {
    for (const take of takeOut.get(id) ?? []) yield* take();
    takeOut.delete(id);
    byPattern.delete(id);
    if (webhook?.enabled !== true) return;
    for (const name of webhook.events) if (!isNamePattern(name)) indexOf(name);
    for (const [event, index] of indexes) if (namesEvent(webhook.events, event)) yield* add(index, webhook);
    if (webhook.events.some(isNamePattern)) byPattern.set(id, webhook);
  }

  const put = (id: number, webhook: Matchable | undefined): void => atOnce(change(id, webhook));
  for (const webhook of webhooks) put(webhook.id, webhook);

  return {
    put,
    change,
    listens: (event) => indexOf(event).size > 0,
    match: (event, payload) => {
      const index = indexOf(event);
      const matching = new Matching(++seen, index.always, mostInline);
      for (const byKey of index.keys.values()) matching.key(byKey, subjectsAt(payload, byKey));
      return { ids: matching.ids.sort((a, b) => a - b), undecided: matching.undecided() };
    },
  };
};
