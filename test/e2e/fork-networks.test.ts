import { expect } from "chai";
import { blockData } from "../../examples/standalone/chain/crypto.js";
import { localNetwork } from "../../examples/standalone/chain/genesis.js";
import { createChainRules } from "../../src/chain/rules.js";
import { slotsAt } from "../../src/chain/rounds.js";
import type { BlockData } from "../../types/events.js";
import type { Network } from "../../types/node-context.js";
import { loadChain } from "../data/read.js";
import { createLocalChain } from "../examples/local-chain.js";
import { temporaryFolder } from "../fixtures/folder.js";
import { dataOf } from "./data-of.js";
import { type Interface, serveNetwork, type Serving } from "./interface.js";

const { network, blocks } = loadChain("core3-custom-c");
const end = 60;

const serve = (given: Network, serving: Serving = {}, chain: readonly BlockData[] = blocks): Promise<Interface> => {
  const source = { read: (from: number, limit: number) => chain.slice(from - 1, Math.min(end, from - 1 + limit)) };
  return serveNetwork(given, { ...serving, blocks: source, dataDir: temporaryFolder(), options: { webhooks: false } });
};

/** The network with other values in its first milestone. */
const with1 = (given: object): Network => {
  const [first, ...rest] = network.milestones;
  return { ...network, milestones: [{ ...first, height: 1, ...given }, ...rest] };
};

describe("the network of a fork", () => {
  const [first, ...rest] = localNetwork().milestones;
  const tip = blocks[end - 1]?.timestamp ?? 0;

  it("may have an epoch with milliseconds: times are whole seconds, and as text keep the milliseconds", async () => {
    const start = Date.parse("2019-07-22T05:13:20.585Z");
    const { get, url } = await serve(with1({ epoch: "2019-07-22T05:13:20.585Z" }), { now: start + 8_000 });
    const time = { epoch: tip, unix: Math.floor(start / 1000) + tip, human: new Date(start + tip * 1000).toISOString() };
    expect(dataOf(await get("/blockchain"))).to.deep.include({ block: { id: blocks[end - 1]?.id, height: end } });
    expect(dataOf(await get("/blocks/last"))).to.deep.include({ timestamp: time });
    const [newest] = dataOf(await get("/transactions?orderBy=timestamp:desc&limit=1")) as { timestamp: { unix: number; human: string } }[];
    expect([Number.isInteger(newest?.timestamp.unix), newest?.timestamp.human.endsWith(".585Z")]).to.deep.equal([true, true]);
    expect(dataOf(await get("/node/status"))).to.deep.include({ timestamp: 8 });
    expect((await get("/delegates")).status).to.equal(200);
    const found = async (path: string): Promise<unknown[]> => (dataOf(await get(path)) as { height: number }[]).map(({ height }) => height);
    // A block's own time finds it from either side; a millisecond beside it does not.
    const at = (offset: number): string => new Date(start + tip * 1000 + offset).toISOString();
    expect(await found(`/blocks?timestamp.from=${at(0)}`)).to.deep.equal([end]);
    expect(await found(`/blocks?timestamp.from=${at(1)}`)).to.deep.equal([]);
    expect((await found(`/blocks?timestamp.to=${at(-1)}`))[0]).to.equal(end - 1);
    const sender = blocks.slice(1, end).flatMap(({ transactions = [] }) => transactions)[0]?.senderPublicKey;
    const { address } = dataOf(await get(`/wallets/${String(sender)}`)) as { address: string };
    const statement = async (query: string): Promise<{ height: number; time: string }[]> => {
      const lines = (await (await fetch(`${url}/wallets/${address}/statement?${query}`)).text()).trim().split("\n");
      return lines.map((line) => JSON.parse(line) as { height: number; time: string });
    };
    const booked = await statement("");
    for (const { height, time } of booked) {
      expect(time.endsWith(".585Z")).to.equal(true);
      expect(await statement(`from=${time}&to=${time}`)).to.deep.equal(booked.filter((other) => other.height === height));
    }
  });

  it("may have an epoch without a zone, which is UTC wherever the node runs", async () => {
    const zone = process.env["TZ"];
    process.env["TZ"] = "America/New_York";
    try {
      const { get } = await serve(with1({ epoch: "2019-07-22T05:13:20" }), { now: Date.parse("2019-07-22T05:13:28Z") });
      expect(dataOf(await get("/blocks/first"))).to.deep.include({ timestamp: { epoch: 0, unix: 1_563_772_400, human: "2019-07-22T05:13:20.000Z" } });
      expect(dataOf(await get("/node/status"))).to.deep.include({ timestamp: 8 });
      const { constants } = dataOf(await get("/node/configuration")) as { constants: { epoch: string } };
      expect(constants.epoch).to.equal("2019-07-22T05:13:20.000Z");
    } finally {
      if (zone === undefined) delete process.env["TZ"];
      else process.env["TZ"] = zone;
    }
  });

  it("may lack slip44 and aip20, which replies then lack", async () => {
    const { slip44: _slip44, aip20: _aip20, ...parameters } = network.network;
    const { get } = await serve({ ...network, network: parameters });
    expect(dataOf(await get("/node/configuration"))).to.include({ nethash: network.network.nethash }).and.not.have.property("slip44");
    expect((dataOf(await get("/node/configuration/crypto")) as { network: object }).network).to.deep.equal(parameters);
  });

  it("may have rewards that depend on rank: those of blocks count, and none is held against the milestones", async () => {
    const forgers = [...new Set(blocks.slice(1).map(({ generatorPublicKey }) => generatorPublicKey))];
    const rewardOf = ({ height, generatorPublicKey }: BlockData): bigint => (height === 1 ? 0n : 7n * BigInt(forgers.indexOf(generatorPublicKey) + 1));
    const ranked = blocks.map((block) => ({ ...block, reward: String(rewardOf(block)) }));
    const { get } = await serve({ ...network, rewards: "blocks" }, {}, ranked);
    expect((await get("/health")).body).to.include({ status: "ok", height: end });
    const sum = (found: readonly BlockData[]): bigint => found.reduce((all, block) => all + rewardOf(block), 0n);
    const { supply } = dataOf(await get("/blockchain")) as { supply: number | bigint };
    expect(BigInt(supply)).to.equal(BigInt(String(blocks[0]?.totalAmount)) + sum(ranked.slice(0, end)));
    const [forger] = forgers;
    const { forged } = dataOf(await get(`/delegates/${String(forger)}`)) as { forged: { rewards: number } };
    expect(BigInt(forged.rewards)).to.equal(sum(ranked.slice(0, end).filter(({ generatorPublicKey }) => generatorPublicKey === forger)));
    expect((dataOf(await get("/node/configuration")) as { constants: { reward: number } }).constants.reward).to.equal(0);
    // By this a replica knows it.
    expect(dataOf(await get("/node/configuration/crypto"))).to.include({ rewards: "blocks" });
  });

  for (const [what, changes] of [
    ["block time", [{ height: 11, blocktime: 6 }]],
    ["number of delegates", [{ height: 11, activeDelegates: 7 }]],
    ["number of delegates, and later its block time", [{ height: 11, activeDelegates: 7 }, { height: 25, blocktime: 5 }]],
  ] as const) {
    it(`may change its ${what}: the next forgers are those whose blocks come, and slots are the network's`, async () => {
      const chain = createLocalChain({ network: { ...localNetwork(), milestones: [{ ...first, activeDelegates: 5, blocktime: 8 }, ...rest, ...changes] } });
      const served = await serveNetwork(chain.network, { chain: chain.adapter });
      const { milestones } = createChainRules(chain.network);
      const made: BlockData[] = [chain.network.genesisBlock];
      const maker = chain.createMaker();
      while (made.length < 50) {
        const { body } = await served.get("/v1/delegates/getNextForgers?limit=1");
        const { currentSlot, delegates } = body as { currentSlot: number; delegates: string[] };
        const tip = made.length;
        expect(currentSlot, `slot of ${tip}`).to.equal(slotsAt(tip, milestones, (height) => made[height - 1]?.timestamp ?? NaN).slotOf(made.at(-1)?.timestamp ?? 0));
        const block = blockData(await chain.forgeNext(maker));
        chain.adapter.apply(block);
        made.push(block);
        // The clock of the test is far beyond genesis.
        if (tip === 1) continue;
        expect(block.generatorPublicKey, `block ${block.height}`).to.equal(delegates[0]);
        expect(block.timestamp - (made[tip - 1]?.timestamp ?? 0)).to.equal(milestones.at(tip).blocktime);
      }
    });
  }
});
