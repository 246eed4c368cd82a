import type { Block } from "../../types/chain.js";
import type { Sliced } from "../async/time-slicing.js";

/** How what a delegate forged is divided among its voters. Amounts are whole numbers of 1e-8. */
export interface RewardTerms {
  /** Hundredths of a percent of each block that its voters get: 0 to 10,000. */
  share: bigint;
  /** What of a block is divided. */
  of: "total" | "rewards" | "fees";
  /** Who is due less over the whole range gets nothing. */
  minimum: bigint;
  /** A balance counts for no more. */
  cap?: bigint | undefined;
  /** Addresses that get nothing. */
  exclude: ReadonlySet<string>;
  /** Whether the part of excluded addresses goes to the others. If not, it is left over. */
  spread: boolean;
}

type ForgedBlock = Pick<Block, "height" | "reward" | "totalFee">;

/** What a wallet has from then on; no balance: it does not vote for the delegate. */
export interface VoterChange {
  address: string;
  balance: bigint | undefined;
}

export interface Reward {
  address: string;
  /** How many blocks it gets something of. */
  blocks: number;
  amount: bigint;
}

export interface Rewards {
  forged: { rewards: bigint; fees: bigint; total: bigint };
  /** Sum of the shared parts of all blocks. */
  shared: bigint;
  /** Everything that nobody is paid: sum of amounts + rest = forged[of]. */
  rest: bigint;
  /** Greatest amount first, then by address. */
  voters: Reward[];
}

interface Voter extends Reward {
  /** What counts; undefined while it does not vote for the delegate. */
  weight: bigint | undefined;
}

/** Voters looked at in one slice: a fraction of a millisecond. */
const votersTogether = 1_000;

const amountOf = ({ reward, totalFee }: ForgedBlock, of: RewardTerms["of"]): bigint =>
  (of === "fees" ? 0n : reward) + (of === "rewards" ? 0n : totalFee);

/** By the greater amount, then by address. */
const byAmount = (one: Reward, other: Reward): number => {
  if (one.amount !== other.amount) return one.amount > other.amount ? -1 : 1;
  return one.address < other.address ? -1 : 1;
};

/**
 * Divides each block by the balances of the delegate's voters in the state after it; every part is rounded down. `blocks`: by ascending
 * height. `changes`: by the index of a block, what has changed since the one before; for the first, its voters.
 */
export const divideRewards = function* (
  blocks: readonly ForgedBlock[],
  changes: ReadonlyMap<number, readonly VoterChange[]>,
  terms: RewardTerms,
): Sliced<Rewards> {
  const { share, of, minimum, cap, exclude, spread } = terms;
  const all = new Map<string, Voter>();
  const weightOf = ({ address, balance }: VoterChange): bigint | undefined => {
    if (balance === undefined || balance <= 0n || (spread && exclude.has(address))) return undefined;
    return cap !== undefined && balance > cap ? cap : balance;
  };
  let [sum, shared, rewards, fees] = [0n, 0n, 0n, 0n];
  for (const [index, block] of blocks.entries()) {
    for (const change of changes.get(index) ?? []) {
      const { address } = change;
      const voter = all.get(address) ?? { address, blocks: 0, amount: 0n, weight: undefined };
      sum -= voter.weight ?? 0n;
      voter.weight = weightOf(change);
      sum += voter.weight ?? 0n;
      all.set(address, voter);
    }
    rewards += block.reward;
    fees += block.totalFee;
    const pot = (amountOf(block, of) * share) / 10_000n;
    shared += pot;
    if (pot === 0n || sum === 0n) continue;
    let looked = 0;
    for (const voter of all.values()) {
      if (++looked % votersTogether === 0) yield;
      if (voter.weight === undefined || exclude.has(voter.address)) continue;
      const part = (pot * voter.weight) / sum;
      if (part === 0n) continue;
      voter.blocks++;
      voter.amount += part;
    }
    yield;
  }
  const voters = [...all.values()]
    .filter(({ amount }) => amount > 0n && amount >= minimum)
    .map(({ address, blocks: count, amount }) => ({ address, blocks: count, amount }));
  const paid = voters.reduce((total, { amount }) => total + amount, 0n);
  const forged = { rewards, fees, total: rewards + fees };
  return { forged, shared, rest: forged[of] - paid, voters: voters.sort(byAmount) };
};
