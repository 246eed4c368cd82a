import type { ChainSize } from "../chain/sizes.js";
import type { Row } from "../table/row.js";

/** What a run measures, and how long it takes over it. */
export interface Run {
  /** The largest chain of the run: what does not compare sizes is measured on it. */
  readonly size: ChainSize;
  /** Ascending, with `size` at the end. */
  readonly sizes: readonly ChainSize[];
  /** Short, and by processor time, as others may be using the machine. */
  readonly quick: boolean;
  /** What is measured a second time, as GROUP: WHAT; a part that takes little time may measure all. */
  readonly again?: ReadonlySet<string>;
  /** Steps of a part that have this in their names; all have "". */
  readonly row: string;
  /** How often each thing is measured, all in turn; medians count. */
  readonly rounds: number;
  /** Milliseconds of load at a time. */
  readonly slice: number;
  /** Seconds. */
  readonly soak: number;
  say(line: string): void;
}

/** Measures one part of the table. */
export type Measure = (run: Run) => Promise<Row[]>;
