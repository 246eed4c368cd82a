import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sizes } from "../chain/sizes.js";
import { openProcess } from "../processes/asking.js";
import type { WithMetricsHandlers } from "../processes/with-metrics.js";
import { walletAddress } from "../questions/parties.js";
import { firstDelegate } from "../chain/deeds.js";
import { buildStore } from "../stores/build.js";
import { storeFolder } from "../stores/folders.js";
import type { Row } from "../table/row.js";
import { contest, type Contestant } from "./contest.js";
import { hotPaths } from "./hot.js";
import type { Measure, Run } from "./measure.js";

/** A chain of this size is in memory at once; what metrics cost does not grow with it. */
const size = sizes["10k"];
/** Two nodes without metrics differ by a twentieth in one run. */
const goal = { atMost: 1.05 };
/** Pairs of on and off. */
const rounds = 24;
/** Milliseconds of each. Others who use the machine disturb a short slice as a whole, or not at all. */
const slice = 250;
const connections = 16;

type Both = Record<"on" | "off", Contestant>;

const compare = async (both: Both, what: string, paths: readonly string[], run: Run): Promise<Row> => {
  run.say(`metrics: ${what}`);
  const { on, off } = await contest(both, { rounds: Math.max(rounds, run.rounds), slice }, { connections, requestsOf: () => paths });
  const note = `processor time; by requests ${(on.perSecond / off.perSecond).toFixed(2)}`;
  return { group: "metrics", what, figure: on.cpu, unit: "µs/req", against: "without metrics", peer: off.cpu, ratio: on.cpu / off.cpu, goal, note };
};

/** Each has a store of its own: of one, only one is the writer. */
const withBoth = async (cacheSize: number | undefined, measure: (both: Both) => Promise<Row[]>): Promise<Row[]> => {
  const copy = mkdtempSync(join(tmpdir(), "portico-bench-"));
  const process = openProcess<WithMetricsHandlers>("with-metrics");
  const usage = () => process.ask("usage", undefined);
  try {
    cpSync(storeFolder(size), copy, { recursive: true });
    const off = await process.ask("serve", { size: size.name, dataDir: storeFolder(size), metrics: false, cacheSize });
    const on = await process.ask("serve", { size: size.name, dataDir: copy, metrics: true, cacheSize });
    const rows = await measure({ off: { port: off, usage }, on: { port: on, usage } });
    await process.ask("stop", undefined);
    return rows;
  } finally {
    await process.close();
    rmSync(copy, { recursive: true });
  }
};

/** What metrics cost: the same requests, in turns, with and without them. */
export const measureMetrics: Measure = async (run) => {
  await buildStore(size, run.say);
  const hot = await withBoth(undefined, async (both) => [
    await compare(both, "one wallet, hot", [hotPaths["one wallet"] ?? ""], run),
    await compare(both, "delegates, hot", [hotPaths.delegates ?? ""], run),
  ]);
  const wallets = Array.from({ length: size.wallets - firstDelegate }, (_, index) => `/api/wallets/${walletAddress(firstDelegate + index)}`);
  const cold = await withBoth(0, async (both) => [await compare(both, "a wallet by address, each another, cold", wallets, run)]);
  return [...hot, ...cold];
};
