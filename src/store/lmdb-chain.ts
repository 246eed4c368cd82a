import type { ChainAdapter } from "../../types/chain-adapter.js";
import type { BlockSource, HostEvents, IndexingProgress } from "../../types/events.js";
import type { Clock, Logger } from "../../types/node-context.js";
import type { ChainRules } from "../chain/rules.js";
import { createFollower, type Follower } from "./follower.js";
import { createStore, type Store, type StoreNeeds, type StoreOptions } from "./store.js";

export interface LmdbChainNeeds extends Pick<StoreNeeds, "within"> {
  rules: ChainRules;
  events: HostEvents;
  source: BlockSource | undefined;
  logger: Logger;
  clock: Clock;
  onProgress: ((progress: IndexingProgress) => void) | undefined;
}

/** The default ChainAdapter: the LMDB store, open between `start` and `stop`, kept at the host's tip meanwhile. */
export interface LmdbChain extends ChainAdapter {
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Id of the tip that `snapshot` would give now. */
  tipId(): string | undefined;
  height(): number;
  /** Resolves when all that the host has emitted so far is written. */
  settled(): Promise<void>;
  /** What keeps a block from being written, while something does. */
  problem(): string | undefined;
}

export const createLmdbChain = (options: StoreOptions, needs: LmdbChainNeeds): LmdbChain => {
  let open: { store: Store; follower: Follower } | undefined;
  const isReady = (): boolean => open?.follower.isReady() ?? false;
  return {
    start: async () => {
      if (open !== undefined) return;
      const store = createStore(options, needs);
      const follower = createFollower({ ...needs, store });
      open = { store, follower };
      await follower.start();
    },
    stop: async () => {
      const closing = open;
      open = undefined;
      await closing?.follower.stop();
      await closing?.store.stop();
    },
    snapshot: () => (isReady() ? open?.store.snapshot() : undefined),
    tipId: () => (isReady() ? open?.store.tip()?.id : undefined),
    height: () => open?.store.tip()?.height ?? 0,
    settled: async () => open?.follower.settled(),
    problem: () => open?.follower.problem(),
  };
};
