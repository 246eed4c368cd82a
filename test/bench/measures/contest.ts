import { type Asked, type LoadFigures, putLoad } from "../load/load.js";
import { median, quantile } from "../load/statistics.js";
import type { Run } from "../measure.js";

/** A server that takes part. */
export interface Contestant {
  readonly port: number;
  /** Microseconds of processor time that it has taken. */
  cpuTime(): Promise<number>;
}

/** The results of a load on one server: medians of all rounds. */
export interface Score {
  perSecond: number;
  /** Microseconds of processor time a request. */
  cpu: number;
  /** Part of one processor that the server had work for. */
  busy: number;
  /** Milliseconds. */
  p99: number;
}

interface Heat extends LoadFigures {
  cpu: number;
}

const runHeat = async ({ port, cpuTime }: Contestant, load: { connections: number; requests: readonly Asked[]; duration?: number }): Promise<Heat> => {
  const before = await cpuTime();
  const figures = await putLoad({ port, ...load });
  return { ...figures, cpu: (await cpuTime()) - before };
};

const scoreOf = (heats: readonly Heat[]): Score => ({
  perSecond: median(heats.map(({ perSecond }) => perSecond)),
  cpu: median(heats.map(({ cpu, requests }) => cpu / requests)),
  busy: median(heats.map(({ cpu, spent }) => cpu / 1_000 / spent)),
  p99: median(heats.map(({ latencies }) => quantile(latencies, 0.99))),
});

/** Requests after which a server gets no faster: Node.js has compiled and optimized it, and its memory has found its size. */
const warmUp = 20_000;

/** The same load on each contestant in turn, round after round, once all are warm. */
export const contest = async <Name extends string>(
  contestants: Record<Name, Contestant>,
  run: Pick<Run, "rounds" | "slice">,
  { connections, requestsOf, once = false }: { connections: number; requestsOf(round: number, name: Name): readonly Asked[]; once?: boolean },
): Promise<Record<Name, Score>> => {
  const names = Object.keys(contestants) as Name[];
  const heats = new Map<Name, Heat[]>(names.map((name) => [name, []]));
  for (const name of names) {
    const some = requestsOf(0, name);
    await putLoad({ port: contestants[name].port, connections, requests: Array.from({ length: warmUp }, (_, index) => some[index % some.length] ?? "") });
  }
  for (let round = 1; round <= run.rounds; round++) {
    for (const name of names) {
      const requests = requestsOf(round, name);
      heats.get(name)?.push(await runHeat(contestants[name], { connections, requests, ...(once ? {} : { duration: run.slice }) }));
    }
  }
  return Object.fromEntries(names.map((name) => [name, scoreOf(heats.get(name) ?? [])])) as Record<Name, Score>;
};

/** A server that is busier than this is the bottleneck. */
const saturated = 0.9;

/**
 * Ratio of the first to the second: of requests a second if both servers were the bottleneck; else, and in quick runs, of the processor
 * time that a request costs.
 */
export const ratioOf = (first: Score, second: Score, { quick }: Pick<Run, "quick">): { ratio: number; note: string } => {
  const [bySpeed, byCpu] = [first.perSecond / second.perSecond, second.cpu / first.cpu];
  const cpu = `${first.cpu.toFixed(0)} to ${second.cpu.toFixed(0)} µs of processor`;
  if (quick || first.busy < saturated || second.busy < saturated) return { ratio: byCpu, note: `by processor: ${cpu}; by requests ${bySpeed.toFixed(2)}` };
  return { ratio: bySpeed, note: `${cpu}: ${byCpu.toFixed(2)}` };
};
