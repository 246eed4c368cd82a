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
import type { ChainRules } from "../../chain/rules.js";
import { askBlocks } from "../query/lists/blocks.js";
import type { RankedDelegate, StateRecord, WalletRecord } from "../layout/codec.js";
import { type DelegateList, findDelegate } from "../query/lists/delegate-list.js";
import { askDelegates } from "../query/lists/delegates.js";
import { askFeeStatistics } from "../query/lists/fees.js";
import { askLocks } from "../query/lists/locks.js";
import type { ReadSession } from "../lmdb/read-session.js";
import { addressNamed, heightOf, readBlock, readLock, readRound, readTransaction, readWallet, transactionNumber } from "../records/records.js";
import type { Search } from "../query/search.js";
import { readDigest } from "../write/state-digest.js";
import { oldestState } from "../history/past-records.js";
import { walletChanges } from "../history/wallet-changes.js";
import { askTransactions } from "../query/lists/transactions.js";
import { askWallets, presentWallet } from "../query/lists/wallets.js";

/** What the snapshots of one state share. */
export interface StateView {
  reading: ReadSession;
  state: StateRecord;
  rules: ChainRules;
  /** Every delegate at this state's tip. */
  delegates(): DelegateList;
}

/** The store's answers at one state: at once, except where rows have to be searched. A class, since one is made for every request. */
class StoreSnapshot implements ChainSnapshot {
  readonly tip: Tip;
  readonly supply: bigint;
  private readonly view: StateView;
  private readonly search: Search;
  private readonly letGo: () => void;
  private lastWallet: WalletRecord | undefined;

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

  private get needs() {
    return { ...this.view, search: this.search, isPast: false };
  }

  /** A wallet whose transactions are asked for was mostly looked up itself just before. */
  private record(address: string): WalletRecord | undefined {
    if (this.lastWallet?.address !== address) this.lastWallet = readWallet(this.view.reading, address);
    return this.lastWallet;
  }

  wallet(identifier: string): Wallet | undefined {
    const { reading, delegates } = this.view;
    const record = this.record(identifier) ?? this.record(addressNamed(reading, identifier) ?? "");
    return record === undefined ? undefined : presentWallet(record, delegates());
  }

  wallets(query: WalletQuery): MaybePromise<Page<Wallet>> {
    const { reading, delegates } = this.view;
    return askWallets(query, { reading, delegates: delegates(), search: this.search });
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
    return height === undefined || !Number.isInteger(height) || height < 1 || height > state.tip.height ? undefined : readBlock(reading, height);
  }

  blocks(query: BlockQuery): MaybePromise<Page<Block>> {
    return askBlocks(query, this.needs);
  }

  transaction(id: string): Transaction | undefined {
    const { reading } = this.view;
    const number = transactionNumber(reading, id);
    return number === undefined ? undefined : readTransaction(reading, number);
  }

  transactions(query: TransactionQuery): MaybePromise<Page<Transaction>> {
    const { reading, state, rules } = this.view;
    return askTransactions(query, { reading, state, rules, search: this.search, isPast: false, wallet: (address) => this.record(address) });
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
