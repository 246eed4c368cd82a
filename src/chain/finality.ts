import type { Milestones } from "./milestones.js";

/**
 * Blocks behind the tip at which a block counts as final: what the host configures (option `finality`), else twice the number of active
 * delegates at the tip. By then each delegate has had two turns to build on another branch.
 */
export const finalityAt = (tipHeight: number, milestones: Milestones, configured?: number): number => configured ?? 2 * milestones.at(tipHeight).activeDelegates;

/** Height of the newest final block: that of the tip less `finality`, itself included. Genesis is always final. */
export const finalHeightAt = (tipHeight: number, milestones: Milestones, configured?: number): number =>
  Math.max(1, tipHeight - finalityAt(tipHeight, milestones, configured));
