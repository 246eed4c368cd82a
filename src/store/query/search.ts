import { setImmediate as nextRound } from "node:timers/promises";
import type { MaybePromise } from "../../../types/chain-adapter.js";
import { createLoopShare } from "../../async/loop-share.js";
import { isPromised } from "../../async/maybe-promise.js";
import { PorticoError } from "../../errors.js";
import type { Sliced } from "../../async/time-slicing.js";
import { currentMeter, metered } from "../../async/work-meter.js";

/**
 * Queries that no index answers outright look at many rows. They do so in steps, between which the process serves others, and up to a
 * limit.
 */

/** Shares the process's time between searches, and leaves most of it to everything else. */
export interface Searches {
  /**
   * Runs at once while the present turn lasts, then in turns with other searches.
   * @throws PorticoError SEARCHES_FULL when too many are under way, OVERLOADED when others are and the event loop is late, NOT_READY
   * from `stop` on
   */
  run<T>(work: Sliced<T>): MaybePromise<T>;
  /** Gives up what is under way. Resolves when its callers have been told. */
  stop(): Promise<void>;
}

export interface SearchesOptions {
  /** Milliseconds that searches may take in each round of the event loop. */
  turn: number;
  /** Searches under way, at the most: each holds a state of the store. */
  most: number;
  /** Milliseconds by which the event loop is late (operate/loop-lag.ts). */
  lag?: (() => number) | undefined;
}

/** While the event loop is late by more than so many milliseconds, a search begins only if fewer than so many are under way: what is dearest is put off first. */
const whenLate = { lag: 100, most: 4 };

export const createSearches = ({ turn = 2, most = 32, lag = () => 0 }: Partial<SearchesOptions> = {}): Searches => {
  const share = createLoopShare(turn);
  let underWay = 0;
  let stopped = false;

  const goOn = <T>(work: Sliced<T>): IteratorResult<undefined, T> => {
    if (stopped) throw new PorticoError("NOT_READY", "The node is stopping.");
    for (;;) {
      const result = work.next();
      if (result.done === true || !share.hasRoom()) return result;
    }
  };

  const finish = async <T>(first: MaybePromise<IteratorResult<undefined, T>>, goOnLater: () => typeof first): Promise<T> => {
    underWay++;
    try {
      let result = await first;
      while (result.done !== true) result = await goOnLater();
      return result.value;
    } finally {
      underWay--;
    }
  };

  return {
    run: (work) => {
      if (underWay >= most) throw new PorticoError("SEARCHES_FULL");
      if (underWay >= whenLate.most && lag() > whenLate.lag) throw new PorticoError("OVERLOADED");
      // Its time counts for whoever asks for it.
      const meter = currentMeter();
      const takeTurn = () => share.run(() => metered(meter, () => goOn(work)));
      const first = takeTurn();
      return !isPromised(first) && first.done === true ? first.value : finish(first, takeTurn);
    },
    stop: async () => {
      stopped = true;
      while (underWay > 0) await nextRound();
    },
  };
};

/** How much the queries asked of one snapshot may look at, all together. */
export interface Search extends Pick<Searches, "run"> {
  /** Rows that may still be looked at. */
  readonly left: number;
  /** Called before rows are looked at, so that a search that is too wide costs nothing. @throws PorticoError SEARCH_TOO_WIDE */
  require(rows: number): void;
  /** Called when rows have been looked at. @throws PorticoError SEARCH_TOO_WIDE */
  spend(rows: number): void;
}

/** A class, since one is made for every request. */
class BoundedSearch implements Search {
  readonly run: Searches["run"];
  left: number;
  private readonly rows: number;

  constructor(run: Searches["run"], rows: number) {
    this.run = run;
    this.left = rows;
    this.rows = rows;
  }

  require(wanted: number): void {
    if (wanted > this.left) throw new PorticoError("SEARCH_TOO_WIDE", tooWide(this.rows));
  }

  spend(looked: number): void {
    this.require(looked);
    this.left -= looked;
  }
}

/** `rows`: how many may be looked at; Infinity for no limit. */
export const createSearch = ({ run }: Pick<Searches, "run">, rows: number): Search => new BoundedSearch(run, rows);

const tooWide = (rows: number): string =>
  `The search would have to look at more than ${rows} rows: narrow it, by an address, a delegate, a block or a shorter range of time or height.`;
