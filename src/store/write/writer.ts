import type { Block } from "../../../types/chain.js";
import type { KeptBlock } from "../../../types/chain-adapter.js";
import { applySliced, type BlockChanges } from "../../chain/blocks/apply.js";
import type { FullBlock } from "../../chain/blocks/block.js";
import { createDigest, type Digest, supplyPart } from "../../chain/digest.js";
import { endsRound } from "../../chain/rounds.js";
import type { ChainRules } from "../../chain/rules.js";
import { PorticoError } from "../../errors.js";
import { type StateRecord, stateCodec, type WalletRecord } from "../layout/codec.js";
import {
  createDelegateNumbers,
  writeDelegates,
  writeLocks,
  writeWallets,
  writeBlockRecord,
  writeFees,
  writeTransactions,
  endRound,
  type Writing,
} from "./block-writes.js";
import { type RankedSetWriter, createRankedSets } from "./ranked-set-writer.js";
import { createWriteLog } from "../layout/write-log.js";
import {
  createPlainJournal,
  createUndoJournal,
  putUndo,
  readUndo,
  removeUndo,
  digestBefore,
  putDigest,
  removeDigest,
} from "./undo.js";
import { continueHistory } from "./history-rows.js";
import type { WriteBatch } from "./write-batch.js";
import { readFullBlock, readLock, readState, readWallet, stateKey } from "../records/records.js";
import { atOnce, type Sliced } from "../../async/time-slicing.js";
import { noteApplied, withApplied } from "../follow/orphans.js";
import { createSetFills, type SetFills } from "./account-indexes.js";

/** When and how often another node applied or reverted a block: milliseconds since 1970. */
export type TimesOf = (kind: "applied" | "reverted", id: string) => { at: number; times: number } | undefined;

/** Adds blocks to the pending writes, in steps, so that the process serves others meanwhile; and reverts them. */
export interface Writer {
  /**
   * Writes blocks on the tip. Those up to the height `settled` get no undo record. `appliedAt` is the time
   * (milliseconds since 1970) at which they are applied, if they are applied at the tip.
   * @throws PorticoError BLOCK_DOES_NOT_CHAIN, BLOCK_INVALID; the pending writes must then be discarded.
   */
  apply(blocks: readonly FullBlock[], settled: number, appliedAt?: number): Sliced<void>;
  /** Reverts the tip and returns it. @throws PorticoError STORE_UNDO_EXHAUSTED */
  revert(): KeptBlock | undefined;
  /** Fills a part of a set that the store did not have. */
  fill(): Sliced<void>;
  /** To be called when pending writes were discarded. */
  aborted(): void;
}

interface WriterOptions {
  undoBlocks: number;
  /** Whether history is kept. */
  history: boolean;
  /** Of a replica: the times at which its node applied and reverted blocks, in the place of its own. */
  timesOf?: TimesOf | undefined;
}

export const createWriter = (pending: WriteBatch, rules: ChainRules, options: WriterOptions): Writer => {
  const sets = createRankedSets(pending);
  const fills = createSetFills(pending, sets);
  const numbers = createDelegateNumbers(pending);
  const undoLog = createWriteLog();
  /** `plain`: writes what undo records leave out. */
  const write = (
    full: FullBlock,
    { plain, ...given }: Pick<Writing, "journal" | "digest" | "rankedSets"> & { plain: RankedSetWriter },
  ): Sliced<void> =>
    writeBlock(full, { reading: pending, rules, numbers, ...given, walletSetOf: fills.writers(given.rankedSets, plain) }, options.history);
  const forget = (): void => {
    sets.forget();
    numbers.forget();
  };

  const applyWithUndo = function* (full: FullBlock, digest: Digest, plain: RankedSetWriter): Sliced<void> {
    undoLog.clear();
    const journal = createUndoJournal(pending, undoLog);
    const rankedSets = sets.writer(journal);
    yield* write(full, { journal, digest, rankedSets, plain });
    yield* rankedSets.flush();
    yield* putUndo(pending, full.block.height, undoLog.bytes());
  };

  return {
    apply: function* (blocks, settled, appliedAt) {
      // Blocks that will not be reverted share a journal, so that a count that several change is written once.
      const journal = createPlainJournal(pending);
      const rankedSets = sets.writer(journal);
      const digest = createDigest(digestBefore(pending));
      if (readState(pending) === undefined) fills.begin();
      for (const full of blocks) {
        const { height } = full.block;
        if (height <= settled) yield* write(full, { journal, digest, rankedSets, plain: rankedSets });
        else {
          yield* rankedSets.flush();
          yield* applyWithUndo(full, digest, rankedSets);
        }
        // Blocks that will not be reverted need none, except for the one that the next batch goes on from.
        if (height >= settled || full === blocks.at(-1)) putDigest(pending, full.block, digest.bytes());
        if (height > options.undoBlocks + 1) removeDigest(pending, height - options.undoBlocks - 1);
        // A block without an undo record replaces that of an older block all the same.
        if (height > options.undoBlocks) removeUndo(pending, height - options.undoBlocks);
        noteTimes(pending, full, { appliedAt, told: options.timesOf?.("applied", full.block.id), rules });
      }
      yield* rankedSets.flush();
    },
    revert: () => {
      const reverted = revertTip(pending, fills, options);
      if (reverted !== undefined) forget();
      return reverted;
    },
    fill: fills.step,
    aborted: forget,
  };
};

/** Notes when a block was applied, where that is not the block's own time. `told`: the times of a replica's node. */
const noteTimes = (pending: WriteBatch, full: FullBlock, { appliedAt, told, rules }: { appliedAt: number | undefined; told: ReturnType<TimesOf>; rules: ChainRules }): void => {
  if (told === undefined) return noteApplied(pending, full, appliedAt);
  // The block's own time is that of every block without another.
  const isOwn = told.at === rules.epoch.toMilliseconds(full.block.timestamp);
  noteApplied(pending, full, isOwn ? undefined : told.at, told.times);
};

const revertTip = (pending: WriteBatch, fills: SetFills, options: WriterOptions): KeptBlock | undefined => {
  const state = readState(pending);
  if (state === undefined) return undefined;
  const { height } = state.tip;
  const undo = atOnce(readUndo(pending, height));
  if (undo === undefined) throw new PorticoError("STORE_UNDO_EXHAUSTED", `block ${height} cannot be reverted: at most ${options.undoBlocks} blocks can be (\`undoBlocks\`)`);
  const reverted = withApplied(pending, readFullBlock(pending, height));
  fills.rollBack(undo, height);
  removeUndo(pending, height);
  removeDigest(pending, height);
  return reverted;
};

const emptyState = (): Omit<StateRecord, "tip"> => ({
  supply: 0n,
  transactions: 0,
  wallets: 0,
  kinds: [],
  timesApart: { lag: 0, lead: 0, until: 0 },
});

const writeBlock = function* (full: FullBlock, given: Omit<Writing, "history" | "before">, keepsHistory: boolean): Sliced<void> {
  const { journal, reading, rules, digest } = given;
  const { block, transactions } = full;
  const before = readState(reading);
  requireChained(block, before);
  const history = keepsHistory
    ? continueHistory(block.height, before && { state: before, digest: digest.bytes() }, reading, journal)
    : undefined;
  const writing: Writing = { ...given, history, before: before?.tip };
  const state: StateRecord = {
    ...(before ?? emptyState()),
    tip: { id: block.id, height: block.height, timestamp: block.timestamp },
    kinds: [...(before?.kinds ?? [])],
  };
  state.supply += before === undefined ? block.totalAmount : block.reward;
  digest.takeOff(supplyPart(before?.supply ?? 0n));
  digest.add(supplyPart(state.supply));

  const changes = yield* applySliced(
    full,
    {
      wallet: (address) => readWallet(reading, address),
      lock: (id) => readLock(reading, id),
    },
    rules,
  );
  yield* bringRecipients(full, changes, writing);
  const wallets = walletsAfter(changes, state);
  yield;
  yield* writeTransactions(transactions, wallets, state, writing);
  yield* writeDelegates(block, changes, wallets, writing);
  yield* writeWallets(changes, wallets, writing);
  yield* writeLocks(changes, writing);
  yield* writeFees(full, writing);
  writeBlockRecord(block, state.transactions - transactions.length, writing);
  journal.put("meta", stateKey, stateCodec.pack(state));
  if (endsRound(block.height, rules.milestones)) yield* endRound(block.height, writing);
  history?.end(state, digest.bytes());
};

const requireChained = (block: Block, before: StateRecord | undefined): void => {
  if (before === undefined) {
    if (block.height !== 1)
      throw new PorticoError("BLOCK_DOES_NOT_CHAIN", `block ${block.height} cannot be the first: the chain begins at height 1`);
    return;
  }
  const { tip } = before;
  if (block.height !== tip.height + 1 || block.previousBlock !== tip.id) {
    throw new PorticoError(
      "BLOCK_DOES_NOT_CHAIN",
      `block ${block.height} (${block.id}) does not follow the tip at height ${tip.height} (${tip.id}): its previous block is ${String(block.previousBlock)}`,
    );
  }
};

/** A transaction may name a recipient whose wallet it does not touch: the wallet's lists grow all the same. */
const bringRecipients = function* ({ transactions }: FullBlock, { wallets }: BlockChanges, { reading, rules }: Writing): Sliced<void> {
  for (const transaction of transactions) {
    for (const address of rules.recipientsOf(transaction)) {
      const before = wallets.has(address) ? undefined : readWallet(reading, address);
      if (before !== undefined) wallets.set(address, { before, after: { ...before } });
    }
    yield;
  }
};

/** The records as they will stand; new wallets are numbered in the order in which the block first names them. */
const walletsAfter = (changes: BlockChanges, state: StateRecord): Map<string, WalletRecord> => {
  const records = new Map<string, WalletRecord>();
  for (const [address, { before, after }] of changes.wallets) {
    const known = before as WalletRecord | undefined;
    const { number, sent, received, owned, voted } = known ?? { number: state.wallets++, sent: 0, received: 0, owned: 0, voted: 0 };
    records.set(address, { ...after, number, sent, received, owned, voted });
  }
  return records;
};
