import { presetNetwork } from "../../../examples/standalone/chain/crypto.js";
import type { Network } from "../../../types/node-context.js";

export const activeDelegates = 7;
/** In seconds. The node's forger needs two of them for itself. */
export const blocktime = 4;
/** The height from which blocks have a reward. */
export const rewardHeight = 12;

/** The preset `testnet`, with rounds of half a minute and an early reward. */
export const shortRounds = (): Network => {
  const network = presetNetwork("testnet");
  const [first] = network.milestones;
  return {
    ...network,
    milestones: [
      { ...first, activeDelegates, blocktime },
      { height: 2, aip11: true, htlcEnabled: true, aip37: true },
      { height: rewardHeight, reward: 200000000, vendorFieldLength: 255 },
    ],
  };
};
