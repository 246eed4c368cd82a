import type { ChainSize } from "../chain/sizes.js";
import { busiestAddress } from "../chain/parties.js";
import type { Measure } from "../measure.js";
import type { Row } from "../table.js";
import { coldReads } from "./cold.js";
import { contest } from "./contest.js";
import { hotPaths } from "./hot.js";
import { openPortico, type PorticoServer } from "./servers.js";

const connections = 4;
/** Requests that each ask for something else. */
const count = 500;

const middlePage = (path: string, rows: number): string => `${path}?page=${Math.max(1, Math.floor(rows / 200))}&limit=100`;

/** What is asked of one chain, by its name in the table. */
const requestsOf = async (size: ChainSize, server: PorticoServer): Promise<Record<string, string[]>> => {
  const requests: Record<string, string[]> = {
    ...Object.fromEntries(Object.entries(hotPaths).map(([what, path]) => [what, [path]])),
    "the middle page of all transactions": [middlePage("/api/transactions", size.transactions)],
    "the middle page of all wallets": [middlePage("/api/wallets", size.wallets)],
    "the middle page of the busiest wallet's transactions": [middlePage(`/api/wallets/${busiestAddress}/transactions`, size.busiest)],
  };
  for (const { what, paths } of coldReads(server, size)) requests[what] = await paths(count, 0);
  return requests;
};

/** What a request costs the serving process on the largest chain and on the smallest, with replies not cached: it may grow as the logarithm does. */
export const measureGrowth: Measure = async (run) => {
  const { smallest } = run;
  if (run.size === smallest) throw new Error("growth compares two sizes: --size 100k or larger");
  const open = (size: ChainSize) => openPortico({ size: size.name, options: { cacheSize: 0 } });
  const [small, large] = await Promise.all([open(smallest), open(run.size)]);
  const requests = { small: await requestsOf(smallest, small), large: await requestsOf(run.size, large) };
  const atMost = Math.log(run.size.transactions) / Math.log(smallest.transactions);
  const rows: Row[] = [];
  for (const what of Object.keys(requests.large)) {
    run.say(`growth: ${what}`);
    const load = { connections, requestsOf: (_: number, name: "small" | "large") => requests[name][what] ?? [] };
    const scores = await contest({ small, large }, { ...run, slice: run.slice / 2 }, load);
    const [figure, peer] = [scores.large.cpu, scores.small.cpu];
    rows.push({ group: "growth", what, figure, unit: "µs/req", against: `at ${smallest.name}`, peer, ratio: figure / peer, goal: { atMost } });
  }
  await Promise.all([small.close(), large.close()]);
  return rows;
};
