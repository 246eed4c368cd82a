import type { Tip } from "../../types/chain.js";
import type { ChainAdapter, ChainSnapshot, MaybePromise } from "../../types/chain-adapter.js";
import type { Clock, NodeContext } from "../../types/node-context.js";
import type { Webhooks } from "../../types/webhooks.js";
import type { ChainRules } from "../chain/rules.js";
import { andThen } from "../async/maybe-promise.js";
import { PorticoError } from "../errors.js";
import type { Scope } from "../http/route.js";

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
  /** Opens this state again, for a reply that outlives the request. @throws PorticoError NOT_SUPPORTED, BLOCK_NOT_FOUND if the block was reverted */
  again(): MaybePromise<ChainSnapshot>;
  /** Opens the state at a height of this chain, for the caller to release. @throws PorticoError NOT_SUPPORTED, HISTORY_MISSING */
  at(height: number): MaybePromise<ChainSnapshot>;
}

/** An earlier state. */
export interface PastState {
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
export const createApiState = (snapshot: ChainSnapshot | undefined, needs: ApiNeeds, past?: PastState): ApiState => new OpenState(snapshot, needs, past);

/** For what asks about earlier heights where nothing is known of them. */
export const noHistory = (): PorticoError => new PorticoError("NOT_SUPPORTED", "This node keeps no history: it answers for the tip only.");

/** @throws PorticoError NOT_SUPPORTED if the host's adapter does not support the capability. */
export const requireSupport = (capability: keyof ApiNeeds["supports"], { supports }: ApiState): void => {
  if (supports[capability] === false) throw new PorticoError("NOT_SUPPORTED");
};
