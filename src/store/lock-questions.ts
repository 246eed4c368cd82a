import type { Lock } from "../../types/chain.js";
import type { LockQuery, Page } from "../../types/chain-adapter.js";
import { isExpired } from "../chain/locks.js";
import { lockCodec, type StateRecord } from "./codec.js";
import { lockTester } from "./match.js";
import { sortRows } from "./question.js";
import type { Reading } from "./reading.js";

const orderValue: Record<LockQuery["order"]["field"], (lock: Lock) => string | number | bigint> = {
  timestamp: ({ timestamp }) => timestamp,
  amount: ({ amount }) => amount,
  expirationValue: ({ expiration }) => expiration.value,
  lockId: ({ lockId }) => lockId,
};

/** Open locks are few beside all else, so they are looked through. */
export const askLocks = ({ filter, order, offset, limit }: LockQuery, reading: Reading, state: StateRecord): Page<Lock> => {
  const passes = lockTester(filter);
  const rows: Lock[] = [];
  for (const { value } of reading.range("locks", {})) {
    const lock = lockCodec.unpack(value as unknown[]);
    if (passes === undefined || passes({ lock, expired: isExpired(lock, state.tip) })) rows.push(lock);
  }
  sortRows(rows, order.direction, orderValue[order.field], ({ lockId }) => lockId, "asc");
  return { rows: rows.slice(offset, offset + limit), total: rows.length };
};
