import { expect } from "chai";
import { loadChain } from "../../data/read.js";
import { until } from "../../fixtures/until.js";
import { Bell, StreamFollower } from "../../live/followers.js";
import { createStage, type Stage } from "./stage.js";

/** A chain that another node of this version has made. */
const { network, blocks } = loadChain("core3-custom-c");
const removed = 60;
const minutes = 60_000;

describe("examples/ark-core in the place of the node's own interface, in a real ARK Core 3.9.1 node", function () {
  this.timeout(3 * minutes);
  this.bail(true);

  let stage: Stage;

  before(async function () {
    this.timeout(20 * minutes);
    stage = await createStage(network);
  });

  afterEach(function () {
    if (this.currentTest?.state === "failed") console.error(stage.log().slice(-80).join("\n"));
  });

  after(() => stage.close());

  /** What Portico has logged, at any level. */
  const told = (): string[] => stage.log().filter((line) => line.includes("Portico: "));
  /** Resolves when Portico is at a height, with the lines that it logged meanwhile. */
  const linesUntil = async (height: number, work: () => Promise<void>): Promise<string[]> => {
    const before = told().length;
    await work();
    await until(async () => (await stage.portico.get("/blockchain")).height === height || undefined);
    return told().slice(before);
  };

  it("is the API that the node reports, and that a peer which pings it notes", async () => {
    await stage.start({ forging: [], ownInterface: false });
    const { ports } = (await stage.portico.data("/node/configuration")) as { ports: unknown };
    expect(ports).to.deep.equal({
      "@arkecosystem/core-p2p": stage.ports.p2p,
      "@arkecosystem/core-api": stage.ports.portico,
      "@arkecosystem/core-webhooks": null,
    });
    expect(await stage.running().portsForPeers(stage.ports.p2p)).to.deep.equal({
      "@arkecosystem/core-api": stage.ports.portico,
      "portico-ark-core": stage.ports.portico,
    });
  });

  it("logs at most one line while the node catches up by five hundred blocks", async () => {
    const lines = await linesUntil(blocks.length, () => stage.running().enqueueBlocks(blocks.slice(1)));
    expect(lines.length, lines.join("\n")).to.be.at.most(1);
    expect(((await stage.portico.data("/blockchain")) as { block: { id: string } }).block.id).to.equal(blocks.at(-1)?.id);
  });

  it("logs at most one line while the node removes sixty of them, and none when it has them again, and streams all of that", async () => {
    const client = new StreamFollower({ api: `http://127.0.0.1:${stage.ports.portico}/api`, confirmations: 0, bell: new Bell(), known: new Map() });
    client.connect();
    const clientIsAt = (height: number): Promise<true> => until(() => Promise.resolve(client.blocks.length === height || undefined));
    await clientIsAt(blocks.length);
    // The node removes blocks as its database has them: it ends, taking its state for corrupt, where that does not have the last ones yet.
    await until(async () => (await stage.running().standing()).stored >= blocks.length || undefined);
    const rewinding = await linesUntil(blocks.length - removed, () => stage.running().removeBlocks(removed));
    expect(rewinding.length, rewinding.join("\n")).to.be.at.most(1);
    await clientIsAt(blocks.length - removed);
    const again = await linesUntil(blocks.length, () => stage.running().enqueueBlocks(blocks.slice(-removed)));
    expect(again, again.join("\n")).to.be.empty;
    await clientIsAt(blocks.length);
    expect(client.faults).to.deep.equal([]);
    expect(client.blocks).to.deep.equal(blocks.map(({ id }) => id));
    await client.leave();
  });

  it("says so where it is given the port of the node's own interface, and leaves it that", async () => {
    await stage.running().terminate();
    await stage.start({ forging: [], porticoPort: stage.ports.api });
    const [line, ...others] = told();
    expect(line).to.match(new RegExp(`ERROR.*Portico: not started: port ${stage.ports.api} is that of @arkecosystem/core-api, too\\.`));
    expect(others).to.be.empty;
    expect(await stage.node.data("/node/status")).to.deep.include({ synced: true, now: blocks.length });
    // Portico has this route, and the node's own interface has not.
    expect((await stage.node.get("/health")).status).to.equal(404);
    await stage.running().terminate();
  });
});
