import type { Transaction as ReadTransaction } from "lmdb";
import type { ChainRules } from "../../chain/rules.js";
import type { StateRecord, RankedDelegate } from "../layout/codec.js";
import { atOnce, type Sliced } from "../../async/time-slicing.js";
import { type DelegateList, readDelegates, findDelegate } from "../query/lists/delegate-list.js";
import type { Environment } from "../lmdb/environment.js";
import { createCheckedSession, createReadSession } from "../lmdb/read-session.js";
import type { Block, Delegate, FeeStatistics, Lock, Tip, Transaction, Wallet } from "../../../types/chain.js";
import type { ChainSnapshot, MaybePromise } from "../../../types/chain-adapter.js";
import type {
  BlockQuery,
  DelegateQuery,
  FeeQuery,
  LockQuery,
  Page,
  TransactionQuery,
  WalletChange,
  WalletChangesQuery,
  WalletQuery,
} from "../../../types/chain-queries.js";
import { askBlocks } from "../query/lists/blocks.js";
import { askDelegates } from "../query/lists/delegates.js";
import { askFeeStatistics } from "../query/lists/fees.js";
import { askLocks } from "../query/lists/locks.js";
import {
  addressNamed,
  heightOf,
  readBlock,
  readLock,
  readRound,
  readTransactionById,
  readWallet,
} from "../records/records.js";
import type { ListNeeds } from "../query/list-query.js";
import type { Search } from "../query/search.js";
import { readDigest } from "../write/undo.js";
import { oldestState } from "../history/past-records.js";
import { walletChanges } from "../history/wallet-changes.js";
import { askTransactions } from "../query/lists/transactions.js";
import { askWallets, presentWallet } from "../query/lists/wallets.js";

/** What the snapshots of one state share. */
export type StateView = Omit<ListNeeds, "search" | "isPast">;

/** Id of the block at a height; undefined where the chain has none. */
export const idIn = ({ reading, state: { tip } }: Pick<StateView, "reading" | "state">, height: number): string | undefined =>
  height === tip.height ? tip.id : height < 1 || height > tip.height ? undefined : readBlock(reading, height)?.id;

/** The store's answers at one state: at once, except where rows have to be searched. A class, since one is made for every request. */
class StoreSnapshot implements ChainSnapshot {
  readonly tip: Tip;
  readonly supply: bigint;
  private readonly view: StateView;
  private readonly search: Search;
  private readonly letGo: () => void;

  constructor(view: StateView, search: Search, release: () => void) {
    this.tip = view.state.tip;
    this.supply = view.state.supply;
    this.view = view;
    this.search = search;
    this.letGo = release;
  }

  get digest(): string | undefined {
    return readDigest(this.view.reading, this.tip)?.toString("hex");
  }

  private get needs(): ListNeeds {
    return { ...this.view, search: this.search, isPast: false };
  }

  wallet(identifier: string): Wallet | undefined {
    const { reading, delegates } = this.view;
    const record = readWallet(reading, identifier) ?? readWallet(reading, addressNamed(reading, identifier) ?? "");
    return record === undefined ? undefined : presentWallet(record, delegates().byAddress.get(record.address));
  }

  wallets(query: WalletQuery): MaybePromise<Page<Wallet>> {
    return askWallets(query, this.needs);
  }

  delegate(identifier: string): Delegate | undefined {
    return findDelegate(this.view.delegates(), identifier);
  }

  delegates(query: DelegateQuery): MaybePromise<Page<Delegate>> {
    return askDelegates(query, this.view.delegates());
  }

  block(key: { height: number } | { id: string }): Block | undefined {
    const { reading, state } = this.view;
    const height = "height" in key ? key.height : heightOf(reading, key.id);
    return height === undefined || !Number.isInteger(height) || height < 1 || height > state.tip.height
      ? undefined
      : readBlock(reading, height);
  }

  blocks(query: BlockQuery): MaybePromise<Page<Block>> {
    return askBlocks(query, this.needs);
  }

  transaction(id: string): Transaction | undefined {
    return readTransactionById(this.view.reading, id);
  }

  transactions(query: TransactionQuery): MaybePromise<Page<Transaction>> {
    return askTransactions(query, { ...this.needs, wallet: (address) => readWallet(this.view.reading, address) });
  }

  lock(id: string): Lock | undefined {
    return readLock(this.view.reading, id);
  }

  locks(query: LockQuery): MaybePromise<Page<Lock>> {
    return askLocks(query, this.needs);
  }

  round(round: number): RankedDelegate[] | undefined {
    return Number.isInteger(round) && round >= 1 && round <= 0xffffffff ? readRound(this.view.reading, round) : undefined;
  }

  feeStatistics(query: FeeQuery): MaybePromise<FeeStatistics[]> {
    return askFeeStatistics(query, this.needs);
  }

  walletChanges(query: WalletChangesQuery): MaybePromise<Page<WalletChange>> {
    const { reading, state } = this.view;
    return walletChanges(query, { reading, state, oldest: oldestState(reading, state), search: this.search });
  }

  release(): void {
    this.letGo();
  }
}

/** `release` is called whenever the snapshot's own is. */
export const createSnapshot = (view: StateView, search: Search, release: () => void): ChainSnapshot =>
  new StoreSnapshot(view, search, release);

interface ViewsNeeds {
  environment: Environment;
  /** Opens a read transaction of what is committed now. */
  openTransaction(environment: Environment): ReadTransaction;
  rules: ChainRules;
  tipState(transaction: ReadTransaction): StateRecord | undefined;
}

/** Views of the store's states, each on a read transaction that is held for as long as somebody reads in it. */
export interface Views {
  /** The current state, in the process that writes: it alone knows when that changes, so all requests until then share one view. */
  ofNow(): StateView | undefined;
  /** A view of the state that was committed last, by whichever process. The one that writes asks for it before it commits more. */
  ofLastCommit(): StateView | undefined;
  /** Counts a reader in. Returns what counts it out again; further calls of that do nothing. */
  take(view: StateView): () => void;
  /** Reads beforehand, for a state about to be shown, what was asked of the current one. */
  prepare(view: StateView): Sliced<void>;
  /** Makes a state the current one. */
  show(view: StateView | undefined): void;
  /** Moves the current state to a new read transaction: while the old one is held, pages replaced since it began cannot be reused. */
  refresh(): void;
  /** Drops everything, before the environment is closed. */
  forget(): void;
}

interface OpenView {
  transaction: ReadTransaction;
  readers: number;
  delegates: DelegateList | undefined;
}

/** Further calls do nothing. */
const once = (work: () => void): (() => void) => {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    work();
  };
};

/** Ends the transaction where there is no state, or its record is damaged: each request would leave one open. */
const readOrEnd = (transaction: ReadTransaction, tipState: ViewsNeeds["tipState"]): StateRecord | undefined => {
  let state: StateRecord | undefined;
  try {
    return (state = tipState(transaction));
  } finally {
    if (state === undefined) transaction.done();
  }
};

export const createViews = ({ environment, rules, openTransaction, tipState }: ViewsNeeds): Views => {
  const openViews = new Map<StateView, OpenView>();
  let current: StateView | undefined;
  /** The list that was read last, of whichever state. */
  let lastList: DelegateList | undefined;

  const open = (): StateView | undefined => {
    const transaction = openTransaction(environment);
    const state = readOrEnd(transaction, tipState);
    if (state === undefined) return undefined;
    const reading = createCheckedSession(createReadSession(environment, transaction));
    const entry: OpenView = { transaction, readers: 0, delegates: undefined };
    const readList = (): DelegateList => {
      if (lastList?.tip.id !== state.tip.id) lastList = atOnce(readDelegates(reading, state, lastList));
      return lastList;
    };
    const view = { reading, state, rules, delegates: () => (entry.delegates ??= readList()) };
    openViews.set(view, entry);
    return view;
  };

  const letGo = (view: StateView): void => {
    const entry = openViews.get(view);
    if (view === current || entry === undefined || entry.readers > 0) return;
    openViews.delete(view);
    entry.transaction.done();
  };

  const show = (view: StateView | undefined): void => {
    const before = current;
    current = view;
    if (before !== undefined) letGo(before);
  };

  return {
    ofNow: () => current,
    ofLastCommit: open,
    take: (view) => {
      const entry = openViews.get(view);
      if (entry !== undefined) entry.readers++;
      return once(() => {
        if (entry !== undefined) entry.readers--;
        letGo(view);
      });
    },
    prepare: function* (view) {
      const [entry, before] = [openViews.get(view), current && openViews.get(current)?.delegates];
      if (entry !== undefined && before !== undefined) entry.delegates = lastList = yield* readDelegates(view.reading, view.state, before);
    },
    show,
    refresh: () => {
      const [before, again] = [current, current && open()];
      if (before === undefined || again === undefined) return;
      // A state that was committed meanwhile is shown by its own commit.
      if (again.state.tip.id === before.state.tip.id) show(again);
      else letGo(again);
    },
    forget: () => {
      openViews.clear();
      current = undefined;
    },
  };
};
