import type { LockFilter, LockOrder } from "../../../types/chain-queries.js";
import type { Lock } from "../../../types/chain.js";
import { lockExpirationTypes } from "../../chain/locks.js";
import { type WalletRecord, walletCodec } from "../layout/codec.js";
import { amountKey, idKey, numberKey, sets, textKey, textDigest } from "../layout/keys.js";
import { type Journal, createPlainJournal, rollBack } from "./undo.js";
import type { RankedSetWriter, RankedSets } from "./ranked-set-writer.js";
import { atOnce, type Sliced } from "../../async/time-slicing.js";
import { entriesOf } from "../layout/write-log.js";
import type { Lookup, ReadSession } from "../lmdb/read-session.js";
import { rankOf } from "../records/ranked-set.js";
import { readState, readWallet } from "../records/records.js";
import type { WriteBatch } from "./write-batch.js";
import { numberOfDelegate } from "./history-rows.js";

// Where a wallet stands in each ordered set. One row for each set: the key that a state of the wallet has there, or undefined if it is
// not in it, and whether two states have the same place. A changed wallet moves only in the sets where they do not.

const nonceDescending = ({ nonce, address }: Pick<WalletRecord, "nonce" | "address">): Buffer =>
  Buffer.concat([amountKey(-nonce), textKey(address)]);

export const balanceDescending = ({ balance, address }: Pick<WalletRecord, "balance" | "address">): Buffer =>
  Buffer.concat([amountKey(-balance), textKey(address)]);

/** Wallets without a public key come after those with one. */
export const publicKeyPart = { known: Buffer.from([0]), unknown: Buffer.from([1]), end: Buffer.from([2]) };

export const publicKeyAscending = ({ publicKey, address }: Pick<WalletRecord, "publicKey" | "address">): Buffer =>
  publicKey === null ? Buffer.concat([publicKeyPart.unknown, textKey(address)]) : Buffer.concat([publicKeyPart.known, idKey(publicKey)]);

interface WalletSet {
  set: number;
  /** Of a set that is filled in stores that do not have it (see `SetFill`). Sets without one came with the layout. */
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
    if (before !== undefined && before.secondPublicKey !== null)
      journal.remove("secondPublicKeys", secondPublicKeyEntry(before.secondPublicKey, after.address));
    if (after.secondPublicKey !== null) journal.put("secondPublicKeys", secondPublicKeyEntry(after.secondPublicKey, after.address), value);
  }
};

export const secondPublicKeyEntry = (publicKey: string, address: string): Buffer => Buffer.concat([idKey(publicKey), textKey(address)]);

// Where a lock stands in each ordered set: after the prefix that the set is asked for, locks go from the highest value down, and those
// of equal value by ascending id, as in every list that descends. The value of each key is the lock's id.

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

/**
 * Sets of wallets that are added to stores that exist. `meta` has the version of each under `fillsKey`. A set that is missing there, or is
 * there with another version, is emptied and filled in the order of addresses while the node serves. Until then lists are answered
 * without it.
 *
 * What is written into a set before it is full is in no undo record, as that would put back what has been filled since. Where such a
 * block is reverted, the wallets that its undo record names are moved in the set by their records.
 */
type SetFill =
  | { version: number; /** Blocks above it have the set in their undo records. */ height: number }
  | { version: number; /** Wallets up to it are in the set; null while the set is emptied. */ upTo: string | null };

const fillsKey = textKey("sets");

type Fills = Readonly<Record<string, SetFill>>;

const readFills = (reading: Lookup): Fills => (reading.get("meta", fillsKey) ?? {}) as Fills;

const addedSets = walletSets.filter(({ version }) => version !== undefined);

/** Those that this process keeps up to date. */
const currentOf = (fills: Fills): Fills =>
  Object.fromEntries(
    addedSets.flatMap(({ set, version }) => {
      const fill = fills[set];
      return fill === undefined || fill.version !== version ? [] : [[set, fill] as const];
    }),
  );

const fillOf = (fills: Fills, { set, version = 0 }: WalletSet): SetFill => {
  const fill = fills[set];
  return fill?.version === version ? fill : { version, upTo: null };
};

const isFull = (fill: SetFill): fill is Extract<SetFill, { height: number }> => "height" in fill;

/** Whether every wallet is in a set that should be. */
export const isFilled = (reading: Lookup, wanted: number): boolean =>
  addedSets.every((row) => row.set !== wanted || isFull(fillOf(readFills(reading), row)));

/** How many entries the sets have that a store did not have, and how many they will have. */
export interface FillProgress {
  filled: number;
  total: number;
}

/** Undefined where all are full, or there is no state yet. */
export const readFillProgress = (reading: ReadSession): FillProgress | undefined => {
  const fills = readFills(reading);
  const missing = addedSets.map((row) => fillOf(fills, row)).flatMap((fill) => (isFull(fill) ? [] : [fill]));
  const state = missing.length === 0 ? undefined : readState(reading);
  if (state === undefined) return undefined;
  const filled = missing.map(({ upTo }) => (upTo === null || upTo === "" ? 0 : rankOf(reading, sets.walletsByAddress, textKey(upTo)) + 1));
  return { filled: filled.reduce((sum, count) => sum + count, 0), total: missing.length * state.wallets };
};

const holds = (fill: SetFill, address: string): boolean =>
  isFull(fill) || (fill.upTo !== null && textKey(address).compare(textKey(fill.upTo)) <= 0);

/** Wallets, or entries, of one step. */
const together = 500;

export interface SetFills {
  /** For a block. `own`: what it writes is in the undo record; `plain`: it is not. */
  writers(own: RankedSetWriter, plain: RankedSetWriter): SetWriterOf;
  /** The sets of an empty store are full. */
  begin(): void;
  /** Empties or fills a part of a set. */
  step(): Sliced<void>;
  /** Restores what the block at a height overwrote. */
  rollBack(undo: Buffer, height: number): void;
}

interface Writes {
  pending: WriteBatch;
  rankedSets: RankedSets;
}

const plainWriter = ({ pending, rankedSets }: Writes): RankedSetWriter => rankedSets.writer(createPlainJournal(pending));

const keyIn = ({ key }: WalletSet, wallet: WalletRecord, { pending }: Writes): Buffer | undefined =>
  key(wallet, (publicKey) => numberOfDelegate(publicKey, pending));

/** Removes entries of another version. Returns what is then left to do. */
const emptySome = function* ({ set, version = 0 }: WalletSet, { pending, rankedSets }: Writes): Sliced<SetFill> {
  const entries: { key: Buffer; value: Buffer }[] = [];
  for (const { key, value } of pending.range("sets", { start: Buffer.from([set]), end: Buffer.from([set + 1]) })) {
    if (entries.push({ key: Buffer.from(key), value: Buffer.from(value as Buffer) }) === together) break;
  }
  for (const { key, value } of entries) pending.putBytes("sets", key, null, value);
  yield;
  rankedSets.forget();
  return { version, upTo: entries.length < together ? "" : null };
};

/** Inserts the wallets that follow in the order of addresses. */
const fillSome = function* (row: WalletSet, upTo: string, writes: Writes): Sliced<SetFill> {
  const { pending } = writes;
  const wallets: WalletRecord[] = [];
  for (const { value } of pending.range("wallets", upTo === "" ? {} : { start: textKey(`${upTo}\0`) })) {
    if (wallets.push(walletCodec.unpack(value as unknown[])) === together) break;
  }
  const writer = plainWriter(writes);
  for (const wallet of wallets) {
    const key = keyIn(row, wallet, writes);
    if (key !== undefined) writer.insert(row.set, key, textKey(wallet.address));
    yield;
  }
  yield* writer.flush();
  const [{ version = 0 }, last] = [row, wallets.at(-1)];
  return last === undefined || wallets.length < together
    ? { version, height: readState(pending)?.tip.height ?? 0 }
    : { version, upTo: last.address };
};

interface Filled {
  row: WalletSet;
  fill: SetFill;
}

/** Restores what a block overwrote, except of these sets: in them, the wallets that it changed are moved to where they were. */
const rollBackAround = (undo: Buffer, filled: readonly Filled[], writes: Writes): void => {
  const { pending, rankedSets } = writes;
  const addresses = [...new Set(entriesOf(undo).flatMap(({ database, key }) => (database === "wallets" ? [key.toString("utf8")] : [])))];
  const each = (to: "insert" | "remove"): void => {
    const writer = plainWriter(writes);
    for (const address of addresses) {
      const wallet = readWallet(pending, address);
      for (const { row, fill } of filled) {
        const key = wallet === undefined || !holds(fill, address) ? undefined : keyIn(row, wallet, writes);
        if (key !== undefined) writer[to](row.set, key, textKey(address));
      }
    }
    atOnce(writer.flush());
  };
  each("remove");
  rollBack(pending, undo, new Set(filled.map(({ row }) => row.set)));
  rankedSets.forget();
  each("insert");
};

export const createSetFills = (pending: WriteBatch, rankedSets: RankedSets): SetFills => {
  const writes = { pending, rankedSets };
  const put = (fills: Fills): void => pending.put("meta", fillsKey, fills);
  const note = (set: number, fill: SetFill): void => put({ ...currentOf(readFills(pending)), [set]: fill });
  /** Of sets of other versions nothing is said any more: blocks are about to change what should be in them. */
  const readCurrent = (): Fills => {
    const found = readFills(pending);
    const current = currentOf(found);
    if (Object.keys(found).length > Object.keys(current).length) put(current);
    return current;
  };

  return {
    writers: (own, plain) => {
      const fills = readCurrent();
      return (row, address) => {
        if (row.version === undefined) return own;
        const fill = fillOf(fills, row);
        if (isFull(fill)) return own;
        return holds(fill, address) ? plain : undefined;
      };
    },
    begin: () => put(Object.fromEntries(addedSets.map(({ set, version = 0 }) => [set, { version, height: 0 }]))),
    step: function* () {
      const fills = readFills(pending);
      const row = addedSets.find((each) => !isFull(fillOf(fills, each)));
      const fill = row && fillOf(fills, row);
      if (row === undefined || fill === undefined || isFull(fill) || readState(pending) === undefined) return;
      note(row.set, fill.upTo === null ? yield* emptySome(row, writes) : yield* fillSome(row, fill.upTo, writes));
    },
    rollBack: (undo, height) => {
      const fills = readCurrent();
      const filled = addedSets
        .map((row) => ({ row, fill: fillOf(fills, row) }))
        .filter(({ fill }) => !isFull(fill) || fill.height >= height);
      if (filled.length === 0) return rollBack(pending, undo);
      rollBackAround(undo, filled, writes);
      for (const { row, fill } of filled) if (isFull(fill)) note(row.set, { ...fill, height: height - 1 });
    },
  };
};
