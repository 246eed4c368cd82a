import type { FullBlock } from "../chain/blocks/block.js";
import type { BlockName, Cursor, CursorField } from "./cursor.js";
import type { KeptBlock, MaybePromise } from "../../types/chain-adapter.js";

/** Something that happened: part of a change of the chain, or an event of the host. Shared by all readers; nobody changes it. */
export interface FollowEvent {
  /**
   * The same whenever and wherever the event is read. Of the chain: made of the block's id, whether it was applied or reverted, the place
   * in
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
  readonly full: FullBlock & Pick<KeptBlock, "locks">;
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
  /**
   * Where a reader is that has seen all before the group: the block's parent, where a block was applied; the block, where it was
   * reverted.
   */
  readonly before: Cursor;
  /** Where a reader is that has seen the group. */
  readonly after: Cursor;
  /** In order. Made when first asked for. */
  readonly events: readonly FollowEvent[];
  /** The same with bookings, each in its place, for readers that name them. Made when first asked for. */
  readonly eventsWithBookings: readonly FollowEvent[];
}

/** How many blocks behind the tip a reader stays; `final`: as many as make a block final (option `finality`). */
export type Confirmations = number | "final";

export interface ReadOptions {
  /** Default: 0. The host's own events do not wait. */
  confirmations?: Confirmations | undefined;
  /** Whether the reader wants the host's own events. If not, its cursors have no place in the log. Default: true. */
  hostEvents?: boolean | undefined;
  /**
   * Whether a reader is refused that has not seen all events of the host that were removed from the log. Default: it goes on with those
   * kept.
   */
  whole?: boolean | undefined;
}

export interface LocateOptions extends ReadOptions {
  /** What the client gave the text as. Default: `after` of a query. */
  field?: CursorField | undefined;
}

/** What came after a cursor. */
export interface Batch {
  /** In order. */
  readonly groups: readonly Group[];
  /** Where a reader is that has seen them all; the cursor asked about, where there is nothing. */
  readonly cursor: Cursor;
  /** Whether the reader is then at its end: nothing more may be read until `watch` tells of something. */
  readonly atEnd: boolean;
}

/**
 * Following the chain: what happened after the last thing that a reader has seen. Webhooks, the event stream, the feed and replicas all
 * hang
 * on this, and differ only in how they hand the answer on.
 *
 * Readers pull. A reader keeps a cursor, asks `after` for what comes next, and once it is at its end waits until `watch` calls. What comes
 * next is found from the cursor and the chain as it is now, so where reading the past meets the present there is neither gap nor double.
 * The last groups are kept in memory: a block is read and made into events once for all readers at the tip.
 *
 * All methods answer at once where the chain is Portico's own store.
 */
export interface Follow {
  /**
   * The cursor that a client's text names: the first of them that is known here.
   * @throws PorticoError BAD_REQUEST for a malformed one or nothing but heights above the tip; CURSOR_UNKNOWN; NOT_READY
   */
  locate(text: string, options?: LocateOptions): MaybePromise<Cursor>;
  /** Where a reader is that has seen everything. @throws PorticoError NOT_READY */
  tip(options?: ReadOptions): MaybePromise<Cursor>;
  /**
   * What comes after a cursor: whole groups, as many as `limit` (default: what a few milliseconds of reading give, some hundred events at
   * the most, at least one group).
   * @throws PorticoError CURSOR_UNKNOWN if the cursor's block is neither on the chain nor kept; NOT_READY while there is no chain to read
   */
  after(cursor: Cursor, options?: ReadOptions & { limit?: number }): MaybePromise<Batch>;
  /** Height of the tip; 0 where all events are the host's own; undefined while there is no chain to read. */
  height(): MaybePromise<number | undefined>;
  /** Calls `changed` when there may be something new. Returns what ends it. */
  watch(changed: () => void): () => void;
}
