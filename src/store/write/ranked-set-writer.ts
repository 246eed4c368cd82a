import { at, countBetween, endOf, keyOf, levelOf, nothing, readCount, topLevel } from "../records/ranked-set.js";
import { firstWhere } from "../../text/first-where.js";
import type { Journal } from "./undo.js";
import type { WriterReads } from "../lmdb/read-session.js";
import type { Sliced } from "../../async/time-slicing.js";

/** Changes counted sets. Counts are held back until `flush`, so that a count that changes often is written once. */
export interface RankedSetWriter {
  /** Adds a key that is not in the set. */
  insert(set: number, key: Buffer, value?: Buffer): void;
  /** Removes a key that is in the set with this value. */
  remove(set: number, key: Buffer, value?: Buffer): void;
  flush(): Sliced<void>;
}

/**
 * The separators, cached by the one process that writes: every key that is added or removed changes one separator of each level, and
 * finding those in the database would cost more than writing them.
 */
export interface RankedSets {
  /** For one block. */
  writer(journal: Journal): RankedSetWriter;
  /** Drops the cache, when writes are undone: separators are read again as they are needed. */
  forget(): void;
}

/** A separator, and those of the level below from it up to the next of its own level: the first of them has the same key. */
interface Separator {
  readonly set: number;
  readonly level: number;
  /** As latin1, one character a byte: this compares as the bytes do, takes less memory, and is compared without leaving JavaScript. */
  readonly key: string;
  /** Number of keys up to the next separator of its level. */
  count: number;
  /** What the database has there; 0: nothing. */
  written: number;
  /** Whether it is among those that `flush` looks at. */
  changed: boolean;
  /** Undefined: not read yet, or of level 1. */
  below: Separator[] | undefined;
}

const textOf = (key: Buffer): string => key.toString("latin1");
const bytesOf = (key: string): Buffer => Buffer.from(key, "latin1");

const separator = (set: number, level: number, key: string, count = 0): Separator => ({
  set,
  level,
  key,
  count,
  written: count,
  changed: false,
  below: undefined,
});

/** Counts that are written in one step. */
const countsPerStep = 64;

/** Separators that are cached, at some 150 bytes each: beyond that, all are dropped. */
const remembered = 250_000;

const countBytes = (count: number): Buffer => {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeUInt32BE(count);
  return bytes;
};

/** Its key in the database. */
const placed = ({ set, level, key }: Separator): Buffer => at(set, level, bytesOf(key));

/** Number of separators of a row that are not above a key. */
const placeOf = (row: readonly Separator[], key: string): number => firstWhere(0, row.length, (place) => (row[place]?.key ?? "") > key);

/** Where a key lies in each level: the row, and the place in it of the separator at or below the key. */
interface Step {
  row: Separator[];
  place: number;
  separator: Separator;
}

/** The cache of separators: rows are read as they are needed. */
interface Separators {
  /** Number of cached ones. */
  known: number;
  forget(): void;
  /** Reads the row of a level that a separator of the level above counts. */
  readRow(set: number, level: number, from: string, to: string | undefined): Separator[];
  /** Steps by level, from 1 on. */
  stepsTo(set: number, key: string): Step[];
}

const createSeparators = (reading: WriterReads): Separators => {
  const roots = new Map<number, Separator>();

  const readRow = (set: number, level: number, from: string, to: string | undefined): Separator[] => {
    const row: Separator[] = [];
    const end = to === undefined ? endOf(set, level) : at(set, level, bytesOf(to));
    for (const { key, value } of reading.range("sets", { start: at(set, level, bytesOf(from)), end })) {
      row.push(separator(set, level, textOf(keyOf(key)), readCount(value)));
    }
    // The empty key, with which a level begins, is not written while it counts nothing.
    if (from === "" && row[0]?.key !== "") row.unshift(separator(set, level, ""));
    separators.known += row.length;
    return row;
  };

  const rootOf = (set: number): Separator => {
    let root = roots.get(set);
    if (root === undefined) {
      root = separator(set, topLevel + 1, "");
      roots.set(set, root);
    }
    return root;
  };

  const stepsTo = (set: number, key: string): Step[] => {
    const steps: Step[] = [];
    let above = rootOf(set);
    let next: Separator | undefined;
    for (let level = topLevel; level >= 1; level--) {
      const row = (above.below ??= readRow(set, level, above.key, next?.key));
      const place = placeOf(row, key) - 1;
      const found = row[place];
      if (found === undefined) throw new Error(`set ${set} has no beginning at level ${level}`);
      next = row[place + 1] ?? next;
      steps[level] = { row, place, separator: found };
      above = found;
    }
    return steps;
  };

  const forget = (): void => {
    roots.clear();
    separators.known = 0;
  };

  const separators: Separators = { known: 0, forget, readRow, stepsTo };
  return separators;
};

/** Counts of separators that have changed, until they are written. */
const createChangedCounts = (journal: Journal) => {
  const changed: Separator[] = [];
  return {
    add: (to: Separator, by: number): void => {
      to.count += by;
      if (to.changed) return;
      to.changed = true;
      changed.push(to);
    },
    flush: function* (): Sliced<void> {
      for (const [index, each] of changed.entries()) {
        if (index % countsPerStep === 0) yield;
        each.changed = false;
        if (each.count === each.written) continue;
        const before = each.written === 0 ? null : countBytes(each.written);
        if (each.count === 0) journal.remove("sets", placed(each), before);
        else journal.put("sets", placed(each), countBytes(each.count), before);
        each.written = each.count;
      }
      changed.length = 0;
    },
  };
};

const createRankedSetWriter = (reading: WriterReads, separators: Separators, journal: Journal): RankedSetWriter => {
  const { stepsTo, readRow } = separators;
  const { add, flush } = createChangedCounts(journal);

  /** Makes a key a separator of a level: it takes over the keys from it on. The level below has it already. */
  const split = (key: string, { row, place, separator: left }: Step): void => {
    const { set, level } = left;
    const right = separator(set, level, key);
    let kept: number;
    if (level === 1) kept = countBetween(reading, set, bytesOf(left.key), bytesOf(key));
    else {
      const below = left.below ?? [];
      right.below = below.splice(placeOf(below, key) - 1);
      kept = below.reduce((sum, { count }) => sum + count, 0);
    }
    add(right, left.count + 1 - kept);
    add(left, kept - left.count);
    row.splice(place + 1, 0, right);
    separators.known++;
  };

  /** Gives what a separator counted, less its own key, to the one before it. */
  const merge = (left: Separator, gone: Separator): void => {
    const { set, level } = gone;
    add(left, gone.count - 1);
    if (gone.written > 0) journal.remove("sets", placed(gone), countBytes(gone.written));
    if (level > 1) {
      const below = (left.below ??= readRow(set, level - 1, left.key, gone.key));
      const [same, ...rest] = gone.below ?? [];
      const last = below[below.length - 1];
      if (same === undefined || last === undefined) throw new Error(`set ${set} has a gap at level ${level - 1}`);
      merge(last, same);
      below.push(...rest);
    }
    gone.count = gone.written = 0;
    separators.known--;
  };

  return {
    insert: (set, key, value = nothing) => {
      journal.insert("sets", at(set, 0, key), value);
      const own = levelOf(key);
      const text = textOf(key);
      stepsTo(set, text).forEach((step, level) => {
        if (level <= own) split(text, step);
        else add(step.separator, 1);
      });
    },
    remove: (set, key, value = nothing) => {
      journal.remove("sets", at(set, 0, key), value);
      const own = levelOf(key);
      stepsTo(set, textOf(key)).forEach(({ row, place, separator: found }, level) => {
        if (level > own) add(found, -1);
        else if (level === own) {
          const left = row[place - 1];
          if (left === undefined) throw new Error(`set ${set} has nothing before a separator of level ${level}`);
          merge(left, found);
          row.splice(place, 1);
        }
      });
    },
    flush,
  };
};

export const createRankedSets = (reading: WriterReads): RankedSets => {
  const separators = createSeparators(reading);
  return {
    writer: (journal) => {
      if (separators.known > remembered) separators.forget();
      return createRankedSetWriter(reading, separators, journal);
    },
    forget: separators.forget,
  };
};
