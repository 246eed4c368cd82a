import type { ChainSize, SizeName } from "../chain/sizes.js";
import { busiestAddress } from "../questions/parties.js";
import type { Curve } from "../table/results.js";
import type { Row } from "../table/row.js";
import { coldReads } from "./cold.js";
import { contest } from "./contest.js";
import { hotPaths } from "./hot.js";
import type { Run } from "./measure.js";
import { openPortico, type PorticoServer } from "./servers.js";

/** By what factor the logarithm grows from the first size to the last. */
const logarithmOf = (sizes: readonly ChainSize[]): number => {
  const [first, last] = [sizes[0], sizes.at(-1)];
  return first === undefined || last === undefined ? 1 : Math.log(last.transactions) / Math.log(first.transactions);
};

const connections = 4;

interface Request {
  what: string;
  /** For each size, one or more. */
  paths: ReadonlyMap<SizeName, readonly string[]>;
}

const middlePage = (path: string, rows: number): string => `${path}?page=${Math.max(1, Math.floor(rows / 200))}&limit=100`;

/** The same for every chain. */
const fixedRequests = (sizes: readonly ChainSize[]): Request[] => [
  ...Object.entries(hotPaths).map(([what, path]) => ({ what, paths: new Map(sizes.map(({ name }) => [name, [path]])) })),
  {
    what: "the middle page of all transactions",
    paths: new Map(sizes.map(({ name, transactions }) => [name, [middlePage("/api/transactions", transactions)]])),
  },
  { what: "the middle page of all wallets", paths: new Map(sizes.map(({ name, wallets }) => [name, [middlePage("/api/wallets", wallets)]])) },
  {
    what: "the middle page of the busiest wallet's transactions",
    paths: new Map(sizes.map(({ name, busiest }) => [name, [middlePage(`/api/wallets/${busiestAddress}/transactions`, busiest)]])),
  },
];

const count = 500;

/** Different for every request. */
const changingRequests = async (servers: readonly { size: ChainSize; server: PorticoServer }[]): Promise<Request[]> => {
  const bySize = servers.map(({ size, server }) => ({ size, reads: coldReads(server, size) }));
  const [first] = bySize;
  return Promise.all(
    (first?.reads ?? []).map(async ({ what }, index) => ({
      what,
      paths: new Map(
        await Promise.all(bySize.map(async ({ size, reads }) => [size.name, (await reads[index]?.paths(count, 0)) ?? []] as const)),
      ),
    })),
  );
};

/** What a request costs the serving process on chains of every size, with replies not cached. */
export const measureGrowth = async (run: Run): Promise<{ rows: Row[]; curves: Curve[] }> => {
  const servers = await Promise.all(run.sizes.map(async (size) => ({ size, server: await openPortico({ size: size.name, cacheSize: 0 }) })));
  const contestants = Object.fromEntries(servers.map(({ size, server }) => [size.name, server]));
  const curves: Curve[] = [];
  for (const { what, paths } of [...fixedRequests(run.sizes), ...(await changingRequests(servers))]) {
    run.say(`growth: ${what}`);
    const scores = await contest(contestants, { ...run, slice: run.slice / 2 }, { connections, requestsOf: (_, name) => paths.get(name as SizeName) ?? [] });
    curves.push({ what, points: run.sizes.map(({ name, transactions }) => ({ transactions, cost: scores[name]?.cpu ?? NaN })) });
  }
  await Promise.all(servers.map(({ server }) => server.close()));
  const rows = curves.map(({ what, points }): Row => {
    const [first, last] = [points[0]?.cost ?? NaN, points.at(-1)?.cost ?? NaN];
    return {
      group: "growth",
      what,
      figure: last,
      unit: "µs/req",
      against: `at ${run.sizes[0]?.name ?? ""}`,
      peer: first,
      ratio: last / first,
      goal: { atMost: logarithmOf(run.sizes) },
    };
  });
  return { rows, curves };
};
