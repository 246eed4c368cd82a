import type { Block } from "../../../types/chain.js";
import { parseAmount } from "../../chain/amount.js";
import type { ChainRules } from "../../chain/rules.js";
import { firstWhere } from "../records/sorting.js";
import { rankOf } from "../records/ranked-set.js";
import { existing, readBlock } from "../records/records.js";
import { amountKey, numberKey, sets } from "../layout/keys.js";
import type { ReadSession } from "../lmdb/read-session.js";

/** A block whose reward is not the one that the milestones give at its height. */
export interface OtherReward {
  block: Block;
  expected: bigint;
}

/** Heights, both included, in which all blocks should have one reward. */
interface Span {
  from: number;
  to: number;
  reward: bigint;
}

/** The reward of genesis is not compared. */
const firstRewarded = 2;

const spansOf = ({ milestones: { all } }: ChainRules, from: number, to: number): Span[] =>
  all
    .map(({ height, reward }, index) => ({
      from: Math.max(height, from, firstRewarded),
      to: Math.min((all[index + 1]?.height ?? Infinity) - 1, to),
      reward: parseAmount(reward),
    }))
    .filter((span) => span.from <= span.to);

/**
 * The first such block from one height to another, both included; those that `network.exceptions.blocks` names do not count. Found by
 * counting in the index of rewards, so that it costs the same for chains of any length.
 */
export const firstOtherReward = (reading: ReadSession, rules: ChainRules, from: number, to: number): OtherReward | undefined => {
  if (rules.network.rewards === "blocks") return undefined;
  const rankAt = (reward: bigint, height: number): number =>
    rankOf(reading, sets.blocksByReward, Buffer.concat([amountKey(reward), numberKey(height)]));
  for (const span of spansOf(rules, from, to)) {
    const below = rankAt(span.reward, span.from);
    const isOther = (height: number): boolean => rankAt(span.reward, height + 1) - below <= height - span.from;
    if (!isOther(span.to)) continue;
    const height = firstWhere(span.from, span.to, isOther);
    const block = existing(readBlock(reading, height), `block ${height}`);
    const expected = rules.rewardOf(block);
    return expected === undefined ? firstOtherReward(reading, rules, height + 1, to) : { block, expected };
  }
  return undefined;
};
