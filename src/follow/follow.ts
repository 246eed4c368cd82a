import type { MaybePromise } from "../../types/chain-adapter.js";
import type { Cursor, CursorField } from "./cursor.js";
import type { Group } from "./event.js";

/** How many blocks behind the tip a reader stays; `final`: as many as make a block final (option `finality`). */
export type Confirmations = number | "final";

export interface ReadOptions {
  /** Default: 0. The host's own events do not wait. */
  confirmations?: Confirmations | undefined;
  /** Whether the reader wants the host's own events. If not, its cursors have no place in the log. Default: true. */
  hostEvents?: boolean | undefined;
  /** Whether a reader is refused that has not seen all events of the host that were removed from the log. Default: it goes on with those kept. */
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
 * Following the chain: what happened after the last thing that a reader has seen. Webhooks, the event stream, the feed and replicas all hang
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
   * What comes after a cursor: whole groups, as many as `limit` (default: what a few milliseconds of reading give, some hundred events at the most, at least one group).
   * @throws PorticoError CURSOR_UNKNOWN if the cursor's block is neither on the chain nor kept; NOT_READY while there is no chain to read
   */
  after(cursor: Cursor, options?: ReadOptions & { limit?: number }): MaybePromise<Batch>;
  /** Height of the tip; 0 where all events are the host's own; undefined while there is no chain to read. */
  height(): MaybePromise<number | undefined>;
  /** Calls `changed` when there may be something new. Returns what ends it. */
  watch(changed: () => void): () => void;
}
