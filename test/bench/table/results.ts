import { readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import type { Row } from "./row.js";

/** What a request costs, by the number of transactions of the chain. */
export interface Curve {
  what: string;
  /** Microseconds of processor time. */
  points: { transactions: number; cost: number }[];
}

/** A run as it is written down: what the README's table and plot are made from. */
export interface Results {
  /** YYYY-MM-DD. */
  date: string;
  machine: string;
  node: string;
  command: string;
  size: string;
  rows: Row[];
  curves: Curve[];
}

const file = new URL("../results.json", import.meta.url);

/** What kind of machine this is: no more than is needed to compare. */
export const machineClass = (): string => {
  const all = cpus();
  const model = all[0]?.model.replace(/\s+/g, " ").trim() ?? "unknown processor";
  return `${all.length} cores of ${model}`;
};

export const readResults = (): Results | undefined => {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Results;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
};

/** Numbers are kept to four digits: more would be noise. What is not finite is null in JSON. */
const rounded = (_: string, value: unknown): unknown => (typeof value === "number" ? Number(value.toPrecision(4)) : value);

export const writeResults = (results: Results): void => writeFileSync(file, `${JSON.stringify(results, rounded, 2)}\n`);
