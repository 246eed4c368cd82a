import { EventEmitter } from "eventemitter3";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { createApiPlugin } from "../../src/index.js";
import type { PorticoOptions } from "../../types/options.js";
import type { ApiPlugin } from "../../types/plugin.js";
import { loadChain } from "../data/read.js";
import { copyOfStored } from "../fixtures/stored-chain.js";
import { type Answer, ask } from "../http/ask.js";
import { closeTemporaryStores, temporaryFolder } from "../store/temporary-store.js";

const name = "core3-custom-c";
const { network, blocks, wallets } = loadChain(name);
/** The tip when history was switched on. */
const oldest = 300;
const heightsAt = [oldest, oldest + 1, 320, blocks.length - 1] as const;

interface Node {
  plugin: ApiPlugin;
  get(path: string): Promise<Answer>;
}

const started: ApiPlugin[] = [];

const start = async (dataDir: string, height: number, options: PorticoOptions): Promise<Node> => {
  const source = { read: (from: number, limit: number) => blocks.slice(from - 1, Math.min(height, from - 1 + limit)), height: () => height };
  const plugin = createApiPlugin({ network, events: new EventEmitter(), dataDir, blocks: source, options: { webhooks: false, ...options } });
  started.push(plugin);
  const server = await plugin.listen(0);
  await plugin.settled();
  const { port } = server.address() as AddressInfo;
  return { plugin, get: (path) => ask(port, `/api${path}`) };
};

const timeOf = (height: number): number => blocks[height - 1]?.timestamp ?? 0;

/** Questions about a wallet that rows above a height answer. */
const questionsFrom = (height: number): string[] => [
  `history?height.from=${height}`,
  `history?height.from=${height}&limit=3&page=2`,
  `history?height.from=${height}&height.to=${height + 40}`,
  `history?height.from=1&timestamp.from=${timeOf(height)}`,
  `statement?from=${height}`,
  `statement?from=${height}&to=${height + 25}&format=csv`,
  `statement?from=${new Date(Date.parse(String(network.milestones[0]?.epoch)) + timeOf(height) * 1000).toISOString()}`,
];

const withoutBound = ["history", "history?limit=2", `history?height.to=${oldest + 20}`, `history?height.from=${oldest}`, "statement", `statement?to=${oldest + 9}`, `statement?from=${oldest}`];

describe("a store whose history begins later than its chain", function () {
  this.timeout(120_000);
  let late: Node;
  let whole: Node;

  before(async () => {
    const dataDir = temporaryFolder();
    const bare = await start(dataDir, oldest, { history: false });
    await bare.plugin.stop();
    late = await start(dataDir, blocks.length, {});
    whole = await start(await copyOfStored(name, temporaryFolder()), blocks.length, {});
  });
  after(async () => {
    for (const plugin of started) await plugin.stop();
    await closeTemporaryStores();
  });

  const expectSame = async (path: string): Promise<Answer> => {
    const [found, expected] = [await late.get(path), await whole.get(path)];
    const shown = ({ status, text, headers }: Answer) => ({ path, status, text, height: headers["x-block-height"], cacheControl: headers["cache-control"], etag: headers.etag });
    expect(shown(found)).to.deep.equal(shown(expected));
    return expected;
  };

  const known = new Map<string, boolean>();
  /** Whether a wallet was there at the height at which history begins. */
  const isOld = async (address: string): Promise<boolean> => {
    const found = known.get(address) ?? (await whole.get(`/wallets/${address}?at=${oldest}`)).status === 200;
    known.set(address, found);
    return found;
  };

  it("answers histories and statements from the block after its oldest state on, as one that has it whole", async () => {
    let rows = 0;
    for (const [place, { address }] of wallets.entries()) {
      const heights = place % 6 === 0 ? [oldest + 1, oldest + 10, blocks.length] : [oldest + 1];
      for (const question of heights.flatMap(questionsFrom)) rows += (await expectSame(`/wallets/${address}/${question}`)).text.split("\n").length;
    }
    expect(rows).to.be.above(2_000);
    await expectSame(`/wallets/${wallets[0]?.address ?? ""}/statement?from=${blocks.length + 50}`);
    await expectSame(`/wallets/${wallets[0]?.address ?? ""}/history?height.from=${blocks.length + 50}`);
  });

  it("answers them so at earlier heights, too", async () => {
    let answered = 0;
    for (const { address } of wallets.filter((_wallet, place) => place % 5 === 0)) {
      for (const at of heightsAt) {
        for (const question of [`history?height.from=${oldest + 1}`, `history?height.from=${oldest + 8}&limit=1`, `statement?from=${oldest + 1}`, `statement?from=310&to=315`]) {
          if ((await expectSame(`/wallets/${address}/${question}&at=${at}`)).status === 200) answered++;
        }
      }
    }
    expect(answered).to.be.above(100);
  });

  it("answers the whole of a wallet that was created after that", async () => {
    let created = 0;
    for (const { address } of wallets) {
      if (await isOld(address)) continue;
      created++;
      for (const question of withoutBound) await expectSame(`/wallets/${address}/${question}`);
      for (const at of heightsAt) await expectSame(`/wallets/${address}/history?at=${at}`);
    }
    expect(created).to.be.above(3);
  });

  it("refuses what blocks up to there would have to be known for, and says what is missing and what to do", async () => {
    const message = `What changed this wallet up to height ${oldest} is not kept: ask from height ${oldest + 1} on.`;
    const expected = { status: 410, code: "HISTORY_MISSING", message, oldest: { height: oldest, id: blocks[oldest - 1]?.id } };
    let refused = 0;
    for (const { address } of wallets.slice(0, 12)) {
      if (!(await isOld(address))) continue;
      refused++;
      for (const question of [...withoutBound, `statement?from=2&to=9`, `history?at=320`, `statement?at=320`, `history?at=${oldest}`]) {
        const { status, json, headers } = await late.get(`/wallets/${address}/${question}`);
        expect({ question, status, ...(json as object) }).to.deep.include({ question, ...expected });
        expect(headers["cache-control"]).to.equal("no-cache");
      }
    }
    expect(refused).to.be.above(3);
    expect((await late.get(`/blockchain?at=${oldest - 1}`)).json).to.deep.include({ message: `The state at that height is not kept: the oldest is that at height ${oldest}.` });
  });
});
