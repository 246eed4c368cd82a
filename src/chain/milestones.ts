import type { Milestone } from "../../types/node-context.js";
import type { AmountLike } from "../../types/events.js";
import { PorticoError } from "../errors.js";
import { parseAmount } from "./amount.js";

/** All constants of the network at a height: the milestones up to that height, merged. */
export interface Constants extends Milestone {
  /** Height of the last milestone merged. */
  height: number;
  reward: number | string;
  activeDelegates: number;
  /** Seconds. */
  blocktime: number;
  /** ISO 8601. */
  epoch: string;
}

/** The network's constants by height. */
export interface Milestones {
  at(height: number): Constants;
  /** Every merged state, ascending by height. */
  readonly all: readonly Constants[];
}

const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Objects are merged member by member; everything else is replaced. */
const merge = (below: Record<string, unknown>, above: Record<string, unknown>): Record<string, unknown> => {
  const merged = { ...below };
  for (const [key, value] of Object.entries(above)) {
    const before = merged[key];
    merged[key] = isPlainObject(before) && isPlainObject(value) ? merge(before, value) : value;
  }
  return merged;
};

const isAmount = (value: unknown): boolean => {
  try {
    return parseAmount(value as AmountLike) >= 0n;
  } catch {
    return false;
  }
};

const isComplete = (constants: Milestone): constants is Constants =>
  isAmount(constants.reward) &&
  Number.isInteger(constants.activeDelegates) &&
  Number(constants.activeDelegates) > 0 &&
  Number(constants.blocktime) > 0 &&
  constants.epoch !== undefined &&
  !Number.isNaN(Date.parse(constants.epoch));

export const createMilestones = (milestones: Milestone[]): Milestones => {
  const all: Constants[] = [];
  let merged: Milestone = { height: 1 };
  for (const { height } of milestones) {
    if (!Number.isSafeInteger(height) || height < 1) throw new PorticoError("OPTION_INVALID", `network.milestones: ${height} is not a height`);
  }
  for (const milestone of [...milestones].sort((a, b) => a.height - b.height)) {
    merged = merge(merged, milestone) as Milestone;
    if (!isComplete(merged)) {
      throw new PorticoError(
        "OPTION_INVALID",
        `network.milestones: at height ${milestone.height} one of reward, activeDelegates, blocktime, epoch is missing or not valid`,
      );
    }
    const wrong = Object.entries(merged.fees?.staticFees ?? {}).find(([, fee]) => !isAmount(fee));
    if (wrong !== undefined) throw new PorticoError("OPTION_INVALID", `network.milestones: at height ${milestone.height} the static fee ${wrong[0]} is not a whole number`);
    all.push(merged);
  }
  const first = all[0];
  if (first === undefined || first.height !== 1) {
    throw new PorticoError("OPTION_INVALID", "network.milestones: there is no milestone at height 1");
  }
  const at = (height: number): Constants => {
    let found = first;
    for (const constants of all) {
      if (constants.height > height) break;
      found = constants;
    }
    return found;
  };
  return { at, all };
};
