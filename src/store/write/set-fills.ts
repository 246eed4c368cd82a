import { atOnce, type Sliced } from "../../async/time-slicing.js";
import { type WalletRecord, walletCodec } from "../layout/codec.js";
import { sets, textKey } from "../layout/keys.js";
import { entriesOf } from "../layout/write-log.js";
import type { Lookup, ReadSession } from "../lmdb/read-session.js";
import { rankOf } from "../records/ranked-set.js";
import { readState, readWallet } from "../records/records.js";
import { type SetWriterOf, type WalletSet, walletSets } from "./account-indexes.js";
import { createPlainJournal, rollBack } from "./batch/undo.js";
import type { WriteBatch } from "./batch/write-batch.js";
import { numberOfDelegate } from "./history.js";
import type { RankedSets, RankedSetWriter } from "./ranked-set-writer.js";

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
  const [fills, state] = [readFills(reading), readState(reading)];
  const missing = addedSets.map((row) => fillOf(fills, row)).flatMap((fill) => (isFull(fill) ? [] : [fill]));
  if (state === undefined || missing.length === 0) return undefined;
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
  return last === undefined || wallets.length < together ? { version, height: readState(pending)?.tip.height ?? 0 } : { version, upTo: last.address };
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
      const filled = addedSets.map((row) => ({ row, fill: fillOf(fills, row) })).filter(({ fill }) => !isFull(fill) || fill.height >= height);
      if (filled.length === 0) return rollBack(pending, undo);
      rollBackAround(undo, filled, writes);
      for (const { row, fill } of filled) if (isFull(fill)) note(row.set, { ...fill, height: height - 1 });
    },
  };
};
