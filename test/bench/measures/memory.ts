import { putLoad } from "../load/load.js";
import { median } from "../load/statistics.js";
import type { Row } from "../table/row.js";
import { blocksBeyond } from "./blocks.js";
import { coldReads } from "./cold.js";
import { hotPaths } from "./hot.js";
import type { Measure, Run } from "./measure.js";
import { openPortico, type PorticoServer } from "./servers.js";

const connections = 16;
const megabyte = 1_000_000;
const limit = 400;
/** Blocks that can be reverted, with room to spare. */
const mostBlocks = 900;
/** By what factor memory may grow from the first third to the last. */
const flatness = 1.15;

const mixOf = async (portico: PorticoServer, run: Run, round: number): Promise<string[]> => {
  const mix = Array.from({ length: 300 }, () => Object.values(hotPaths)).flat();
  for (const { paths } of coldReads(portico, run.size)) mix.push(...(await paths(2_000, round)));
  return mix;
};

/** Reads for so many milliseconds, something else every few seconds. */
const read = async (portico: PorticoServer, run: Run, duration: number, tell: () => Promise<void>): Promise<void> => {
  const begun = performance.now();
  for (let round = 0; performance.now() - begun < duration; round++) {
    await putLoad({ port: portico.port, connections, requests: await mixOf(portico, run, round), rate: 2_000, duration: 5_000 });
    await tell();
  }
};

const ownMegabytes = async (portico: PorticoServer): Promise<number> => (await portico.usage()).own / megabyte;

/** Forges and reads at once. Returns megabytes, sampled every five seconds. */
const soak = async (portico: PorticoServer, run: Run): Promise<number[]> => {
  const beyond = blocksBeyond(run.size);
  const blocks = Math.min(run.soak, mostBlocks);
  const interval = (run.soak * 1_000) / blocks;
  const samples: number[] = [];
  const forge = async (): Promise<void> => {
    for (let count = 0; count < blocks; count++) {
      await portico.process.ask("hold", beyond(1));
      await portico.process.ask("forge", { blocks: 1, interval });
    }
  };
  await Promise.all([forge(), read(portico, run, run.soak * 1_000, async () => void samples.push(await ownMegabytes(portico)))]);
  await portico.process.ask("takeOut", undefined);
  return samples;
};

/** Memory that is not backed by files, so that the page cache of the store is not counted. */
export const measureMemory: Measure = async (run) => {
  const portico = await openPortico({ size: run.size.name });
  const small = await ownMegabytes(portico);
  run.say("memory: reading");
  await read(portico, run, run.slice * 10, () => Promise.resolve());
  const loaded = await ownMegabytes(portico);
  run.say(`memory: ${run.soak} seconds of forging and reading`);
  const samples = await soak(portico, run);
  await portico.close();
  const third = Math.max(1, Math.floor(samples.length / 3));
  const [first, last] = [median(samples.slice(0, third)), median(samples.slice(-third))];
  const most = Math.max(loaded, ...samples);
  const common = { group: "memory", unit: "MB" };
  const rows: Row[] = [
    { ...common, what: "beyond the page cache, the most", figure: most, against: "limit", peer: limit, ratio: most / limit, goal: { atMost: 1 }, note: `${small.toFixed(0)} MB at the start, ${loaded.toFixed(0)} MB after reading` },
    {
      ...common,
      what: `in the last third of ${run.soak} s of forging and reading`,
      figure: last,
      against: "in the first third",
      peer: first,
      ratio: last / first,
      goal: { atMost: flatness },
    },
  ];
  return rows;
};
