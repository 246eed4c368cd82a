import type { ChainSnapshot, MaybePromise } from "../../types/chain-adapter.js";
import type { BlockMark } from "../../types/node-context.js";
import { andThen, isPromised } from "../async/maybe-promise.js";

/** The blocks between which the chain can be read, and the one that is taken to be final. */
export interface Marks {
  tip: BlockMark;
  final: BlockMark;
  oldest: BlockMark;
}

export interface MarksNeeds {
  openSnapshot(): MaybePromise<ChainSnapshot | undefined>;
  /** Is told of a block that cannot be read. */
  unreadable(error: unknown): undefined;
  /** Height of the newest final block of a chain that ends at a height. */
  finalHeight(tip: number): number;
}

/** Reads the marks; undefined while there is no state. They are looked up once for each tip. */
export const createMarks = ({ openSnapshot, unreadable, finalHeight }: MarksNeeds) => {
  let kept: Marks | undefined;

  const markAt = (snapshot: ChainSnapshot, height: number): MaybePromise<BlockMark | undefined> =>
    andThen(snapshot.block({ height }), (block) => block && { height: block.height, id: block.id });

  const lookUp = (snapshot: ChainSnapshot): MaybePromise<Marks> => {
    const { height, id } = snapshot.tip;
    if (kept?.tip.id === id) return kept;
    return andThen(markAt(snapshot, finalHeight(height)), (final) =>
      andThen(markAt(snapshot, 1), (oldest) => {
        const tip = { height, id };
        return (kept = { tip, final: final ?? tip, oldest: oldest ?? tip });
      }),
    );
  };

  return (): MaybePromise<Marks | undefined> =>
    andThen(openSnapshot(), (snapshot) => {
      if (snapshot === undefined) return undefined;
      const release = (): void => snapshot.release?.();
      try {
        const found = lookUp(snapshot);
        if (isPromised(found)) return found.catch(unreadable).finally(release);
        release();
        return found;
      } catch (error) {
        release();
        return unreadable(error);
      }
    });
};
