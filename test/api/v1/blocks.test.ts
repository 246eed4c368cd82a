import { expect } from "chai";
import type { ChainAdapter } from "../../../types/chain-adapter.js";
import { chainNames, storedChain } from "../../e2e/chains.js";
import { type BlockRow, figuresOf } from "../../e2e/figures.js";
import { flatBlock } from "../../e2e/flat-shapes.js";
import { type Served, serveFirst } from "../../e2e/first-generation.js";
import { parsed } from "../../e2e/interface.js";
import { blockKindOf } from "../../e2e/kinds.js";
import { queryOf, sorted } from "../../e2e/naive-list.js";
import { spread } from "../../fixtures/long.js";

const rewards = { "core3-testnet-a": 0, "core3-custom-c": 300_000_000 };
const nethash = "d9acd04bde4234a81addb8482333b4ac906bed7be5a9970ce8ada428bd083192";

for (const name of chainNames) {
  describe(`blocks of ${name}, first generation`, () => {
    const figures = figuresOf(name);
    const { blockRows, tip, meta } = figures;
    const kind = blockKindOf(figures);
    let served: Served;

    before(async () => {
      served = await serveFirst(name);
    });
    after(() => served.stop());

    const block = (row: BlockRow) => parsed(flatBlock(row, tip.height));

    const lists = async (query: string, rows: BlockRow[], order: string): Promise<void> => {
      const expected = { blocks: sorted(rows, order, kind).slice(0, 100).map(block), count: rows.length, success: true };
      expect(await served.get(`/blocks?${query}`), query).to.deep.equal(expected);
    };

    describe("GET /blocks", () => {
      it("returns each block once across its offsets, latest first", async () => {
        const seen: unknown[] = [];
        for (let offset = 0; offset < blockRows.length + 90; offset += 90) {
          const { blocks, count } = await served.get(`/blocks?limit=90&offset=${offset}`);
          expect(count).to.equal(meta.counts.blocks);
          seen.push(...(blocks as unknown[]));
        }
        expect(seen).to.deep.equal(blockRows.toReversed().map(block));
      });

      it("lists a hundred by default", async () => {
        for (const query of ["", "limit=0", "limit=100", "foo=bar"]) await lists(query, blockRows, "height:desc");
      });

      it("applies each filter, and several at once", async () => {
        const filters = kind.filters(blockRows);
        for (const { body, passes } of filters) await lists(queryOf(body), blockRows.filter(passes), "height:desc");
        const generator = blockRows.at(-1)?.generatorPublicKey ?? "";
        const reward = String(blockRows.at(-1)?.reward);
        await lists(
          `generatorPublicKey=${generator}&reward=${reward}`,
          blockRows.filter((row) => row.generatorPublicKey === generator && String(row.reward) === reward),
          "height:desc",
        );
      });

      it("applies each order, in each spelling", async () => {
        for (const field of Object.keys(kind.orders)) {
          const snake = field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
          await lists(`orderBy=${field}:desc`, blockRows, `${field}:desc`);
          await lists(`orderBy=${snake}:ASC`, blockRows, `${field}:asc`);
        }
      });

      for (const [query, error] of [
        ["limit=101", '"limit" must be <= 100'],
        ["offset=x", '"offset" must be integer'],
        ["generatorPublicKey=02", '"generatorPublicKey" must be 66 hexadecimal digits'],
        ["totalFee=1.5", '"totalFee" must be a whole number'],
        ["height=last", '"height" must be integer'],
        ["previousBlock=a", '"previousBlock" must be up to 20 decimal or 64 hexadecimal digits'],
      ] as const) {
        it(`refuses ${query}`, async () => {
          expect(await served.refusal(`/blocks?${query}`)).to.equal(error);
        });
      }

      it("refuses an unknown order", async () => {
        for (const order of ["foo", "height:up", "1", ""]) {
          expect(await served.refusal(`/blocks?orderBy=${order}`), order).to.match(/^"orderBy" must be one of height, timestamp, /);
        }
      });
    });

    describe("GET /blocks/get", () => {
      it("shows every block by id and by height", async () => {
        for (const row of spread(blockRows, 60)) {
          for (const id of [row.id, row.height]) {
            expect(await served.get(`/blocks/get?id=${id}`)).to.deep.equal({ block: block(row), success: true });
          }
        }
      });

      it("names a block that does not exist", async () => {
        for (const id of [String(tip.height + 1), "0", "17184958558311101492000", "nonsense", "-1"]) {
          expect(await served.refusal(`/blocks/get?id=${id}`)).to.equal(`Block with id ${id} not found`);
        }
      });

      it("requires an id", async () => {
        expect(await served.refusal("/blocks/get")).to.equal('"id" is required');
        expect(await served.refusal("/blocks/get?id=")).to.equal('"id" must NOT have fewer than 1 characters');
      });
    });

    const reward = rewards[name];
    const supply = parsed(BigInt(meta.supply));
    const fees = { send: 10_000_000, vote: 100_000_000, secondsignature: 500_000_000, delegate: 2_500_000_000, multisignature: 500_000_000 };
    const epoch = "2017-03-21T13:00:00.000Z";
    const figuresTold: [path: string, members: Record<string, unknown>][] = [
      ["/blocks/getHeight", { height: tip.height, id: tip.id }],
      ["/blocks/getheight", { height: tip.height, id: tip.id }],
      ["/blocks/getEpoch", { epoch }],
      ["/blocks/getNethash", { nethash }],
      ["/blocks/getFee", { fee: 10_000_000 }],
      ["/blocks/getFees", { fees }],
      ["/blocks/getfees", { fees }],
      ["/blocks/getMilestone", { milestone: 0 }],
      ["/blocks/getReward", { reward }],
      ["/blocks/getSupply", { supply }],
      ["/blocks/getStatus", { epoch, height: tip.height, fee: 10_000_000, milestone: 0, nethash, reward, supply }],
    ];
    for (const [path, members] of figuresTold) {
      it(`have the figures of the tip at GET ${path}`, async () => {
        expect(await served.get(path)).to.deep.equal({ ...members, success: true });
        expect(await served.get(`${path}?foo=1`)).to.deep.equal({ ...members, success: true });
      });
    }
  });
}

describe("milestones, first generation", () => {
  it("are counted in whole three millions of blocks", async () => {
    const adapter = await storedChain("core3-custom-c");
    for (const [height, milestone] of [
      [2_999_999, 0],
      [3_000_000, 1],
      [35_500_000, 11],
    ] as const) {
      const chain: ChainAdapter = {
        ...adapter,
        snapshot: async () => {
          const snapshot = await adapter.snapshot();
          return snapshot && Object.defineProperty(Object.create(snapshot) as typeof snapshot, "tip", { value: { ...snapshot.tip, height } });
        },
      };
      const served = await serveFirst("core3-custom-c", { chain });
      expect(await served.get("/blocks/getMilestone")).to.deep.equal({ milestone, success: true });
      expect((await served.get("/blocks/getStatus")).milestone).to.equal(milestone);
      await served.stop();
    }
  });
});
