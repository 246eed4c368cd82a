import type { ChainAdapter, ChainSnapshot, MaybePromise, SnapshotBounds } from "../../types/chain-adapter.js";
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
import type { Block, Delegate, FeeStatistics, Tip, Transaction, Wallet } from "../../types/chain.js";
import type { Clock, NodeContext } from "../../types/node-context.js";
import type { Webhooks } from "../../types/webhooks.js";
import { andThen } from "../async/maybe-promise.js";
import type { ChainRules } from "../chain/rules.js";
import { PorticoError } from "../errors.js";
import { notAtHeight, spanOf } from "../http/input/schema.js";
import { firstHeightAt } from "./statement/period.js";
import type { Scope } from "../http/route.js";
import { isDigits } from "../text/digits.js";

/** What a host may provide besides its chain. Routes that need a missing part say so, or answer from the chain alone. */
type ApiHost = Pick<NodeContext, "peers" | "sync" | "pool" | "node">;

/** What stays the same from request to request. */
export interface ApiNeeds {
  rules: ChainRules;
  host: ApiHost;
  supports: NonNullable<ChainAdapter["supports"]>;
  /** @throws PorticoError NOT_READY while the webhook store is closed, NOT_SUPPORTED if the node has no webhooks. */
  openWebhooks(): Webhooks;
  clock: Clock;
  /** Height of the newest final block under a tip. */
  finalHeight(tipHeight: number): number;
  /** As that of the adapter. */
  snapshotAt?: ((height: number) => MaybePromise<ChainSnapshot | undefined>) | undefined;
}

/** Everything from which an answer is computed: one state of the chain, the network's rules and the host. */
export interface ApiState extends Scope, Readonly<Omit<ApiNeeds, "openWebhooks" | "snapshotAt">> {
  tip?: Tip;
  /** @throws PorticoError NOT_READY while there is no state; only stateless routes are called then. */
  readonly chain: ChainSnapshot;
  /** @throws PorticoError as `openWebhooks` does. */
  readonly webhooks: Webhooks;
  /**
   * Opens this state again, for a reply that outlives the request. @throws PorticoError NOT_SUPPORTED, BLOCK_NOT_FOUND if the block was
   * reverted
   */
  again(): MaybePromise<ChainSnapshot>;
  /** Opens the state at a height of this chain, for the caller to release. @throws PorticoError NOT_SUPPORTED, HISTORY_MISSING */
  at(height: number): MaybePromise<ChainSnapshot>;
}

/** An earlier state. */
interface PastState {
  chain: ChainSnapshot;
  height: number;
  /** Whether its block will not be reverted. */
  isFinal: boolean;
}

/** A class, because one is made for every request and an object literal with getters costs several times as much. */
class OpenState implements ApiState {
  readonly rules: ChainRules;
  readonly host: ApiHost;
  readonly supports: ApiNeeds["supports"];
  readonly clock: Clock;
  declare readonly tip?: Tip;
  declare readonly height?: number;
  declare readonly isFinal?: boolean;
  private readonly snapshot: ChainSnapshot | undefined;
  private readonly past: PastState | undefined;
  private readonly needs: ApiNeeds;

  constructor(snapshot: ChainSnapshot | undefined, needs: ApiNeeds, past: PastState | undefined) {
    this.rules = needs.rules;
    this.host = needs.host;
    this.supports = needs.supports;
    this.clock = needs.clock;
    if (snapshot !== undefined) this.tip = snapshot.tip;
    if (past !== undefined) {
      this.height = past.height;
      this.isFinal = past.isFinal;
    }
    this.snapshot = snapshot;
    this.past = past;
    this.needs = needs;
  }

  get chain(): ChainSnapshot {
    if (this.snapshot === undefined) throw new PorticoError("NOT_READY");
    return this.past?.chain ?? this.snapshot;
  }

  again(): MaybePromise<ChainSnapshot> {
    const { height, id } = this.chain.tip;
    return andThen(this.at(height), (snapshot) => {
      if (snapshot.tip.id === id) return snapshot;
      snapshot.release?.();
      throw new PorticoError("BLOCK_NOT_FOUND");
    });
  }

  at(height: number): MaybePromise<ChainSnapshot> {
    return andThen(this.needs.snapshotAt?.(height), (snapshot) => {
      if (snapshot === undefined) throw new PorticoError(this.needs.snapshotAt === undefined ? "NOT_SUPPORTED" : "BLOCK_NOT_FOUND");
      return snapshot;
    });
  }

  finalHeight(tipHeight: number): number {
    return this.needs.finalHeight(tipHeight);
  }

  get webhooks(): Webhooks {
    return this.needs.openWebhooks();
  }

  release(): void {
    try {
      this.past?.chain.release?.();
    } finally {
      this.snapshot?.release?.();
    }
  }
}

/**
 * Makes the state from which one request is answered. Its `release` releases the snapshots. `past`: the earlier state that is asked about;
 * replies are cached by the tip all the same.
 */
export const createApiState = (snapshot: ChainSnapshot | undefined, needs: ApiNeeds, past?: PastState): ApiState =>
  new OpenState(snapshot, needs, past);

/** For what asks about earlier heights where nothing is known of them. */
export const noHistory = (): PorticoError => new PorticoError("NOT_SUPPORTED", "This node keeps no history and answers for the tip only.");

/** @throws PorticoError NOT_SUPPORTED if the host's adapter does not support the capability. */
export const requireSupport = (capability: keyof ApiNeeds["supports"], { supports }: ApiState): void => {
  if (supports[capability] === false) throw new PorticoError("NOT_SUPPORTED");
};

interface AtHeightNeeds {
  adapter: Pick<ChainAdapter, "snapshotAt" | "supports">;
  bounds: SnapshotBounds;
  /** Height of the newest final block under a tip. */
  finalHeight(tipHeight: number): number;
  epoch: Pick<ChainRules["epoch"], "fromMilliseconds">;
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

  delegate<Member extends keyof Delegate = keyof Delegate>(
    identifier: string,
    only?: readonly Member[],
  ): MaybePromise<Pick<Delegate, Member> | undefined> {
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
 * Opens the state at a block of the chain, named by height or id. `chain`: the state at the tip.
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
