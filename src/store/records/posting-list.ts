import { numberKey } from "../layout/keys.js";
import { listKey, numberIn, pieceLength } from "../layout/posting-pieces.js";
import type { ReadSession } from "../lmdb/read-session.js";
import { existing } from "./records.js";
import type { Sequence } from "./sequence.js";

/** Lists that grow only at their end, so that the position of any page can be computed. A list's length is kept with its owner. */

/** What puts an entry under a key that is known to be new. */
interface Inserts {
  insert(database: "lists", key: Buffer, value: unknown): void;
}

export const appendToList = (journal: Inserts, list: number, owner: number, length: number, number: number): void => {
  journal.insert("lists", listKey(list, owner, length), numberKey(number));
};

export const listSequence = (reading: ReadSession, list: number, owner: number, length: number): Sequence<number> => ({
  total: length,
  slice: (offset, limit) => {
    const end = Math.min(length, offset + limit);
    const numbers: number[] = [];
    for (let place = offset; place < end; ) {
      const piece = Math.floor(place / pieceLength);
      const bytes = existing(reading.get("lists", listKey(list, owner, piece)) as Buffer | undefined, "part of a list");
      const begin = piece * pieceLength;
      for (const last = Math.min(end, begin + pieceLength); place < last; place++) numbers.push(numberIn(bytes, place - begin));
    }
    return numbers;
  },
});
