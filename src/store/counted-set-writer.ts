import { at, countBetween, endOf, keyOf, levelOf, nothing, readCount, startOf, topLevel } from "./counted-set.js";
import type { Journal } from "./journal.js";
import type { Reading } from "./reading.js";

/**
 * Which separators there are from level 2 on: some thousands for millions of keys, kept in memory by the one process that
 * writes, since every key that comes or goes has to find its own.
 */
export interface Separators {
  /** The separator of a level at or below a key, or the level's beginning. */
  below(set: number, level: number, key: Buffer): Buffer;
  add(set: number, level: number, key: Buffer): void;
  remove(set: number, level: number, key: Buffer): void;
  /** Forgets all, when what was written is undone: they are read again when they are needed. */
  forget(): void;
}

const firstKeptLevel = 2;

export const createSeparators = (reading: Reading): Separators => {
  const kept = new Map<number, Buffer[]>();

  const keysOf = (set: number, level: number): Buffer[] => {
    const name = set * (topLevel + 1) + level;
    let keys = kept.get(name);
    if (keys === undefined) {
      keys = [...reading.keys("sets", { start: startOf(set, level), end: endOf(set, level) })].map((full) => Buffer.from(keyOf(full)));
      if (keys[0]?.length !== 0) keys.unshift(nothing);
      kept.set(name, keys);
    }
    return keys;
  };

  return {
    below: (set, level, key) => {
      if (level >= firstKeptLevel) {
        const keys = keysOf(set, level);
        return keys[placeOf(keys, key) - 1] ?? nothing;
      }
      const range = { start: at(set, level, key), end: startOf(set, level), reverse: true, limit: 1 };
      for (const full of reading.keys("sets", range)) return Buffer.from(keyOf(full));
      return nothing;
    },
    add: (set, level, key) => {
      if (level < firstKeptLevel) return;
      const keys = keysOf(set, level);
      keys.splice(placeOf(keys, key), 0, key);
    },
    remove: (set, level, key) => {
      if (level < firstKeptLevel) return;
      const keys = keysOf(set, level);
      keys.splice(placeOf(keys, key) - 1, 1);
    },
    forget: () => kept.clear(),
  };
};

/** Number of keys that are not above a key. */
const placeOf = (keys: readonly Buffer[], key: Buffer): number => {
  let [low, high] = [0, keys.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const candidate = keys[middle];
    if (candidate !== undefined && candidate.compare(key) <= 0) low = middle + 1;
    else high = middle;
  }
  return low;
};

/** Changes counted sets. Counts are held back until `flush`, so that one that changes often is written once. */
export interface CountedSetWriter {
  /** Adds a key that is not in the set. */
  insert(set: number, key: Buffer, value?: Buffer): void;
  /** Takes a key out that is in the set. */
  remove(set: number, key: Buffer): void;
  flush(): void;
}

interface Count {
  full: Buffer;
  count: number;
}

export const createCountedSetWriter = (journal: Journal, reading: Reading, separators: Separators): CountedSetWriter => {
  const changed = new Map<string, Count>();

  const countAt = (set: number, level: number, key: Buffer): Count => {
    const full = at(set, level, key);
    const name = full.toString("latin1");
    let entry = changed.get(name);
    if (entry === undefined) {
      entry = { full, count: readCount(journal.get("sets", full)) };
      changed.set(name, entry);
    }
    return entry;
  };

  /** A separator that counts nothing is none: only a level's beginning can come to that. */
  const flush = (): void => {
    for (const { full, count } of changed.values()) {
      if (count === 0) journal.remove("sets", full);
      else {
        const bytes = Buffer.allocUnsafe(4);
        bytes.writeUInt32BE(count);
        journal.put("sets", full, bytes);
      }
    }
    changed.clear();
  };

  /** Makes a key a separator: it takes over what lies from it on. */
  const split = (set: number, level: number, below: Buffer, key: Buffer): void => {
    // The level below is counted as it stands in the database.
    if (level > 1) flush();
    const left = countBetween(reading, set, level - 1, below, key);
    const whole = countAt(set, level, below);
    countAt(set, level, key).count = whole.count + 1 - left;
    whole.count = left;
    separators.add(set, level, key);
    // Those of level 1 are looked up in the database.
    if (level === 1) flush();
  };

  return {
    insert: (set, key, value = nothing) => {
      journal.put("sets", at(set, 0, key), value);
      const own = levelOf(key);
      for (let level = 1; level <= topLevel; level++) {
        const below = separators.below(set, level, key);
        if (level <= own) split(set, level, below, key);
        else countAt(set, level, below).count++;
      }
    },
    remove: (set, key) => {
      journal.remove("sets", at(set, 0, key));
      const own = levelOf(key);
      for (let level = 1; level <= topLevel; level++) {
        let left = -1;
        if (level <= own) {
          const separator = countAt(set, level, key);
          left += separator.count;
          separator.count = 0;
          if (level === 1) flush();
          separators.remove(set, level, key);
        }
        countAt(set, level, separators.below(set, level, key)).count += left;
      }
    },
    flush,
  };
};
