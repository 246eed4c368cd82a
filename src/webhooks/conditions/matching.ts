import type { CompiledCondition, Subject } from "./conditions.js";
import type { PatternWorker } from "./pattern.js";

/** One webhook while an event is matched: how many of its conditions hold, counted for the event numbered `event`. */
export interface Candidate {
  id: number;
  needed: number;
  event: number;
  held: number;
}

/** One condition of one webhook. */
export interface Entry {
  condition: CompiledCondition;
  candidate: Candidate;
  /** Instructions of its pattern; 0 where it has none. */
  size: number;
  /** The last event for which it was found by its value: a payload may have several that it takes. */
  found: number;
}

/** Conditions on one key. Those that ask for values, by far the most, are looked up by these instead of being tried one by one. */
export interface KeyIndex {
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
export type ByValue = Map<string, Entry | Set<Entry>>;

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
export class Matching {
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
      return missing > patterns.length ? [] : [{ id: candidate.id, decide: (worker: Pick<PatternWorker, "test">) => decide(patterns, missing, worker) }];
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
