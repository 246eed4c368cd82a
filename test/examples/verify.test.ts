import { closeSync, openSync, statSync, writeSync } from "node:fs";
import { expect } from "chai";
import { HostError } from "../../examples/standalone/program/host-error.js";
import { verify } from "../../examples/standalone/verify.js";
import { formatKey } from "../../src/store/layout/keys.js";
import { newestMeta, openPageFile } from "../../src/store/lmdb/safe/page-file.js";
import { loadChain } from "../data/read.js";
import { networkFolder } from "../replica/processes.js";
import { closeStores, closeTemporaryStores, openStoreAt, openTemporaryStore, temporaryFolder } from "../store/temporary-store.js";

const chain = loadChain("core3-custom-c");

describe("npm start -- --verify", () => {
  afterEach(closeTemporaryStores);

  const told = async (options: Parameters<typeof verify>[0]): Promise<{ status: number; lines: string[] }> => {
    const lines: string[] = [];
    return { status: await verify(options, (line) => void lines.push(line)), lines };
  };

  const makeStore = async () => {
    const { store, dataDir } = await openStoreAt("core3-custom-c", 20);
    await closeStores();
    return { dataDir, path: store.environment.path };
  };

  it("prints height and id of a sound store, and exits with 0", async () => {
    const { dataDir, path } = await makeStore();
    const before = statSync(path).mtimeMs;
    const { status, lines } = await told({ dataDir, network: "local", verify: "any" });
    expect([status, lines[0], lines[1], lines[3]]).to.deep.equal([0, "height  20", `id      ${chain.blocks[19]?.id ?? ""}`, `The store in ${dataDir} is sound.`]);
    expect(lines[2]).to.match(/^digest {2}[0-9a-f]{64}$/);
    expect(statSync(path).mtimeMs).to.equal(before);
  });

  it("prints what is damaged, and exits with 1", async () => {
    const { dataDir, path } = await makeStore();
    const root = newestMeta(openPageFile(path))?.main.root ?? 0;
    const file = openSync(path, "r+");
    writeSync(file, Buffer.from([0xff]), 0, 1, root * 4_096 + 18);
    closeSync(file);
    const { status, lines } = await told({ dataDir, network: "local", verify: "any" });
    expect([status, lines[0]]).to.deep.equal([1, "height  0"]);
    expect(lines.join("\n")).to.include(`${path}: the list of databases: page ${root} is not a page of a tree`);
    expect(lines.at(-1)).to.match(/is damaged\. Restore the folder from a backup, or /);
  });

  it("says in one sentence that a store has another layout, and what to do", async () => {
    const { dataDir } = await makeStore();
    const { store } = openTemporaryStore(chain.network, { dataDir });
    store.environment.db.meta.removeSync(formatKey);
    await closeStores();
    const error = await told({ dataDir, network: "local", verify: "any" }).catch((one: unknown) => one);
    expect(error).to.be.instanceOf(HostError);
    expect((error as HostError).message).to.match(/^\S+chain\.mdb is not a store of layout 2, the only one that this version reads: move it away .+ webhooks are kept\.$/);
  });

  it("exits with 1 for a sound store of another network than the one named, and says that the option is wrong, not the store", async () => {
    const { dataDir } = await makeStore();
    const { nethash, name } = chain.network.network;
    const { status, lines } = await told({ dataDir, network: "devnet", verify: "network" });
    expect([status, lines.length, lines[3]]).to.deep.equal([1, 5, `The store in ${dataDir} is sound.`]);
    expect(lines[4]).to.match(new RegExp(`^It belongs to the network ${nethash}, not to devnet \\([0-9a-f]{64}\\), which --network names\\. `));
    const own = networkFolder(chain.network);
    expect((await told({ dataDir, network: own, verify: "network" })).status, name).to.equal(0);
  });

  it("exits with an error without a store", async () => {
    const empty = temporaryFolder();
    const error: unknown = await told({ dataDir: empty, network: "local", verify: "any" }).catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(HostError).with.property("message", `${empty} does not contain a Portico store.`);
  });
});
