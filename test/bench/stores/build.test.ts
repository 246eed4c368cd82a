import { existsSync } from "node:fs";
import { expect } from "chai";
import { createBenchChain } from "../chain/chain.js";
import { type ChainSize, genesisTransactions, sizes } from "../chain/sizes.js";
import { closeTemporaryStores, contentsOf, openTemporaryStore, temporaryFolder } from "../../store/temporary-store.js";
import { buildStore, isBuilt, putBack, storeFolder } from "./build.js";

const size: ChainSize = { ...sizes["10k"], transactions: genesisTransactions + 450 + 9, blocks: 80, fullBlocks: 3, singleBlocks: 9, wallets: 90, delegates: 55 };

describe("building a bench store", () => {
  const given = process.env.PORTICO_BENCH_DIR;

  afterEach(async () => {
    if (given === undefined) delete process.env.PORTICO_BENCH_DIR;
    else process.env.PORTICO_BENCH_DIR = given;
    await closeTemporaryStores();
  });

  it("resumes where it was interrupted, with the same result", async () => {
    const said: string[] = [];
    const built = async (): Promise<Record<string, string[]>> => {
      const folder = await buildStore(size, (line) => said.push(line));
      expect(isBuilt(size)).to.equal(true);
      return contentsOf(openTemporaryStore(createBenchChain(size).network, { dataDir: folder }).store);
    };
    process.env.PORTICO_BENCH_DIR = temporaryFolder();
    const atOnce = await built();

    process.env.PORTICO_BENCH_DIR = temporaryFolder();
    const chain = createBenchChain(size);
    const { store } = openTemporaryStore(chain.network, { dataDir: `${storeFolder(size)}.unfinished` });
    while (chain.height <= 41) await store.apply([chain.next()]);
    await store.stop();
    expect(isBuilt(size)).to.equal(false);
    expect(await built()).to.deep.equal(atOnce);
    expect(said.join("\n")).to.include("goes on at block 41");
    expect(existsSync(`${storeFolder(size)}.unfinished`)).to.equal(false);
  });

  it("restores its state after an interrupted measurement", async () => {
    process.env.PORTICO_BENCH_DIR = temporaryFolder();
    const dataDir = await buildStore(size, () => undefined);
    const chain = createBenchChain(size);
    chain.skipTo(size.blocks + 1);
    const first = openTemporaryStore(chain.network, { dataDir }).store;
    const before = contentsOf(first);
    await first.apply([chain.next(150)]);
    await first.apply([chain.next(0)]);
    await first.stop();
    await putBack(size);
    expect(contentsOf(openTemporaryStore(chain.network, { dataDir }).store)).to.deep.equal(before);
  });
});
