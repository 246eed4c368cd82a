import type { MaybePromise } from "../../../types/chain-adapter.js";
import { createChance, below } from "../chain/mixing.js";
import { transactionId } from "../chain/names.js";
import { firstDelegate } from "../chain/deeds.js";
import type { ChainSize } from "../chain/sizes.js";
import { walletAddress } from "../chain/parties.js";
import type { Measure, Run } from "../measure.js";
import { limited, type Row } from "../table.js";
import { contest, ratioOf } from "./contest.js";
import { bodyAt, openPeer, openPortico, type PorticoServer } from "./servers.js";

/** Requests that each ask for something else. */
export interface ColdRead {
  readonly what: string;
  /** As the peer's router has it. */
  readonly route: string;
  paths(count: number, round: number): MaybePromise<string[]>;
}

const connections = 32;
const pageSize = 10;

/** Different numbers below `all`. Of few, each round takes the next ones; of many, they are spread, and rounds rarely share one. */
const pick = (all: number, count: number, round: number): number[] => {
  const chance = createChance(round + 1);
  if (count * 20 > all) return Array.from({ length: count }, (_, index) => (index + round * count) % all);
  const stretch = Math.floor(all / count);
  return Array.from({ length: count }, (_, index) => index * stretch + below(chance, stretch));
};

export const coldReads = (portico: PorticoServer, size: ChainSize): ColdRead[] => {
  const shuffled = <T>(items: T[], round: number): T[] => {
    const chance = createChance(round + 77);
    return items.map((item) => ({ item, at: chance() })).sort((a, b) => a.at - b.at).map(({ item }) => item);
  };
  const addresses = (count: number, round: number): string[] =>
    shuffled(pick(size.wallets - firstDelegate, count, round), round).map((wallet) => walletAddress(firstDelegate + wallet));
  return [
    {
      what: "a wallet by address, each another",
      route: "/api/wallets/:id",
      paths: (count, round) => addresses(count, round).map((address) => `/api/wallets/${address}`),
    },
    {
      what: "a transaction by id, each another",
      route: "/api/transactions/:id",
      paths: (count, round) =>
        shuffled(pick(size.transactions, count, round), round).map((transaction) => `/api/transactions/${transactionId(transaction)}`),
    },
    {
      what: "a random page of a random wallet's transactions",
      route: "/api/wallets/:id/transactions",
      paths: async (count, round) => {
        const chance = createChance(round + 2_000);
        const of = addresses(count, round);
        const totals = await portico.process.ask("owned", of);
        return of.map((address, index) => {
          const pages = Math.max(1, Math.ceil((totals[index] ?? 0) / pageSize));
          return `/api/wallets/${address}/transactions?page=${1 + below(chance, pages)}&limit=${pageSize}`;
        });
      },
    },
  ];
};

/** With fewer wallets, replies are not cached: the same ones would be asked for again. */
const manyWallets = 100_000;

/** Requests of one round: enough for a 99th percentile, and few enough that, of many rows, the same one is rarely asked for again. */
const requestsFor = ({ slice }: Run): number => Math.floor(slice * 32);

/** A reply of the usual length, for the peer to send. */
const usualBody = async (port: number, paths: readonly string[]): Promise<Uint8Array> => {
  const bodies = await Promise.all(paths.slice(0, 101).map((path) => bodyAt(port, path)));
  bodies.sort((a, b) => a.length - b.length);
  const usual = bodies[bodies.length >> 1];
  if (usual === undefined) throw new Error("there is no reply to take the length of");
  return usual;
};

export const measureCold: Measure = async (run) => {
  const { size } = run;
  const portico = await openPortico({ size: size.name, ...(size.wallets < manyWallets ? { options: { cacheSize: 0 } } : {}) });
  run.say("cold: reading the store into memory");
  await portico.process.ask("touch", size.name);
  const reads = coldReads(portico, size);
  const rows: Row[] = [];
  const count = requestsFor(run);
  for (const { what, route, paths } of reads) {
    run.say(`cold: ${what}`);
    const koa = await openPeer("koa", [{ path: route, body: await usualBody(portico.port, await paths(200, 99)) }]);
    const lists: string[][] = [];
    for (let round = 0; round <= run.rounds; round++) lists.push(await paths(count, round));
    const scores = await contest({ portico, koa }, run, { connections, requestsOf: (round) => lists[round] ?? [], once: true });
    const { ratio, note } = ratioOf(scores.portico, scores.koa, run);
    const [figure, peer, note99] = [scores.portico.perSecond, scores.koa.perSecond, `bare Koa: ${scores.koa.p99.toFixed(1)} ms`];
    rows.push(
      { group: "cold", what, figure, unit: "req/s", against: "bare Koa", peer, ratio, goal: { atLeast: 0.5 }, note: `store in memory; ${note}` },
      limited({ group: "cold", what: `${what}, p99 at ${connections} connections`, figure: scores.portico.p99, unit: "ms", note: note99 }, 3),
    );
    await koa.close();
  }
  await portico.close();
  return rows;
};
