import { expect } from "chai";
import { presentConstants, presentCryptoConfiguration, presentNodeConfiguration } from "../../../src/api/v2/configuration.js";
import { createChainRules } from "../../../src/chain/rules.js";
import { loadChain } from "../../data/read.js";

const { network } = loadChain("core3-testnet-a");

describe("a network's constants", () => {
  it("are integers, even when a fork's files have text", () => {
    const constants = { height: 1, reward: "200000000000000000001", activeDelegates: 3, blocktime: 2, epoch: "2020-01-01T00:00:00.000Z" };
    expect(presentConstants({ ...constants, fees: { staticFees: { transfer: "10", vote: 0 } }, p2p: { minimumVersions: ["^1"] } })).to.deep.equal({
      ...constants,
      reward: 200_000_000_000_000_000_001n,
      fees: { staticFees: { transfer: 10n, vote: 0n } },
      p2p: { minimumVersions: ["^1"] },
    });
  });

  it("may lack fees", () => {
    const constants = { height: 1, reward: 0, activeDelegates: 3, blocktime: 2, epoch: "2020-01-01T00:00:00.000Z" };
    expect(presentConstants(constants)).to.deep.equal({ ...constants, reward: 0n });
  });
});

describe("a node's configuration", () => {
  it("changes with the height", () => {
    const rules = createChainRules(network);
    const heightAt = (height: number): number => presentNodeConfiguration(rules, height).constants.height;
    expect([1, 2, 59, 60, 75_599, 75_600].map(heightAt)).to.deep.equal([1, 2, 2, 60, 60, 75_600]);
  });

  it("includes a fork's own types among the bytes for dynamic fees", () => {
    const rules = createChainRules(network, [{ typeGroup: 2, type: 0, key: "business", name: "Business" }]);
    expect(presentNodeConfiguration(rules, 1).transactionPool.dynamicFees.addonBytes).to.include({ transfer: 0, business: 0 });
  });

  it("is complete for a pool that has no dynamic fees, and keeps its other settings", () => {
    const transactionPool = { dynamicFees: { enabled: false }, maxTransactionsPerRequest: 40 };
    const { dynamicFees, ...settings } = presentNodeConfiguration(createChainRules(network), 1, { transactionPool }).transactionPool;
    expect(dynamicFees).to.include({ enabled: false, minFeePool: 0, minFeeBroadcast: 0 });
    expect(dynamicFees.addonBytes).to.include({ transfer: 0, vote: 0 });
    expect(settings).to.deep.equal({ maxTransactionsPerRequest: 40 });
  });
});

describe("the cryptography configuration", () => {
  it("writes the amounts of genesis as text, whatever form the host uses", () => {
    const amount = { toString: () => "12500000000000000001", toJSON: () => 1 };
    const [transfer] = network.genesisBlock.transactions ?? [];
    if (transfer === undefined) throw new Error("genesis is empty");
    const genesisBlock = {
      ...network.genesisBlock,
      totalAmount: amount,
      totalFee: 0n,
      reward: 0,
      previousBlock: undefined,
      numberOfTransactions: 1,
      transactions: [{ ...transfer, amount, fee: 5, nonce: amount, vendorField: undefined }],
    };
    const { genesisBlock: presented } = presentCryptoConfiguration(createChainRules({ ...network, genesisBlock }));
    expect(presented).to.deep.include({ totalAmount: "12500000000000000001", totalFee: "0", reward: "0", previousBlock: null });
    expect(presented.transactions).to.deep.equal([
      { ...transfer, amount: "12500000000000000001", fee: "5", nonce: "12500000000000000001" },
    ]);
  });

  it("keeps a fork's exceptions alongside those that clients know", () => {
    const { exceptions } = presentCryptoConfiguration(createChainRules({ ...network, exceptions: { blocks: ["1"], rewards: { "5": 1 } } }));
    expect(exceptions).to.deep.equal({
      blocks: ["1"],
      transactions: [],
      outlookTable: {},
      transactionIdFixTable: {},
      wrongTransactionOrder: {},
      rewards: { "5": 1 },
    });
  });
});
