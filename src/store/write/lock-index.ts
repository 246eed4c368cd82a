import type { Lock } from "../../../types/chain.js";
import type { LockFilter, LockOrder } from "../../../types/chain-queries.js";
import { lockExpirationTypes } from "../../chain/locks.js";
import type { RankedSetWriter } from "./ranked-set-writer.js";
import { amountKey, sets, textDigest, textKey } from "../layout/keys.js";

/**
 * Where a lock stands in each ordered set: after the prefix that the set is asked for, locks go from the highest value down, and those
 * of equal value by ascending id, as in every list that descends. The value of each key is the lock's id.
 */

interface LockOrderSet {
  field: Exclude<LockOrder, "lockId">;
  set: number;
  value(lock: Lock): number | bigint;
}

/** All locks by a value. */
export const lockOrderSets: readonly LockOrderSet[] = [
  { field: "timestamp", set: sets.locksByTimestamp, value: ({ timestamp }) => timestamp },
  { field: "amount", set: sets.locksByAmount, value: ({ amount }) => amount },
  { field: "expirationValue", set: sets.locksByExpirationValue, value: ({ expiration }) => expiration.value },
];

interface LockEqualitySet {
  filter: keyof LockFilter & ("senderPublicKey" | "senderId" | "recipientId" | "secretHash" | "vendorField" | "expirationType");
  set: number;
  value(lock: Lock): string | number | undefined;
}

/** Locks that have one thing in common, by time. */
export const lockEqualitySets: readonly LockEqualitySet[] = [
  { filter: "senderPublicKey", set: sets.locksBySenderPublicKey, value: ({ senderPublicKey }) => senderPublicKey },
  { filter: "senderId", set: sets.locksBySenderId, value: ({ senderId }) => senderId },
  { filter: "recipientId", set: sets.locksByRecipientId, value: ({ recipientId }) => recipientId },
  { filter: "secretHash", set: sets.locksBySecretHash, value: ({ secretHash }) => secretHash },
  { filter: "vendorField", set: sets.locksByVendorField, value: ({ vendorField }) => vendorField },
  { filter: "expirationType", set: sets.locksByExpirationType, value: ({ expiration }) => expiration.type },
];

/** What a lock's expiration is compared with: the prefix of keys in the set by expiry. Whatever is not a time is a height. */
export const clocks = { epochTime: Buffer.from([1]), height: Buffer.from([2]) };

const clockOf = ({ expiration: { type } }: Lock): Buffer => (type === lockExpirationTypes.epochTime ? clocks.epochTime : clocks.height);

/** Integers of any size: nothing limits the expiration that a lock may state. */
const descending = (value: number | bigint): Buffer => amountKey(-BigInt(value));

const keysOf = (lock: Lock): [set: number, parts: Buffer[]][] => [
  [sets.locksById, []],
  [sets.locksByExpiry, [clockOf(lock), descending(lock.expiration.value)]],
  ...lockOrderSets.map(({ set, value }): [number, Buffer[]] => [set, [descending(value(lock))]]),
  ...lockEqualitySets.flatMap(({ set, value }): [number, Buffer[]][] => {
    const has = value(lock);
    return has === undefined ? [] : [[set, [textDigest(String(has)), descending(lock.timestamp)]]];
  }),
];

/** Removes a lock from every set where it stood, and inserts it where it stands now. */
export const indexLock = (rankedSets: RankedSetWriter, before: Lock | undefined, after: Lock | undefined): void => {
  const move = (to: "insert" | "remove", lock: Lock): void => {
    const id = textKey(lock.lockId);
    for (const [set, parts] of keysOf(lock)) rankedSets[to](set, Buffer.concat([...parts, id]), id);
  };
  if (before !== undefined) move("remove", before);
  if (after !== undefined) move("insert", after);
};
