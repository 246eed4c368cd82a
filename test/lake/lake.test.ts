import { EventEmitter } from "node:events";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { expect } from "chai";
import { blockLine } from "../../src/chain/blocks/block.js";
import { createChainRules } from "../../src/chain/rules.js";
import { createApiPlugin } from "../../src/index.js";
import { createLakeReader, createLakeWriter, openLake } from "../../src/lake/index.js";
import { type Manifest, manifestBytes, sha256Of, signManifest } from "../../src/lake/manifest.js";
import { openNodeKey } from "../../src/files/node-key.js";
import type { BlockData } from "../../types/events.js";
import type { LakeOptions } from "../../types/options.js";
import type { ApiPlugin } from "../../types/plugin.js";
import { atEndOfTest } from "../at-end.js";
import { type ChainName, loadChain } from "../data/read.js";
import { temporaryFolder } from "../fixtures/folder.js";
import { hasNginx, lakeServer, startNginx } from "../fixtures/nginx.js";
import { until } from "../fixtures/until.js";
import { silentLogger } from "../silent.js";

interface Node {
  plugin: ApiPlugin;
  url: string;
  errors: string[];
  digest(): Promise<string>;
}

/** A node whose chain is that of a file up to a height. */
const startNode = async (name: ChainName, dataDir: string, lake: LakeOptions | undefined, { upTo = Infinity, source }: { upTo?: number; source?: { read(from: number, limit: number): Promise<BlockData[]> } } = {}): Promise<Node> => {
  const { network, blocks } = loadChain(name);
  const chain = blocks.slice(0, upTo);
  const errors: string[] = [];
  const plugin = createApiPlugin({
    network,
    events: new EventEmitter(),
    dataDir,
    blocks: source ?? { read: (from, limit) => chain.slice(from - 1, from - 1 + limit) },
    logger: { ...silentLogger, error: (message: string) => void errors.push(message) },
    options: { finality: 10, rateLimit: false, webhooks: false, ...(lake === undefined ? {} : { lake }) },
  });
  atEndOfTest(() => plugin.stop());
  const server = await plugin.listen(0);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api`;
  const digest = async (): Promise<string> => ((await (await fetch(`${url}/blockchain`)).json()) as { data: { digest: string } }).data.digest;
  return { plugin, url, errors, digest };
};

const manifestOf = (dir: string): Manifest | undefined =>
  existsSync(join(dir, "manifest.json")) ? (JSON.parse(readFileSync(join(dir, "manifest.json"), "utf8")) as Manifest) : undefined;

const filesUpTo = (dir: string, height: number): Promise<Manifest> =>
  until(`the lake's blocks up to ${height}`, () => {
    const manifest = manifestOf(dir);
    return manifest?.blocks.at(-1)?.to === height && manifest;
  });

const failureOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "",
    (error: unknown) => String(error),
  );

const name = "core3-testnet-a";
const { network, blocks } = loadChain(name);
const { nethash } = network.network;

const readAll = async (path: string, key?: string): Promise<BlockData[]> => {
  const reader = createLakeReader(await openLake(path, { nethash, key }));
  const found: BlockData[] = [];
  try {
    while (found.length < reader.height()) found.push(...(await reader.read(found.length + 1, 70)));
    return found;
  } finally {
    await reader.close();
  }
};

describe("lines of chain files", () => {
  for (const each of ["core3-testnet-a", "core3-custom-c"] as const) {
    it(`of ${each} have every member that the chain's own lines have, and no other`, () => {
      const { network: its, blocks: all } = loadChain(each);
      const rules = createChainRules(its);
      for (const block of all) {
        const full = rules.parseBlock(block);
        const again = JSON.parse(blockLine(full)) as BlockData;
        expect(rules.parseBlock(again)).to.deep.equal(full);
        expect(blockLine(rules.parseBlock(again))).to.equal(blockLine(full));
        expect(again, `block ${block.height}`).to.deep.equal(block);
      }
    });
  }
});

describe("a lake", () => {
  const dir = temporaryFolder();
  const dataDir = temporaryFolder();
  let node: Node;

  before(async () => {
    node = await startNode(name, dataDir, { dir, blocksPerFile: 100 });
    await filesUpTo(dir, 200);
  });

  /** A copy of the folder that a test may damage. */
  const copied = (): string => {
    const copy = temporaryFolder();
    cpSync(dir, copy, { recursive: true });
    return copy;
  };

  it("has exactly as many blocks in each file as it is told, and only final ones", () => {
    const manifest = manifestOf(dir);
    expect(readdirSync(join(dir, "blocks"))).to.deep.equal(["000000001-000000100.ndjson.gz", "000000101-000000200.ndjson.gz"]);
    expect(manifest?.final).to.deep.equal({ height: 258, id: blocks[257]?.id });
    expect(manifest?.blocks.map(({ from, to, last }) => [from, to, last])).to.deep.equal([
      [1, 100, blocks[99]?.id],
      [101, 200, blocks[199]?.id],
    ]);
    for (const { file, bytes, sha256 } of manifest?.blocks ?? []) {
      const content = readFileSync(join(dir, file));
      expect(content.length).to.equal(bytes);
      expect(sha256Of(content)).to.equal(sha256);
    }
    const lines = gunzipSync(readFileSync(join(dir, "blocks/000000101-000000200.ndjson.gz"))).toString("utf8").trimEnd().split("\n");
    expect(lines.map((line) => (JSON.parse(line) as BlockData).id)).to.deep.equal(blocks.slice(100, 200).map(({ id }) => id));
  });

  it("keeps the manifests before, each named by its hash, and the newest names the one before it", () => {
    const { previous } = manifestOf(dir) as Manifest;
    expect(readdirSync(join(dir, "manifests"))).to.deep.equal([`${previous}.json`]);
    const older = readFileSync(join(dir, `manifests/${previous}.json`));
    expect(sha256Of(older)).to.equal(previous);
    expect((JSON.parse(older.toString("utf8")) as Manifest).previous).to.equal(null);
  });

  it("is signed with the key of the node, which only its owner can read", () => {
    expect(manifestOf(dir)?.key).to.equal(openNodeKey(dataDir).publicKey.toString("base64"));
    if (process.platform !== "win32") expect(statSync(join(dataDir, "node-key")).mode & 0o777).to.equal(0o600);
  });

  it("is read back from the folder and from the node's URL, with or without a slash at the end", async () => {
    const { network: its } = loadChain(name);
    const rules = createChainRules(its);
    const expected = blocks.slice(0, 200).map(rules.parseBlock);
    for (const path of [dir, `${dir}/`, `${node.url}/lake`, `${node.url}/lake/`]) expect((await readAll(path)).map(rules.parseBlock), path).to.deep.equal(expected);
  });

  it("gives a node that imports it the same state, digest and all", async () => {
    const reader = createLakeReader(await openLake(`${node.url}/lake`, { nethash }));
    const imported = await startNode(name, temporaryFolder(), undefined, { source: reader });
    const same = await startNode(name, temporaryFolder(), undefined, { upTo: 200 });
    await until("the import", () => imported.plugin.health().height === 200);
    expect(await imported.digest()).to.equal(await same.digest());
    await reader.close();
  });

  it("is served with ranges and as what never changes, except for the manifest, which has an ETag", async () => {
    const file = "blocks/000000001-000000100.ndjson.gz";
    const whole = await fetch(`${node.url}/lake/${file}`, { headers: { "accept-encoding": "gzip" } });
    expect(whole.headers.get("content-type")).to.equal("application/gzip");
    expect(whole.headers.get("content-encoding")).to.equal(null);
    expect(whole.headers.get("cache-control")).to.include("immutable");
    expect(Buffer.from(await whole.arrayBuffer()).equals(readFileSync(join(dir, file)))).to.equal(true);
    const part = await fetch(`${node.url}/lake/${file}`, { headers: { range: "bytes=10-19" } });
    expect(part.status).to.equal(206);
    expect(Buffer.from(await part.arrayBuffer()).equals(readFileSync(join(dir, file)).subarray(10, 20))).to.equal(true);
    const manifest = await fetch(`${node.url}/lake/manifest.json`);
    expect(manifest.headers.get("cache-control")).to.equal("no-cache");
    expect(Buffer.from(await manifest.arrayBuffer()).equals(readFileSync(join(dir, "manifest.json")))).to.equal(true);
    const again = await fetch(`${node.url}/lake/manifest.json`, { headers: { "if-none-match": manifest.headers.get("etag") ?? "", "cache-control": "max-age=0" } });
    expect(again.status).to.equal(304);
    const { previous } = manifestOf(dir) as Manifest;
    expect((await fetch(`${node.url}/lake/manifests/${previous}.json`)).status).to.equal(200);
    for (const unknown of ["blocks/000000201-000000300.ndjson.gz", "blocks/..%2fmanifest.json", "snapshots/1-2.mdb.gz", `manifests/${"0".repeat(64)}.json`]) {
      expect((await fetch(`${node.url}/lake/${unknown}`)).status, unknown).to.equal(404);
    }
  });

  it("is not found at a node that has none", async () => {
    const without = await startNode(name, temporaryFolder(), undefined, { upTo: 3 });
    for (const path of ["manifest.json", "blocks/000000001-000000100.ndjson.gz"]) {
      const reply = await fetch(`${without.url}/lake/${path}`);
      expect([reply.status, ((await reply.json()) as { message: string }).message], path).to.deep.equal([404, "This node has no lake."]);
    }
  });

  it("is served by nginx from the same folder", async function () {
    if (!hasNginx()) {
      console.log("      nginx is not installed: the lake is not read through it");
      return this.skip();
    }
    const nginx = await startNginx(lakeServer(dir));
    try {
      const url = `${nginx.origin}/lake`;
      expect((await readAll(url)).map(({ id }) => id)).to.deep.equal(blocks.slice(0, 200).map(({ id }) => id));
      const file = await fetch(`${url}/blocks/000000001-000000100.ndjson.gz`, { headers: { range: "bytes=0-9" } });
      expect([file.status, file.headers.get("content-type"), file.headers.get("content-encoding")]).to.deep.equal([206, "application/gzip", null]);
      expect(file.headers.get("cache-control")).to.include("immutable");
      expect((await fetch(`${url}/manifest.json`)).headers.get("cache-control")).to.equal("no-cache");
    } finally {
      await nginx.end();
    }
  });

  it("that is damaged is refused by the name of the file, and the blocks before the damage are good", async () => {
    const file = "blocks/000000101-000000200.ndjson.gz";
    const faults: [what: string, damage: (path: string) => void, expected: RegExp][] = [
      ["a byte changed", (path) => { const bytes = readFileSync(path); bytes[500] = (bytes[500] ?? 0) ^ 1; writeFileSync(path, bytes); }, /is damaged/],
      ["cut off", (path) => writeFileSync(path, readFileSync(path).subarray(0, -1)), /bytes, not/],
      ["missing", (path) => rmSync(path), /is missing/],
    ];
    for (const [what, damage, expected] of faults) {
      const copy = copied();
      damage(join(copy, file));
      const reader = createLakeReader(await openLake(copy, { nethash }));
      const good: BlockData[] = [];
      const fault = await failureOf((async () => { for (;;) good.push(...(await reader.read(good.length + 1, 70))); })());
      await reader.close();
      expect(good.map(({ id }) => id), what).to.deep.equal(blocks.slice(0, 100).map(({ id }) => id));
      expect(fault, what).to.match(expected).and.to.include(join(copy, file));
    }
  });

  it("whose manifests are changed, unsigned or do not follow one another is refused before anything is read", async () => {
    const edited = (change: (manifest: Manifest) => Manifest): string => {
      const copy = copied();
      writeFileSync(join(copy, "manifest.json"), manifestBytes(change(manifestOf(dir) as Manifest)));
      return copy;
    };
    const own = openNodeKey(dataDir);
    const resigned = (change: Partial<Manifest>): string => edited(({ signature: _, ...manifest }) => signManifest({ ...manifest, ...change }, own.sign));
    const missing = copied();
    rmSync(join(missing, "manifests"), { recursive: true });
    const cut = copied();
    writeFileSync(join(cut, "manifest.json"), readFileSync(join(cut, "manifest.json")).subarray(0, 300));
    const { blocks: files } = manifestOf(dir) as Manifest;
    const cases: [string, RegExp][] = [
      [edited((manifest) => ({ ...manifest, final: { height: 1, id: "1" } })), /its signature is not that of its key/],
      [missing, /is missing, although the manifest after it names it/],
      [cut, /is not JSON/],
      [resigned({ previous: "0".repeat(64) }), /is missing/],
      [resigned({ blocks: files.slice(1) }), /is broken at blocks\/000000101/],
      [resigned({ blocks: files.map((file) => ({ ...file, sha256: "0".repeat(64) })) }), /has another blocks\/000000001/],
      [resigned({ network: { nethash: "another" } }), /a lake of the network another/],
      [temporaryFolder(), /is not a lake/],
    ];
    for (const [path, expected] of cases) expect(await failureOf(openLake(path, { nethash }))).to.match(expected);
    for (const path of ["http://127.0.0.1:1/la\nke", "http://127.0.0.1:1/lake "]) expect(await failureOf(openLake(path, { nethash }))).to.match(/control characters or spaces/);
  });

  it("must be signed with the key that is demanded", async () => {
    const { key } = manifestOf(dir) as Manifest;
    expect(await failureOf(openLake(dir, { nethash, key }))).to.equal("");
    expect(await failureOf(openLake(dir, { nethash, key: Buffer.alloc(32, 7).toString("base64") }))).to.match(/is signed with the key/);
  });

  it("is gone on with after a restart, without what a killed process has left; another node, or another size of files, is refused", async () => {
    const [lake, data] = [temporaryFolder(), temporaryFolder()];
    const first = await startNode(name, data, { dir: lake, blocksPerFile: 50 }, { upTo: 120 });
    await filesUpTo(lake, 100);
    await first.plugin.stop();
    writeFileSync(join(lake, "blocks", ".draft-left"), "half a file");
    mkdirSync(join(lake, "snapshots"));
    writeFileSync(join(lake, "snapshots", "100-1.mdb.gz"), "a snapshot that the manifest does not list");
    mkdirSync(join(data, "snapshot-draft"));
    const second = await startNode(name, data, { dir: lake, blocksPerFile: 50 });
    const manifest = await filesUpTo(lake, 250);
    expect(readdirSync(join(lake, "blocks")).filter((file) => file.startsWith("."))).to.deep.equal([]);
    expect([readdirSync(join(lake, "snapshots")), existsSync(join(data, "snapshot-draft"))]).to.deep.equal([[], false]);
    expect(readdirSync(join(lake, "manifests"))).to.have.length(manifest.blocks.length - 1);
    expect((await readAll(lake)).map(({ id }) => id)).to.deep.equal(blocks.slice(0, 250).map(({ id }) => id));
    await second.plugin.stop();

    const other = await startNode(name, temporaryFolder(), { dir: lake, blocksPerFile: 50 });
    expect(await until("the refusal", () => other.errors[0])).to.include("is the lake of another node");
    const larger = await startNode(name, data, { dir: lake, blocksPerFile: 60 });
    expect(await until("the refusal", () => larger.errors[0])).to.include("has 50 blocks in a file, not 60: a folder keeps its `blocksPerFile` (--lake-blocks 50 of the example host)");
    expect(manifestOf(lake)).to.deep.equal(manifest);
  });

  it("that cannot be written is tried again after longer and longer pauses; that it fails is said once, and that it no longer does", async () => {
    const lake = temporaryFolder();
    // What a writer neither removes nor writes over.
    const obstacles = [join(lake, ".draft-left"), join(lake, "blocks", "000000001-000000100.ndjson.gz")];
    for (const obstacle of obstacles) mkdirSync(obstacle, { recursive: true });
    const lines: string[] = [];
    let [tries, now] = [0, 1_000];
    const openSnapshot = () => {
      tries++;
      return node.plugin.chain.snapshot();
    };
    const logger = { ...silentLogger, error: (line: string) => void lines.push(line), info: (line: string) => void lines.push(line) };
    const options = { dir: lake, blocksPerFile: 100, snapshotEvery: 0, keepSnapshots: 1 };
    const writer = createLakeWriter(options, { nethash, key: openNodeKey(dataDir), openSnapshot, finalHeight: (tip) => tip - 10, logger, now: () => now, lookInterval: 1 });
    const failures = (): string[] => lines.filter((line) => line.startsWith("the lake cannot be written"));
    now += 50_000;
    writer.start();
    try {
      await until("the first failure", () => failures().length === 1);
      expect(tries).to.equal(0);
      rmSync(obstacles[0] ?? "", { recursive: true });
      await until("the second failure", () => failures().length === 2);
      const [before, begun] = [tries, performance.now()];
      await until("further tries", () => tries >= before + 8);
      expect(performance.now() - begun).to.be.above(15);
      // Some days later.
      now += 432_000_000;
      expect(writer.progress()).to.deep.equal({ height: 0, age: 432_000_000 });
      rmSync(obstacles[1] ?? "", { recursive: true });
      await filesUpTo(lake, 200);
      await until("the end of it", () => lines.includes("the lake can be written again"));
      expect(failures()).to.have.length(2);
      await until("a success", () => writer.progress().age === 0);
      expect(writer.progress().height).to.be.at.least(200);
    } finally {
      await writer.stop();
    }
  });

  it("has a file once its last block is final, however long it would be until the next look", async () => {
    const lake = temporaryFolder();
    let [final, moved] = [50, (): void => undefined];
    const watch = (changed: () => void) => {
      moved = changed;
      return () => undefined;
    };
    const options = { dir: lake, blocksPerFile: 50, snapshotEvery: 0, keepSnapshots: 1 };
    const openSnapshot = () => node.plugin.chain.snapshot();
    const writer = createLakeWriter(options, { nethash, key: openNodeKey(dataDir), openSnapshot, finalHeight: () => final, logger: silentLogger, now: () => 0, watch, lookInterval: 600_000 });
    writer.start();
    try {
      for (const height of [50, 100, 150]) {
        final = height;
        moved();
        await filesUpTo(lake, height);
      }
    } finally {
      await writer.stop();
    }
  });
});
