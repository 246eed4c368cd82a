import type { StateRecord } from "../layout/codec.js";
import { keyFrom } from "../records/ranked-set.js";
import { numberAtEnd, numberKey, sets, textDigestLength } from "../layout/keys.js";
import { hasVendorPart } from "./filters.js";
import type { Reading } from "../lmdb/reading.js";
import { existing, readTransaction } from "../records/records.js";
import type { Sliced } from "../../async/time-slicing.js";
import type { Search } from "./search.js";
import { rankedNumbers, type Sequence } from "../records/sequence.js";

interface Needs {
  reading: Reading;
  state: StateRecord;
  search: Search;
}

/** Rows that are looked at in the time it takes to find and test a text, */
const rowsPerText = 5;
/** and in the time it takes to find the transactions of one. */
const rowsPerList = 40;
const stepTexts = 50;

/** Follows every number under a text. */
const afterAllNumbers = Buffer.alloc(5, 0xff);

/** Share of the time that looking at rows takes, or may take: this much is lost when there turn out to be too many texts. */
const worthTrying = 1 / 5;

/**
 * The transactions whose vendor field contains a part, as a list for each text that does. All transactions of one text are adjacent, so
 * one of each is looked at: few, where many say the same. Undefined where there are so many texts that it is better to look at rows.
 */
export function* withVendorPart(hex: string, { reading, state, search }: Needs): Sliced<readonly Sequence<number>[] | undefined> {
  const set = sets.transactionsByVendorField;
  const most = worthTrying * Math.min(state.transactions, search.left);
  const found: Sequence<number>[] = [];
  let [texts, spent] = [0, 0];
  for (let key = keyFrom(reading, set, Buffer.alloc(0)); key !== undefined; ) {
    const text = key.subarray(0, textDigestLength);
    const beyond = Buffer.concat([text, numberKey(state.transactions)]);
    const number = numberAtEnd(key);
    const next = Buffer.concat([text, afterAllNumbers]);
    if (number >= state.transactions) {
      key = keyFrom(reading, set, next);
      continue;
    }
    const has = hasVendorPart(existing(readTransaction(reading, number), `transaction ${number}`), hex);
    spent += has ? rowsPerText + rowsPerList : rowsPerText;
    if (spent > most) return undefined;
    if (has) found.push(rankedNumbers(reading, set, text, beyond));
    if (++texts % stepTexts === 0) yield;
    key = keyFrom(reading, set, next);
  }
  search.spend(spent);
  return found;
}
