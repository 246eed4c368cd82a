import type { ChainSize } from "./chain/sizes.js";
import { isFarOff, type Row } from "./table.js";

/** What a run measures, and how long it takes over it. */
export interface Run {
  /** The largest chain of the run: what does not compare sizes is measured on it. */
  readonly size: ChainSize;
  readonly smallest: ChainSize;
  /** Short, and by processor time, as others may be using the machine. */
  readonly quick: boolean;
  /** Of the part follow, the steps that have this in their names; all have "". */
  readonly row: string;
  /** How often each thing is measured, all in turn; medians count. */
  readonly rounds: number;
  /** Milliseconds of load at a time. */
  readonly slice: number;
  say(line: string): void;
}

/** Measures one part of the table. */
export type Measure = (run: Run) => Promise<Row[]>;

const isOfTheSame = (one: Row, other: Row): boolean => one.group === other.group && one.what === other.what && one.against === other.against;

/**
 * Measures; if anything is far off its goal, measures again with twice the rounds, and of that the second result counts: a disturbance of
 * the machine passes, a regression stays.
 */
export const againIfFarOff = (measure: Measure): Measure => async (run) => {
  const rows = await measure(run);
  const farOff = rows.filter(isFarOff);
  if (farOff.length === 0) return rows;
  for (const { group, what, against, ratio } of farOff) run.say(`${group}, ${what}: ${ratio.toFixed(2)} of ${against}, is measured again`);
  const again = await measure({ ...run, rounds: 2 * run.rounds });
  return rows.map((row) => (isFarOff(row) ? (again.find((other) => isOfTheSame(row, other)) ?? row) : row));
};
