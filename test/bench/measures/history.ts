import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { statement } from "../../../src/api/statement/statement.js";
import type { FullBlock } from "../../../src/chain/block.js";
import { createStore, type Store } from "../../../src/store/state/store.js";
import type { ChainSnapshot } from "../../../types/chain-adapter.js";
import { createBenchChain } from "../chain/chain.js";
import { busiest } from "../chain/deeds.js";
import { createAddresses, publicKeyOf } from "../chain/names.js";
import { sizes } from "../chain/sizes.js";
import { median } from "../load/statistics.js";
import type { Row } from "../table/row.js";
import type { Measure } from "./measure.js";

/** Two stores of one chain, with history and without, are written in turn: the largest would take hours. */
const largest = "100k";
const together = 50;
const group = "history";

interface Kept {
  dataDir: string;
  store: Store;
  spent: number;
}

const open = (rules: ReturnType<typeof createBenchChain>["rules"], history: boolean): Kept => {
  const dataDir = mkdtempSync(join(tmpdir(), "portico-bench-history-"));
  return { dataDir, store: createStore({ dataDir, undoBlocks: 1_000, history, disposable: true }, { rules }), spent: 0 };
};

const write = async (kept: Kept, blocks: readonly FullBlock[], height: number): Promise<void> => {
  const begun = performance.now();
  await kept.store.apply(blocks, height);
  kept.spent += performance.now() - begun;
};

/** Microseconds that an answer takes, in the middle of many. */
const timed = async (count: number, ask: (place: number) => Promise<unknown>): Promise<number> => {
  const times: number[] = [];
  for (let place = 0; place < count; place++) {
    const begun = performance.now();
    await ask(place);
    times.push((performance.now() - begun) * 1_000);
  }
  return median(times);
};

const reading = async <T>(snapshot: ChainSnapshot | undefined, read: (chain: ChainSnapshot) => Promise<T> | T): Promise<T> => {
  if (snapshot === undefined) throw new Error("no state");
  try {
    return await read(snapshot);
  } finally {
    snapshot.release?.();
  }
};

const answers = async ({ store }: Kept, rules: ReturnType<typeof createBenchChain>["rules"], { wallets, blocks }: { wallets: number; blocks: number }): Promise<Row[]> => {
  const addressOf = createAddresses(wallets);
  const someHeight = (place: number): number => 2 + ((place * 7_919) % (blocks - 2));
  const someWallet = (place: number): string => addressOf(1 + ((place * 104_729) % Math.floor(wallets / 2)));
  const someDelegate = (place: number): string => publicKeyOf(2 + (place % 51));
  const count = 1_000;
  const rows: Row[] = [];
  const compare = async (what: string, ask: (chain: ChainSnapshot, place: number) => unknown, times = count): Promise<void> => {
    const [tip, past] = [
      await timed(times, (place) => reading(store.snapshot(), (chain) => ask(chain, place))),
      await timed(times, (place) => reading(store.snapshotAt(someHeight(place)), (chain) => ask(chain, place))),
    ];
    rows.push({ group, what, figure: past, unit: "µs", against: "the same at the tip", peer: tip, ratio: past / tip, note: "without HTTP" });
  };
  await compare("a wallet at a random height", (chain, place) => chain.wallet(someWallet(place)));
  await compare("a delegate at a random height", (chain, place) => chain.delegate(someDelegate(place)));
  const voters = (chain: ChainSnapshot, place: number) => chain.wallets({ filter: { vote: someDelegate(place) }, order: { field: "balance", direction: "desc" }, offset: 0, limit: 1_000 });
  await compare("voters of a delegate, with balances, at a random height", voters, 100);

  const begun = performance.now();
  let written = 0;
  const wallet = { address: addressOf(busiest), publicKey: publicKeyOf(busiest) };
  const openAgain = (): ChainSnapshot => store.snapshot() as ChainSnapshot;
  for await (const bookings of statement({ rules, wallet, heights: { from: 1, to: blocks }, open: openAgain })) written += bookings.length;
  const rate = written / ((performance.now() - begun) / 1_000);
  rows.push({ group, what: `a statement of ${written} rows`, figure: rate, unit: "rows/s", against: "the goal", peer: 50_000, ratio: rate / 50_000, goal: { atLeast: 1 } });
  return rows;
};

/** Writing and keeping history against a store without; states at random heights against that of the tip. */
export const measureHistory: Measure = async (run) => {
  const size = run.size.transactions > sizes[largest].transactions || run.quick ? sizes[run.quick ? "10k" : largest] : run.size;
  run.say(`history: two stores of ${size.name} transactions`);
  const chain = createBenchChain(size);
  const [without, kept] = [open(chain.rules, false), open(chain.rules, true)];
  try {
    while (chain.height <= size.blocks) {
      const blocks: FullBlock[] = [];
      while (chain.height <= size.blocks && blocks.length < together) blocks.push(chain.next());
      for (const one of blocks.length % 2 === 0 ? [without, kept] : [kept, without]) await write(one, blocks, size.blocks);
    }
    const speed = without.spent / kept.spent;
    const rows: Row[] = [
      { group, what: "writing a chain with history", figure: size.blocks / (kept.spent / 1_000), unit: "blocks/s", against: "without history", peer: size.blocks / (without.spent / 1_000), ratio: speed, goal: { atLeast: 0.8 } },
      ...(await answers(kept, chain.rules, { wallets: size.wallets, blocks: size.blocks })),
    ];
    await Promise.all([without.store.stop(), kept.store.stop()]);
    const bytes = ({ dataDir }: Kept): number => statSync(join(dataDir, "chain.mdb")).size;
    const [more, less] = [bytes(kept) / 2 ** 20, bytes(without) / 2 ** 20];
    rows.push({ group, what: "the store with history", figure: more, unit: "MiB", against: "without history", peer: less, ratio: more / less, goal: { atMost: 1.4 } });
    return rows;
  } finally {
    for (const { dataDir } of [without, kept]) rmSync(dataDir, { recursive: true, force: true });
  }
};
