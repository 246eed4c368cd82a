import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect } from "chai";
import { verifyStore } from "../../src/index.js";
import { createLakeReader, openLake } from "../../src/lake/index.js";
import type { BlockData } from "../../types/events.js";
import { loadChain } from "../data/read.js";
import { count, isLong, seedOr } from "../fixtures/long.js";
import { runProgram } from "../fixtures/process.js";
import { randomFrom } from "../follow/schedule.js";
import { closeStores, closeTemporaryStores, contentsOf, openTemporaryStore, temporaryFolder } from "../store/temporary-store.js";
import { importOptions, lakeEnds } from "./import-options.js";

const kills = count(2, 500);
const { network, blocks: all } = loadChain("core3-custom-c");
const blocks = isLong ? all : all.slice(0, 64);
const { nethash } = network.network;

const readLake = async (dir: string): Promise<BlockData[]> => {
  const reader = createLakeReader(await openLake(dir, { nethash, key: undefined }));
  const found: BlockData[] = [];
  try {
    while (found.length < reader.height()) found.push(...(await reader.read(found.length + 1, 100)));
    return found;
  } finally {
    await reader.close();
  }
};

/** Every database of a store but `meta`, which also notes what a process did. */
const chainIn = async (dataDir: string): Promise<Record<string, string[]>> => {
  const { store } = openTemporaryStore(network, { dataDir, undoBlocks: importOptions.undoBlocks });
  const { meta, ...rest } = contentsOf(store);
  expect(meta?.length).to.be.greaterThan(3);
  await closeStores();
  return rest;
};

describe("a node that is killed while it imports a chain and writes its lake", () => {
  afterEach(closeTemporaryStores);

  it(`has, after ${kills} kills, byte for byte the store of one that was not, and a lake in which every block and sum is right`, async () => {
    const random = randomFrom(seedOr(31));
    const start = (folder: string) => runProgram("test/promises/importing-node.ts", [join(folder, "data"), join(folder, "lake"), String(blocks.length)]);
    const begin = (): string => {
      const folder = temporaryFolder();
      for (const name of ["data", "lake"]) mkdirSync(join(folder, name));
      return folder;
    };
    let [done, chains] = [0, 0];
    const clean = begin();
    const whole = start(clean);
    await whole.line(/^whole/);
    whole.kill("SIGTERM");
    await whole.ended;
    const { digest } = await verifyStore({ dataDir: join(clean, "data"), nethash });
    const expected = await chainIn(join(clean, "data"));
    const inLake = blocks.slice(0, lakeEnds(blocks.length).block).map(({ id }) => id);

    const check = async (folder: string): Promise<void> => {
      const found = await verifyStore({ dataDir: join(folder, "data"), nethash });
      expect({ faults: found.faults, digest: found.digest, height: found.height }).to.deep.equal({ faults: [], digest, height: blocks.length });
      const chain = await chainIn(join(folder, "data"));
      for (const [database, rows] of Object.entries(expected)) expect(chain[database]?.join("\n") === rows.join("\n"), database).to.equal(true);
      expect((await readLake(join(folder, "lake"))).map(({ id }) => id)).to.deep.equal(inLake);
      const manifest = JSON.parse(readFileSync(join(folder, "lake/manifest.json"), "utf8")) as { snapshots: { height: number; id: string }[] };
      for (const { height, id } of manifest.snapshots) expect(id).to.equal(blocks[height - 1]?.id);
      chains++;
      rmSync(folder, { recursive: true });
    };

    let folder = begin();
    while (done < kills) {
      const node = start(folder);
      const isWhole = node.line(/^whole/).then(
        () => true,
        () => false,
      );
      // At a height, or a moment after it: some kills meet the opening of the store, the others the import, the lake or a node at its tip.
      const height = Math.floor(random() * blocks.length * 1.1);
      const least = (): boolean => node.lines.some((line) => Number(/^height (\d+)/.exec(line)?.[1] ?? -1) >= height);
      const later = random() * 60;
      const isReached = async (): Promise<void> => {
        while (!least() && !node.lines.includes("whole")) await delay(3);
        await delay(later);
      };
      if (random() < 0.15) await delay(random() * 1_000);
      else await isReached();
      node.kill("SIGKILL");
      await node.ended;
      done++;
      if (!(await isWhole)) continue;
      await check(folder);
      folder = begin();
    }
    const last = start(folder);
    await last.line(/^whole/);
    last.kill("SIGKILL");
    await last.ended;
    await check(folder);
    console.log(`      ${done + 1} kills, ${chains} chains of ${blocks.length} blocks compared`);
  });
});
