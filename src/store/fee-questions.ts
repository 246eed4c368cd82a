import type { FeeStatistics } from "../../types/chain.js";
import { averageOf } from "../chain/amount.js";
import { heightsAt } from "./block-questions.js";
import { type FeeRecord, feeCodec, type StateRecord } from "./codec.js";
import { feeBucketSeconds, feeKey, numberKey, parseFeeKey } from "./keys.js";
import type { Reading } from "./reading.js";
import { existing, readTransaction } from "./records.js";

type Totals = Map<string, FeeRecord & { typeGroup: number; type: number }>;

/**
 * Fees of a window by type. Whole hours are read from their buckets; only what sticks out at either end is looked up
 * block by block.
 */
export const askFeeStatistics = ({ from, to }: { from: number; to: number }, reading: Reading, state: StateRecord): FeeStatistics[] => {
  const first = Math.max(0, from);
  const last = Math.min(to, state.tip.timestamp);
  if (last < first) return [];
  const totals: Totals = new Map();
  const firstBucket = Math.ceil(first / feeBucketSeconds);
  // The tip's hour is whole as far as the chain goes.
  const endBucket = last === state.tip.timestamp ? Math.floor(last / feeBucketSeconds) + 1 : Math.floor((last + 1) / feeBucketSeconds);
  if (firstBucket >= endBucket) addBlocks(totals, first, last, reading, state);
  else {
    addBlocks(totals, first, firstBucket * feeBucketSeconds - 1, reading, state);
    addBuckets(totals, firstBucket, endBucket, reading);
    addBlocks(totals, endBucket * feeBucketSeconds, last, reading, state);
  }
  return [...totals.values()]
    .sort((a, b) => a.typeGroup - b.typeGroup || a.type - b.type)
    .map(({ typeGroup, type, count, sum, min, max }) => ({ typeGroup, type, avg: averageOf(sum, count), min, max, sum }));
};

const add = (totals: Totals, typeGroup: number, type: number, { count, sum, min, max }: FeeRecord): void => {
  const name = `${typeGroup}/${type}`;
  const total = totals.get(name);
  if (total === undefined) {
    totals.set(name, { typeGroup, type, count, sum, min, max });
    return;
  }
  total.count += count;
  total.sum += sum;
  if (min < total.min) total.min = min;
  if (max > total.max) total.max = max;
};

const addBuckets = (totals: Totals, firstBucket: number, endBucket: number, reading: Reading): void => {
  for (const { key, value } of reading.range("fees", { start: feeKey(firstBucket, 0, 0), end: feeKey(endBucket, 0, 0) })) {
    const { typeGroup, type } = parseFeeKey(key);
    add(totals, typeGroup, type, feeCodec.unpack(value as unknown[]));
  }
};

const addBlocks = (totals: Totals, from: number, to: number, reading: Reading, state: StateRecord): void => {
  if (to < from) return;
  const heights = heightsAt({ from, to }, reading, state);
  const range = { start: numberKey(heights.from ?? 1), end: numberKey((heights.to ?? state.tip.height) + 1) };
  for (const { value } of reading.range("blockTransactions", range)) {
    const place = value as Buffer;
    for (let i = 0; i < place.readUInt32BE(4); i++) {
      const { typeGroup, type, fee } = existing(readTransaction(reading, place.readUInt32BE(0) + i), "transaction");
      add(totals, typeGroup, type, { count: 1, sum: fee, min: fee, max: fee });
    }
  }
};
