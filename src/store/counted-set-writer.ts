import { at, countBetween, endOf, keyOf, levelOf, nothing, readCount, startOf, topLevel } from "./counted-set.js";
import type { Journal } from "./journal.js";
import type { WriterReading } from "./reading.js";
import type { Steps } from "../steps.js";

/** Changes counted sets. Counts are held back until `flush`, so that one that changes often is written once. */
export interface CountedSetWriter {
  /** Adds a key that is not in the set. */
  insert(set: number, key: Buffer, value?: Buffer): void;
  /** Takes a key out that is in the set with this value. */
  remove(set: number, key: Buffer, value?: Buffer): void;
  flush(): Steps<void>;
}

/**
 * The separators as the one process that writes remembers them: every key that comes or goes changes one of each level, and
 * finding those in the database would cost more than writing them.
 */
export interface CountedSets {
  /** For one block. */
  writer(journal: Journal): CountedSetWriter;
  /** Forgets all, when what was written is undone: it is read again when it is needed. */
  forget(): void;
}

/** A separator, and those of the level below from it up to the next: the first of them is the same key. */
interface Separator {
  /** Its key in the database. */
  readonly at: Buffer;
  /** The first bytes of its key in the set, as a number: nearly all comparisons end there. */
  readonly prefix: number;
  /** Number of keys up to the next separator of its level. */
  count: number;
  /** What the database has there; 0: nothing. */
  written: number;
  /** Whether it is among those that `flush` looks at. */
  changed: boolean;
  /** Undefined: not read yet, or of level 1. */
  below: Separator[] | undefined;
}

const prefixLength = 6;

const prefixOf = (full: Buffer): number => {
  if (full.length >= 2 + prefixLength) return full.readUIntBE(2, prefixLength);
  let prefix = 0;
  for (let i = 2; i < 2 + prefixLength; i++) prefix = prefix * 256 + (full[i] ?? 0);
  return prefix;
};

const separator = (full: Buffer, count: number, written: number): Separator => ({
  at: full,
  prefix: prefixOf(full),
  count,
  written,
  changed: false,
  below: undefined,
});

/** Counts that are written in one step. */
const atOnce = 64;

/** So many are remembered, at some 250 bytes each: beyond, all are forgotten. */
const remembered = 250_000;

const countBytes = (count: number): Buffer => {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeUInt32BE(count);
  return bytes;
};

/** Number of separators of a row that are not above a key. */
const placeOf = (row: readonly Separator[], full: Buffer, prefix: number): number => {
  let [low, high] = [0, row.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const candidate = row[middle];
    if (candidate === undefined) break;
    if (candidate.prefix < prefix || (candidate.prefix === prefix && candidate.at.compare(full) <= 0)) low = middle + 1;
    else high = middle;
  }
  return low;
};

/** Where a key lies in each level: the row, and the place in it of the separator at or below the key. */
interface Step {
  row: Separator[];
  place: number;
  separator: Separator;
}

export const createCountedSets = (reading: WriterReading): CountedSets => {
  const roots = new Map<number, Separator>();
  let known = 0;

  const forget = (): void => {
    roots.clear();
    known = 0;
  };

  /** Reads the row of a level from a separator of the level above up to the end of what that one counts. */
  const readRow = (set: number, level: number, from: Buffer, end: Buffer): Separator[] => {
    const row: Separator[] = [];
    for (const { key, value } of reading.range("sets", { start: at(set, level, from), end })) {
      const count = readCount(value);
      row.push(separator(Buffer.from(key), count, count));
    }
    // A level's beginning that counts nothing is not written.
    if (from.length === 0 && row[0]?.at.length !== 2) row.unshift(separator(at(set, level, nothing), 0, 0));
    known += row.length;
    return row;
  };

  const rootOf = (set: number): Separator => {
    let root = roots.get(set);
    if (root === undefined) {
      root = separator(startOf(set, topLevel + 1), 0, 0);
      roots.set(set, root);
    }
    return root;
  };

  /** Steps by level, from 1 on; `end` is where the counting of the last step's separator ends. */
  const stepsTo = (set: number, key: Buffer): Step[] => {
    const steps: Step[] = [];
    const search = at(set, topLevel, key);
    const prefix = prefixOf(search);
    let above = rootOf(set);
    let next: Separator | undefined;
    for (let level = topLevel; level >= 1; level--) {
      search[1] = level;
      const row = (above.below ??= readRow(set, level, keyOf(above.at), next === undefined ? endOf(set, level) : at(set, level, keyOf(next.at))));
      const place = placeOf(row, search, prefix) - 1;
      const found = row[place];
      if (found === undefined) throw new Error(`set ${set} has no beginning at level ${level}`);
      next = row[place + 1] ?? next;
      steps[level] = { row, place, separator: found };
      above = found;
    }
    return steps;
  };

  const writer = (journal: Journal): CountedSetWriter => {
    if (known > remembered) forget();
    const changed: Separator[] = [];

    const add = (to: Separator, by: number): void => {
      to.count += by;
      if (to.changed) return;
      to.changed = true;
      changed.push(to);
    };

    /** Makes a key a separator of a level: it takes over what lies from it on. The level below has it already. */
    const split = (set: number, level: number, key: Buffer, { row, place, separator: left }: Step): void => {
      const right = separator(at(set, level, key), 0, 0);
      let kept: number;
      if (level === 1) kept = countBetween(reading, set, keyOf(left.at), key);
      else {
        const below = left.below ?? [];
        right.below = below.splice(placeOf(below, at(set, level - 1, key), right.prefix) - 1);
        kept = below.reduce((sum, { count }) => sum + count, 0);
      }
      add(right, left.count + 1 - kept);
      add(left, kept - left.count);
      row.splice(place + 1, 0, right);
      known++;
    };

    /** Gives what a separator counted, less its own key, to the one before it. */
    const merge = (set: number, level: number, left: Separator, gone: Separator): void => {
      add(left, gone.count - 1);
      if (gone.written > 0) journal.remove("sets", gone.at, countBytes(gone.written));
      if (level > 1) {
        const below = (left.below ??= readRow(set, level - 1, keyOf(left.at), at(set, level - 1, keyOf(gone.at))));
        const [same, ...rest] = gone.below ?? [];
        const last = below[below.length - 1];
        if (same === undefined || last === undefined) throw new Error(`set ${set} has a gap at level ${level - 1}`);
        merge(set, level - 1, last, same);
        below.push(...rest);
      }
      gone.count = gone.written = 0;
      known--;
    };

    return {
      insert: (set, key, value = nothing) => {
        journal.insert("sets", at(set, 0, key), value);
        const own = levelOf(key);
        stepsTo(set, key).forEach((step, level) => {
          if (level <= own) split(set, level, key, step);
          else add(step.separator, 1);
        });
      },
      remove: (set, key, value = nothing) => {
        journal.remove("sets", at(set, 0, key), value);
        const own = levelOf(key);
        stepsTo(set, key).forEach(({ row, place, separator: found }, level) => {
          if (level > own) add(found, -1);
          else if (level === own) {
            const left = row[place - 1];
            if (left === undefined) throw new Error(`set ${set} has nothing before a separator of level ${level}`);
            merge(set, level, left, found);
            row.splice(place, 1);
          }
        });
      },
      flush: function* () {
        for (const [index, each] of changed.entries()) {
          if (index % atOnce === 0) yield;
          each.changed = false;
          if (each.count === each.written) continue;
          const before = each.written === 0 ? null : countBytes(each.written);
          if (each.count === 0) journal.remove("sets", each.at, before);
          else journal.put("sets", each.at, countBytes(each.count), before);
          each.written = each.count;
        }
        changed.length = 0;
      },
    };
  };

  return { writer, forget };
};
