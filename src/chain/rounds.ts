import { sha256 } from "@noble/hashes/sha2.js";
import type { Milestones } from "./milestones.js";
import type { ChainSnapshot } from "../../types/chain-adapter.js";
import type { Block, RoundDelegate } from "../../types/chain.js";

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

/** The slots as they are counted at one height. */
export interface Slots {
  /** Number of the slot that contains an epoch time. */
  slotOf(timestamp: number): number;
  /** Epoch time at which a slot begins. */
  beginOf(slot: number): number;
  /** The delegate that forges in a slot, given the forging order of the height's round; undefined if that is empty. */
  forgerOf<T>(slot: number, order: readonly T[]): T | undefined;
}

/** Heights above 1, up to the one given, from which a constant has another value. */
const changesOf = (constant: "blocktime" | "activeDelegates", height: number, { at, all }: Milestones): number[] =>
  [...new Set(all.map((milestone) => milestone.height))].filter(
    (from) => from > 1 && from <= height && at(from)[constant] !== at(from - 1)[constant],
  );

/**
 * Heights of the blocks whose times decide the slots at a height: none unless a milestone up to it changes `blocktime` or
 * `activeDelegates`.
 */
export const slotHeights = (height: number, milestones: Milestones): number[] => {
  const spans = changesOf("blocktime", height, milestones);
  const ends = [...spans, ...changesOf("activeDelegates", height, milestones)].map((from) => from - 1);
  return [...new Set(spans.length === 0 ? ends : [1, ...spans, ...ends])].filter((needed) => needed < height);
};

/**
 * The slots at a height, counted as in ARK Core 3.9.1: each span of heights by its own block time, and turns anew from each change of the
 * number of delegates on. `timeOf` gives the epoch times of the blocks of `slotHeights`.
 */
export const slotsAt = (height: number, milestones: Milestones, timeOf: (height: number) => number): Slots => {
  let { blocktime } = milestones.at(1);
  let [firstHeight, counted, end] = [1, 0, 0];
  for (const from of changesOf("blocktime", height, milestones)) {
    end = timeOf(from - 1) + blocktime;
    counted += Math.floor((end - timeOf(firstHeight)) / blocktime);
    [firstHeight, { blocktime }] = [from, milestones.at(from)];
  }
  const slotOf = (timestamp: number): number => counted + Math.floor((timestamp - end) / blocktime);

  const changed = changesOf("activeDelegates", height, milestones).at(-1);
  const firstTurn = changed === undefined ? 0 : slotsAt(changed - 1, milestones, timeOf).slotOf(timeOf(changed - 1)) + 1;
  return {
    slotOf,
    beginOf: (slot) => end + (slot - counted) * blocktime,
    // Slots that passed at the beginning of a span are not counted in the next, so that a slot may be below the first turn.
    forgerOf: (slot, order) => order.at((slot - firstTurn) % order.length),
  };
};

/** What the turns before a block are counted from. */
interface TurnsNeeds {
  milestones: Milestones;
  /** The active delegates of a round, by rank. */
  round(round: number): readonly { publicKey: string }[];
  /** Epoch time of the chain's block at a height below that of the block. */
  timeOf(height: number): number;
}

/**
 * The slots that passed without a block between a block and the one before it: how many were whose turn, by public key, in the
 * forging order of the block's round. None before the second block, which may follow genesis by years.
 */
export const missedTurns = ({ height, timestamp }: Pick<Block, "height" | "timestamp">, needs: TurnsNeeds): Map<string, number> => {
  const { milestones, timeOf } = needs;
  const missed = new Map<string, number>();
  if (height < 3) return missed;
  const earliest = timeOf(height - 1) + milestones.at(height - 1).blocktime;
  if (timestamp <= earliest) return missed;
  const { slotOf, forgerOf } = slotsAt(height, milestones, timeOf);
  const { round } = roundOf(height, milestones);
  const order = forgingOrder(needs.round(round), round);
  const first = slotOf(earliest);
  const slots = slotOf(timestamp) - first;
  // Each delegate has one of any `order.length` slots that follow each other.
  for (let turn = 0; turn < Math.min(slots, order.length); turn++) {
    const forger = forgerOf(first + turn, order);
    if (forger !== undefined) missed.set(forger.publicKey, Math.ceil((slots - turn) / order.length));
  }
  return missed;
};

/** Whose turn it is after a snapshot's tip. */
export interface Turns {
  /** Slot of the tip. */
  current: number;
  /** The first slot that the next block may have. */
  next: number;
  /** The delegates of the next block's round, in forging order. */
  order: RoundDelegate[];
  slotOf(timestamp: number): number;
  beginOf(slot: number): number;
  forgerOf(slot: number): RoundDelegate | undefined;
}

export const turnsAfter = async (chain: Pick<ChainSnapshot, "tip" | "block" | "round">, milestones: Milestones): Promise<Turns> => {
  const { height, timestamp } = chain.tip;
  const times = new Map([[height, timestamp]]);
  for (const needed of slotHeights(height + 1, milestones)) {
    const block = await chain.block({ height: needed });
    if (block !== undefined) times.set(needed, block.timestamp);
  }
  const timeOf = (needed: number): number => {
    const time = times.get(needed);
    if (time === undefined) throw new Error(`the chain has no block at height ${needed}, though its tip is ${height}`);
    return time;
  };
  const { round } = roundOf(height + 1, milestones);
  const order = forgingOrder((await chain.round(round)) ?? [], round);
  const { slotOf, beginOf, forgerOf } = slotsAt(height + 1, milestones, timeOf);
  return {
    current: slotsAt(height, milestones, timeOf).slotOf(timestamp),
    next: slotOf(timestamp + milestones.at(height).blocktime),
    order,
    slotOf,
    beginOf,
    forgerOf: (slot) => forgerOf(slot, order),
  };
};
