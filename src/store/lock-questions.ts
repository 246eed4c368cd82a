import type { Lock } from "../../types/chain.js";
import type { LockQuery, MaybePromise, Page } from "../../types/chain-adapter.js";
import { isExpired } from "../chain/locks.js";
import { lockCodec, type StateRecord } from "./codec.js";
import { lockTester } from "./match.js";
import type { Reading } from "./reading.js";
import type { Search, Steps } from "./search.js";
import { comparisonOf, type RowOrder, sortInSteps } from "./sorting.js";

const orderValue: Record<LockQuery["order"]["field"], RowOrder<Lock>["value"]> = {
  timestamp: ({ timestamp }) => timestamp,
  amount: ({ amount }) => amount,
  expirationValue: ({ expiration }) => expiration.value,
  lockId: ({ lockId }) => lockId,
};

export interface LockNeeds {
  reading: Reading;
  state: StateRecord;
  search: Search;
}

/** Open locks are few beside all else, so they are looked through. */
export const askLocks = (query: LockQuery, needs: LockNeeds): MaybePromise<Page<Lock>> => needs.search.run(lookThrough(query, needs));

const stepLocks = 250;

function* lookThrough({ filter, order, offset, limit }: LockQuery, { reading, state, search }: LockNeeds): Steps<Page<Lock>> {
  search.require(reading.count("locks", {}));
  const passes = lockTester(filter);
  const rows: Lock[] = [];
  for (let start: Buffer | undefined; ; ) {
    const part: { key: Buffer; value: unknown }[] = [...reading.range("locks", { ...(start === undefined ? {} : { start }), limit: stepLocks })];
    search.spend(part.length);
    for (const { value } of part) {
      const lock = lockCodec.unpack(value as unknown[]);
      if (passes === undefined || passes({ lock, expired: isExpired(lock, state.tip) })) rows.push(lock);
    }
    const last = part.at(-1);
    if (last === undefined || part.length < stepLocks) break;
    start = Buffer.concat([last.key, Buffer.from([0])]);
    yield;
  }
  const { direction } = order;
  const sorted = yield* sortInSteps(rows, comparisonOf({ direction, value: orderValue[order.field], key: ({ lockId }) => lockId, ties: "asc" }));
  return { rows: sorted.slice(offset, offset + limit), total: rows.length };
}
