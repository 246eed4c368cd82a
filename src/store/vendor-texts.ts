import type { StateRecord } from "./codec.js";
import { keyFrom } from "./counted-set.js";
import { numberAtEnd, numberKey, sets, textDigestLength } from "./keys.js";
import { hasVendorPart } from "./match.js";
import type { Reading } from "./reading.js";
import { existing, readTransaction } from "./records.js";
import type { Steps } from "../steps.js";
import type { Search } from "./search.js";
import { countedNumbers, type Sequence } from "./sequence.js";

interface Needs {
  reading: Reading;
  state: StateRecord;
  search: Search;
}

/** Rows that are looked at in the time that a text takes to be found and tested, */
const rowsPerText = 5;
/** and in the time that the transactions of one take to be found. */
const rowsPerList = 40;
const stepTexts = 50;

/** Of the time that rows take, or may take: what is lost where there turn out to be too many texts. */
const worthTrying = 1 / 5;

/**
 * The transactions whose vendor field has a part, as a list for each text that has it. All transactions of one text lie together, so
 * one of each is looked at: few, where many say the same. Undefined where there are so many texts that rows had better be looked at.
 */
export function* withVendorPart(hex: string, { reading, state, search }: Needs): Steps<readonly Sequence<number>[] | undefined> {
  const set = sets.transactionsByVendorField;
  const most = worthTrying * Math.min(state.transactions, search.left);
  const found: Sequence<number>[] = [];
  let [texts, spent] = [0, 0];
  for (let key = keyFrom(reading, set, Buffer.alloc(0)); key !== undefined; ) {
    const text = key.subarray(0, textDigestLength);
    const beyond = Buffer.concat([text, numberKey(state.transactions)]);
    const number = numberAtEnd(key);
    const has = hasVendorPart(existing(readTransaction(reading, number), `transaction ${number}`), hex);
    spent += has ? rowsPerText + rowsPerList : rowsPerText;
    if (spent > most) return undefined;
    if (has) found.push(countedNumbers(reading, set, text, beyond));
    if (++texts % stepTexts === 0) yield;
    key = keyFrom(reading, set, beyond);
  }
  search.spend(spent);
  return found;
}
