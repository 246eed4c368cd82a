import type { FeeStatistics } from "../../../../types/chain.js";
import type { MaybePromise } from "../../../../types/chain-adapter.js";
import type { FeeQuery } from "../../../../types/chain-queries.js";
import { averageOf } from "../../../chain/amount.js";
import { heightsAt } from "../chain-order.js";
import { type FeeRecord, feeCodec } from "../../layout/codec.js";
import { feeBucketSeconds, feeKey, parseFeeKey } from "../../layout/keys.js";
import { existing, readTransaction, transactionsOfBlock } from "../../records/records.js";
import type { Sliced } from "../../../async/time-slicing.js";
import type { ListNeeds } from "../list-query.js";

interface Totals {
  minFee: bigint;
  byType: Map<string, FeeRecord & { typeGroup: number; type: number }>;
}

type FeeNeeds = Pick<ListNeeds, "reading" | "state" | "search" | "isPast">;

/**
 * Fees of a window of time by type. Whole hours are read from their buckets; block by block are read only the parts of hours at either
 * end, and hours in which a type has fees on both sides of `minFee`.
 */
export const askFeeStatistics = ({ from, to, minFee = 0n }: FeeQuery, needs: FeeNeeds): MaybePromise<FeeStatistics[]> => {
  const { tip } = needs.state;
  const first = Math.max(0, from);
  const last = Math.min(to, tip.timestamp);
  return last < first ? [] : needs.search.run(addUp(first, last, minFee, needs));
};

function* addUp(first: number, last: number, minFee: bigint, needs: FeeNeeds): Sliced<FeeStatistics[]> {
  const totals: Totals = { minFee, byType: new Map() };
  const firstBucket = Math.ceil(first / feeBucketSeconds);
  // The tip's hour counts as whole: the chain has no more of it. That of an earlier state may have.
  const endBucket = Math.floor(
    (last === needs.state.tip.timestamp && !needs.isPast ? last + feeBucketSeconds : last + 1) / feeBucketSeconds,
  );
  if (firstBucket >= endBucket) yield* addBlocks(totals, first, last, needs);
  else {
    yield* addBlocks(totals, first, firstBucket * feeBucketSeconds - 1, needs);
    yield* addBuckets(totals, firstBucket, endBucket, needs);
    yield* addBlocks(totals, endBucket * feeBucketSeconds, last, needs);
  }
  return [...totals.byType.values()]
    .sort((a, b) => a.typeGroup - b.typeGroup || a.type - b.type)
    .map(({ typeGroup, type, count, sum, min, max }) => ({ typeGroup, type, avg: averageOf(sum, count), min, max, sum }));
}

/** Of fees that are all below `minFee`, or none of them. */
const add = ({ minFee, byType }: Totals, typeGroup: number, type: number, { count, sum, min, max }: FeeRecord): void => {
  if (max < minFee) return;
  const name = `${typeGroup}/${type}`;
  const total = byType.get(name);
  if (total === undefined) {
    byType.set(name, { typeGroup, type, count, sum, min, max });
    return;
  }
  total.count += count;
  total.sum += sum;
  if (min < total.min) total.min = min;
  if (max > total.max) total.max = max;
};

/** Hours read between two yields. */
const stepBuckets = 24;

function* addBuckets(totals: Totals, firstBucket: number, endBucket: number, needs: FeeNeeds): Sliced<void> {
  const { reading, search } = needs;
  for (let bucket = firstBucket; bucket < endBucket; bucket += stepBuckets) {
    const end = Math.min(endBucket, bucket + stepBuckets);
    const rows = reading.range("fees", { start: feeKey(bucket, 0, 0), end: feeKey(end, 0, 0) });
    const records = [...rows].map(({ key, value }) => ({ ...parseFeeKey(key), record: feeCodec.unpack(value as unknown[]) }));
    const mixed = new Set(
      records.filter(({ record: { min, max } }) => min < totals.minFee && max >= totals.minFee).map((row) => row.bucket),
    );
    for (const row of records) if (!mixed.has(row.bucket)) add(totals, row.typeGroup, row.type, row.record);
    search.spend(records.length);
    yield;
    for (const hour of mixed) yield* addBlocks(totals, hour * feeBucketSeconds, (hour + 1) * feeBucketSeconds - 1, needs);
  }
}

function* addBlocks(totals: Totals, from: number, to: number, { reading, state, search }: FeeNeeds): Sliced<void> {
  if (to < from) return;
  const heights = heightsAt({ from, to }, reading, state);
  for (let height = Math.max(2, heights.from); height < heights.below; height++) {
    const { first, count } = transactionsOfBlock(reading, height);
    for (let number = first; number < first + count; number++) {
      const { typeGroup, type, fee } = existing(readTransaction(reading, number), `transaction ${number}`);
      add(totals, typeGroup, type, { count: 1, sum: fee, min: fee, max: fee });
    }
    search.spend(count);
    yield;
  }
}
