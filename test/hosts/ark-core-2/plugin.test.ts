import { createRequire } from "node:module";
import { join } from "node:path";
import { expect } from "chai";
import type { ApiPlugin } from "../../../types/plugin.js";
import { loadChain } from "../../data/read.js";
import { freePort } from "../../free-port.js";
import { type Served, servedOn } from "../ark-core/served.js";
import { createNode, type Descriptor, type Node } from "./container.js";
import { temporaryFolder } from "../../fixtures/folder.js";

const { plugin: descriptor } = createRequire(import.meta.url)("../../../examples/ark-core-2/index.js") as { plugin: Descriptor };

const chain = loadChain("core3-testnet-a");
/** How many blocks the node starts with; the others come while it runs. */
const known = chain.blocks.length - 3;

describe("examples/ark-core-2, in a container of ARK Core's second line", () => {
  let folder: string;
  let node: Node;
  let portico: ApiPlugin;
  let served: Served;
  let port: number;

  before(async () => {
    folder = temporaryFolder();
    port = await freePort();
    node = createNode(chain.network, chain.blocks.slice(0, known));
    await node.container.use(descriptor, { port, dataDir: folder, options: { webhooks: false } });
    portico = node.container.resolvePlugin("portico") as ApiPlugin;
    served = servedOn(port);
    await portico.start();
  });

  after(async () => {
    await node.container.tearDown();
  });

  it("is a descriptor that the node's registrar accepts", () => {
    expect(descriptor.pkg).to.include({ name: "portico-ark-core-2", version: "0.1.0" });
    expect(descriptor.alias).to.equal("portico");
    expect(descriptor.defaults).to.deep.equal({ enabled: true, host: "127.0.0.1", port: 4103, options: {} });
  });

  it("registers nothing when it is disabled", async () => {
    const other = createNode(chain.network, []);
    await other.container.use(descriptor, { enabled: false, dataDir: join(folder, "off") });
    expect(other.container.resolvePlugin("portico")).to.equal(null);
    await other.container.tearDown();
    expect(other.events.eventNames()).to.be.empty;
  });

  it("reads the chain from the node's database, then follows its events", async () => {
    expect((await served.get("/wallets")).height).to.equal(known);
    for (const block of chain.blocks.slice(known)) {
      node.blocks.push(block);
      // Only the header, as the node emits it.
      node.events.emit("block.applied", { ...block, transactions: undefined });
    }
    await portico.settled();
    const wallets = await served.rows("/wallets");
    const balances = Object.fromEntries(wallets.map(({ address, balance }) => [String(address), String(balance)]));
    expect(balances).to.deep.equal(Object.fromEntries(chain.wallets.map(({ address, balance }) => [address, balance])));
    const delegates = (await served.rows("/delegates")).map(({ username, votes }) => `${String(username)} ${String(votes)}`);
    expect(delegates).to.have.members(chain.delegates.map(({ username, voteBalance }) => `${username} ${voteBalance}`));
  });

  it("serves the first generation too", async () => {
    expect((await served.get("/v1/delegates/count")).body).to.deep.equal({ success: true, count: chain.delegates.length });
  });

  it("passes transactions to the node's pool, has them broadcast, and shows the pool's contents", async () => {
    const transaction = chain.blocks.flatMap(({ height, transactions }) => (height > 1 ? (transactions ?? []) : []))[0];
    if (transaction === undefined) throw new Error("the chain has no transactions");
    const [accepted, refused] = [{ ...transaction, id: "a".repeat(64), fee: "10" }, { ...transaction, id: "b".repeat(64), fee: "0" }];
    const { body } = await served.send("POST", "/transactions", { transactions: [accepted, refused] });
    expect(body).to.deep.equal({
      data: { accept: [accepted.id], broadcast: [accepted.id], excess: [], invalid: [refused.id] },
      errors: { [refused.id]: [{ type: "ERR_LOW_FEE", message: "no fee" }] },
    });
    expect(node.broadcast.map(({ id }) => id)).to.deep.equal([accepted.id]);
    expect((await served.rows("/transactions/unconfirmed")).map(({ id }) => id)).to.deep.equal([accepted.id]);
    expect(await served.data(`/transactions/unconfirmed/${accepted.id}`)).to.include({ id: accepted.id, confirmations: 0 });
    expect((await served.get(`/transactions/unconfirmed/${refused.id}`)).status).to.equal(404);
  });

  it("reports the node's peers, state and settings", async () => {
    expect(await served.data("/peers")).to.deep.equal([
      { ip: "127.0.0.2", port: 4001, ports: {}, version: "2.6.57", height: 300, status: 200, os: "linux", latency: 7 },
    ]);
    expect(await served.data("/node/status")).to.deep.include({ synced: true, now: 268, blocksCount: 300 - 268 });
    expect(await served.data("/node/configuration")).to.deep.include({
      nethash: chain.network.network.nethash,
      ports: { "@arkecosystem/core-p2p": 4001, "@arkecosystem/core-api": 4003 },
      transactionPool: { dynamicFees: { enabled: true, minFeePool: 1000, minFeeBroadcast: 1000, addonBytes: { transfer: 100 } } },
    });
  });

  it("stops when the node tears down its plugins", async () => {
    expect(node.log).to.include(`Portico: listening on http://127.0.0.1:${port}/api`);
    await node.container.tearDown();
    expect(portico.health().status).to.equal("stopped");
    expect(node.events.eventNames()).to.be.empty;
  });
});
