/** A block by its height and id. */
export interface BlockMark {
  height: number;
  id: string;
}

/** The replica, as seen by the `FollowedNode` that follows its node. */
export interface FollowingChain {
  /** The last block that the replica has. */
  tip(): BlockMark | undefined;
  /** Makes the replica compare its tip with the node's chain and read missing blocks, unless it is about to do so. */
  look(): void;
  /** Resolves when all blocks handed over so far are written, and the work that `look` began has ended. */
  settled(): Promise<void>;
}

/** A node that is followed over HTTP. `followNode` makes it, `createApiPlugin` uses it. */
export interface FollowedNode {
  /** Its interface, such as `http://10.0.0.5:4003/api`. */
  readonly url: string;
  /** Called when the plugin starts, before its store is opened. If there is no store, begins one from a snapshot. */
  prepare(signal: AbortSignal): Promise<void>;
  /** Called when the store is open. From then on, blocks are handed over as the node applies and reverts them. */
  follow(chain: FollowingChain): void;
  /** Ends what `prepare` and `follow` began. */
  end(): Promise<void>;
  /** Digest of the node's state after a block, as reported by the node; undefined if it has not reported one. */
  digestOf(block: BlockMark): string | undefined;
  /** When the node applied or reverted a block (milliseconds since 1970), and how often it had applied it before; undefined if it has not reported this. */
  timesOf(kind: "applied" | "reverted", id: string): { at: number; times: number } | undefined;
  /** Asks when the node reverted a block and its ancestors, for `timesOf`. Resolves when that is known or cannot be found out. */
  askReversals(block: BlockMark): Promise<void>;
  /** Calls `changed` when there is a new digest, and when the node becomes reachable or unreachable. Returns a function that ends this. */
  watch(changed: () => void): () => void;
  /** Why the node cannot be reached, once that has lasted for some seconds. */
  problem(): string | undefined;
  /** Height of the node's tip; undefined if the node has not answered yet, or not for some seconds. */
  height(): number | undefined;
  /** How far a replica is behind the node, whose tip has this height. */
  distance(height: number): ReplicaDistance;
  /** Reverts a block that did not come from the node itself, and reads it from the node instead. Returns false, and does nothing, if the node itself sent the block. */
  takeBack(block: BlockMark): boolean;
  /** Records that the store must not be opened again, so that the next `prepare` begins a new one. `undefined` withdraws this. */
  discardStore(reason: string | undefined): void;
}

/** How far a replica is behind its node. */
export interface ReplicaDistance {
  /** Blocks. */
  behind: number;
  /** Milliseconds since it was last known to have all blocks of the node; 0 while it has them. */
  lag: number;
}
