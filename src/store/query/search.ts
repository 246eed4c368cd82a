import { performance } from "node:perf_hooks";
import type { MaybePromise } from "../../../types/chain-adapter.js";
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

interface Job {
  /** One turn of it. Says whether it is done. */
  turn(): boolean;
  fail(error: Error): void;
}

/** A job each of whose turns is `goOn`. Its time counts for whoever asks for it. */
const jobOf = <T>(goOn: () => IteratorResult<undefined, T>, resolve: (value: T) => void, reject: (error: Error) => void): Job => {
  const meter = currentMeter();
  const turn = (): boolean => {
    try {
      const result = metered(meter, goOn);
      if (result.done === true) resolve(result.value);
      return result.done === true;
    } catch (error) {
      reject(error instanceof Error ? error : new Error(String(error)));
      return true;
    }
  };
  return { turn, fail: reject };
};

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
  const waiting: Job[] = [];
  /** Milliseconds taken in the present round of the event loop. */
  let used = 0;
  let planned = false;
  let stopped = false;

  /** Every round of the event loop gives searches one turn, however many there are. */
  const plan = (): void => {
    if (planned) return;
    planned = true;
    setImmediate(() => {
      planned = false;
      used = 0;
      const job = waiting.shift();
      if (job?.turn() === false) waiting.push(job);
      if (waiting.length > 0) plan();
    });
  };

  const goOn = <T>(work: Sliced<T>): IteratorResult<undefined, T> => {
    const begin = performance.now();
    try {
      for (;;) {
        const result = work.next();
        if (result.done === true || used + performance.now() - begin >= turn) return result;
      }
    } finally {
      used += performance.now() - begin;
      plan();
    }
  };

  const wait = <T>(work: Sliced<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      waiting.push(jobOf(() => goOn(work), resolve, reject));
      plan();
    });

  return {
    run: (work) => {
      if (stopped) throw stopping();
      if (waiting.length === 0 && used < turn) {
        const result = goOn(work);
        if (result.done === true) return result.value;
      }
      if (waiting.length >= most) throw new PorticoError("SEARCHES_FULL");
      if (waiting.length >= whenLate.most && lag() > whenLate.lag) throw new PorticoError("OVERLOADED");
      return wait(work);
    },
    stop: async () => {
      stopped = true;
      for (const job of waiting.splice(0)) job.fail(stopping());
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
};

const stopping = (): PorticoError => new PorticoError("NOT_READY", "The node is stopping.");

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
