import { performance } from "node:perf_hooks";
import { firstDelegate } from "../../chain/deeds.js";
import { below, createChance } from "../../chain/mixing.js";
import { publicKeyOf, usernameOf } from "../../chain/names.js";
import { activeDelegates, type ChainSize } from "../../chain/sizes.js";
import { median } from "../../load/statistics.js";
import { walletAddress } from "../../questions/parties.js";
import type { Row } from "../../table/row.js";
import { contest } from "../contest.js";
import type { Run } from "../measure.js";
import { keepApart } from "../../processes/cores.js";
import { bodyAt, type PorticoServer } from "../servers.js";

const group = "history";
const connections = 32;

/** A path at a random height, and the same at the tip. */
interface Asked {
  past: string;
  tip: string;
}

type Kind = "wallet" | "delegate";

/** The wallets of the first blocks are the busiest, and all that are asked for had appeared at that height. */
const asking: Record<Kind, (size: ChainSize, chance: () => number) => Asked> = {
  wallet: ({ blocks, wallets }, chance) => {
    const height = Math.floor(blocks / 50) + below(chance, blocks - Math.floor(blocks / 50));
    const tip = `/api/wallets/${walletAddress(firstDelegate + below(chance, Math.floor((wallets * 0.9 * height) / blocks)))}`;
    return { tip, past: `${tip}?at=${height}` };
  },
  delegate: ({ blocks }, chance) => {
    const tip = `/api/delegates/${usernameOf(firstDelegate + below(chance, activeDelegates))}`;
    return { tip, past: `${tip}?at=${2 + below(chance, blocks - 2)}` };
  },
};

const measureOne = async (kind: Kind, portico: PorticoServer, run: Run): Promise<Row[]> => {
  run.say(`history: one ${kind} at random heights`);
  const chance = createChance(kind.length);
  const count = Math.floor(run.slice * 16);
  const asked = Array.from({ length: run.rounds + 1 }, () => Array.from({ length: count }, () => asking[kind](run.size, chance)));
  const requestsOf = (round: number, name: keyof Asked): string[] => (asked[round] ?? []).map((one) => one[name]);
  const load = { connections, requestsOf, once: true };
  const work = await contest({ past: portico, tip: portico }, run, load);
  const together = keepApart(portico.process.child.pid);
  const time = await contest({ past: portico, tip: portico }, run, load).finally(together);
  const what = `one ${kind} at a random height`;
  const apart = together === undefined ? "the load has no core of its own" : "the load has a core of its own";
  return [
    { group, what, figure: work.past.cpu, unit: "µs/req", against: "at the tip", peer: work.tip.cpu, ratio: work.past.cpu / work.tip.cpu, goal: { atMost: 2 }, note: "processor time over HTTP, nothing cached" },
    { group, what: `${what}, p99 at ${connections} connections`, figure: time.past.p99, unit: "ms", against: "limit", peer: 3, ratio: time.past.p99 / 3, goal: { atMost: 1 }, note: `at the tip: ${time.tip.p99.toFixed(2)} ms; ${apart}` },
  ];
};

/** Milliseconds for each of these, one after the other. */
const timed = async ({ port }: PorticoServer, paths: readonly string[]): Promise<number[]> => {
  const times: number[] = [];
  for (const path of paths) {
    const begun = performance.now();
    await bodyAt(port, path);
    times.push(performance.now() - begun);
  }
  return times;
};

/** The delegate whose number of voters is closest to a thousand, and that number. */
const wellVoted = async ({ port }: PorticoServer, { delegates }: ChainSize): Promise<{ publicKey: string; voters: number }> => {
  let found = { publicKey: publicKeyOf(firstDelegate), voters: 0 };
  for (let number = firstDelegate; number < firstDelegate + Math.min(activeDelegates, delegates); number++) {
    const publicKey = publicKeyOf(number);
    const { meta } = JSON.parse(Buffer.from(await bodyAt(port, `/api/delegates/${publicKey}/voters?limit=1`)).toString()) as { meta: { totalCount: number } };
    if (Math.abs(meta.totalCount - 1_000) < Math.abs(found.voters - 1_000)) found = { publicKey, voters: meta.totalCount };
  }
  return found;
};

const measureVoters = async (portico: PorticoServer, run: Run): Promise<Row> => {
  run.say("history: voters with balances at random heights");
  const { publicKey, voters } = await wellVoted(portico, run.size);
  const path = `/api/delegates/${publicKey}/voters/balances`;
  const chance = createChance(5);
  const pasts = Array.from({ length: run.quick ? 20 : 100 }, () => `${path}?at=${Math.floor(run.size.blocks * 0.9) + below(chance, Math.floor(run.size.blocks * 0.1))}`);
  await timed(portico, pasts.slice(0, 10));
  const [past, tip] = [median(await timed(portico, pasts)), median(await timed(portico, Array.from({ length: 20 }, () => path)))];
  const what = `the ${voters} voters of a delegate with their balances, at a random height`;
  return { group, what, figure: past, unit: "ms", against: "limit", peer: 20, ratio: past / 20, goal: { atMost: 1 }, note: `at the tip: ${tip.toFixed(1)} ms; heights in the last tenth, at which it has about as many` };
};

/** Single rows and the voters of a delegate at heights that nobody has asked about, over HTTP. */
export const measurePastReads = async (portico: PorticoServer, run: Run): Promise<Row[]> => [
  ...(await measureOne("wallet", portico, run)),
  ...(await measureOne("delegate", portico, run)),
  await measureVoters(portico, run),
];
