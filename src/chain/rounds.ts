import { sha256 } from "@noble/hashes/sha2.js";
import type { Milestones } from "./milestones.js";

export interface Round {
  /** From 1. */
  round: number;
  firstHeight: number;
  lastHeight: number;
  activeDelegates: number;
}

/** The round that a height belongs to, counted through the milestones where they change the number of active delegates. */
export const roundOf = (height: number, milestones: Milestones): Round => {
  let firstHeight = 1;
  let round = 1;
  let active = milestones.at(1).activeDelegates;
  /** A change cuts short the round that it falls into. */
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

/** A round by its number; undefined for what is no number of a round. */
export const roundByNumber = (number: number, milestones: Milestones): Round | undefined => {
  if (!Number.isInteger(number) || number < 1) return undefined;
  let current = roundOf(1, milestones);
  for (const { height } of milestones.all) {
    const next = roundOf(height, milestones);
    if (next.round > number) break;
    current = next;
  }
  const firstHeight = current.firstHeight + (number - current.round) * current.activeDelegates;
  return Number.isSafeInteger(firstHeight) ? roundOf(firstHeight, milestones) : undefined;
};

/** Ranks are recomputed after genesis and after the last block of each round. */
export const endsRound = (height: number, milestones: Milestones): boolean =>
  height === 1 || roundOf(height + 1, milestones).firstHeight === height + 1;

/**
 * The order in which a round's delegates forge, from their order by rank: swaps drawn from SHA-256 of the round's number,
 * four bytes of it at a time.
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

/** Number of the slot that an epoch time lies in. */
export const slotOf = (timestamp: number, blocktime: number): number => Math.floor(timestamp / blocktime);

/** Who forges in a slot, given the round's forging order. */
export const forgerOf = <T>(slot: number, order: readonly T[]): T | undefined => order[slot % order.length];

/** Rank order: vote balance descending, public key ascending; resigned delegates have none. */
export const rankDelegates = <T extends { publicKey: string; voteBalance: bigint; resigned: boolean }>(delegates: readonly T[]): T[] =>
  delegates
    .filter(({ resigned }) => !resigned)
    .sort((a, b) => (a.voteBalance === b.voteBalance ? (a.publicKey < b.publicKey ? -1 : 1) : a.voteBalance > b.voteBalance ? -1 : 1));
