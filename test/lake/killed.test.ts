import { readFileSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { createLakeReader, openLake } from "../../src/lake/index.js";
import { loadChain } from "../data/read.js";
import { count, isLong } from "../fixtures/long.js";
import { temporaryFolder } from "../fixtures/folder.js";
import { until } from "../fixtures/until.js";
import { HostProcess, networkFolder } from "../replica/processes.js";

const { network, blocks: all } = loadChain("core3-testnet-a");
const blocks = isLong ? all : all.slice(0, 162);
/** The last multiple of 5 that is final: 102 blocks make one final. */
const end = Math.floor((blocks.length - 102) / 5) * 5;

const filesIn = (lake: string): number => {
  const path = join(lake, "manifest.json");
  return existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as { blocks: unknown[] }).blocks.length : 0;
};

describe("A node that is killed while it writes its lake", () => {
  const kills = count(1, 50);

  it(`goes on with it after each start (${kills} kills); what it has is whole, and others import it from its folder and its URL`, async () => {
    const [folder, lake, chain] = [networkFolder(network), temporaryFolder(), join(temporaryFolder(), "chain.ndjson")];
    writeFileSync(chain, blocks.map((block) => `${JSON.stringify(block)}\n`).join(""));
    const node = new HostProcess("node", ["--network", folder, "--import", chain, "--no-forge", "--lake", lake, "--lake-blocks", "5", "--lake-snapshots", "0"]);
    for (let kill = 0; kill < kills; kill++) {
      await node.start();
      const before = filesIn(lake);
      await until("another file", () => filesIn(lake) > before || filesIn(lake) === end / 5);
      await node.end("SIGKILL");
    }
    await node.start();
    await until("all files", () => filesIn(lake) === end / 5);
    const reader = createLakeReader(await openLake(lake, { nethash: network.network.nethash }));
    const ids: string[] = [];
    while (ids.length < end) ids.push(...(await reader.read(ids.length + 1, 100)).map(({ id }) => id));
    await reader.close();
    expect(ids).to.deep.equal(blocks.slice(0, end).map(({ id }) => id));

    const { data } = (await (await fetch(`${node.url}/blockchain?at=${end}`)).json()) as { data: { block: unknown; supply: number } };
    for (const from of [lake, `${node.url}/lake`]) {
      const other = await new HostProcess(`import from ${from}`, ["--network", folder, "--import", from, "--no-forge"]).start();
      await until("the whole import", async () => (await other.height()) === end);
      const imported = JSON.parse(await other.state()) as { block: unknown; supply: number };
      expect({ block: imported.block, supply: imported.supply }).to.deep.equal({ block: data.block, supply: data.supply });
    }
  });
});
