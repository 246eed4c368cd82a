import { readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import type { Row } from "./row.js";

/** What a request costs, by the number of transactions in the chain. */
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

/** In the sources, wherever the compiled files are: npm runs scripts in the package's folder. */
export const benchFolder = join(process.cwd(), "test", "bench");

/** `npm run bench` writes it, `npm run docs` reads it. */
const file = join(benchFolder, "results.json");

/** What kind of machine this is: no more than is needed to compare. */
export const machineClass = (): string => {
  const all = cpus();
  const model = all[0]?.model.replace(/\s+/g, " ").trim() ?? "unknown processor";
  return `${all.length} cores of ${model}`;
};

/** JSON knows no infinity. */
const endless = "endless";

/** Numbers are kept to four digits: more would be noise. */
const rounded = (_: string, value: unknown): unknown => {
  if (typeof value !== "number") return value;
  return Number.isFinite(value) ? Number(value.toPrecision(4)) : endless;
};

const restored = (_: string, value: unknown): unknown => (value === endless ? Infinity : value);

export const readResults = (): Results => JSON.parse(readFileSync(file, "utf8"), restored) as Results;

export const writeResults = (results: Results): void => writeFileSync(file, `${JSON.stringify(results, rounded, 2)}\n`);
