import { sha256 } from "@noble/hashes/sha2.js";
import type { Milestones } from "./milestones.js";

export interface Round {
  /** From 1. */
  round: number;
  firstHeight: number;
  lastHeight: number;
  activeDelegates: number;
}

/** The round that a height belongs to, taking into account milestones that change the number of active delegates. */
export const roundOf = (height: number, milestones: Milestones): Round => {
  let firstHeight = 1;
  let round = 1;
  let active = milestones.at(1).activeDelegates;
  /** Height of the next such change, which cuts the round that it falls into short. */
  let change = Infinity;
  for (const { height: from, activeDelegates } of milestones.all) {
    if (activeDelegates === active) continue;
    if (from > height) {
      change = from;
      break;
    }
    round += Math.ceil((from - firstHeight) / active);
    firstHeight = from;
    active = activeDelegates;
  }
  const rounds = Math.floor((height - firstHeight) / active);
  const start = firstHeight + rounds * active;
  return { round: round + rounds, firstHeight: start, lastHeight: Math.min(start + active, change) - 1, activeDelegates: active };
};

/** Whether ranks are recomputed after a block: they are after genesis and after the last block of each round. */
export const endsRound = (height: number, milestones: Milestones): boolean =>
  height === 1 || roundOf(height + 1, milestones).firstHeight === height + 1;

/**
 * The order in which a round's delegates forge, from their order by rank: positions are swapped as drawn from the SHA-256 of the
 * round's number, which is hashed again after every four bytes. Both loops advance `i`, so every fifth position is skipped; nodes
 * do the same, and the order has to match theirs.
 */
export const forgingOrder = <T>(byRank: readonly T[], round: number): T[] => {
  const order = [...byRank];
  const count = order.length;
  let seed = sha256(new TextEncoder().encode(String(round)));
  for (let i = 0; i < count; i++) {
    for (let x = 0; x < 4 && i < count; x++, i++) {
      const j = (seed[x] ?? 0) % count;
      [order[i], order[j]] = [order[j] as T, order[i] as T];
    }
    seed = sha256(seed);
  }
  return order;
};

/** Sorts delegates by rank: vote balance descending, then public key ascending. Resigned delegates have no rank and are left out. */
export const rankDelegates = <T extends { publicKey: string; voteBalance: bigint; resigned: boolean }>(delegates: readonly T[]): T[] =>
  delegates
    .filter(({ resigned }) => !resigned)
    .sort((a, b) => (a.voteBalance === b.voteBalance ? (a.publicKey < b.publicKey ? -1 : 1) : a.voteBalance > b.voteBalance ? -1 : 1));
