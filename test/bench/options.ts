import { parseArgs } from "node:util";
import { isSizeName, sizeNames, type SizeName } from "./chain/sizes.js";

/** What a run may measure, in the order of the table. */
export const parts = ["hot", "cold", "depth", "growth", "indexing", "start", "importing", "history", "follow", "money", "machines"] as const;
export type Part = (typeof parts)[number];

export const usage = `npm run bench -- [options]

Builds what stores it needs, measures, and prints one table. Stores are kept in ~/.cache/portico/bench or in PORTICO_BENCH_DIR.
The largest takes hours on a disk, and less than one in memory (PORTICO_BENCH_DIR=/dev/shm/bench); it may be moved afterwards.

  --size SIZE    the largest chain: ${sizeNames.join(", ")}; without it 10m
  --only PARTS   some parts of the table, by commas: ${parts.join(", ")}
  --row TEXT     of the part follow, only the steps whose names have this text (streams, request, first, deliveries, block, memory, storage)
  --rounds N     times that each thing is measured; without it 5
  --quick        the stable ratios of a small chain in a minute; ends with 1 where one misses its goal by more than a fifth, twice
  --build SIZE   only builds the store of a size; goes on where it was interrupted
  --help         prints this
`;

export interface BenchOptions {
  size: SizeName;
  only: readonly Part[];
  row: string;
  rounds: number;
  quick: boolean;
  build: SizeName | undefined;
  help: boolean;
}

const sizeOf = (name: string): SizeName => {
  if (!isSizeName(name)) throw new RangeError(`there is no size ${name}; there are ${sizeNames.join(", ")}`);
  return name;
};

const partOf = (name: string): Part => {
  const found = parts.find((part) => part === name);
  if (found === undefined) throw new RangeError(`there is no part ${name}; there are ${parts.join(", ")}`);
  return found;
};

const roundsOf = (text: string): number => {
  const count = Number(text);
  if (!Number.isSafeInteger(count) || count < 1) throw new RangeError(`--rounds takes a whole number from 1, not ${text}`);
  return count;
};

/** Parts whose ratios are stable on a machine that others use: of processor time, and of times within one process. */
const quickParts: readonly Part[] = ["hot", "depth"];

export const readOptions = (args: readonly string[]): BenchOptions => {
  const text = { type: "string" } as const;
  const flag = { type: "boolean", default: false } as const;
  const options = { size: text, only: text, row: text, rounds: text, quick: flag, build: text, help: flag };
  const { values } = parseArgs({ args: [...args], options });
  const { quick, help } = values;
  return {
    size: sizeOf(values.size ?? (quick ? "10k" : "10m")),
    only: values.only?.split(",").map(partOf) ?? (quick ? quickParts : parts),
    row: values.row ?? "",
    rounds: values.rounds === undefined ? (quick ? 3 : 5) : roundsOf(values.rounds),
    quick,
    build: values.build === undefined ? undefined : sizeOf(values.build),
    help,
  };
};
