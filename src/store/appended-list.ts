import type { Journal } from "./journal.js";
import type { Reading } from "./reading.js";
import type { Sequence } from "./sequence.js";

/**
 * Lists that only grow at their end: entry n of an owner's list lies under (owner, list, n), so any page is one seek away, and
 * the short lists of one owner lie in one page of the file. How long a list is stands with its owner.
 */

const entryKey = (list: number, owner: number, ordinal: number): Buffer => {
  const key = Buffer.allocUnsafe(9);
  key.writeUInt32BE(owner, 0);
  key[4] = list;
  key.writeUInt32BE(ordinal, 5);
  return key;
};

const entry = (number: number): Buffer => {
  const value = Buffer.allocUnsafe(4);
  value.writeUInt32BE(number);
  return value;
};

export const appendToList = (journal: Journal, list: number, owner: number, length: number, number: number): void => {
  journal.insert("lists", entryKey(list, owner, length), entry(number));
};

/** Up to so many entries are looked up one by one: that costs less than to open a cursor. */
const few = 32;

export const listSequence = (reading: Reading, list: number, owner: number, length: number): Sequence<number> => ({
  total: length,
  slice: (offset, limit) => {
    const end = Math.min(length, offset + limit);
    if (offset >= end) return [];
    const numbers: number[] = [];
    if (end - offset <= few) {
      const key = entryKey(list, owner, offset);
      for (let place = offset; place < end; place++) {
        key.writeUInt32BE(place, 5);
        numbers.push((reading.get("lists", key) as Buffer).readUInt32BE(0));
      }
      return numbers;
    }
    for (const { value } of reading.range("lists", { start: entryKey(list, owner, offset), end: entryKey(list, owner, end) })) {
      numbers.push((value as Buffer).readUInt32BE(0));
    }
    return numbers;
  },
});
