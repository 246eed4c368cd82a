import { isFarOff, type Row } from "../table/row.js";
import type { Measure, Run } from "./measure.js";

const nameOf = ({ group, what }: Pick<Row, "group" | "what">): string => `${group}: ${what}`;

const isOfTheSame = (one: Row, other: Row): boolean => one.group === other.group && one.what === other.what && one.against === other.against;

/**
 * Measures; if anything is far off its goal, measures that again with twice the rounds, and the second result counts: a disturbance of
 * the machine passes, a regression stays.
 */
/** Whether a run measures something: the first one all, the second what was far off. */
export const isMeasured = ({ again }: Pick<Run, "again">, group: string, what: string): boolean => again === undefined || again.has(nameOf({ group, what }));

export const againIfFarOff = (measure: Measure): Measure => async (run) => {
  const rows = await measure(run);
  const farOff = rows.filter(isFarOff);
  if (farOff.length === 0) return rows;
  for (const { group, what, against, ratio } of farOff) run.say(`${group}, ${what}: ${ratio.toFixed(2)} of ${against}, is measured again`);
  const again = await measure({ ...run, rounds: 2 * run.rounds, again: new Set(farOff.map(nameOf)) });
  return rows.map((row) => (isFarOff(row) ? (again.find((other) => isOfTheSame(row, other)) ?? row) : row));
};
