import { setImmediate as nextRound } from "node:timers/promises";
import type { MaybePromise } from "../../../types/chain-adapter.js";
import { createLoopShare, type LoopShare, runShared } from "../../async/loop-share.js";
import { PorticoError } from "../../errors.js";
import type { Sliced } from "../../async/time-slicing.js";

// Queries that no index answers outright look at many rows. They do so in steps, between which the process serves others, and up to a
// limit.

/** Shares the process's time between searches, and leaves most of it to everything else. */
export interface Searches {
  /** `rows`: how many the queries asked of one snapshot may look at, all together; Infinity for no limit. */
  begin(rows: number): Search;
  /** Gives up what is under way. Resolves when its callers have been told. */
  stop(): Promise<void>;
}

export interface SearchesOptions {
  /** Milliseconds that searches may take in each round of the event loop. */
  turn: number;
  /** Searches of many rows under way, at the most: each holds a state of the store. */
  most: number;
}

/** Rows that a search may look at however many others are under way: about as many as two pages have. */
const freeRows = 200;

/** What the searches of a store have in common. */
interface Shared {
  share: LoopShare;
  most: number;
  /** Pieces of work that have not ended. */
  running: number;
  /** Searches of more than `freeRows`. */
  places: number;
  stopped: boolean;
}

/** How much the queries asked of one snapshot may look at, all together. */
export interface Search {
  /** Rows that may still be looked at. */
  readonly left: number;
  /**
   * Runs at once while the present turn lasts, then in turns with other searches.
   * @throws PorticoError NOT_READY from `stop` on, and whatever `require` throws
   */
  run<T>(work: Sliced<T>): MaybePromise<T>;
  /**
   * Called before rows are looked at, so that a search that is refused costs nothing.
   * @throws PorticoError SEARCH_TOO_WIDE, or SEARCHES_FULL where it looks at many rows and as many searches as may be are doing so
   */
  require(rows: number): void;
  /** Called when rows have been looked at. @throws PorticoError as `require` does */
  spend(rows: number): void;
}

/** A class, since one is made for every request. */
class BoundedSearch implements Search {
  left: number;
  private looked = 0;
  private running = 0;
  private hasPlace = false;
  private readonly shared: Shared;
  private readonly rows: number;

  constructor(shared: Shared, rows: number) {
    this.shared = shared;
    this.left = rows;
    this.rows = rows;
  }

  run<T>(work: Sliced<T>): MaybePromise<T> {
    this.running++;
    this.shared.running++;
    return runShared(this.stepsOf(work), this.shared.share);
  }

  private *stepsOf<T>(work: Sliced<T>): Sliced<T> {
    const { shared } = this;
    try {
      for (;;) {
        if (shared.stopped) throw new PorticoError("NOT_READY", "The node is stopping.");
        const result = work.next();
        if (result.done === true) return result.value;
        // What looks at something other than rows counts, too.
        this.looked++;
        this.require(0);
        yield;
      }
    } finally {
      shared.running--;
      if (--this.running === 0 && this.hasPlace) {
        this.hasPlace = false;
        shared.places--;
      }
    }
  }

  require(wanted: number): void {
    if (wanted > this.left) throw new PorticoError("SEARCH_TOO_WIDE", tooWide(this.rows));
    if (this.hasPlace || this.looked + wanted <= freeRows) return;
    if (this.shared.places >= this.shared.most) throw new PorticoError("SEARCHES_FULL");
    this.hasPlace = true;
    this.shared.places++;
  }

  spend(looked: number): void {
    this.require(looked);
    this.left -= looked;
    this.looked += looked;
  }
}

export const createSearches = ({ turn = 2, most = 32 }: Partial<SearchesOptions> = {}): Searches => {
  const shared: Shared = { share: createLoopShare(turn), most, running: 0, places: 0, stopped: false };
  return {
    begin: (rows) => new BoundedSearch(shared, rows),
    stop: async () => {
      shared.stopped = true;
      while (shared.running > 0) await nextRound();
    },
  };
};

const tooWide = (rows: number): string =>
  `The search would scan more than ${rows} rows. Narrow it by an address, a delegate, a block or a shorter range of time or height.`;
