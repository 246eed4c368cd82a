import type { BlockData } from "../../../types/events.js";
import type { Network } from "../../../types/node-context.js";

/**
 * The network of the suite's chain: rounds of five blocks, and of four from height 16; a reward from height 6, and another from 16;
 * wire version 2 from height 11; block ids of 64 hexadecimal digits from height 26.
 */
export const milestones: Network["milestones"] = [
  {
    height: 1,
    reward: 0,
    activeDelegates: 5,
    blocktime: 8,
    block: { version: 0, maxTransactions: 50, maxPayload: 2_097_152 },
    epoch: "2017-03-21T13:00:00.000Z",
    fees: { staticFees: { transfer: 10_000_000, vote: 100_000_000 } },
    vendorFieldLength: 64,
  },
  { height: 6, reward: 200_000_000 },
  { height: 11, aip11: true, vendorFieldLength: 255 },
  { height: 16, reward: "300000001", activeDelegates: 4, block: { version: 1 } },
  { height: 26, block: { idFullSha256: true } },
];

export const networkOf = (genesisBlock: BlockData): Network => ({
  network: {
    name: "conformance",
    messagePrefix: "Conformance message:\n",
    bip32: { public: 70617039, private: 70615956 },
    pubKeyHash: 23,
    nethash: genesisBlock.payloadHash,
    wif: 186,
    slip44: 1,
    aip20: 0,
    client: { token: "CONF", symbol: "C", explorer: "http://explorer.invalid" },
  },
  milestones,
  exceptions: {},
  genesisBlock,
});
