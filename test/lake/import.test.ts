import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { type Host, startHost } from "../../examples/standalone/host.js";
import type { HostOptions } from "../../examples/standalone/options.js";
import { HostError } from "../../examples/standalone/program/host-error.js";
import { systemClock } from "../../src/clock.js";
import { type Manifest, manifestBytes, signManifest } from "../../src/lake/manifest.js";
import { openNodeKey } from "../../src/node-key.js";
import { onlyWhere } from "../fixtures/installed.js";
import { hasNginx, lakeServer, startNginx } from "../fixtures/nginx.js";
import { atEnd, chainBlocks, closeAll, network, temporaryFolder, TestNode, until } from "../replica/machines.js";
import { HostProcess, networkFolder } from "../replica/processes.js";
import { silentLogger } from "../silent.js";

/** Blocks in a file. */
const size = 40;
const files = 4;
const end = size * files;

describe("A lake's import by the example host", function () {
  this.timeout(120_000);
  afterEach(closeAll);

  onlyWhere(hasNginx, "nginx is not installed: no lake is imported from it");

  /** A node with a lake, which nginx serves, too. */
  const begin = async () => {
    const folder = join(temporaryFolder(), "lake");
    mkdirSync(folder);
    const node = await new TestNode(end + 20, { dir: folder, blocksPerFile: size, snapshotEvery: 0, keepSnapshots: 2 }).start();
    const manifest = (): Manifest => JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8")) as Manifest;
    await until("the lake", async () => (await fetch(`${node.url}/lake/manifest.json`)).ok && manifest().blocks.length === files);
    const nginx = await startNginx(lakeServer(folder));
    atEnd(nginx.end);
    return { node, folder, url: `${nginx.origin}/lake`, manifest };
  };

  /** The example host in this process, without an import if no URL is given. */
  const start = async (url: string | undefined, options: Partial<HostOptions> = {}): Promise<Host> => {
    const own: HostOptions = { network: networkFolder(network), host: "127.0.0.1", port: 0, dataDir: temporaryFolder(), forge: false, workers: 1, allowTargets: [], logLevel: "info", logFormat: "json", accessLog: false };
    const host = await startHost({ ...own, ...(url === undefined ? {} : { import: url }), ...options }, { logger: silentLogger, clock: systemClock });
    if (host === undefined) throw new Error("the start was given up");
    atEnd(host.stop);
    return host;
  };

  /** What ends it, at its start or later. */
  const failureOf = async (url: string, options: Partial<HostOptions> = {}): Promise<string> => {
    try {
      const host = await start(url, options);
      const failure = await host.failed;
      await host.stop();
      return failure.message;
    } catch (error) {
      if (error instanceof HostError) return error.message;
      throw error;
    }
  };

  it("gives the same state from nginx as from the node, whose folder both serve, with and without a slash at the end of the URL", async () => {
    const { node, url } = await begin();
    const digests = new Set<string>();
    for (const where of [`${url}/`, url, `${node.url}/lake/`, `${node.url}/lake`]) {
      const host = await start(where);
      await until(`the import from ${where}`, () => host.plugin.health().height === end);
      const { data } = (await (await fetch(`${host.url}/blockchain`)).json()) as { data: { block: { id: string }; digest: string } };
      expect(data.block.id).to.equal(chainBlocks[end - 1]?.id);
      digests.add(data.digest);
      await host.stop();
    }
    expect(digests.size).to.equal(1);
  });

  it("ends with an exit status and the file's name where one is damaged, keeps the good ones before it, and goes on once the file is mended", async () => {
    const { folder, url, manifest } = await begin();
    const { file } = manifest().blocks[2] ?? { file: "" };
    const path = join(folder, file);
    const whole = readFileSync(path);
    writeFileSync(path, Buffer.concat([whole.subarray(0, 99), Buffer.from([(whole[99] ?? 0) ^ 1]), whole.subarray(100)]));
    const program = new HostProcess("the import", ["--network", networkFolder(network), "--no-forge", "--import", url]);
    expect(await program.run()).to.equal(1);
    expect(program.output.join("")).to.contain(`${url}/${file} is damaged: its SHA-256 is`);
    const { dataDir } = program;
    writeFileSync(path, whole.subarray(0, -1));
    expect(await failureOf(url, { dataDir })).to.contain(`${url}/${file} has ${whole.length - 1} bytes, not ${whole.length}`);
    rmSync(path);
    expect(await failureOf(url, { dataDir })).to.contain(`${url}/${file} is missing`);
    const kept = await start(undefined, { dataDir });
    expect(kept.plugin.health().height).to.equal(2 * size);
    await kept.stop();
    writeFileSync(path, whole);
    const again = await start(url, { dataDir });
    await until("the rest", () => again.plugin.health().height === end);
  });

  it("is refused, with nothing imported, for another network's lake, manifests that do not follow one another, another key, and where no lake is", async () => {
    const { node, folder, url, manifest } = await begin();
    const own = openNodeKey(node.dataDir);
    const { signature: _, ...unsigned } = manifest();
    const good = manifestBytes(manifest());
    const put = (change: Partial<Manifest>): void => writeFileSync(join(folder, "manifest.json"), manifestBytes(signManifest({ ...unsigned, ...change }, own.sign)));
    const older = join(folder, "manifests", `${unsigned.previous ?? ""}.json`);
    cpSync(older, `${older}.kept`);
    const none = "0".repeat(64);
    const faults: [damage: () => void, message: string, options?: Partial<HostOptions>][] = [
      [() => put({ network: { nethash: "another" } }), `${url} is a lake of the network another, not of ${network.network.nethash}.`],
      [() => put({ previous: none }), `${url}/manifests/${none}.json is missing: the manifest after it names it as the one before.`],
      [() => writeFileSync(older, readFileSync(older).subarray(1)), `${url}/manifests/${unsigned.previous ?? ""}.json is not what its name says`],
      [() => undefined, `${url} is signed with the key ${unsigned.key}, not with `, { lakeKey: Buffer.alloc(32, 7).toString("base64") }],
      [() => rmSync(join(folder, "manifest.json")), `${url} is not a lake: it has no manifest.json.`],
    ];
    const dataDir = temporaryFolder();
    for (const [damage, message, options] of faults) {
      writeFileSync(join(folder, "manifest.json"), good);
      cpSync(`${older}.kept`, older);
      damage();
      expect(await failureOf(url, { ...options, dataDir })).to.match(new RegExp(`^${message.replaceAll(/[.+?/]/g, "\\$&")}`));
    }
    expect((await start(undefined, { dataDir })).plugin.health().height).to.equal(1);
  });
});
