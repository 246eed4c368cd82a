import type { Tip } from "../../../types/chain.js";
import type { Problems } from "../../operate/problems.js";
import type { Store } from "../state/store.js";

interface RewardCheckNeeds {
  store: Pick<Store, "tip" | "firstOtherReward">;
  /** Id of the store's block at a height. */
  idAt(height: number): string | undefined;
  problems: Problems;
}

/**
 * Compares the rewards of blocks with the milestones'. The state is computed from the blocks' own, and so it is right; but a chain with
 * others belongs to another network than the host says, whose constants and delegates are then served beside it.
 * Returns what is to be called when the chain has changed.
 */
export const createRewardCheck = ({ store, idAt, problems }: RewardCheckNeeds): (() => void) => {
  const problem = problems.define({ level: "warn", kind: "diverged", begun: "the chain's rewards are not those of its network", ended: "the chain's rewards are those of its network again" });
  /** The tip when the chain was last looked at. */
  let checked: Tip | undefined;
  /** The block that was found. */
  let other: { height: number; id: string } | undefined;

  return () => {
    const tip = store.tip();
    if (tip === undefined || tip.id === checked?.id) return;
    if (other !== undefined && idAt(other.height) === other.id) return;
    if (other !== undefined) problem.end();
    const from = other === undefined && checked !== undefined && idAt(checked.height) === checked.id ? checked.height + 1 : 1;
    const found = store.firstOtherReward(from);
    [checked, other] = [tip, found?.block];
    if (found === undefined) return;
    const { height, reward } = found.block;
    problem.begin(`block ${height} has the reward ${reward}, but \`network.milestones\` give ${found.expected} at this height: the chain belongs to another network`);
  };
};
