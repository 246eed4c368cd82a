import { createHash } from "node:crypto";
import type { Tip } from "../../types/chain.js";

/** Turns that were missed, slot by slot as the rules say. Nothing here comes from the code under test. */

interface Constants {
  height: number;
  blocktime: number;
  activeDelegates: number;
}

interface Turns {
  /** Merged, ascending by height. */
  milestones: readonly Constants[];
  /** Epoch time of the block at a height. */
  timeOf(height: number): number;
  round: number;
  /** Public keys of the round's delegates. */
  byRank: readonly string[];
}

const shuffled = (byRank: readonly string[], round: number): string[] => {
  const order = [...byRank];
  let seed = createHash("sha256").update(String(round), "utf8").digest();
  let i = 0;
  while (i < order.length) {
    for (let x = 0; x < 4 && i < order.length; x++, i++) {
      const other = seed.readUInt8(x) % order.length;
      const [one, two] = [order[i] ?? "", order[other] ?? ""];
      order[i] = two;
      order[other] = one;
    }
    i++;
    seed = createHash("sha256").update(seed).digest();
  }
  return order;
};

const constantsAt = (height: number, { milestones }: Turns): Constants => {
  const found = milestones.filter((milestone) => milestone.height <= height).at(-1);
  if (found === undefined) throw new Error("no milestones");
  return found;
};

const changesOf = (name: "blocktime" | "activeDelegates", height: number, turns: Turns): number[] =>
  Array.from({ length: height - 1 }, (_, index) => index + 2).filter((at) => constantsAt(at, turns)[name] !== constantsAt(at - 1, turns)[name]);

/** The slot of a time, counted at a height. */
const slotOf = (timestamp: number, height: number, turns: Turns): number => {
  const begins = [1, ...changesOf("blocktime", height, turns)];
  let [slots, endBefore] = [0, 0];
  for (const [index, begin] of begins.entries()) {
    const { blocktime } = constantsAt(begin, turns);
    const next = begins[index + 1];
    if (next === undefined) return slots + Math.floor((timestamp - endBefore) / blocktime);
    const end = turns.timeOf(next - 1) + blocktime;
    slots += Math.floor((end - turns.timeOf(begin)) / blocktime);
    endBefore = end;
  }
  return slots;
};

/** Slots are numbered anew from each change of the number of delegates on. */
const firstSlot = (height: number, turns: Turns): number => {
  const changed = changesOf("activeDelegates", height, turns).at(-1);
  return changed === undefined ? 0 : slotOf(turns.timeOf(changed - 1), changed - 1, turns) + 1;
};

/** The delegate of each slot that passed between two blocks, in turn. */
export const missedSlots = (before: Tip, block: Tip, turns: Turns): string[] => {
  const end = slotOf(block.timestamp, block.height, turns);
  const order = shuffled(turns.byRank, turns.round);
  const first = firstSlot(block.height, turns);
  const missed: string[] = [];
  const { blocktime } = constantsAt(before.height, turns);
  for (let slot = slotOf(before.timestamp + blocktime, block.height, turns); slot < end; slot++) {
    const turn = (slot - first) % order.length;
    missed.push(order[turn < 0 ? turn + order.length : turn] ?? "");
  }
  return missed;
};
