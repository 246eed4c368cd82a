import { expect } from "chai";
import type { PorticoOptions } from "../../types/options.js";
import { loadChain } from "../data/read.js";
import { type StartedNode, startNode } from "../fixtures/node.js";
import { copyOfStored } from "../fixtures/stored-chain.js";
import type { Answer } from "../http/ask.js";
import { temporaryFolder } from "../fixtures/folder.js";
import { spread } from "../fixtures/long.js";

const name = "core3-custom-c";
const { network, blocks, wallets } = loadChain(name);
/** The tip when history was switched on. */
const oldest = 300;
const heightsAt = [oldest, oldest + 1, 320, blocks.length - 1] as const;

const start = async (dataDir: string, height: number, options: PorticoOptions): Promise<StartedNode> => {
  const source = { read: (from: number, limit: number) => blocks.slice(from - 1, Math.min(height, from - 1 + limit)), height: () => height };
  const node = await startNode({ network, dataDir, blocks: source, options: { webhooks: false, ...options } });
  await node.plugin.settled();
  return node;
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
  `statement?from=${new Date(Date.parse(network.milestones[0].epoch) + timeOf(height) * 1000).toISOString()}`,
];

const withoutBound = ["history", "history?limit=2", `history?height.to=${oldest + 20}`, `history?height.from=${oldest}`, "statement", `statement?to=${oldest + 9}`, `statement?from=${oldest}`];

describe("a store whose history begins later than its chain", () => {
  let late: StartedNode;
  let whole: StartedNode;

  before(async () => {
    const dataDir = temporaryFolder();
    const bare = await start(dataDir, oldest, { history: false });
    await bare.plugin.stop();
    late = await start(dataDir, blocks.length, {});
    whole = await start(await copyOfStored(name, temporaryFolder()), blocks.length, {});
  });

  const expectSame = async (path: string): Promise<Answer> => {
    const [found, expected] = await Promise.all([late.get(path), whole.get(path)]);
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
    for (const [place, { address }] of spread(wallets, 30).entries()) {
      const heights = place % 6 === 0 ? [oldest + 1, oldest + 10, blocks.length] : [oldest + 1];
      for (const question of heights.flatMap(questionsFrom)) rows += (await expectSame(`/wallets/${address}/${question}`)).text.split("\n").length;
    }
    expect(rows).to.be.above(300);
    await expectSame(`/wallets/${wallets[0]?.address ?? ""}/statement?from=${blocks.length + 50}`);
    await expectSame(`/wallets/${wallets[0]?.address ?? ""}/history?height.from=${blocks.length + 50}`);
  });

  it("answers them so at earlier heights, too", async () => {
    let answered = 0;
    for (const { address } of spread(wallets, 8)) {
      for (const at of heightsAt) {
        for (const question of [`history?height.from=${oldest + 1}`, `history?height.from=${oldest + 8}&limit=1`, `statement?from=${oldest + 1}`, `statement?from=310&to=315`]) {
          if ((await expectSame(`/wallets/${address}/${question}&at=${at}`)).status === 200) answered++;
        }
      }
    }
    expect(answered).to.be.above(40);
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
    const message = `Changes of this wallet up to height ${oldest} are not kept. Ask from height ${oldest + 1} on.`;
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
    expect((await late.get(`/blockchain?at=${oldest - 1}`)).json).to.deep.include({ message: `The state at that height is not kept. The oldest state is at height ${oldest}.` });
  });
});
