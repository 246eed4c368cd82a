import type { BlockName } from "./disowned.js";

/** A node as a source. It is a chain of its own: it may come back with less of it, as from a backup, and the store keeps what it has until the node has others. */
export interface SourceNode {
  /** Awaited before blocks are left, from the tip down, because the node has others: it knows when it left them. */
  leaving(tip: BlockName): Promise<void>;
  /** Does it, unless the node cannot be reached, or no longer: undefined then. Blocks may come by another way, and do not wait for a node that is away. */
  unlessAway<T>(work: () => Promise<T>): Promise<T | undefined>;
  /** Told whenever the tip has been compared: where the node's chain ends below it, on the same chain; undefined where it does not. */
  endsBelow(height: number | undefined): void;
}
