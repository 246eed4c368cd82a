import type { Milestone } from "../../types/node-context.js";
import type { AmountLike } from "../../types/events.js";
import { PorticoError } from "../errors.js";
import { parseAmount } from "./amount.js";
import { withZone } from "./epoch.js";

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

const isCount = (value: unknown): boolean => Number.isInteger(value) && Number(value) > 0;

/** What each milestone must have, of its own or from those below. */
const requirements: [member: keyof Constants, is: (value: unknown) => boolean, what: string][] = [
  ["reward", isAmount, "a whole number"],
  ["activeDelegates", isCount, "a whole number above 0"],
  ["blocktime", isCount, "a whole number of seconds above 0"],
  ["epoch", (value) => typeof value === "string" && !Number.isNaN(Date.parse(value)), "a time in ISO 8601"],
];

const requireComplete = (constants: Milestone, height: number): Constants => {
  for (const [member, is, what] of requirements) {
    const value = constants[member];
    if (is(value)) continue;
    const fault = value === undefined ? `${member} is missing` : `${member} is ${JSON.stringify(value)}`;
    throw new PorticoError("OPTION_INVALID", `network.milestones: at height ${height} ${fault}; it must be ${what}`);
  }
  const complete = constants as Constants;
  return { ...complete, epoch: withZone(complete.epoch) };
};

export const createMilestones = (milestones: Milestone[]): Milestones => {
  const all: Constants[] = [];
  let merged: Milestone = { height: 1 };
  for (const { height } of milestones) {
    if (!Number.isSafeInteger(height) || height < 1)
      throw new PorticoError("OPTION_INVALID", `network.milestones: ${height} is not a height`);
  }
  for (const milestone of [...milestones].sort((a, b) => a.height - b.height)) {
    const constants = requireComplete(merge(merged, milestone) as Milestone, milestone.height);
    merged = constants;
    const wrong = Object.entries(constants.fees?.staticFees ?? {}).find(([, fee]) => !isAmount(fee));
    if (wrong !== undefined) throw new PorticoError("OPTION_INVALID", `network.milestones: at height ${milestone.height} the static fee ${wrong[0]} is not a whole number`);
    all.push(constants);
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

/**
 * Blocks behind the tip at which a block counts as final: what the host configures (option `finality`), else twice the number of active
 * delegates at the tip. By then each delegate has had two turns to build on another branch.
 */
export const finalityAt = (tipHeight: number, milestones: Milestones, configured?: number): number =>
  configured ?? 2 * milestones.at(tipHeight).activeDelegates;

/** Height of the newest final block: that of the tip less `finality`, itself included. Genesis is always final. */
export const finalHeightAt = (tipHeight: number, milestones: Milestones, configured?: number): number =>
  Math.max(1, tipHeight - finalityAt(tipHeight, milestones, configured));
