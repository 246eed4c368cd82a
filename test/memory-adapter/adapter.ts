import type { Block, Delegate, FeeStatistics, Lock, Transaction, Wallet } from "../../types/chain.js";
import type { FullBlock } from "../../src/chain/blocks/block.js";
import { locksEndedBy } from "../../src/chain/locks.js";
import type { ChainAdapter, ChainSnapshot, ChangesView, KeptBlock, OrphanBlock } from "../../types/chain-adapter.js";
import type { BlockFilter, DelegateFilter, LockFilter, Page, TransactionFilter, WalletChange, WalletChangesQuery, WalletFilter } from "../../types/chain-queries.js";
import type { BlockData } from "../../types/events.js";
import type { Network } from "../../types/node-context.js";
import type { TransactionType } from "../../types/transaction-type.js";
import { averageOf } from "../../src/chain/amount.js";
import { blockList, delegateList, lockList, transactionList, walletList } from "../../src/chain/lists.js";
import { isExpired } from "../../src/chain/locks.js";
import { createChainRules } from "../../src/chain/rules.js";
import { createTester } from "../../src/chain/tester.js";
import { blocks, delegates, list, locks, transactions, wallets } from "./lists.js";
import { digestOf } from "./digest.js";
import { delegatesOf, emptyState, type State, supplyOf, tipOf, transactionsOf, walletsOf, withBlock } from "./state.js";

/** A host's own adapter as a host might write it: maps and arrays, with each question answered naively. */
export interface MemoryAdapter extends ChainAdapter {
  apply(block: BlockData): void;
  /** Reverts the last block. */
  revert(): void;
}

export const feeStatisticsOf = (seen: Transaction[]): FeeStatistics[] => {
  const kinds = new Map<string, Transaction[]>();
  for (const transaction of seen) {
    const kind = `${transaction.typeGroup}/${transaction.type}`;
    kinds.set(kind, [...(kinds.get(kind) ?? []), transaction]);
  }
  return [...kinds.values()]
    .map((same) => {
      const [first] = same as [Transaction];
      const fees = same.map(({ fee }) => fee);
      const sum = fees.reduce((a, b) => a + b);
      return {
        typeGroup: first.typeGroup,
        type: first.type,
        avg: averageOf(sum, fees.length),
        min: fees.reduce((a, b) => (a < b ? a : b)),
        max: fees.reduce((a, b) => (a > b ? a : b)),
        sum,
      };
    })
    .sort((a, b) => a.typeGroup - b.typeGroup || a.type - b.type);
};

/** By comparing the wallet after each block with what it was before. */
const walletChangesOf = (states: readonly State[], { address, heights: { from = 0, to = Infinity }, direction, offset, limit }: WalletChangesQuery): Page<WalletChange> => {
  const nothing = { balance: 0n, lockedBalance: 0n, nonce: 0n, vote: null };
  const at = (place: number) => states[place]?.drafts.get(address) ?? nothing;
  const rows = states.flatMap((_, place): WalletChange[] => {
    const [before, after] = [at(place - 1), at(place)];
    const names = ["balance", "lockedBalance", "nonce", "vote"] as const;
    if (names.every((name) => before[name] === after[name])) return [];
    const { balance, lockedBalance, nonce, vote } = after;
    return [{ height: place + 1, balance, change: balance - before.balance, lockedBalance, vote, nonce }];
  });
  const found = rows.filter(({ height }) => height >= from && height <= to);
  if (direction === "desc") found.reverse();
  return { rows: found.slice(offset, offset + limit), total: found.length };
};

const walletTester = createTester<WalletFilter, Wallet>(walletList.filters);
const blockTester = createTester<BlockFilter, Block>(blockList.filters);

/** Makes a value when it is first asked for. */
const once = <T>(make: () => T): (() => T) => {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
};

/** Random chains are made by opening the state after each of their blocks: what a snapshot is not asked for costs nothing. */
const snapshotOf = (state: State, walletChanges: NonNullable<ChainSnapshot["walletChanges"]>): ChainSnapshot => {
  const allDelegates = once(() => delegatesOf(state));
  const allWallets = once(() => walletsOf(state, allDelegates()));
  const allBlocks = state.blocks.map(({ block }) => block);
  const allTransactions = once(() => transactionsOf(state));
  const allLocks = [...state.locks.values()];
  const { recipientsOf } = state.rules;
  const owners = (transaction: Transaction): string[] => [transaction.senderId, ...recipientsOf(transaction)];
  const testers = {
    delegates: createTester<DelegateFilter, Delegate>(delegateList.filters, {
      secondPublicKey: ({ address }) => state.drafts.get(address)?.secondPublicKey ?? null,
    }),
    transactions: createTester<TransactionFilter, Transaction>(transactionList.filters, {
      recipientId: recipientsOf,
      ownerId: owners,
      addresses: owners,
      vendorFieldHex: ({ vendorField }) => vendorField && Buffer.from(vendorField, "utf8").toString("hex"),
    }),
    locks: createTester<LockFilter, Lock>(lockList.filters, {
      expirationType: ({ expiration }) => expiration.type,
      expirationValue: ({ expiration }) => expiration.value,
      isExpired: (lock) => isExpired(lock, tipOf(state)),
    }),
  };
  const digest = once(() => digestOf(state, allDelegates()));
  return {
    tip: tipOf(state),
    supply: supplyOf(state),
    get digest() {
      return digest();
    },
    wallet: (name) => allWallets().find(({ address, publicKey, username }) => [address, publicKey, username].includes(name)),
    wallets: (query) => list(allWallets(), query, walletTester, wallets),
    delegate: (name) => allDelegates().find(({ address, publicKey, username }) => [address, publicKey, username].includes(name)),
    delegates: (query) => list(allDelegates(), query, testers.delegates, delegates),
    block: (key) => allBlocks.find(({ id, height }) => ("id" in key ? id === key.id : height === key.height)),
    blocks: (query) => list(allBlocks, query, blockTester, blocks),
    transaction: (id) => allTransactions().find((transaction) => transaction.id === id),
    transactions: (query) => list(allTransactions(), query, testers.transactions, transactions),
    lock: (id) => state.locks.get(id),
    locks: (query) => list(allLocks, query, testers.locks, locks),
    round: (round) => state.rounds.get(round),
    feeStatistics: ({ from, to, minFee = 0n }) =>
      feeStatisticsOf(
        state.blocks
          .filter(({ block }) => block.height > 1 && block.timestamp >= from && block.timestamp <= to)
          .flatMap((block) => block.transactions)
          .filter(({ fee }) => fee >= minFee),
      ),
    walletChanges,
  };
};

export const createMemoryAdapter = (network: Network, transactionTypes: TransactionType[] = []): MemoryAdapter => {
  /** One state for each block; the last is the current one. */
  const states: State[] = [];
  const empty = emptyState(createChainRules(network, transactionTypes));
  const snapshots = new WeakMap<State, ChainSnapshot>();

  const opened = (height: number): ChainSnapshot | undefined => {
    const state = states[height - 1];
    if (state === undefined) return undefined;
    const snapshot = snapshots.get(state) ?? snapshotOf(state, (query) => walletChangesOf(states.slice(0, height), query));
    snapshots.set(state, snapshot);
    return snapshot;
  };

  const orphans = new Map<string, OrphanBlock>();
  const watchers = new Set<() => void>();
  const transactionOf = (id: string, { blocks }: State): Transaction | undefined => blocks.flatMap(({ transactions }) => transactions).find((one) => one.id === id);
  const kept = (full: FullBlock, state: State): KeptBlock => ({ ...full, locks: locksEndedBy(full.transactions, (id) => transactionOf(id, state)), times: 1 + (orphans.get(full.block.id)?.times ?? -1) });

  const view = (): ChangesView | undefined => {
    const state = states.at(-1);
    return (
      state && {
        tip: tipOf(state),
        idAt: (height) => state.blocks[height - 1]?.block.id,
        blocks: (from, limit) => state.blocks.slice(from - 1, from - 1 + limit).map((full) => kept(full, state)),
        orphan: (id) => (state.blocks.some(({ block }) => block.id === id) ? undefined : orphans.get(id)),
        round: (round) => state.rounds.get(round),
      }
    );
  };

  return {
    changes: {
      view,
      watch: (changed) => {
        const watcher = (): void => changed();
        watchers.add(watcher);
        return () => void watchers.delete(watcher);
      },
    },
    apply: (block) => {
      states.push(withBlock(states.at(-1) ?? empty, block));
      watchers.forEach((watcher) => watcher());
    },
    revert: () => {
      const state = states.pop();
      const full = state?.blocks.at(-1);
      if (state !== undefined && full !== undefined) orphans.set(full.block.id, { ...kept(full, state), revertedAt: Date.now() });
      watchers.forEach((watcher) => watcher());
    },
    snapshot: () => opened(states.length),
    snapshotAt: opened,
  };
};
