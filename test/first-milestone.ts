import type { FirstMilestone } from "../types/node-context.js";

/** The first milestone of most test chains. No rewards by default. */
export const firstMilestone = (activeDelegates: number, reward = 0): FirstMilestone => ({
  height: 1,
  reward,
  activeDelegates,
  blocktime: 8,
  block: { version: 0, maxTransactions: 50, maxPayload: 2_097_152 },
  epoch: "2017-03-21T13:00:00.000Z",
  fees: { staticFees: { transfer: 10_000_000 } },
});
