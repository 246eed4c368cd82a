import { closeSync, copyFileSync, existsSync, fsyncSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { blocksBeyond } from "../chain/chain.js";
import type { ChainSize } from "../chain/sizes.js";
import { median } from "../load/statistics.js";
import type { Measure, Run } from "../measure.js";
import { openProcess } from "../processes/asking.js";
import type { PorticoHandlers } from "../processes/portico.js";
import { storeFolder } from "../stores/build.js";
import { limited, type Row } from "../table.js";
import { openPortico, type PorticoServer } from "./servers.js";

const group = "more machines";
/** Milliseconds for which a snapshot may stop writes. */
const longestStop = 50;
/** Blocks of one turn, after which they are reverted: the snapshot has to be taken back from there. */
const blocksOfTurn = 400;
/** Blocks below the end of the chain: what is to be a snapshot must be final. */
const below = 110;
/** Seconds in which a replica is to serve, where copying the file twice does not take longer. */
const startLimit = 60;

const snapshotIn = (lake: string): { file: string; bytes: number } | undefined => {
  const path = join(lake, "manifest.json");
  if (!existsSync(path)) return undefined;
  return (JSON.parse(readFileSync(path, "utf8")) as { snapshots: { file: string; bytes: number }[] }).snapshots[0];
};

/**
 * Writes empty blocks, which take next to nothing, so that a wait shows: at least so many turns, until `isEnough`. Returns the milliseconds of each by its place in
 * the turn, without those of the first turn: the first rounds after a start read all delegates from the disk.
 */
const write = async ({ process }: PorticoServer, size: ChainSize, least: number, isEnough: () => boolean): Promise<number[][]> => {
  const blocks = blocksBeyond(size, 0)(blocksOfTurn);
  const turns: number[][] = [];
  for (let turn = 0; turn <= least || !isEnough(); turn++) {
    await process.ask("hold", blocks);
    const forged = await process.ask("forge", { blocks: blocksOfTurn, interval: turn === 0 ? 0 : 50 });
    await process.ask("takeOut", undefined);
    if (turn > 0) turns.push(forged.map(({ spent }) => spent));
  }
  return turns;
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
  const replica = openProcess<PorticoHandlers>("portico");
  try {
    const spent = await secondsOf(async () => {
      const port = await replica.ask("follow", { url: `http://127.0.0.1:${node.port}`, dataDir });
      const tip = await tipAt(node.port);
      while ((await tipAt(port)) !== tip) await delay(20);
    });
    await replica.ask("stop", undefined);
    return spent;
  } finally {
    await replica.close();
  }
};

const measureIn = async (folder: string, run: Run): Promise<Row[]> => {
  const { size } = run;
  const lake = join(folder, "lake");
  run.say("more machines: writes without a snapshot");
  const plain = await openPortico({ size: size.name });
  // A node in service has its store in memory, as far as that goes.
  await plain.process.ask("touch", size.name);
  const without = await write(plain, size, 3, () => true);
  await plain.close();
  run.say("more machines: writes while a snapshot is taken");
  const options = { lake: { dir: lake, blocksPerFile: 2 * size.blocks, snapshotEvery: size.blocks - below } };
  const node = await openPortico({ size: size.name, options });
  await node.process.ask("touch", size.name);
  try {
    const turns = await write(node, size, 1, () => snapshotIn(lake) !== undefined);
    // One block of a turn takes 50 ms by itself at 10 million transactions.
    const usual = Array.from({ length: blocksOfTurn }, (_, place) => median(without.map((turn) => turn[place] ?? 0)));
    const longest = Math.max(...turns.flatMap((turn) => turn.map((spent, place) => spent - (usual[place] ?? 0))));
    const what = `the longest stop of ${turns.length * blocksOfTurn} empty blocks' writes while a snapshot is taken and packed: beyond what the same block takes without`;
    run.say("more machines: a replica from the snapshot");
    const { file = "", bytes = 0 } = snapshotIn(lake) ?? {};
    const copying = await secondsOf(() => copyFile(join(lake, file), join(folder, "copy")));
    const starts: number[] = [];
    for (let round = 0; round < Math.min(3, run.rounds); round++) {
      const dataDir = join(folder, `replica-${round}`);
      starts.push(await startReplica(node, dataDir));
      rmSync(dataDir, { recursive: true });
    }
    const started = `a replica from a snapshot of ${size.name} transactions, until it serves the node's tip`;
    const note = `the snapshot has ${(bytes / 1e6).toFixed(0)} MB; copying it takes ${copying.toFixed(1)} s`;
    return [
      limited({ group, what, figure: longest, unit: "ms" }, longestStop),
      limited({ group, what: started, figure: median(starts), unit: "s", note }, Math.max(startLimit, 2 * copying)),
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
