import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FullBlock } from "../../../../src/chain/blocks/block.js";
import { createStore, type Store } from "../../../../src/store/state/store.js";
import { createBenchChain } from "../../chain/chain.js";
import { sizes } from "../../chain/sizes.js";
import type { Measure } from "../measure.js";

/** Two stores of one chain, with history and without, are written in turn: the largest would take hours. */
const largest = "100k";
const together = 50;

interface Kept {
  dataDir: string;
  store: Store;
  /** Microseconds of processor time. */
  spent: number;
}

const open = (rules: ReturnType<typeof createBenchChain>["rules"], history: boolean): Kept => {
  const dataDir = mkdtempSync(join(tmpdir(), "portico-bench-history-"));
  return { dataDir, store: createStore({ dataDir, undoBlocks: 1_000, history, disposable: true }, { rules }), spent: 0 };
};

/** Counted by processor time, the committing thread's included: others may be using the machine. */
const write = async (kept: Kept, blocks: readonly FullBlock[], height: number): Promise<void> => {
  const begun = process.cpuUsage();
  await kept.store.apply(blocks, height);
  const { user, system } = process.cpuUsage(begun);
  kept.spent += user + system;
};

interface Pages {
  pageSize: number;
  treeBranchPageCount: number;
  treeLeafPageCount: number;
  overflowPages: number;
}

/** Bytes of the databases' pages: the file itself grows by much at a time. Undo records are as many on a chain of any length. */
const bytesUsed = ({ environment: { db } }: Store): number => {
  let bytes = 0;
  for (const [name, database] of Object.entries(db)) {
    const { pageSize, treeBranchPageCount, treeLeafPageCount, overflowPages } = database.getStats() as Pages;
    if (name !== "undo") bytes += (treeBranchPageCount + treeLeafPageCount + overflowPages) * pageSize;
  }
  return bytes;
};

const historyRows = ({ store }: Kept): number => store.environment.db.history.getKeysCount();

/** Writing and keeping history, against a store without. */
export const measureWriting: Measure = async (run) => {
  const size = run.size.transactions > sizes[largest].transactions || run.quick ? sizes[run.quick ? "10k" : largest] : run.size;
  run.say(`history: writing two stores of ${size.name} transactions`);
  const chain = createBenchChain(size);
  const [without, kept] = [open(chain.rules, false), open(chain.rules, true)];
  try {
    for (let turn = 0; chain.height <= size.blocks; turn++) {
      const blocks: FullBlock[] = [];
      while (chain.height <= size.blocks && blocks.length < together) blocks.push(chain.next());
      for (const one of turn % 2 === 0 ? [without, kept] : [kept, without]) await write(one, blocks, size.blocks);
    }
    const speedOf = ({ spent }: Kept): number => size.blocks / (spent / 1_000_000);
    const megabytesOf = ({ store }: Kept): number => bytesUsed(store) / 2 ** 20;
    const note = `chain of ${size.name} transactions`;
    return [
      { group: "history", what: "writing a chain with history", figure: speedOf(kept), unit: "blocks/s", against: "without", peer: speedOf(without), ratio: speedOf(kept) / speedOf(without), goal: { atLeast: 0.8 }, note: `${note}; by processor time` },
      { group: "history", what: "the store with history", figure: megabytesOf(kept), unit: "MiB", against: "without", peer: megabytesOf(without), ratio: megabytesOf(kept) / megabytesOf(without), goal: { atMost: 1.4 }, note: `${note}; without undo records` },
      { group: "history", what: "rows of history that a store without it writes", figure: historyRows(without), unit: "rows", against: "with", peer: historyRows(kept), ratio: historyRows(without) / historyRows(kept), goal: { atMost: 0 }, note },
    ];
  } finally {
    await Promise.all([without.store.stop(), kept.store.stop()]);
    for (const { dataDir } of [without, kept]) rmSync(dataDir, { recursive: true, force: true });
  }
};
