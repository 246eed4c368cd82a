import { written, writtenFigure, writtenGoal, writtenPeer } from "./numbers.js";
import { isMet, type Row } from "./row.js";

/** The table as the terminal shows it. */
export const printed = (rows: readonly Row[]): string => {
  const cells = rows.map((row) => [
    `${row.group}: ${row.what}`,
    writtenFigure(row),
    writtenPeer(row),
    written(row.ratio),
    writtenGoal(row.goal),
    row.goal === undefined ? "" : isMet(row) ? "met" : "NOT MET",
    row.note ?? "",
  ]);
  const head = ["", "figure", "against, in the same run", "ratio", "goal", "", ""];
  const widths = head.map((title, column) => Math.max(title.length, ...cells.map((line) => line[column]?.length ?? 0)));
  const right = new Set([1, 3, 4]);
  return [head, ...cells]
    .map((line) => line.map((cell, column) => (right.has(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0))).join("  ").trimEnd())
    .join("\n");
};
