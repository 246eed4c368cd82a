/** A block by its height and id. */
export interface BlockMark {
  height: number;
  id: string;
}

/** What a replica tells of itself to what follows the node for it. */
export interface FollowingChain {
  /** The last block that the replica has. */
  tip(): BlockMark | undefined;
  /** Has the replica compare its tip with the node's chain, and read what it lacks, unless it is about to. */
  look(): void;
  /** Resolves when all blocks handed over so far are written, and what was begun by `look` has ended. */
  settled(): Promise<void>;
}

/** A node that is followed over HTTP. `followNode` makes it, `createApiPlugin` uses it. */
export interface FollowedNode {
  /** Its interface, such as `http://10.0.0.5:4003/api`. */
  readonly url: string;
  /** Called when the plugin starts, before its store is opened: begins the store with a snapshot where there is none. */
  prepare(signal: AbortSignal): Promise<void>;
  /** Called when the store is open: blocks are handed over as the node applies and reverts them. */
  follow(chain: FollowingChain): void;
  /** Ends what `prepare` and `follow` began. */
  end(): Promise<void>;
  /** Digest of the node's state after a block, as the node itself has told it; undefined where it has not. */
  digestOf(block: BlockMark): string | undefined;
  /** When the node applied or reverted a block (milliseconds since 1970), and how often it had applied it before; undefined where it has not told. */
  timesOf(kind: "applied" | "reverted", id: string): { at: number; times: number } | undefined;
  /** Asks when the node reverted a block and its ancestors, for `timesOf`. Resolves when that is known, or cannot be had. */
  askReversals(block: BlockMark): Promise<void>;
  /** Calls `changed` when there is a new digest, and when the node is reached again or no longer. Returns what ends it. */
  watch(changed: () => void): () => void;
  /** Why the node cannot be reached, once that has lasted for some seconds. */
  problem(): string | undefined;
  /** Height of the node's tip; undefined while it is not known, as the node has not been heard yet or not for some seconds. */
  height(): number | undefined;
  /** How far a replica is behind the node, whose tip has this height. */
  distance(height: number): ReplicaDistance;
  /** Has a block reverted that has come by another way than from the node, which is asked for it then. False for any other block: the node itself has told it. */
  takeBack(block: BlockMark): boolean;
  /** Keeps that the store is not to be opened again: the next `prepare` begins with another. Undefined: it may be after all. */
  discardStore(reason: string | undefined): void;
}

/** How far a replica is behind its node. */
export interface ReplicaDistance {
  /** Blocks. */
  behind: number;
  /** Milliseconds since it was last known to have all blocks of the node; 0 while it has them. */
  lag: number;
}
