import { spawnSync } from "node:child_process";
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { createChainRules } from "../../src/chain/rules.js";
import { storeFile } from "../../src/store/lmdb/environment.js";
import { formatKey } from "../../src/store/layout/keys.js";
import { createReaderChain } from "../../src/store/reader-chain.js";
import { createStore, type Store, type StoreOptions } from "../../src/store/state/store.js";
import type { LmdbChain } from "../../src/store/lmdb-chain.js";
import { loadChain } from "../data/read.js";
import { eventually } from "../webhooks/stage.js";
import { closeTemporaryStores, temporaryFolder } from "./temporary-store.js";
import { programOf } from "../fixtures/programs.js";

const chain = loadChain("core3-testnet-a");
const rules = createChainRules(chain.network);
const writer = new URL("writer-process.ts", import.meta.url);

/** Another process writes the blocks and has ended when this returns; meanwhile the event loop has not turned. */
const writeElsewhere = (dataDir: string, from: number, to: number): void => {
  const { status, stderr } = spawnSync(process.execPath, [programOf(writer), dataDir, String(from), String(to)], { encoding: "utf8" });
  expect(status, stderr).to.equal(0);
};

describe("a store written by another process", () => {

  let dataDir: string;
  const opened: Store[] = [];
  const chains: LmdbChain[] = [];
  beforeEach(() => (dataDir = temporaryFolder()));
  afterEach(async () => {
    for (const one of chains.splice(0)) await one.stop();
    for (const store of opened.splice(0)) await store.stop();
    await closeTemporaryStores();
  });

  const open = (options: Partial<StoreOptions> = {}): Store => {
    const store = createStore({ dataDir, undoBlocks: 10, ...options }, { rules });
    opened.push(store);
    return store;
  };
  const write = async (height: number, { folder = dataDir, complete = true, change = (_store: Store): void => undefined } = {}): Promise<void> => {
    const store = createStore({ dataDir: folder, undoBlocks: 10 }, { rules });
    await store.apply(chain.blocks.slice(0, height).map(rules.parseBlock));
    if (complete) store.markComplete();
    change(store);
    await store.stop();
  };
  const lines: string[] = [];
  const told: string[] = [];
  const read = (): LmdbChain => {
    const logger = { debug: () => undefined, info: (line: string) => void told.push(line), warn: () => undefined, error: (line: string) => void lines.push(line) };
    const reader = createReaderChain({ dataDir, lookInterval: 5, patience: 0 }, { rules, logger });
    chains.push(reader);
    return reader;
  };
  beforeEach(() => [lines, told].forEach((list) => list.splice(0)));
  const codeOf = (error: unknown): unknown => (error as { code: unknown }).code;

  for (const access of ["read"] as const) {
    it(`is read as it is now, not as it was when the event loop last turned (${access})`, async () => {
      await write(5);
      const store = open({ access });
      expect(store.tip()?.height).to.equal(5);
      const before = store.snapshot();
      writeElsewhere(dataDir, 6, 9);
      expect(store.tip()?.height).to.equal(9);
      const after = store.snapshot();
      expect(after?.tip.id).to.equal(chain.blocks[8]?.id);
      expect(after?.block({ height: 9 })).to.include({ id: chain.blocks[8]?.id });
      // An open snapshot stays at one state.
      expect(before?.tip.height).to.equal(5);
      expect(before?.block({ height: 6 })).to.equal(undefined);
      expect(await before?.blocks({ filter: {}, order: { field: "height", direction: "desc" }, offset: 0, limit: 1 })).to.include({ total: 5 });
      before?.release?.();
      after?.release?.();
    });
  }

  it("is waited for until it exists and is complete", async () => {
    const reader = read();
    const starting = reader.start();
    expect(reader.snapshot()).to.equal(undefined);
    await write(3, { complete: false });
    expect(await Promise.race([starting.then(() => "started"), new Promise((resolve) => setImmediate(() => resolve("waiting")))])).to.equal("waiting");
    expect([reader.tipId(), reader.height(), reader.problem()]).to.deep.equal([undefined, 0, undefined]);
    writeElsewhere(dataDir, 4, 6);
    await starting;
    expect(told).to.deep.equal([`waiting: ${join(dataDir, "chain.mdb")} does not exist yet`]);
    expect([reader.tipId(), reader.height()]).to.deep.equal([chain.blocks[5]?.id, 6]);
  });

  it("is no longer waited for once the reader stops", async () => {
    const reader = read();
    const starting = reader.start();
    await reader.stop();
    await starting;
    expect(reader.snapshot()).to.equal(undefined);
    await write(2);
    await reader.start();
    expect(reader.height()).to.equal(2);
  });

  it("is refused when it has another layout, belongs to another network or is damaged", async () => {
    await write(2, { change: ({ environment: { db } }) => db.meta.putSync(formatKey, { layout: 99, nethash: chain.network.network.nethash }) });
    const layout = await read().start().catch((error: unknown) => error);
    expect(codeOf(layout)).to.equal("STORE_FOREIGN");
    expect((layout as Error).message).to.include("is not a store of layout 2");
    rmSync(storeFile(dataDir));
    await write(2, { change: ({ environment: { db } }) => db.meta.putSync(formatKey, { ...(db.meta.get(formatKey) as object), nethash: "aa" }) });
    expect(codeOf(await read().start().catch((error: unknown) => error))).to.equal("STORE_FOREIGN");
    writeFileSync(storeFile(dataDir), "no store at all".repeat(1_000));
    expect(codeOf(await read().start().catch((error: unknown) => error))).to.equal("STORE_DAMAGED");
  });

  it("is released when its file is replaced, after open reads end, and the new one is served if it can be", async () => {
    await write(20);
    const reader = read();
    await reader.start();
    const old = await reader.snapshot();

    const elsewhere = temporaryFolder();
    await write(7, { folder: elsewhere });
    renameSync(storeFile(elsewhere), storeFile(dataDir));
    const path = join(dataDir, "chain.mdb");
    const told = await eventually(() => reader.problem());
    expect(told).to.equal(`${path} was replaced or removed; the new store is served as soon as it is complete`);
    expect([reader.snapshot(), reader.tipId()]).to.deep.equal([undefined, undefined]);
    expect(await old?.block({ height: 20 })).to.include({ id: chain.blocks[19]?.id });
    old?.release?.();
    await eventually(() => reader.tipId());
    expect([reader.height(), reader.problem()]).to.deep.equal([7, undefined]);

    await write(3, { folder: elsewhere, change: ({ environment: { db } }) => db.meta.putSync(formatKey, { layout: 99, nethash: "aa" }) });
    renameSync(storeFile(elsewhere), storeFile(dataDir));
    expect(await eventually(() => (reader.problem()?.includes("is not a store of layout 2") === true ? reader.problem() : undefined))).to.include("move it away and the chain is reindexed");
    expect(reader.snapshot()).to.equal(undefined);
    expect(lines).to.have.length(3);
  });
});
