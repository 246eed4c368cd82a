import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FullBlock } from "../../../src/chain/blocks/block.js";
import { createStore, type Store } from "../../../src/store/state/store.js";
import { createBenchChain } from "../chain/chain.js";
import { firstDelegate } from "../chain/deeds.js";
import { below, createChance } from "../chain/mixing.js";
import { usernameOf } from "../chain/names.js";
import { busiestAddress, walletAddress } from "../chain/parties.js";
import { activeDelegates, type ChainSize, sizes } from "../chain/sizes.js";
import { median } from "../load/statistics.js";
import type { Measure, Run } from "../measure.js";
import { cpuTime } from "../processes/usage.js";
import { limited, type Row } from "../table.js";
import { contest } from "./contest.js";
import { bodyAt, openPortico, type PorticoServer } from "./servers.js";

const group = "history";
const connections = 32;

/** Paths at the tip, with a height at which there was the same. The wallets of the first blocks are the busiest. */
const asking: Record<"wallet" | "delegate", (size: ChainSize, chance: () => number) => { tip: string; at: number }> = {
  wallet: ({ blocks, wallets }, chance) => {
    const at = Math.floor(blocks / 50) + below(chance, blocks - Math.floor(blocks / 50));
    return { tip: `/api/wallets/${walletAddress(firstDelegate + below(chance, Math.floor((wallets * 0.9 * at) / blocks)))}`, at };
  },
  delegate: ({ blocks }, chance) => ({ tip: `/api/delegates/${usernameOf(firstDelegate + below(chance, activeDelegates))}`, at: 2 + below(chance, blocks - 2) }),
};

/** Single rows at heights that nobody has asked about, over HTTP. */
const measureReads = async (kind: keyof typeof asking, portico: PorticoServer, run: Run): Promise<Row[]> => {
  run.say(`history: one ${kind} at random heights`);
  const chance = createChance(kind.length);
  const rounds = Array.from({ length: run.rounds + 1 }, () => Array.from({ length: Math.floor(run.slice * 16) }, () => asking[kind](run.size, chance)));
  const requestsOf = (round: number, name: "past" | "tip"): string[] => (rounds[round] ?? []).map(({ tip, at }) => (name === "tip" ? tip : `${tip}?at=${at}`));
  const { past, tip } = await contest({ past: portico, tip: portico }, run, { connections, requestsOf, once: true });
  const what = `one ${kind} at a random height`;
  const [figure, peer] = [past.cpu, tip.cpu];
  return [
    { group, what, figure, unit: "µs/req", against: "at the tip", peer, ratio: figure / peer, goal: { atMost: 2 }, note: "processor time over HTTP, nothing cached" },
    limited({ group, what: `${what}, p99 at ${connections} connections`, figure: past.p99, unit: "ms", note: `at the tip: ${tip.p99.toFixed(2)} ms` }, 3),
  ];
};

/** The statement of the busiest wallet: rows a second as they come over HTTP. */
const measureStatement = async ({ port }: PorticoServer, run: Run): Promise<Row> => {
  run.say("history: statements of the busiest wallet");
  const rates: number[] = [];
  let rows = 0;
  for (let round = 0; round <= run.rounds; round++) {
    const begun = performance.now();
    const bytes = await bodyAt(port, `/api/wallets/${busiestAddress}/statement`);
    const spent = performance.now() - begun;
    rows = bytes.reduce((count, byte) => (byte === 10 ? count + 1 : count), 0);
    // The first has compiled the code.
    if (round > 0) rates.push(rows / (spent / 1_000));
  }
  const [figure, peer] = [median(rates), 50_000];
  return { group, what: `the statement of a wallet with ${rows.toLocaleString("en")} rows`, figure, unit: "rows/s", against: "limit", peer, ratio: figure / peer, goal: { atLeast: 1 } };
};

interface Pages {
  pageSize: number;
  treeBranchPageCount: number;
  treeLeafPageCount: number;
  overflowPages: number;
}

/** MiB of the databases' pages: the file itself grows by much at a time. Undo records are as many on a chain of any length. */
const sizeOf = ({ environment: { db } }: Store): number => {
  let bytes = 0;
  for (const [name, database] of Object.entries(db)) {
    const { pageSize, treeBranchPageCount, treeLeafPageCount, overflowPages } = database.getStats() as Pages;
    if (name !== "undo") bytes += (treeBranchPageCount + treeLeafPageCount + overflowPages) * pageSize;
  }
  return bytes / 2 ** 20;
};

/** Two stores of one chain, with history and without, are written in turn, at most so large: the largest would take hours. */
const measureWriting: Measure = async ({ size: asked, smallest, quick, say }) => {
  const size = quick ? smallest : asked.transactions > sizes["100k"].transactions ? sizes["100k"] : asked;
  say(`history: writing two stores of ${size.name} transactions`);
  const chain = createBenchChain(size);
  const open = (history: boolean) => {
    const dataDir = mkdtempSync(join(tmpdir(), "portico-bench-history-"));
    return { dataDir, store: createStore({ dataDir, undoBlocks: 1_000, history, disposable: true }, { rules: chain.rules }), spent: 0 };
  };
  const [without, kept] = [open(false), open(true)];
  try {
    for (let turn = 0; chain.height <= size.blocks; turn++) {
      const blocks: FullBlock[] = [];
      while (chain.height <= size.blocks && blocks.length < 50) blocks.push(chain.next());
      for (const one of turn % 2 === 0 ? [without, kept] : [kept, without]) {
        // By processor time, the committing thread's included: others may be using the machine.
        const before = cpuTime();
        await one.store.apply(blocks, size.blocks);
        one.spent += cpuTime() - before;
      }
    }
    const [speed, plain] = [kept, without].map(({ spent }) => size.blocks / (spent / 1e6)) as [number, number];
    const [large, small] = [sizeOf(kept.store), sizeOf(without.store)];
    const common = { group, against: "without", note: `chain of ${size.name} transactions` };
    return [
      { ...common, what: "writing a chain with history", figure: speed, unit: "blocks/s", peer: plain, ratio: speed / plain, goal: { atLeast: 0.8 } },
      { ...common, what: "the store with history", figure: large, unit: "MiB", peer: small, ratio: large / small, goal: { atMost: 1.4 } },
    ];
  } finally {
    await Promise.all([without.store.stop(), kept.store.stop()]);
    for (const { dataDir } of [without, kept]) rmSync(dataDir, { recursive: true, force: true });
  }
};

/** What earlier states cost: to write and keep, to ask for one by one, in statements. */
export const measureHistory: Measure = async (run) => {
  const rows = await measureWriting(run);
  // With a cache, the delegates at the tip would be computed once.
  const portico = await openPortico({ size: run.size.name, options: { cacheSize: 0 } });
  await portico.process.ask("touch", run.size.name);
  rows.push(...(await measureReads("wallet", portico, run)), ...(await measureReads("delegate", portico, run)), await measureStatement(portico, run));
  await portico.close();
  return rows;
};
