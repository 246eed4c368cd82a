import type { Tip } from "../../../types/chain.js";
import { PorticoError } from "../../errors.js";
import type { StateRecord } from "../layout/codec.js";
import type { Reading } from "../lmdb/reading.js";
import { existing, readBlock } from "../records/records.js";
import { oldestState } from "./past-records.js";

/** What is thrown for a height whose state is not known; `oldest`: the first that is. */
export const historyMissing = ({ height, id }: Pick<Tip, "height" | "id">): PorticoError =>
  new PorticoError("HISTORY_MISSING", `The state at that height is not kept: the oldest is that at height ${height}.`, { members: { oldest: { height, id } } });

interface View {
  reading: Reading;
  /** At the tip. */
  state: StateRecord;
}

/** The first block whose state a view has. Its height is the same for as long as the view lives, and every request needs it. */
export const createOldest = (keepsHistory: boolean) => {
  const heights = new WeakMap<View, number>();
  const heightOf = (view: View): number => {
    const known = heights.get(view);
    if (known !== undefined) return known;
    const height = keepsHistory ? oldestState(view.reading, view.state) : view.state.tip.height;
    heights.set(view, height);
    return height;
  };
  return {
    heightOf,
    of: (view: View): Pick<Tip, "height" | "id"> => {
      const height = heightOf(view);
      return { height, id: existing(readBlock(view.reading, height), `block ${height}`).id };
    },
  };
};

/** What is thrown for changes of a wallet by blocks whose rows are not kept: those up to the oldest state. */
export const changesMissing = (height: number, reading: Reading): PorticoError => {
  const { id } = existing(readBlock(reading, height), `block ${height}`);
  const message = `What changed this wallet up to height ${height} is not kept: ask from height ${height + 1} on.`;
  return new PorticoError("HISTORY_MISSING", message, { members: { oldest: { height, id } } });
};
