import type { BlockData, ChainAdapter, ChainSnapshot, FeeQuery, FeeStatistics, Network, RoundDelegate, Tip, TransactionType } from "portico";
import { averageOf, type ChainRules, createChainRules, roundOf } from "portico/chain";
import { amountOf } from "./amounts.js";
import { type Database, openDatabase } from "./database.js";
import { ask, find, lists } from "./questions.js";
import { historyMissing, walletChanges } from "./history.js";
import { forgetBefore, readState, readStateAt, revisionOf, type State } from "./revisions.js";
import { alive, createTables } from "./schema.js";
import { changesViewOf, createVisits, forgetReverted, noteApplied, noteReverted } from "./visits.js";
import { revertBlock, writeBlock } from "./writer.js";

export interface SqliteChainOptions {
  /** File of the database; created if missing. */
  path: string;
  network: Network;
  transactionTypes?: TransactionType[];
  /** How many blocks can be reverted. Default 1000. */
  undoBlocks?: number;
  /** Milliseconds for which blocks that were reverted are kept for readers that follow the chain. Default: 30 days. */
  keepReverted?: number;
}

const day = 86_400_000;

/** The fork's chain state in SQLite: the node writes blocks to it, and Portico reads it. */
export interface SqliteChain extends ChainAdapter {
  start(): Promise<void>;
  stop(): Promise<void>;
  tip(): Tip | undefined;
  /** Appends a block, atomically. */
  apply(block: BlockData): void;
  /** Removes the last block. */
  revert(): void;
}

const feeStatistics = (database: Database, { revision }: State, { from, to, minFee = 0n }: FeeQuery): FeeStatistics[] => {
  // Counted by SQLite but added up here, because its sums are not exact.
  const rows = database.all(
    `SELECT typeGroup, type, fee, count(*) AS count FROM transactions
     WHERE ${alive("transactions", "?1")} AND blockTimestamp >= ?2 AND blockTimestamp <= ?3 AND blockHeight > 1
     GROUP BY typeGroup, type, fee ORDER BY typeGroup, type, fee`,
    [revision, from, to],
  ) as unknown as { typeGroup: number; type: number; fee: string; count: number }[];
  const kinds = new Map<string, Omit<FeeStatistics, "avg"> & { count: number }>();
  for (const { typeGroup, type, fee, count } of rows) {
    const amount = amountOf(fee);
    if (amount < minFee) continue;
    const kind = kinds.get(`${typeGroup}/${type}`) ?? { typeGroup, type, min: amount, max: amount, sum: 0n, count: 0 };
    kinds.set(`${typeGroup}/${type}`, { ...kind, max: amount, sum: kind.sum + amount * BigInt(count), count: kind.count + count });
  }
  return [...kinds.values()].map(({ count, ...kind }) => ({ ...kind, avg: averageOf(kind.sum, count) }));
};

const roundDelegates = (database: Database, { revision, tip }: State, rules: ChainRules, round: number): RoundDelegate[] | undefined => {
  if (!Number.isSafeInteger(round) || round < 1 || round > roundOf(tip.height + 1, rules.milestones).round) return undefined;
  const rows = database.all(`SELECT * FROM rounds WHERE ${alive("rounds", "?1")} AND round = ?2 ORDER BY position`, [revision, round]);
  return (rows as unknown as { publicKey: string; username: string; voteBalance: string }[]).map(({ publicKey, username, voteBalance }) => ({
    publicKey,
    username,
    voteBalance: amountOf(voteBalance),
  }));
};

const snapshotOf = (database: Database, state: State, rules: ChainRules, release: () => void): ChainSnapshot => ({
  tip: state.tip,
  supply: state.supply,
  wallet: (name) => find(database, state, lists.wallets, ["address", "publicKey", "username"], name),
  wallets: (query) => ask(database, state, lists.wallets, query),
  delegate: (name) => find(database, state, lists.delegates, ["address", "publicKey", "username"], name),
  delegates: (query) => ask(database, state, lists.delegates, query),
  block: (key) => ("id" in key ? find(database, state, lists.blocks, ["id"], key.id) : find(database, state, lists.blocks, ["height"], key.height)),
  blocks: (query) => ask(database, state, lists.blocks, query),
  transaction: (id) => find(database, state, lists.transactions, ["id"], id),
  transactions: (query) => ask(database, state, lists.transactions, query),
  lock: (id) => find(database, state, lists.locks, ["lockId"], id),
  locks: (query) => ask(database, state, lists.locks, query),
  round: (round) => roundDelegates(database, state, rules, round),
  feeStatistics: (window) => feeStatistics(database, state, window),
  walletChanges: (query) => walletChanges(database, state, query),
  release,
});

export const createSqliteChain = ({ path, network, transactionTypes, undoBlocks = 1000, keepReverted = 30 * day }: SqliteChainOptions): SqliteChain => {
  const rules = createChainRules(network, transactionTypes);
  /** Revision -> how many snapshots of it are open. */
  const held = new Map<number, number>();
  /** Who is told when the tip moves. */
  const watchers = new Set<() => void>();
  let open: Database | undefined;

  const database = (): Database => {
    if (open === undefined) throw new Error("the chain has not been started");
    return open;
  };

  const hold = (revision: number): (() => void) => {
    held.set(revision, (held.get(revision) ?? 0) + 1);
    return () => {
      const left = (held.get(revision) ?? 1) - 1;
      if (left === 0) held.delete(revision);
      else held.set(revision, left);
    };
  };

  /** Deletes what neither a revert nor an open snapshot can need. */
  const forget = (): void => {
    const height = readState(database())?.tip.height ?? 0;
    const undone = revisionOf(database(), height - undoBlocks);
    if (undone !== undefined) forgetBefore(database(), Math.min(undone, ...held.keys()));
    forgetReverted(database(), Date.now() - keepReverted);
  };

  const write = (work: (open: Database) => void): void => {
    database().transaction(() => work(database()));
    for (const changed of watchers) changed();
  };

  return {
    start: async () => {
      if (open !== undefined) return;
      open = openDatabase(path);
      createTables(open);
      createVisits(open);
      await Promise.resolve();
    },
    stop: async () => {
      open?.close();
      open = undefined;
      held.clear();
      await Promise.resolve();
    },
    snapshot: () => {
      const state = open === undefined ? undefined : readState(open);
      return state === undefined ? undefined : snapshotOf(database(), state, rules, hold(state.revision));
    },
    snapshotAt: (height) => {
      const tip = open === undefined ? undefined : readState(open)?.tip;
      if (tip === undefined || height < 1 || height > tip.height) return undefined;
      const state = readStateAt(database(), height);
      if (state === undefined) throw historyMissing(database());
      return snapshotOf(database(), state, rules, hold(state.revision));
    },
    changes: {
      view: () => {
        const state = open === undefined ? undefined : readState(open);
        return state && changesViewOf(database(), state, rules, { round: (round) => roundDelegates(database(), state, rules, round), release: hold(state.revision) });
      },
      watch: (changed) => {
        const watcher = (): void => changed();
        watchers.add(watcher);
        return () => void watchers.delete(watcher);
      },
    },
    tip: () => readState(database())?.tip,
    apply: (block) =>
      write((open) => {
        noteApplied(open, writeBlock(block, { database: open, rules }), Date.now());
        forget();
      }),
    revert: () =>
      write((open) => {
        const state = readState(open);
        if (state === undefined) return;
        noteReverted(open, state, state.revision + 1, Date.now());
        revertBlock(open);
      }),
  };
};
