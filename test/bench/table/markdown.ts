import { written, writtenFigure, writtenGoal, writtenPeer } from "./numbers.js";
import type { Results } from "./results.js";
import { type Goal, isMet, type Row } from "./row.js";

/** The table as the README has it: for each group the line that is furthest from its goal, then all lines. */

const escaped = (text: string): string => text.replaceAll("|", "\\|");

const line = (row: Row): string =>
  `| ${[row.group, escaped(row.what), writtenFigure(row), escaped(writtenPeer(row)), written(row.ratio), writtenGoal(row.goal), row.goal === undefined ? "" : isMet(row) ? "met" : "**not met**"].join(" | ")} |`;

/** How far a ratio is within its goal: below 1, the goal is missed. */
const room = (ratio: number, goal: Goal): number => ("atLeast" in goal ? ratio / goal.atLeast : goal.atMost / ratio);

interface Sum {
  worst: Row;
  met: number;
  all: number;
}

/** Rows of one group with the same goal are summed up in one. */
const sums = (rows: readonly Row[]): Sum[] => {
  const byGoal = new Map<string, Sum>();
  for (const row of rows) {
    if (row.goal === undefined) continue;
    const name = `${row.group} ${writtenGoal(row.goal)} ${row.group === "hot" ? row.against : ""}`;
    const sum = byGoal.get(name) ?? { worst: row, met: 0, all: 0 };
    if (sum.worst.goal !== undefined && !(room(row.ratio, row.goal) >= room(sum.worst.ratio, sum.worst.goal))) sum.worst = row;
    if (isMet(row)) sum.met++;
    sum.all++;
    byGoal.set(name, sum);
  }
  return [...byGoal.values()];
};

const head = ["| | | figure | against, in the same run | ratio | goal | |", "|---|---|---:|---|---:|---:|---|"];

export const benchTable = ({ date, machine, node, command, size, rows }: Results): string =>
  [
    `Measured on ${date} with \`${command}\`, on ${machine}, Node.js ${node}; chain of ${size} transactions. Of each group of figures the`,
    "one furthest from its goal:",
    "",
    "| | the worst | ratio | goal | met |",
    "|---|---|---:|---:|---|",
    ...sums(rows).map(({ worst, met, all }) => {
      const figures = `${escaped(worst.what)}: ${writtenFigure(worst)} (${escaped(writtenPeer(worst))})`;
      return `| ${worst.group} | ${figures} | ${written(worst.ratio)} | ${writtenGoal(worst.goal)} | ${met} of ${all} |`;
    }),
    "",
    "<details><summary>All figures</summary>",
    "",
    ...head,
    ...rows.map(line),
    "",
    "</details>",
  ].join("\n");
