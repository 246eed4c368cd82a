import { expect } from "chai";
import { actors } from "../../src/conformance/chain/actors.js";
import { createChainMaker, networkOf, transfer } from "../../src/conformance/chain/chain-maker.js";
import { firstMilestone } from "../first-milestone.js";
import { isLong, spread } from "../fixtures/long.js";
import { chainNames } from "./chains.js";
import { dataOf } from "./data-of.js";
import { figuresOf } from "./figures.js";
import { type Interface, parsed, serveChain } from "./interface.js";
import { blockKindOf, transactionKindOf } from "./kinds.js";
import { startMovingNode } from "./moving-node.js";
import { describeList } from "./naive-list.js";
import { expectNotFound } from "./refusals.js";

for (const name of chainNames) {
  describe(`blocks of ${name}, second generation`, () => {
    const figures = figuresOf(name);
    const { blockRows, transactionRows } = figures;
    const kind = blockKindOf(figures);
    const fullest = blockRows.slice(1).reduce((best, row) => (row.numberOfTransactions > best.numberOfTransactions ? row : best));
    let served: Interface;
    before(async () => (served = await serveChain(name)));
    const interface_ = () => served;
    const main = { pairs: isLong || name === "core3-custom-c" };
    const narrowed = { pairs: isLong && name === "core3-custom-c" };

    describeList("GET /blocks, POST /blocks/search", () => ({ path: "/blocks", search: "/blocks/search", rows: blockRows }), kind, interface_, main);
    describeList(
      "GET /blocks/{id}/transactions",
      () => ({ path: `/blocks/${fullest.id}/transactions`, rows: transactionRows.filter(({ block }) => block.id === fullest.id) }),
      transactionKindOf(figures),
      interface_,
      narrowed,
    );

    it("are each shown by height and by id", async () => {
      for (const row of spread(blockRows, 50)) {
        const expected = parsed(kind.present(row));
        expect(dataOf(await served.get(`/blocks/${row.height}`))).to.deep.equal(expected);
        expect(dataOf(await served.get(`/blocks/${row.id}`))).to.deep.equal(expected);
      }
    });

    it("are shown as the first and the last", async () => {
      expect(dataOf(await served.get("/blocks/first"))).to.deep.equal(dataOf(await served.get("/blocks/1")));
      expect(dataOf(await served.get("/blocks/last"))).to.deep.equal(dataOf(await served.get(`/blocks/${figures.tip.height}`)));
      expect(dataOf(await served.get("/blocks/last"))).to.deep.include({ id: figures.tip.id, confirmations: 0 });
    });

    it("can be named by height in the path of their transactions", async () => {
      expect(dataOf(await served.get(`/blocks/${fullest.height}/transactions`))).to.deep.equal(
        dataOf(await served.get(`/blocks/${fullest.id}/transactions`)),
      );
    });

    it("can be named by height in the filter of transactions", async () => {
      const expected = dataOf(await served.get(`/blocks/${fullest.id}/transactions`));
      expect(dataOf(await served.get(`/transactions?blockId=${fullest.height}`))).to.deep.equal(expected);
      expect(dataOf(await served.get(`/blocks/${fullest.id}/transactions?blockId=${fullest.height}`))).to.deep.equal(expected);
      expect(dataOf(await served.get(`/transactions?blockId=${figures.tip.height + 1}`))).to.deep.equal([]);
    });

    it("can be named by height in their own filters", async () => {
      const { height } = fullest;
      const one = dataOf(await served.get(`/blocks?height=${height}`));
      expect(one).to.have.length(1);
      expect(dataOf(await served.get(`/blocks?id=${height}`))).to.deep.equal(one);
      expect(dataOf(await served.get(`/blocks?previousBlock=${height - 1}`))).to.deep.equal(one);
      expect(dataOf(await served.post("/blocks/search", { id: String(height), previousBlock: String(height - 1) }))).to.deep.equal(one);
      expect(dataOf(await served.get(`/delegates/${fullest.generatorPublicKey}/blocks?id=${height}`))).to.deep.equal(one);
      expect(dataOf(await served.get(`/blocks?id=${figures.tip.height + 1}`))).to.deep.equal([]);
      expect((await served.get(`/v1/blocks?id=${height}`)).body).to.have.nested.property("blocks[0].height", height);
    });

    it("show the genesis transactions, all of them and in order", async () => {
      const { body } = await served.get("/blocks/1/transactions?orderBy=timestamp:asc&limit=3");
      const ofGenesis = transactionRows.filter(({ block }) => block.height === 1);
      expect(body).to.have.nested.property("meta.totalCount", ofGenesis.length);
      expect((body as { data: { id: string }[] }).data.map(({ id }) => id)).to.deep.equal(ofGenesis.slice(0, 3).map(({ id }) => id));
    });

    for (const id of ["0", "99999999", "99999999999999999999", "f".repeat(64), "genesis", "-1", "1e2", "1.0"]) {
      it(`are not found by ${id}`, async () => {
        for (const suffix of ["", "/transactions"]) expectNotFound(await served.get(`/blocks/${id}${suffix}`), "Block not found");
      });
    }

    it("treat a single value for a ranged field as that exact value", async () => {
      const { height, id, totalFee } = fullest;
      expect(dataOf(await served.get(`/blocks?height=${height}`))).to.deep.equal(parsed([kind.present(fullest)]));
      const { body } = await served.get(`/blocks?totalFee=${String(totalFee)}`);
      expect((body as { data: { id: string }[] }).data.map((block) => block.id)).to.include(id);
      expect(body).to.have.nested.property("meta.totalCount", blockRows.filter((row) => String(row.totalFee) === String(totalFee)).length);
    });
  });
}

describe("a block whose id is the height of another", () => {
  it("is named by its own height, whose name is resolved once", async () => {
    const { origin, ada } = actors;
    const maker = createChainMaker([firstMilestone(1)]);
    maker.add({ generator: origin, transactions: [transfer(origin, ada, 10n ** 12n, { version: 1, fee: 0n })] });
    for (let height = 2; height <= 5; height++) maker.add({ generator: ada, transactions: [transfer(ada, ada, BigInt(height))] });
    const blocks = maker.blocks.map((block) => ({ ...block, ...(block.height === 3 ? { id: "5" } : block.height === 4 ? { previousBlock: "5" } : {}) }));
    const [genesis] = blocks;
    if (genesis === undefined) throw new Error("no genesis");
    const node = await startMovingNode(networkOf(genesis), genesis);
    await node.apply(...blocks.slice(1));
    const amounts = async (path: string): Promise<unknown[]> => {
      const { data = [], transactions = [] } = JSON.parse((await node.get(path)).text) as Record<string, { amount: number }[] | undefined>;
      return [...data, ...transactions].map(({ amount }) => amount);
    };
    for (const height of [3, 5])
      for (const at of ["", "at=5"]) {
        for (const path of [`/blocks/${height}/transactions?${at}`, `/transactions?blockId=${height}&${at}`, `/blocks/${height}/transactions?blockId=${height}&${at}`, `/wallets/${ada.address}/transactions/sent?blockId=${height}&${at}`])
          expect(await amounts(path), path).to.deep.equal([height]);
        const { data } = JSON.parse((await node.get(`/blocks/${height}?${at}`)).text) as { data: { height: number } };
        expect(data.height).to.equal(height);
      }
    expect(await amounts("/v1/transactions?blockId=3")).to.deep.equal([3]);
    const { data } = JSON.parse((await node.get("/blocks?previousBlock=3")).text) as { data: { height: number }[] };
    expect(data.map(({ height }) => height)).to.deep.equal([4]);
    await node.stop();
  });
});
