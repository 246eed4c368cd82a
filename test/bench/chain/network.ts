import type { BlockData } from "../../../types/events.js";
import type { Network } from "../../../types/node-context.js";
import { pubKeyHash } from "./names.js";
import { activeDelegates, type ChainSize, fullBlock } from "./sizes.js";

/** Seconds. */
export const blocktime = 8;
/** Of every block except genesis. */
export const reward = 200_000_000;
/** All that genesis hands out. */
export const genesisAmount = 12_500_000_000_000_000;

/** Height from which transactions are of version 2. */
export const secondVersionFrom = ({ blocks }: ChainSize): number => Math.floor(blocks / 5);

export const networkOf = (size: ChainSize, genesisBlock: BlockData): Network => ({
  network: {
    name: `bench ${size.name}`,
    messagePrefix: "Bench message:\n",
    bip32: { public: 46090600, private: 46089520 },
    pubKeyHash,
    nethash: genesisBlock.payloadHash,
    wif: 186,
    slip44: 1,
    aip20: 0,
    client: { token: "BENCH", symbol: "B", explorer: "http://explorer.invalid" },
  },
  milestones: [
    {
      height: 1,
      reward: 0,
      activeDelegates,
      blocktime,
      block: { version: 0, maxTransactions: fullBlock, maxPayload: 2_097_152, idFullSha256: true },
      epoch: "2017-03-21T13:00:00.000Z",
      fees: { staticFees: { transfer: 10_000_000, vote: 100_000_000, delegateRegistration: 2_500_000_000 } },
      vendorFieldLength: 255,
    },
    { height: 2, reward },
    { height: secondVersionFrom(size), aip11: true },
  ],
  exceptions: {},
  genesisBlock,
});
