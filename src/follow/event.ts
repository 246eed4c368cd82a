import type { FullBlock } from "../chain/blocks/block.js";
import type { BlockName, Cursor } from "./cursor.js";

/** Something that happened: part of a change of the chain, or an event of the host. Shared by all readers; nobody changes it. */
export interface FollowEvent {
  /**
   * The same whenever and wherever the event is read. Of the chain: made of the block's id, whether it was applied or reverted, the place in
   * its group, and how often this node had applied the block before, unless that is 0. Of the host: the log's name and the place in it.
   */
  readonly id: string;
  /** The canonical name. */
  readonly event: string;
  /** When it happened: milliseconds since 1970. */
  readonly at: number;
  /** Null for events of the host. */
  readonly block: BlockName | null;
  /** Of a reversal: the id of the event that it takes back, as the block was applied the last time. */
  readonly takesBack?: string | undefined;
  /** The payload as a JSON value: amounts are decimal strings. Made when first asked for. */
  readonly data: unknown;
  /** The payload as JSON text. Made when first asked for. */
  readonly json: string;
}

/** The block of a group that changed the chain. */
export interface Change {
  readonly kind: "applied" | "reverted";
  readonly full: FullBlock;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** How often this node had applied the block before. */
  readonly times: number;
  /** Digest of the state after the block, where it was applied and the node knows. */
  readonly digest?: string | undefined;
}

/** The events of one change of the chain, or one event of the host. A reader takes a group as a whole. */
export interface Group {
  /** Undefined for an event of the host. */
  readonly change: Change | undefined;
  /** Where a reader is that has seen all before the group: the block's parent, where a block was applied; the block, where it was reverted. */
  readonly before: Cursor;
  /** Where a reader is that has seen the group. */
  readonly after: Cursor;
  /** In order. Made when first asked for. */
  readonly events: readonly FollowEvent[];
}
