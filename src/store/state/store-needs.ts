import type { ChainSnapshot, SnapshotBounds } from "../../../types/chain-adapter.js";
import type { ChainRules } from "../../chain/rules.js";
import type { FullClock } from "../../clock.js";
import type { WriteWatch } from "../lmdb/write-watch.js";
import type { SearchesOptions } from "../query/search.js";
import type { TimesOf } from "../write/writer.js";
import type { ChangeListener } from "./change-log.js";

/** `open` gives a snapshot of the state that is about to be shown. */
export type Prewarm = (open: (bounds?: SnapshotBounds) => ChainSnapshot) => Promise<void>;

export interface StoreNeeds {
  rules: ChainRules;
  /** Is told how writes go. */
  writes?: WriteWatch;
  /** How searches share the process. */
  searches?: SearchesOptions;
  /**
   * Once the store is complete, told of each change exactly once and in order, within a write transaction after that of the block, even
   * if the process ends between the two. Not given: changes are not kept.
   */
  listener?: ChangeListener | undefined;
  /** Called when `changesView` gives another state. */
  changed?: (() => void) | undefined;
  /** Default: the system's. */
  clock?: FullClock | undefined;
  /** Given by a replica. */
  timesOf?: TimesOf | undefined;
  /** Called with each new state before `snapshot` gives it: that waits until this resolves. */
  prewarm?: Prewarm | undefined;
}
