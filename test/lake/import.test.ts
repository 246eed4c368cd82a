import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { expect } from "chai";
import { type Host, startHost } from "../../examples/standalone/host.js";
import type { HostOptions } from "../../examples/standalone/options.js";
import { HostError } from "../../examples/standalone/program/host-error.js";
import { systemClock } from "../../src/async/clock.js";
import { type BlockFile, type Manifest, manifestBytes, sha256Of, signManifest } from "../../src/lake/manifest.js";
import { openNodeKey } from "../../src/files/node-key.js";
import type { BlockData } from "../../types/events.js";
import { onlyWhere } from "../fixtures/installed.js";
import { hasNginx, lakeServer, startNginx } from "../fixtures/nginx.js";
import { atEndOfTest } from "../at-end.js";
import { temporaryFolder } from "../fixtures/folder.js";
import { until } from "../fixtures/until.js";
import { chainBlocks, folderWith, network, startNodeWithLake } from "../replica/machines.js";
import { HostProcess, networkFolder } from "../replica/processes.js";
import { silentLogger } from "../silent.js";

/** Blocks in a file. */
const size = 40;
const end = size * 4;

describe("A lake's import by the example host", () => {
  onlyWhere(hasNginx, "nginx is not installed: no lake is imported from it");

  /** A node with a lake, which nginx serves, too. */
  const begin = async () => {
    const node = await startNodeWithLake({ snapshotEvery: 0 });
    const folder = node.lake.dir;
    const manifest = (): Manifest => JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8")) as Manifest;
    const nginx = await startNginx(lakeServer(folder));
    atEndOfTest(nginx.end);
    return { node, folder, url: `${nginx.origin}/lake`, manifest };
  };

  /** The example host in this process, without an import if no URL is given. */
  const start = async (url: string | undefined, options: Partial<HostOptions> = {}): Promise<Host> => {
    const own: HostOptions = { network: networkFolder(network), host: "127.0.0.1", port: 0, basePath: "/api", dataDir: temporaryFolder(), forge: false, workers: 1, allowTargets: [], logLevel: "info", logFormat: "json", accessLog: false };
    const host = await startHost({ ...own, ...(url === undefined ? {} : { import: url }), ...options }, { logger: silentLogger, clock: systemClock });
    if (host === undefined) throw new Error("the start was given up");
    atEndOfTest(host.stop);
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

  it("gives the same state from nginx, with a slash at the end of the URL, as from the node, without one", async () => {
    const { node, url } = await begin();
    const digests = new Set<string>();
    for (const [where, dataDir] of [[`${url}/`, temporaryFolder()], [`${node.url}/lake`, await folderWith(60)]] as const) {
      const host = await start(where, { dataDir });
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
      [() => put({ previous: none }), `${url}/manifests/${none}.json is missing, although the manifest after it names it as the previous one.`],
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

  describe("whose signature is right", () => {
    /** Puts a file of blocks into a lake with what is changed in its entry of the manifest, which is signed again, as the first. */
    const put = ({ node, folder, manifest }: Awaited<ReturnType<typeof begin>>, index: number, content: string | Buffer, entry: Partial<BlockFile> = {}): void => {
      const { signature: _, ...unsigned } = manifest();
      const blocks = unsigned.blocks.map((file, i) => {
        if (i !== index) return file;
        const packed = typeof content === "string" ? gzipSync(content) : content;
        writeFileSync(join(folder, file.file), packed);
        return { ...file, bytes: packed.length, sha256: sha256Of(packed), ...entry };
      });
      writeFileSync(join(folder, "manifest.json"), manifestBytes(signManifest({ ...unsigned, blocks, previous: null }, openNodeKey(node.dataDir).sign)));
    };

    const third = "blocks/000000081-000000120.ndjson.gz";

    /** The lines of the third file, some of which are changed. */
    const linesOf = (folder: string, change: (block: BlockData) => BlockData = (block) => block): string =>
      gunzipSync(readFileSync(join(folder, third))).toString("utf8").trimEnd().split("\n").map((line) => `${JSON.stringify(change(JSON.parse(line) as BlockData))}\n`).join("");

    const changedAt = (height: number, change: Partial<BlockData>) => (block: BlockData) => (block.height === height ? { ...block, ...change } : block);

    it("is at fault by file and line where its content is: a reward, what no block has, a block too many or too few, no gzip, another last block than the manifest's", async () => {
      const lake = await begin();
      const { folder, manifest } = lake;
      const good = linesOf(folder);
      const last = chainBlocks[119]?.id ?? "";
      // Each import but the first two goes on where the one before ended.
      const faults: [content: string | Buffer, message: string, kept: number, entry?: Partial<BlockFile>][] = [
        [linesOf(folder, changedAt(91, { totalFee: "1.5" })), `${third}, line 11: block 91: totalFee: "1.5" is not a whole number.`, 90],
        [Buffer.from("no gzip"), `${third}, line 1: incorrect header check.`, 80],
        [good.replace(/\n/, "\nnull\n"), `${third}, line 2: it is not a block.`, 81],
        [linesOf(folder, changedAt(91, { reward: "2000000001" })), `${third}, line 11: block 91 has the reward 2000000001, but `, 90],
        [good.split("\n").slice(0, 30).join("\n"), `${third} ends with block 110 (${chainBlocks[109]?.id ?? ""}), not with 120 (${last}) as its manifest says.`, 110],
        [`${good.slice(0, -1)}\n${JSON.stringify(chainBlocks[120])}\n`, `${third}, line 41: the file goes on after block 120, its last one.`, 119],
        [good, `${third} ends with block 120 (${last}), not 123 as its manifest says.`, 119, { last: "123" }],
      ];
      const whole = manifest();
      let dataDir = "";
      for (const [place, [content, message, kept, entry]] of faults.entries()) {
        if (place < 2) dataDir = temporaryFolder();
        put(lake, 2, content, { last: whole.blocks[2]?.last ?? "", ...entry });
        expect((await failureOf(folder, { dataDir })).slice(0, folder.length + 1 + message.length)).to.equal(`${folder}/${message}`);
        const again = await start(undefined, { dataDir });
        expect([message, again.plugin.health().height]).to.deep.equal([message, kept]);
        await again.stop();
      }
    });

    it("is refused by the name and the line where it has one line of more than 64 Mi characters", async () => {
      const lake = await begin();
      put(lake, 2, `${linesOf(lake.folder).split("\n").slice(0, 4).join("\n")}\n${"A".repeat(65 * 2 ** 20)}`);
      const dataDir = temporaryFolder();
      expect(await failureOf(lake.folder, { dataDir })).to.equal(`${lake.folder}/${third}, line 5: the line has more than ${64 * 2 ** 20} characters.`);
      expect((await start(undefined, { dataDir })).plugin.health().height).to.equal(84);
    });
  });
});
