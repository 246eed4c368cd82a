import type { Block, Delegate, FeeStatistics, Transaction, Wallet } from "../../types/chain.js";
import type {
  ChainAdapter,
  ChainSnapshot,
  MaybePromise,
  SnapshotBounds,
} from "../../types/chain-adapter.js";
import type {
  BlockQuery,
  DelegateQuery,
  FeeQuery,
  Page,
  TransactionQuery,
  WalletChange,
  WalletChangesQuery,
  WalletQuery,
} from "../../types/chain-queries.js";
import { andThen, isPromised } from "../async/maybe-promise.js";
import type { Epoch } from "../chain/epoch.js";
import { isDigits } from "../text/digits.js";
import { PorticoError } from "../errors.js";
import { notAtHeight, spanOf } from "../http/input/schema.js";
import { firstHeightAt } from "./statement/period.js";
import { noHistory, type PastState } from "./state.js";

interface AtHeightNeeds {
  adapter: Pick<ChainAdapter, "snapshotAt" | "supports">;
  bounds: SnapshotBounds;
  /** Height of the newest final block under a tip. */
  finalHeight(tipHeight: number): number;
  epoch: Pick<Epoch, "fromMilliseconds">;
}

/**
 * An earlier state as routes may use it. What is not kept for earlier heights is refused for the tip's, too: the reply would not last.
 * Methods, not members that hold functions: one is made for every request.
 */
class AtHeight implements ChainSnapshot {
  readonly supply: bigint;
  private readonly snapshot: ChainSnapshot;

  constructor(snapshot: ChainSnapshot) {
    this.supply = snapshot.supply;
    this.snapshot = snapshot;
  }

  get tip(): ChainSnapshot["tip"] {
    return this.snapshot.tip;
  }

  get digest(): string | undefined {
    return this.snapshot.digest;
  }

  walletChanges(query: WalletChangesQuery): MaybePromise<Page<WalletChange>> {
    if (this.snapshot.walletChanges === undefined) throw new PorticoError("NOT_SUPPORTED");
    return this.snapshot.walletChanges(query);
  }

  wallet(identifier: string): MaybePromise<Wallet | undefined> {
    return this.snapshot.wallet(identifier);
  }

  wallets(query: WalletQuery): MaybePromise<Page<Wallet>> {
    if (query.filter.vote === undefined) throw notAtHeight("Lists of all wallets are not kept for earlier heights");
    return this.snapshot.wallets(query);
  }

  delegate<Member extends keyof Delegate = keyof Delegate>(identifier: string, only?: readonly Member[]): MaybePromise<Pick<Delegate, Member> | undefined> {
    return this.snapshot.delegate(identifier, only);
  }

  delegates(query: DelegateQuery): MaybePromise<Page<Delegate>> {
    return this.snapshot.delegates(query);
  }

  block(key: { height: number } | { id: string }): MaybePromise<Block | undefined> {
    return this.snapshot.block(key);
  }

  blocks(query: BlockQuery): MaybePromise<Page<Block>> {
    const { field } = query.order;
    if (field !== "height" && field !== "timestamp") throw notAtHeight(`Blocks by ${field} are not kept for earlier heights`);
    return this.snapshot.blocks(query);
  }

  transaction(id: string): MaybePromise<Transaction | undefined> {
    return this.snapshot.transaction(id);
  }

  transactions(query: TransactionQuery): MaybePromise<Page<Transaction>> {
    const { field } = query.order;
    if (field !== "timestamp") throw notAtHeight(`Transactions by ${field} are not kept for earlier heights`);
    return this.snapshot.transactions(query);
  }

  lock(): never {
    throw notAtHeight("Locks are not kept for earlier heights");
  }

  locks(): never {
    throw notAtHeight("Locks are not kept for earlier heights");
  }

  round(round: number): ReturnType<ChainSnapshot["round"]> {
    return this.snapshot.round(round);
  }

  feeStatistics(query: FeeQuery): MaybePromise<FeeStatistics[]> {
    return this.snapshot.feeStatistics(query);
  }

  release(): void {
    this.snapshot.release?.();
  }
}

interface NamedBlock {
  height: number;
  /** Whether it is named by a time after the tip's: another block will be the last before it. */
  isBeyondTip: boolean;
}

/** The last block at or before a time. @throws PorticoError BLOCK_NOT_FOUND */
const lastBefore = async (timestamp: number, chain: ChainSnapshot): Promise<NamedBlock> => {
  const height = (await firstHeightAt(Math.floor(timestamp) + 1, chain)) - 1;
  if (height < 1) throw new PorticoError("BLOCK_NOT_FOUND");
  return { height, isBeyondTip: timestamp > chain.tip.timestamp };
};

/** The block that `at` names: digits are tried as a height first. @throws PorticoError BLOCK_NOT_FOUND */
const blockNamed = (at: string, chain: ChainSnapshot, epoch: AtHeightNeeds["epoch"]): MaybePromise<NamedBlock> => {
  const height = Number(at);
  if (isDigits(at) && height >= 1 && height <= chain.tip.height) return { height, isBeyondTip: false };
  const span = spanOf(at);
  if (span !== undefined) return lastBefore(epoch.fromMilliseconds(span.end), chain);
  return andThen(chain.block({ id: at }), (block) => {
    if (block === undefined) throw new PorticoError("BLOCK_NOT_FOUND");
    return { height: block.height, isBeyondTip: false };
  });
};

/**
 * Opens the state at a block of the chain, named by height, id or time. `chain`: the state at the tip.
 * @throws PorticoError BLOCK_NOT_FOUND, HISTORY_MISSING, NOT_SUPPORTED
 */
export const openAtHeight = (at: string, chain: ChainSnapshot, { adapter, bounds, finalHeight, epoch }: AtHeightNeeds): MaybePromise<PastState> => {
  if (adapter.snapshotAt === undefined || adapter.supports?.history === false) throw noHistory();
  return andThen(blockNamed(at, chain, epoch), ({ height, isBeyondTip }) =>
    andThen(adapter.snapshotAt?.(height, bounds), (snapshot) => {
      if (snapshot === undefined) throw new PorticoError("BLOCK_NOT_FOUND");
      return { chain: new AtHeight(snapshot), height, isFinal: !isBeyondTip && height <= finalHeight(chain.tip.height) };
    }),
  );
};

/** As `andThen`; calls `undo` before whatever is thrown goes on. */
export const orUndo = <T>(work: () => MaybePromise<T>, undo: () => void): MaybePromise<T> => {
  const fail = (error: unknown): never => {
    undo();
    throw error;
  };
  try {
    const done = work();
    return isPromised(done) ? Promise.resolve(done).catch(fail) : done;
  } catch (error) {
    return fail(error);
  }
};
