import { EventEmitter } from "node:events";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { createApiPlugin, verifyStore } from "../../src/index.js";
import { openLake, unpackSnapshot } from "../../src/lake/index.js";
import { type Manifest, manifestBytes, signManifest } from "../../src/lake/manifest.js";
import { openNodeKey } from "../../src/files/node-key.js";
import { restoreFromLake } from "../../src/plugin/replica-context.js";
import type { LmdbChain } from "../../src/store/lmdb-chain.js";
import type { BlockData } from "../../types/events.js";
import type { ApiPlugin } from "../../types/plugin.js";
import { atEndOfTest } from "../at-end.js";
import { loadChain } from "../data/read.js";
import { temporaryFolder } from "../fixtures/folder.js";
import { until } from "../fixtures/until.js";
import { createMemoryAdapter } from "../memory-adapter/adapter.js";
import { silentLogger } from "../silent.js";

const { network, blocks } = loadChain("core3-custom-c");
const { nethash } = network.network;
const digestIn = async (plugin: ApiPlugin): Promise<string | undefined> => {
  const snapshot = await plugin.chain.snapshot();
  const digest = snapshot?.digest;
  snapshot?.release?.();
  return digest;
};

/** Of the states after each of the blocks that these tests apply. */
const digests = ((): (string | undefined)[] => {
  const memory = createMemoryAdapter(network);
  return blocks.slice(0, 250).map((block) => {
    memory.apply(block);
    return (memory.snapshot() as { digest?: string } | undefined)?.digest;
  });
})();

const digestAt = (height: number): string | undefined => digests[height - 1];

const manifestOf = (dir: string): Manifest | undefined =>
  existsSync(join(dir, "manifest.json")) ? (JSON.parse(readFileSync(join(dir, "manifest.json"), "utf8")) as Manifest) : undefined;

describe("snapshots of a lake", () => {
  const [dir, dataDir] = [temporaryFolder(), temporaryFolder()];
  const secret = "a secret that no snapshot may have";
  /** Blocks that the host's chain has so far. */
  let chain = blocks.slice(0, 160);
  let read: number[] = [];

  const events = new EventEmitter();
  const grow = (height: number): void => {
    chain = blocks.slice(0, height);
    events.emit("block.applied", chain.at(-1));
  };

  const createNode = (folder: string, lake: boolean): ApiPlugin => {
    const plugin = createApiPlugin({
      network,
      events,
      dataDir: folder,
      blocks: {
        read: (from, limit): BlockData[] => {
          read.push(from);
          return chain.slice(from - 1, from - 1 + limit);
        },
      },
      logger: silentLogger,
      options: { finality: 10, webhooks: { tokens: ["a token of the test"] }, ...(lake ? { lake: { dir, blocksPerFile: 50, snapshotEvery: 50, keepSnapshots: 2 } } : {}) },
    });
    atEndOfTest(() => plugin.stop());
    return plugin;
  };

  const snapshotAt = (height: number): Promise<Manifest> =>
    until(`the snapshot of block ${height}`, () => {
      const manifest = manifestOf(dir);
      return manifest?.snapshots.at(-1)?.height === height && manifest;
    });

  let node: ApiPlugin;
  before(async () => {
    node = createNode(dataDir, true);
    await node.start();
    node.webhooks?.create({ event: "block.forged", target: "http://198.41.0.4/", conditions: [{ key: "id", condition: "eq", value: secret }] });
    await snapshotAt(150);
  });

  it("are of final blocks, with the digest of the state after them, and nothing of how they were made is left", async () => {
    const [snapshot] = manifestOf(dir)?.snapshots ?? [];
    expect(snapshot).to.include({ height: 150, id: blocks[149]?.id, layout: 2, digest: digestAt(150), file: `snapshots/150-${blocks[149]?.id}.mdb.gz` });
    await until("the removal of the draft", () => !existsSync(join(dataDir, "snapshot-draft")));
  });

  it("are taken of a chain whose genesis the host has with amounts as bigints", async () => {
    const folder = temporaryFolder();
    const { genesisBlock } = network;
    const transactions = genesisBlock.transactions?.map((one) => ({ ...one, amount: BigInt(String(one.amount)), fee: BigInt(String(one.fee)) }));
    const plugin = createApiPlugin({
      network: { ...network, genesisBlock: { ...genesisBlock, reward: BigInt(String(genesisBlock.reward)), ...(transactions === undefined ? {} : { transactions }) } },
      events: new EventEmitter(),
      dataDir: temporaryFolder(),
      blocks: { read: (from, limit) => blocks.slice(from - 1, Math.min(80, from - 1 + limit)) },
      logger: silentLogger,
      options: { finality: 10, lake: { dir: folder, blocksPerFile: 50, snapshotEvery: 50 } },
    });
    atEndOfTest(() => plugin.stop());
    await plugin.start();
    const { snapshots } = await until("the snapshot", () => (manifestOf(folder)?.snapshots.length ?? 0) > 0 && manifestOf(folder));
    expect(snapshots[0]).to.include({ height: 50, digest: digestAt(50) });
    await plugin.stop();
  });

  it("that cannot be made leave no copy behind, which would keep a full disk full", async () => {
    const folder = temporaryFolder();
    const errors: string[] = [];
    const plugin = createApiPlugin({
      network,
      events: new EventEmitter(),
      dataDir: folder,
      blocks: { read: (from, limit) => blocks.slice(from - 1, Math.min(80, from - 1 + limit)) },
      logger: { ...silentLogger, error: (line) => void errors.push(line) },
      options: { finality: 10, lake: { dir: temporaryFolder(), blocksPerFile: 50, snapshotEvery: 50 } },
    });
    atEndOfTest(() => plugin.stop());
    const chainOf = plugin.chain as unknown as Required<Pick<LmdbChain, "copyAt">>;
    const { copyAt } = chainOf;
    chainOf.copyAt = async (...given) => {
      await copyAt(...given);
      expect(readdirSync(join(folder, "snapshot-draft"))).to.include("chain.mdb");
      throw new Error("no space left on device");
    };
    await plugin.start();
    await until("the failure", () => errors.length > 0);
    expect(errors).to.deep.equal(["the lake cannot be written: no space left on device"]);
    expect(existsSync(join(folder, "snapshot-draft"))).to.equal(false);
    await plugin.stop();
  });

  it("have no webhooks, no tokens and no secrets in any of their bytes", async () => {
    const files = await openLake(dir, { nethash });
    const file = join(temporaryFolder(), "chain.mdb");
    const [snapshot] = files.manifest.snapshots;
    if (snapshot === undefined) throw new Error("there is no snapshot");
    await unpackSnapshot(files, snapshot, file);
    const bytes = readFileSync(file);
    expect(readFileSync(join(dataDir, "webhooks.mdb")).includes(secret)).to.equal(true);
    for (const text of [secret, "webhooks-register", "198.41.0.4"]) expect(bytes.includes(text), text).to.equal(false);
  });

  it("start a store that is the same as one that has read the blocks, and goes on and back from there", async () => {
    const folder = temporaryFolder();
    const height = await restoreFromLake(await openLake(dir, { nethash }), { dataDir: folder, network, logger: silentLogger });
    expect(height).to.equal(150);
    expect(readdirSync(folder)).to.deep.equal(["chain.mdb"]);
    expect(await verifyStore({ dataDir: folder, nethash })).to.deep.include({ faults: [], sound: true, height: 150, digest: digestAt(150) });
    read = [];
    const restored = createNode(folder, false);
    await restored.start();
    await restored.settled();
    expect(Math.min(...read)).to.be.above(140);
    expect(await digestIn(restored)).to.equal(await digestIn(node));
    expect(restored.webhooks?.list({ offset: 0, limit: 10 })).to.deep.include({ total: 0 });
    await restored.stop();
    expect((await verifyStore({ dataDir: folder, nethash })).faults).to.deep.equal([]);
  });

  it("are refused where the layout is another, or the state is not what the manifest says; the folder stays without a store", async () => {
    const manifest = manifestOf(dir) as Manifest;
    const changed = async (change: Partial<Manifest["snapshots"][number]>): Promise<string[]> => {
      const { signature: _, ...unsigned } = manifest;
      writeFileSync(join(dir, "manifest.json"), manifestBytes(signManifest({ ...unsigned, snapshots: manifest.snapshots.map((one) => ({ ...one, ...change })) }, openNodeKey(dataDir).sign)));
      const [folder, lines] = [temporaryFolder(), [] as string[]];
      const add = (line: string): void => void lines.push(line);
      const files = await openLake(dir, { nethash });
      expect(await restoreFromLake(files, { dataDir: folder, network, logger: { ...silentLogger, info: add, warn: add } })).to.equal(undefined);
      expect(readdirSync(folder)).to.deep.equal([]);
      return lines;
    };
    try {
      expect((await changed({ layout: 8 })).join()).to.include("has layout 8, not 2, so the blocks are read instead");
      expect((await changed({ digest: "0".repeat(64) })).join()).to.include("the snapshot of block 150 has the state");
      expect((await changed({ id: "1" })).join()).to.include("not of 150 (1)");
    } finally {
      writeFileSync(join(dir, "manifest.json"), manifestBytes(manifest));
    }
  });

  it("are taken again as the chain grows, and only the newest are kept", async () => {
    grow(215);
    await snapshotAt(200);
    grow(265);
    const { snapshots } = await snapshotAt(250);
    expect(snapshots.map(({ height }) => height)).to.deep.equal([200, 250]);
    expect(snapshots.map(({ digest }) => digest)).to.deep.equal([digestAt(200), digestAt(250)]);
    const left = (): string[] => readdirSync(join(dir, "snapshots")).map((file) => `snapshots/${file}`);
    expect(await until("the removal", () => left().length === 2 && left())).to.deep.equal(snapshots.map(({ file }) => file));
  });
});
