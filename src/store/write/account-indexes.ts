import type { LockFilter, LockOrder } from "../../../types/chain-queries.js";
import type { Lock } from "../../../types/chain.js";
import { lockExpirationTypes } from "../../chain/locks.js";
import type { WalletRecord } from "../layout/codec.js";
import { amountKey, idKey, numberKey, sets, textKey, textDigest } from "../layout/keys.js";
import type { Journal } from "./batch/undo.js";
import type { RankedSetWriter } from "./ranked-set-writer.js";

/**
 * Where a wallet stands in each ordered set. One row for each set: the key that a state of the wallet has there, or undefined if it is
 * not in it, and whether two states have the same place. A changed wallet moves only in the sets where they do not.
 */

const nonceDescending = ({ nonce, address }: Pick<WalletRecord, "nonce" | "address">): Buffer => Buffer.concat([amountKey(-nonce), textKey(address)]);

export const balanceDescending = ({ balance, address }: Pick<WalletRecord, "balance" | "address">): Buffer =>
  Buffer.concat([amountKey(-balance), textKey(address)]);

/** Wallets without a public key come after those with one. */
export const publicKeyPart = { known: Buffer.from([0]), unknown: Buffer.from([1]), end: Buffer.from([2]) };

export const publicKeyAscending = ({ publicKey, address }: Pick<WalletRecord, "publicKey" | "address">): Buffer =>
  publicKey === null ? Buffer.concat([publicKeyPart.unknown, textKey(address)]) : Buffer.concat([publicKeyPart.known, idKey(publicKey)]);

export interface WalletSet {
  set: number;
  /** Of a set that is filled in stores that do not have it (set-fills.ts). Sets without one came with the layout. */
  version?: number;
  same(one: WalletRecord, other: WalletRecord): boolean;
  key(wallet: WalletRecord, delegateNumber: (publicKey: string) => number | undefined): Buffer | undefined;
}

export const walletSets: readonly WalletSet[] = [
  { set: sets.walletsByAddress, same: (one, other) => one.address === other.address, key: ({ address }) => textKey(address) },
  { set: sets.walletsByBalance, same: (one, other) => one.balance === other.balance, key: balanceDescending },
  { set: sets.walletsByPublicKey, same: (one, other) => one.publicKey === other.publicKey, key: publicKeyAscending },
  { set: sets.walletsByNonce, version: 1, same: (one, other) => one.nonce === other.nonce, key: nonceDescending },
  {
    set: sets.votersByBalance,
    same: (one, other) => one.vote === other.vote && (one.vote === null || one.balance === other.balance),
    key: (wallet, delegateNumber) => {
      const delegate = wallet.vote === null ? undefined : delegateNumber(wallet.vote);
      return delegate === undefined ? undefined : Buffer.concat([numberKey(delegate), balanceDescending(wallet)]);
    },
  },
];

/** The writer through which a wallet moves in a set; undefined where the set does not have the wallet yet. */
export type SetWriterOf = (row: WalletSet, address: string) => RankedSetWriter | undefined;

/** Moves a wallet in every set, from where `before` stands to where `after` does. */
export const indexWallet = (
  journal: Journal,
  writerOf: SetWriterOf,
  before: WalletRecord | undefined,
  after: WalletRecord,
  delegateNumber: (publicKey: string) => number | undefined,
): void => {
  const value = textKey(after.address);
  for (const row of walletSets) {
    const { set, same, key } = row;
    if (before !== undefined && same(before, after)) continue;
    const rankedSets = writerOf(row, after.address);
    if (rankedSets === undefined) continue;
    const old = before === undefined ? undefined : key(before, delegateNumber);
    const now = key(after, delegateNumber);
    if (old !== undefined) rankedSets.remove(set, old, value);
    if (now !== undefined) rankedSets.insert(set, now, value);
  }
  if (after.publicKey !== null && before?.publicKey !== after.publicKey) journal.put("publicKeys", idKey(after.publicKey), value);
  if (after.username !== null && before?.username !== after.username) journal.put("usernames", textKey(after.username), value);
  if (before?.secondPublicKey !== after.secondPublicKey) {
    if (before !== undefined && before.secondPublicKey !== null) journal.remove("secondPublicKeys", secondPublicKeyEntry(before.secondPublicKey, after.address));
    if (after.secondPublicKey !== null) journal.put("secondPublicKeys", secondPublicKeyEntry(after.secondPublicKey, after.address), value);
  }
};

export const secondPublicKeyEntry = (publicKey: string, address: string): Buffer => Buffer.concat([idKey(publicKey), textKey(address)]);

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
