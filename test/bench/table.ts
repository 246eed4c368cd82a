/** What a ratio has to reach, or must not exceed. */
export type Goal = { atLeast: number } | { atMost: number };

/** One line of the table: a figure, and what it is compared with in the same run. */
export interface Row {
  readonly group: string;
  readonly what: string;
  readonly figure: number;
  readonly unit: string;
  /** What it is compared with: a peer or a limit. */
  readonly against: string;
  readonly peer: number;
  readonly ratio: number;
  readonly goal?: Goal;
  readonly note?: string;
}

/** A figure that must not exceed a limit. */
export const limited = (row: Pick<Row, "group" | "what" | "figure" | "unit" | "note">, limit: number): Row => ({
  ...row,
  against: "limit",
  peer: limit,
  ratio: row.figure / limit,
  goal: { atMost: 1 },
});

/** Whether a goal is met, with `slack` as the part by which it may be missed. */
const isWithin = ({ ratio, goal }: Pick<Row, "ratio" | "goal">, slack: number): boolean =>
  goal === undefined || ("atLeast" in goal ? ratio >= goal.atLeast * (1 - slack) : ratio <= goal.atMost * (1 + slack));

export const isMet = (row: Pick<Row, "ratio" | "goal">): boolean => isWithin(row, 0);

/** Whether a goal is missed by more than a fifth: more than machines differ. */
export const isFarOff = (row: Pick<Row, "ratio" | "goal">): boolean => !isWithin(row, 0.2);

/** About three significant digits, thousands separated. */
const written = (value: number): string => {
  if (!Number.isFinite(value)) return "–";
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString("en", { maximumFractionDigits: digits, minimumFractionDigits: digits });
};

const writtenGoal = (goal: Goal | undefined): string => {
  if (goal === undefined) return "";
  return "atLeast" in goal ? `≥ ${goal.atLeast}` : `≤ ${Number(goal.atMost.toFixed(2))}`;
};

/** The table, in Markdown. */
export const printed = (rows: readonly Row[]): string => {
  const lines = rows.map((row) => [
    `${row.group}: ${row.what}`,
    `${written(row.figure)} ${row.unit}`,
    `${row.against}: ${written(row.peer)} ${row.unit}`,
    written(row.ratio),
    writtenGoal(row.goal),
    row.goal === undefined ? "" : isMet(row) ? "met" : "**not met**",
    row.note ?? "",
  ]);
  const head = ["", "figure", "against, in the same run", "ratio", "goal", "", ""];
  return [head, head.map(() => "---"), ...lines].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
};
