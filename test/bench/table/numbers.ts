import type { Goal, Row } from "./row.js";

/** Numbers as the table has them: about three significant digits, thousands separated. */
export const written = (value: number): string => {
  if (!Number.isFinite(value)) return "–";
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString("en", { maximumFractionDigits: digits, minimumFractionDigits: Math.abs(value) >= 100 ? 0 : digits });
};

export const writtenGoal = (goal: Goal | undefined): string =>
  goal === undefined ? "" : "atLeast" in goal ? `≥ ${goal.atLeast}` : `≤ ${Number(goal.atMost.toFixed(2))}`;

export const writtenFigure = ({ figure, unit }: Pick<Row, "figure" | "unit">): string => `${written(figure)} ${unit}`;
export const writtenPeer = ({ peer, unit, against }: Pick<Row, "peer" | "unit" | "against">): string => `${against}: ${written(peer)} ${unit}`;
