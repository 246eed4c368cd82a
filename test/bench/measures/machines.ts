import { copyFileSync, closeSync, existsSync, fsyncSync, mkdtempSync, openSync, readFileSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { blockDataOf, createBenchChain } from "../chain/chain.js";
import type { ChainSize } from "../chain/sizes.js";
import { median } from "../load/statistics.js";
import { openProcess } from "../processes/asking.js";
import type { ReplicaHandlers } from "../processes/replica.js";
import { storeFolder } from "../stores/folders.js";
import type { Row } from "../table/row.js";
import type { Measure, Run } from "./measure.js";
import { openPortico, type PorticoServer } from "./servers.js";

/** Milliseconds for which a snapshot may stop writes. */
const longestStop = 50;
/** Milliseconds from one block to the next. */
const interval = 50;
/** Blocks of one turn, after which they are reverted: the snapshot has to be taken back from there. */
const blocksOfTurn = 400;
/** Blocks below the end of the chain: what is to be a snapshot must be final. */
const below = 110;
/** Seconds in which a replica is to serve, where copying the file twice does not take longer. */
const startLimit = 60;

interface Snapshots {
  snapshots: { file: string; bytes: number }[];
}

const manifestIn = (lake: string): Snapshots | undefined => {
  const path = join(lake, "manifest.json");
  return existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as Snapshots) : undefined;
};

/** Empty blocks beyond a chain's end: what they take to write is next to nothing, so that a wait shows. */
const emptyBlocks = (size: ChainSize, count: number) => {
  const chain = createBenchChain(size);
  chain.skipTo(size.blocks + 1);
  return Array.from({ length: count }, () => blockDataOf(chain.next(0)));
};

/**
 * Writes a block every now and then, at least so many, until `isEnough`. Returns the milliseconds that each took, without those of the first
 * turn: the first rounds after a start read all delegates from the disk.
 */
const write = async ({ process }: PorticoServer, size: ChainSize, least: number, isEnough: () => boolean): Promise<number[]> => {
  const blocks = emptyBlocks(size, blocksOfTurn);
  const waits: number[] = [];
  await process.ask("hold", blocks);
  await process.ask("forge", { blocks: blocksOfTurn, interval: 0 });
  await process.ask("takeOut", undefined);
  while (waits.length < least || !isEnough()) {
    await process.ask("hold", blocks);
    for (let turn = 0; turn < blocksOfTurn && (waits.length < least || !isEnough()); turn += 10) waits.push(...(await process.ask("forge", { blocks: 10, interval })));
    await process.ask("takeOut", undefined);
  }
  return waits;
};

const secondsOf = async (work: () => unknown): Promise<number> => {
  const begun = performance.now();
  await work();
  return (performance.now() - begun) / 1_000;
};

/** Copies a file to the disk. */
const copyFile = (from: string, to: string): void => {
  copyFileSync(from, to);
  const file = openSync(to, "r+");
  fsyncSync(file);
  closeSync(file);
  rmSync(to);
};

const tipAt = async (port: number): Promise<string | undefined> => {
  const reply = await fetch(`http://127.0.0.1:${port}/api/blockchain`);
  return reply.ok ? JSON.stringify(await reply.json()) : undefined;
};

/** Seconds from `followNode` until the replica serves the node's tip, digest and all. */
const startReplica = async (node: PorticoServer, dataDir: string): Promise<number> => {
  const replica = openProcess<ReplicaHandlers>("replica");
  try {
    const spent = await secondsOf(async () => {
      const port = await replica.ask("follow", { url: `http://127.0.0.1:${node.port}`, dataDir });
      const tip = await tipAt(node.port);
      while ((await tipAt(port)) !== tip) await delay(20);
    });
    const said = await replica.ask("said", undefined);
    if (!said.some((line) => line.startsWith("the store begins with "))) throw new Error(`the replica did not begin with the snapshot: ${said.join("; ")}`);
    await replica.ask("stop", undefined);
    return spent;
  } finally {
    await replica.close();
  }
};

const summaryOf = (waits: readonly number[]): string =>
  `median ${median(waits).toFixed(1)}, longest ${Math.max(...waits).toFixed(0)}, ${waits.filter((wait) => wait > longestStop).length} of ${waits.length} over ${longestStop}`;

/** What each block of a turn takes, from the times of some turns: one of them takes 50 ms by itself at 10 million transactions. */
const usualOf = (waits: readonly number[]): number[] => Array.from({ length: blocksOfTurn }, (_, turn) => median(waits.filter((_wait, index) => index % blocksOfTurn === turn)));

const snapshotRow = (with_: readonly number[], without: readonly number[], seconds: number, bytes: number): Row => {
  const usual = usualOf(without);
  const longest = Math.max(...with_.map((wait, index) => wait - (usual[index % blocksOfTurn] ?? 0)));
  return {
    ...{ group: "more machines", what: `the longest stop of ${with_.length} empty blocks' writes while a snapshot is taken and packed: beyond what the same block takes without`, figure: longest, unit: "ms", against: "limit", peer: longestStop },
    ...{ ratio: longest / longestStop, goal: { atMost: 1 } },
    note: `${summaryOf(with_)}; before and without a snapshot: ${summaryOf(without)}; the snapshot took ${seconds.toFixed(0)} s, ${(bytes / 1e6).toFixed(0)} MB`,
  };
};

const measureIn = async (folder: string, run: Run): Promise<Row[]> => {
  const { size } = run;
  const lake = join(folder, "lake");
  run.say("more machines: writes without a snapshot");
  const plain = await openPortico({ size: size.name });
  // A node in service has its store in memory, as far as that goes.
  await plain.process.ask("touch", size.name);
  const without = await write(plain, size, 1_000, () => true);
  await plain.close();
  run.say("more machines: writes while a snapshot is taken");
  const node = await openPortico({ size: size.name, lake: { dir: lake, blocksPerFile: 2 * size.blocks, snapshotEvery: size.blocks - below } });
  await node.process.ask("touch", size.name);
  try {
    let with_: number[] = [];
    const seconds = await secondsOf(async () => (with_ = await write(node, size, 200, () => manifestIn(lake) !== undefined)));
    const { file = "", bytes = 0 } = manifestIn(lake)?.snapshots[0] ?? {};
    run.say("more machines: a replica from the snapshot");
    const copying = await secondsOf(() => copyFile(join(lake, file), join(folder, "copy")));
    const starts: number[] = [];
    for (let round = 0; round < Math.min(3, run.rounds); round++) {
      const dataDir = join(folder, `replica-${round}`);
      starts.push(await startReplica(node, dataDir));
      rmSync(dataDir, { recursive: true });
    }
    const [figure, limit] = [median(starts), Math.max(startLimit, 2 * copying)];
    return [
      snapshotRow(with_, without, seconds, bytes),
      {
        ...{ group: "more machines", what: `a replica from a snapshot of ${size.name} transactions, until it serves the node's tip`, figure, unit: "s", against: "limit", peer: limit, ratio: figure / limit, goal: { atMost: 1 } },
        note: `copying the file takes ${copying.toFixed(1)} s; the node's store has ${(statSync(join(storeFolder(size), "chain.mdb")).size / 1e6).toFixed(0)} MB`,
      },
    ];
  } finally {
    await node.close();
  }
};

/** What a snapshot costs the node that takes it, and what it saves a replica that begins with it. */
export const measureMachines: Measure = async (run) => {
  // As large as the store, and on its disk.
  const folder = mkdtempSync(join(dirname(storeFolder(run.size)), "lake-"));
  try {
    return await measureIn(folder, run);
  } finally {
    rmSync(folder, { recursive: true });
    rmSync(join(storeFolder(run.size), "node-key"), { force: true });
  }
};
