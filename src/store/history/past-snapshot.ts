import { LRUCache } from "lru-cache";
import type { ChainSnapshot, MaybePromise } from "../../../types/chain-adapter.js";
import type {
  BlockQuery,
  DelegateQuery,
  FeeQuery,
  Page,
  TransactionQuery,
  WalletChange,
  WalletChangesQuery,
  WalletQuery,
} from "../../../types/chain-queries.js";
import type { Delegate, Tip, Block, FeeStatistics, Transaction, Wallet } from "../../../types/chain.js";
import { andThen } from "../../async/maybe-promise.js";
import type { Sliced } from "../../async/time-slicing.js";
import { roundOf } from "../../chain/rounds.js";
import { PorticoError } from "../../errors.js";
import type { WalletRecord, RankedDelegate, StateRecord } from "../layout/codec.js";
import { historyBounds, historyKinds, unpackVoter, unpackDigest, unpackHeight, numberOfDelegate } from "../write/history-rows.js";
import { numberAtEnd, numberKey, sets } from "../layout/keys.js";
import type { ReadSession } from "../lmdb/read-session.js";
import { askBlocks } from "../query/lists/blocks.js";
import { type DelegateList, delegateListOf, findDelegate } from "../query/lists/delegate-list.js";
import { askDelegates } from "../query/lists/delegates.js";
import { askFeeStatistics } from "../query/lists/fees.js";
import { askTransactions } from "../query/lists/transactions.js";
import { presentWallet, walletTester } from "../query/lists/wallets.js";
import type { ListNeeds } from "../query/list-query.js";
import type { Search } from "../query/search.js";
import { existing, addressNamed, heightOf, readBlock, readRound, readTransaction, transactionNumber } from "../records/records.js";
import { rankedSequence, partsOf, stepNumbers } from "../records/sequence.js";
import { comparisonOf } from "../records/sorting.js";
import { delegateAt, type Past, walletAt, balanceAt, heightRowAt, oldestState, stateOf, walletOfDelegateAt } from "./past-records.js";
import { walletChanges } from "./wallet-changes.js";

/** Every delegate at an earlier height; `now`: those at the tip, among whom they are; `tip`: the block at that height. */
function* delegatesAt(now: DelegateList, past: Past, tip: Tip): Sliced<DelegateList> {
  const all: Delegate[] = [];
  const secondPublicKeys = new Map<string, string>();
  for (const { address } of now.all) {
    const wallet = walletAt(address, past);
    const delegate = wallet && delegateAt(wallet, past);
    if (delegate !== undefined && wallet !== undefined) {
      all.push({ ...delegate, balance: wallet.balance });
      if (wallet.secondPublicKey !== null) secondPublicKeys.set(address, wallet.secondPublicKey);
    }
    yield;
  }
  const ranks = new Map(all.flatMap(({ publicKey, rank }): [string, number][] => (rank === null ? [] : [[publicKey, rank]])));
  return yield* delegateListOf({ tip, all, secondPublicKeys, numbers: now.numbers, ranks });
}

/** Whether each wallet voted for a delegate at a height, of those that began or ended to vote for it later; by address. */
function* changedSince(delegate: number, height: number, reading: ReadSession): Sliced<Map<string, boolean>> {
  const seen = new Set<number>();
  const changed = new Map<string, boolean>();
  for (const { key, value } of reading.range("history", historyBounds(historyKinds.voters, delegate, height + 1))) {
    const wallet = numberAtEnd(key);
    // Of several changes, the first says how it was before all of them.
    if (seen.has(wallet)) continue;
    seen.add(wallet);
    const { was, address } = unpackVoter(value as Buffer);
    changed.set(address, was);
    if (seen.size % stepNumbers === 0) yield;
  }
  return changed;
}

/** The wallets that voted for a delegate at an earlier height, in no order. */
function* votersAt(publicKey: string, past: Past): Sliced<WalletRecord[]> {
  const { reading, height } = past;
  const number = numberOfDelegate(publicKey, reading);
  if (number === undefined) return [];
  const changed = yield* changedSince(number, height, reading);
  const addresses = [...changed].filter(([, was]) => was).map(([address]) => address);
  const now = rankedSequence(reading, sets.votersByBalance, numberKey(number), numberKey(number + 1));
  for (const part of partsOf(now, stepNumbers)) {
    for (const { value } of part) {
      const address = value.toString("utf8");
      if (!changed.has(address)) addresses.push(address);
    }
    yield;
  }
  const voters: WalletRecord[] = [];
  for (const address of addresses) {
    voters.push(existing(walletAt(address, past), `wallet ${address} at height ${height}`));
    if (voters.length % 100 === 0) yield;
  }
  return voters;
}

/** Lists at earlier heights that were asked for lately. A block's id stands for the state after it: they stay right whatever follows. */
interface PastLists {
  delegates: LRUCache<string, DelegateList>;
  voters: LRUCache<string, readonly Wallet[]>;
}

/** Rows kept, at the most. */
const keptDelegates = 20_000;
const keptVoters = 100_000;

export const createPastLists = (): PastLists => ({
  delegates: new LRUCache({ maxSize: keptDelegates, sizeCalculation: ({ all }) => all.length + 1 }),
  voters: new LRUCache({ maxSize: keptVoters, sizeCalculation: (rows) => rows.length + 1 }),
});

/** At the tip. */
type PastNeeds = Omit<ListNeeds, "search" | "isPast">;

/** The routes refuse the same for the tip, with the names of what takes `at` (api/state.ts). */
const refuse = (): never => {
  throw new PorticoError("NOT_AT_HEIGHT");
};

const isNamed = ({ address, publicKey, username }: Pick<WalletRecord, "address" | "publicKey" | "username">, name: string): boolean =>
  name === username || name === address || name === publicKey;

/** The state at an earlier height. Lists of all wallets and of locks are not kept, nor are orders by anything but height. */
class PastSnapshot implements ChainSnapshot {
  readonly supply: bigint;
  private readonly now: PastNeeds;
  private readonly past: Past;
  private readonly search: Search;
  private readonly lists: PastLists;
  private readonly letGo: () => void;
  private known: StateRecord | undefined;

  constructor(now: PastNeeds, height: number, search: Search, lists: PastLists, release: () => void) {
    const { reading } = now;
    const { supply, wallets } = unpackHeight(heightRowAt(reading, height));
    this.supply = supply;
    this.now = now;
    this.past = { reading, height, supply, wallets, delegates: () => now.delegates() };
    this.search = search;
    this.lists = lists;
    this.letGo = release;
  }

  get digest(): string {
    return unpackDigest(heightRowAt(this.past.reading, this.past.height)).toString("hex");
  }

  /** Read when it is first asked for: single wallets and delegates need none of it. */
  private get state(): StateRecord {
    return (this.known ??= stateOf(this.past, this.now.state));
  }

  get tip(): Tip {
    return this.state.tip;
  }

  private get needs(): ListNeeds {
    return { ...this.now, state: this.state, search: this.search, isPast: true };
  }

  private allDelegates(): MaybePromise<DelegateList> {
    const { delegates } = this.lists;
    const { tip } = this;
    const { id } = tip;
    const keep = (made: DelegateList): DelegateList => {
      delegates.set(id, made);
      return made;
    };
    return delegates.get(id) ?? andThen(this.search.run(delegatesAt(this.now.delegates(), this.past, tip)), keep);
  }

  private present(record: WalletRecord): Wallet {
    return presentWallet(record, delegateAt(record, this.past));
  }

  private record(identifier: string): WalletRecord | undefined {
    const found = walletAt(identifier, this.past);
    return found ?? this.named(identifier, addressNamed(this.past.reading, identifier));
  }

  /** The wallet at an address, if it had that public key or username then. */
  private named(identifier: string, address: string | undefined): WalletRecord | undefined {
    const record = address === undefined ? undefined : walletAt(address, this.past);
    return record?.publicKey === identifier || record?.username === identifier ? record : undefined;
  }

  wallet(identifier: string): Wallet | undefined {
    const record = this.record(identifier);
    return record === undefined ? undefined : this.present(record);
  }

  wallets({ filter, order, offset, limit }: WalletQuery): MaybePromise<Page<Wallet>> {
    const { vote } = filter;
    if (vote === undefined) return refuse();
    const passes = walletTester(filter, new Set(["vote"]));
    const inOrder = comparisonOf<Wallet>({ direction: order.direction, value: (wallet) => wallet[order.field], key: ({ address }) => address, ties: "asc" });
    return andThen(this.voters(vote), (all) => {
      const rows = passes === undefined ? [...all] : all.filter(passes);
      return { rows: rows.sort(inOrder).slice(offset, offset + limit), total: rows.length };
    });
  }

  private voters(vote: string): MaybePromise<readonly Wallet[]> {
    const { voters } = this.lists;
    const name = `${this.tip.id} ${vote}`;
    const read = function* (this: PastSnapshot): Sliced<Wallet[]> {
      const rows: Wallet[] = [];
      for (const record of yield* votersAt(vote, this.past)) rows.push(this.present(record));
      voters.set(name, rows);
      return rows;
    };
    return voters.get(name) ?? this.search.run(read.call(this));
  }

  delegate<Member extends keyof Delegate = keyof Delegate>(identifier: string, only?: readonly Member[]): Pick<Delegate, Member> | undefined {
    const now = findDelegate(this.now.delegates(), identifier);
    const wallet = now && walletOfDelegateAt(now, this.past);
    if (now === undefined || wallet === undefined || !isNamed(wallet, identifier)) return undefined;
    const delegate = delegateAt(wallet, this.past);
    // The balance is in one more place of the store, and the reply about one delegate has none.
    const wantsBalance = only === undefined || only.includes("balance" as Member);
    const found = delegate && wantsBalance ? { ...delegate, balance: balanceAt(wallet, now, this.past) } : delegate;
    return found as Pick<Delegate, Member> | undefined;
  }

  delegates(query: DelegateQuery): MaybePromise<Page<Delegate>> {
    return andThen(this.allDelegates(), (all) => askDelegates(query, all));
  }

  block(key: { height: number } | { id: string }): Block | undefined {
    const { reading } = this.past;
    const height = "height" in key ? key.height : heightOf(reading, key.id);
    return height === undefined || !Number.isInteger(height) || height < 1 || height > this.past.height
      ? undefined
      : readBlock(reading, height);
  }

  blocks(query: BlockQuery): MaybePromise<Page<Block>> {
    const { field } = query.order;
    return field === "height" || field === "timestamp" ? askBlocks(query, this.needs) : refuse();
  }

  transaction(id: string): Transaction | undefined {
    const { reading } = this.past;
    const number = transactionNumber(reading, id);
    return number === undefined || number >= this.state.transactions ? undefined : readTransaction(reading, number);
  }

  transactions(query: TransactionQuery): MaybePromise<Page<Transaction>> {
    const { field } = query.order;
    if (field !== "timestamp") return refuse();
    return askTransactions(query, { ...this.needs, wallet: (address) => walletAt(address, this.past) });
  }

  lock(): never {
    return refuse();
  }

  locks(): never {
    return refuse();
  }

  round(round: number): RankedDelegate[] | undefined {
    const { round: last } = roundOf(this.past.height + 1, this.now.rules.milestones);
    return Number.isInteger(round) && round >= 1 && round <= last ? readRound(this.past.reading, round) : undefined;
  }

  feeStatistics(query: FeeQuery): MaybePromise<FeeStatistics[]> {
    return askFeeStatistics(query, this.needs);
  }

  walletChanges(query: WalletChangesQuery): MaybePromise<Page<WalletChange>> {
    const { reading, state } = this.now;
    return walletChanges(query, { reading, state: this.state, oldest: oldestState(reading, state), search: this.search });
  }

  release(): void {
    this.letGo();
  }
}

/** The height must be one that the store has: from `oldestState` on, and below the tip. */
export const createPastSnapshot = (now: PastNeeds, height: number, { search, lists, release }: { search: Search; lists: PastLists; release(): void }): ChainSnapshot =>
  new PastSnapshot(now, height, search, lists, release);
