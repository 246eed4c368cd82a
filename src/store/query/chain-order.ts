import type { Range } from "../../../types/chain-queries.js";
import type { StateRecord, WalletRecord } from "../layout/codec.js";
import { firstNotBelow } from "../records/sorting.js";
import { lists, numberKey, sets, textDigest } from "../layout/keys.js";
import type { ReadSession } from "../lmdb/read-session.js";
import {
  listSequence,
  concatSequences,
  emptySequence,
  rankedNumbers,
  mapSequence,
  narrowed,
  numberSequence,
  type Sequence,
} from "../records/sequence.js";
import { existing, readBlock, transactionsOfBlock } from "../records/records.js";

/**
 * The order of the chain: blocks by height, transactions by number. A range of times or heights is a window of these numbers, and
 * every list that ascends by them can be narrowed to it by reading only a few.
 */
export interface Window {
  from: number;
  below: number;
}

export const windowSequence = ({ from, below }: Window): Sequence<number> =>
  mapSequence(numberSequence(Math.max(0, below - from)), (number) => from + number);

export const withinWindow = (sequence: Sequence<number>, { from, below }: Window): Sequence<number> => narrowed(sequence, from, below);

/** The numbers that a set keeps under one value, ascending. */
export const underValue = (reading: ReadSession, set: number, value: Buffer, { from, below }: Window): Sequence<number> => {
  const bound = (number: number): Buffer => Buffer.concat([value, numberKey(number)]);
  return rankedNumbers(reading, set, bound(from), bound(Math.max(from, below)));
};

/** The transactions in a list of an address. Those that named it before it had a wallet come first. */
export const listOf = (
  list: "sent" | "received" | "owned" | "voted",
  address: string,
  wallet: WalletRecord | undefined,
  { reading, state }: { reading: ReadSession; state: StateRecord },
): Sequence<number> => {
  const own = wallet === undefined ? emptySequence : listSequence(reading, lists[list], wallet.number, wallet[list]);
  const value = list === "received" || list === "owned" ? keyOfText(address) : undefined;
  const earlier =
    value === undefined ? emptySequence : underValue(reading, sets.transactionsByStranger, value, { from: 0, below: state.transactions });
  return earlier.total === 0 ? own : concatSequences([earlier, own]);
};

/** The numbers that a set keeps from one key (inclusive) to another (exclusive), and all its others. */
export const betweenKeys = (
  reading: ReadSession,
  set: number,
  [from, to]: [from: Buffer | undefined, to: Buffer | undefined],
): { refs: Sequence<number>; others(): Sequence<number> } => ({
  refs: rankedNumbers(reading, set, from, to),
  others: () =>
    concatSequences([
      ...(from === undefined ? [] : [rankedNumbers(reading, set, undefined, from)]),
      ...(to === undefined ? [] : [rankedNumbers(reading, set, to)]),
    ]),
});

/** Key of a number; undefined for one that no block or transaction has. */
export const keyOfNumber = (value: number): Buffer | undefined =>
  Number.isInteger(value) && value >= 0 && value <= 0xffffffff ? numberKey(value) : undefined;

/** Key of a text; undefined for ill-formed Unicode, which is nowhere in the store. */
export const keyOfText = (text: string): Buffer | undefined => (text.isWellFormed() ? textDigest(text) : undefined);

/** The one value that a range lets through. */
export const onlyValue = <T extends number | bigint>({ from, to }: Range<T>): T | undefined =>
  (from !== undefined && from === to ? from : undefined);

/** Blocks never go back in time, so a range of times is a range of heights. */
export const heightsAt = ({ from, to }: Range<number>, reading: ReadSession, state: StateRecord): Window => {
  const firstNotBefore = (timestamp: number): number =>
    firstNotBelow(1, state.tip.height + 1, timestamp, (height) => existing(readBlock(reading, height), `block ${height}`).timestamp);
  return {
    from: from === undefined ? 1 : firstNotBefore(from),
    below: to === undefined ? state.tip.height + 1 : firstNotBefore(Math.floor(to) + 1),
  };
};

/** The numbers of the transactions in the blocks of a window of heights. */
const numbersIn = ({ from, below }: Window, reading: ReadSession): Window => {
  if (below <= from) return { from: 0, below: 0 };
  const last = transactionsOfBlock(reading, below - 1);
  return { from: transactionsOfBlock(reading, from).first, below: last.first + last.count };
};

/**
 * A window of numbers that contains every transaction of a range of times. `exact`: it contains no others. Where transactions have
 * times of their own, the window is widened to blocks some way before and after whose transactions may be of that range.
 */
export const numbersAt = ({ from, to }: Range<number>, reading: ReadSession, state: StateRecord): Window & { exact: boolean } => {
  const { lag, lead, until } = state.timesApart;
  const inBlocks = (before: number, after: number): Window =>
    numbersIn(
      heightsAt({ ...(from === undefined ? {} : { from: from - before }), ...(to === undefined ? {} : { to: to + after }) }, reading, state),
      reading,
    );
  const wide = inBlocks(lead, lag);
  if (wide.from < until) return { ...wide, exact: false };
  return { ...(lead === 0 && lag === 0 ? wide : inBlocks(0, 0)), exact: true };
};
