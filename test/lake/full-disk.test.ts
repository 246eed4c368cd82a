import { spawnSync } from "node:child_process";
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { createLakeReader, openLake } from "../../src/lake/index.js";
import { loadChain } from "../data/read.js";
import { onlyWhere } from "../fixtures/installed.js";
import { temporaryFolder } from "../fixtures/folder.js";
import { until } from "../fixtures/until.js";
import { HostProcess, networkFolder } from "../replica/processes.js";

const { network, blocks: all } = loadChain("core3-testnet-a");
const blocks = all.slice(0, 202);
const { nethash } = network.network;
/** The last multiple of 5 that is final: 102 blocks make one final. */
const end = Math.floor((blocks.length - 102) / 5) * 5;

/** Runs what comes after it where a folder is a file system of its own, which ends with the process, and of which a file leaves 64 KiB. */
const onSmallDisk = (folder: string): [string, ...string[]] => [
  "unshare",
  ...[process.getuid?.() === 0 ? "-m" : "-Urm", "sh", "-c"],
  ...['mount -t tmpfs -o size=2m tmpfs "$0" && head -c 1984k /dev/zero > "$0/filler" && exec "$@"', folder],
];

const canMount = (): boolean => {
  const [program, ...rest] = onSmallDisk(temporaryFolder());
  return spawnSync(program, [...rest, "true"]).status === 0;
};

describe("A node whose lake is on a disk that becomes full", () => {
  onlyWhere(canMount, "no file system can be mounted here: a lake on a full disk is not tested");

  it("goes on without it and says so, lists only whole files, and writes it on when there is room", async () => {
    const [lake, chain] = [temporaryFolder(), join(temporaryFolder(), "chain.ndjson")];
    writeFileSync(chain, blocks.map((block) => `${JSON.stringify(block)}\n`).join(""));
    const node = new HostProcess("node", ["--network", networkFolder(network), "--import", chain, "--no-forge", "--lake", lake, "--lake-blocks", "5", "--lake-snapshots", "0"]);
    node.within = onSmallDisk(lake);
    await node.start();
    /** The folder as the node sees it. */
    const seen = join(`/proc/${node.pid ?? 0}/root`, lake);
    const lines = (text: string): string[] => node.output.join("").split("\n").filter((line) => line.includes(text));

    /** Ids of the blocks in the lake, all of whose files are checked. */
    const read = async (): Promise<string[]> => {
      const reader = createLakeReader(await openLake(`${node.url}/lake`, { nethash }));
      const ids: string[] = [];
      while (ids.length < reader.height()) ids.push(...(await reader.read(ids.length + 1, 100)).map(({ id }) => id));
      await reader.close();
      return ids;
    };

    await until("word of the full disk", () => lines("the lake cannot be written: ENOSPC: no space left on device").length > 0);
    await until("the whole chain", async () => (await node.height()) === blocks.length);
    const ready = await fetch(`${node.url}/health/ready`);
    expect(ready.status, await ready.text()).to.equal(200);
    const before = await read();
    expect(before.length).to.be.within(5, end - 5);
    expect(before).to.deep.equal(blocks.slice(0, before.length).map(({ id }) => id));

    rmSync(join(seen, "filler"));
    await until("word that there is room", () => lines("the lake can be written again").length > 0);
    expect(await read()).to.deep.equal(blocks.slice(0, end).map(({ id }) => id));
    expect(lines("the lake cannot be written")).to.have.length(1);
    expect(readdirSync(join(seen, "blocks"))).to.have.length(end / 5);
  });
});
