import { expect } from "chai";
import type { NodeInfo } from "../../types/node-context.js";
import { chainNames, storedChain } from "./chains.js";
import { dataOf } from "./data-of.js";
import { figuresOf } from "./figures.js";
import { type Interface, parsed, serveChain } from "./interface.js";
import { expectNotFound } from "./refusals.js";

const epochStart = Date.parse("2017-03-21T13:00:00.000Z");
const secondsADay = 86_400;

for (const name of chainNames) {
  describe(`node of ${name}, second generation`, () => {
    const { meta, network, blocks, tip, transactionRows } = figuresOf(name);
    const told = meta.nodeConfiguration.data as { core: { version: string }; ports: NodeInfo["ports"]; transactionPool: NodeInfo["transactionPool"] };
    const node: NodeInfo = {
      version: told.core.version,
      ...(told.ports === undefined ? {} : { ports: told.ports }),
      ...(told.transactionPool === undefined ? {} : { transactionPool: told.transactionPool }),
    };
    let served: Interface;
    let ahead: Interface;
    before(async () => {
      const now = epochStart + 305_134_644_900;
      served = await serveChain(name, { node, sync: { networkHeight: () => tip.height + 7 }, now });
      ahead = await serveChain(name, { sync: { networkHeight: () => Promise.resolve(tip.height - 3), synced: () => false }, now });
    });

    it("has the configuration that the real node reports", async () => {
      expect(dataOf(await served.get("/node/configuration"))).to.deep.equal(meta.nodeConfiguration.data);
    });

    it("has every key of the configuration even if the host provides nothing about itself", async () => {
      const data = dataOf(await ahead.get("/node/configuration")) as Record<string, unknown>;
      const { core: _core, ports: _ports, transactionPool: _pool, ...ofNetwork } = meta.nodeConfiguration.data;
      const { ports, transactionPool, ...rest } = data;
      expect(rest).to.deep.equal(ofNetwork);
      expect(ports).to.deep.equal({});
      const { dynamicFees } = transactionPool as NonNullable<NodeInfo["transactionPool"]>;
      expect(dynamicFees).to.deep.include({ enabled: false, minFeePool: 0, minFeeBroadcast: 0 });
      expect(dynamicFees.addonBytes).to.include.keys(
        ...["transfer", "secondSignature", "delegateRegistration", "vote", "multiSignature", "ipfs", "timelockTransfer", "multiPayment"],
        "delegateResignation",
      );
    });

    it("has everything that is needed to sign for the network", async () => {
      const data = dataOf(await served.get("/node/configuration/crypto")) as Record<string, unknown>;
      expect(data.network).to.deep.equal(network.network);
      expect(data.milestones).to.deep.equal(meta.milestones);
      expect(data.exceptions).to.deep.equal({
        blocks: [],
        transactions: [],
        outlookTable: {},
        transactionIdFixTable: {},
        wrongTransactionOrder: {},
        ...network.exceptions,
      });
      const { previousBlock, ...genesis } = data.genesisBlock as { previousBlock: unknown };
      const { previousBlock: previous = null, ...expected } = network.genesisBlock;
      expect(genesis).to.deep.equal(JSON.parse(JSON.stringify(expected)));
      expect(previousBlock).to.equal(previous);
    });

    it("has the fees paid in the days before the tip", async () => {
      for (const days of [1, 7, 30]) {
        const seen = transactionRows.filter(({ block, fee }) => block.height > 1 && block.timestamp >= tip.timestamp - days * secondsADay && BigInt(String(fee)) >= 3_000n);
        const kinds = [...new Set(seen.map(({ typeGroup, type }) => `${typeGroup}/${String(type).padStart(3)}`))].sort();
        const expected = kinds.map((kind) => {
          const same = seen.filter(({ typeGroup, type }) => `${typeGroup}/${String(type).padStart(3)}` === kind);
          const fees = same.map(({ fee }) => BigInt(String(fee))).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
          const sum = fees.reduce((a, b) => a + b, 0n);
          const count = BigInt(fees.length);
          const [{ type, typeGroup } = { type: -1, typeGroup: -1 }] = same;
          const rounded = ((2n * sum + count) / (2n * count)).toString();
          return { type, typeGroup, avg: rounded, min: String(fees[0]), max: String(fees.at(-1)), sum: sum.toString() };
        });
        expect((await served.get(`/node/fees?days=${days}`)).body).to.deep.equal({ meta: { days }, data: expected });
      }
    });

    it("has the fees of a week by default", async () => {
      expect((await served.get("/node/fees")).body).to.deep.equal((await served.get("/node/fees?days=7")).body);
    });

    it("reports how far the network is ahead", async () => {
      expect(dataOf(await served.get("/node/status"))).to.deep.equal({ synced: false, now: tip.height, blocksCount: 7, timestamp: 305_134_644 });
      expect(dataOf(await served.get("/node/syncing"))).to.deep.equal({ syncing: true, blocks: 7, height: tip.height, id: tip.id });
    });

    it("reports in negative numbers how far it is ahead itself, and its host's word on whether it is synced", async () => {
      expect(dataOf(await ahead.get("/node/status"))).to.deep.include({ synced: false, blocksCount: -3 });
      expect(dataOf(await ahead.get("/node/syncing"))).to.deep.include({ syncing: true, blocks: -3 });
    });

    it("has the tip and the supply of the real node", async () => {
      const expected = { block: { height: tip.height, id: tip.id }, supply: BigInt(meta.supply) };
      const { digest, ...reported } = dataOf(await served.get("/blockchain")) as { digest: string };
      expect(reported).to.deep.equal(parsed(expected));
      expect(digest).to.match(/^[0-9a-f]{64}$/);
    });

    it("has the round of the next block by rank, with the votes at its start", async () => {
      const { round } = meta.roundOfTip;
      const data = dataOf(await served.get(`/rounds/${round}/delegates`)) as { username: string; publicKey: string; votes: number }[];
      expect(data.map(({ username }) => username)).to.have.members(meta.activeDelegatesInForgingOrder.map(({ username }) => username));
      const byRank = [...data].sort((a, b) => b.votes - a.votes || (a.publicKey < b.publicKey ? -1 : 1));
      expect(data).to.deep.equal(byRank);
      const forgers = new Set(data.map(({ publicKey }) => publicKey));
      for (const { generatorPublicKey } of blocks.slice(meta.roundOfTip.roundHeight - 1)) expect(forgers).to.include(generatorPublicKey);
    });

    it("finds no round that has not begun, and none by an invalid number", async () => {
      for (const id of [meta.roundOfTip.round + 1, 0, "-1", "1.5", "01", "last", "9".repeat(20)]) {
        expectNotFound(await served.get(`/rounds/${id}/delegates`), "Round not found");
      }
    });
  });
}

describe("the votes in a round that the real node reports", () => {
  const { meta } = figuresOf("core3-testnet-a");
  let served: Interface;
  before(async () => (served = await serveChain("core3-testnet-a")));

  it("are those that delegates had when the round began", async () => {
    const data = dataOf(await served.get(`/rounds/${meta.roundOfTip.round}/delegates`)) as { username: string }[];
    expect(data.map(({ username }) => username)).to.deep.equal(meta.roundDelegatesByRank);
    const told = new Map(meta.roundStateForgingDelegates.map(({ username, publicKey, voteBalanceAtRoundStart }) => [username, [publicKey, voteBalanceAtRoundStart]]));
    const expected = data.map(({ username }) => {
      const [publicKey, votes] = told.get(username) ?? [];
      return { publicKey, username, votes: Number(votes) };
    });
    expect(data).to.deep.equal(expected);
  });
});

describe("node of a host that provides no information", () => {
  const { tip } = figuresOf("core3-testnet-a");
  let served: Interface;
  before(async () => {
    const chain = { ...(await storedChain("core3-testnet-a")), supports: { rounds: false, feeStatistics: false, delegateFigures: false } };
    served = await serveChain("core3-testnet-a", { chain });
  });

  it("is in sync with itself", async () => {
    expect(dataOf(await served.get("/node/status"))).to.deep.include({ synced: true, now: tip.height, blocksCount: 0 });
    expect(dataOf(await served.get("/node/syncing"))).to.deep.equal({ syncing: false, blocks: 0, height: tip.height, id: tip.id });
  });

  it("answers 501 for what its adapter does not support", async () => {
    for (const path of ["/rounds/1/delegates", "/node/fees", "/delegates?orderBy=productivity", "/delegates?voters.from=1", "/delegates?missedBlocks.to=0"]) {
      const { status, body } = await served.get(path);
      expect(status).to.equal(501);
      expect(body).to.deep.equal({ statusCode: 501, error: "Not Implemented", message: "This node does not support that.", code: "NOT_SUPPORTED" });
    }
  });
});

describe("a host without state yet", () => {
  let served: Interface;
  before(async () => (served = await serveChain("core3-testnet-a", { chain: { snapshot: () => undefined } })));

  it("answers 503 for what is read from the chain, and answers the rest", async () => {
    for (const path of ["/node/status", "/node/configuration", "/wallets", "/blocks/1", "/transactions/fees", "/locks"]) {
      const { status, headers, body } = await served.get(path);
      expect(status, path).to.equal(503);
      expect(headers.get("retry-after"), path).to.match(/^\d+$/);
      expect(body).to.deep.equal({ statusCode: 503, error: "Service Unavailable", message: "The node's state is not ready yet.", code: "NOT_READY" });
    }
    for (const path of ["/node/configuration/crypto", "/peers", "/transactions/types", "/transactions/unconfirmed"]) {
      expect((await served.get(path)).status, path).to.equal(200);
    }
  });
});
