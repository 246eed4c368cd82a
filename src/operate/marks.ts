import type { ChainSnapshot, MaybePromise } from "../../types/chain-adapter.js";
import type { BlockMark } from "../../types/followed-node.js";
import { andThen, isPromised } from "../async/maybe-promise.js";
import { PorticoError } from "../errors.js";

/** The blocks between which the chain can be read, and the one that is taken to be final. */
export interface Marks {
  tip: BlockMark;
  final: BlockMark;
  oldest: BlockMark;
}

interface MarksNeeds {
  openSnapshot(): MaybePromise<ChainSnapshot | undefined>;
  /** Is told of a block that cannot be read. @throws PorticoError HOST_SILENT where it did not come in time */
  unreadable(error: unknown): undefined;
  /** Height of the newest final block of a chain that ends at a height. */
  finalHeight(tip: number): number;
  /** Opens the state at an earlier height; undefined where none is kept. */
  snapshotAt: ((height: number) => MaybePromise<ChainSnapshot | undefined>) | undefined;
}

/** The oldest state there is, as whoever keeps the chain says when it is asked for one that is older; undefined where it keeps none. */
const oldestIn = (error: unknown): BlockMark | undefined => {
  const code = error instanceof PorticoError ? error.code : undefined;
  if (code !== "HISTORY_MISSING" && code !== "NOT_SUPPORTED") throw error;
  return (error as PorticoError).members?.oldest as BlockMark | undefined;
};

/** Reads the marks; undefined while there is no state. They are looked up once for each tip, and again while history does not reach back to genesis. */
export const createMarks = ({ openSnapshot, unreadable, finalHeight, snapshotAt }: MarksNeeds) => {
  let kept: Marks | undefined;

  const markAt = (snapshot: ChainSnapshot, height: number): MaybePromise<BlockMark | undefined> =>
    andThen(snapshot.block({ height }), (block) => block && { height: block.height, id: block.id });

  /** The oldest block whose state can be read: genesis, the first since which history is kept, or the tip where none is. */
  const oldestState = (snapshot: ChainSnapshot): MaybePromise<BlockMark | undefined> => {
    const first = (past: ChainSnapshot | undefined): MaybePromise<BlockMark | undefined> => {
      past?.release?.();
      return past === undefined ? undefined : markAt(snapshot, 1);
    };
    try {
      const past = snapshotAt?.(1);
      return isPromised(past) ? Promise.resolve(past).then(first, oldestIn) : first(past);
    } catch (error) {
      return oldestIn(error);
    }
  };

  const lookUp = (snapshot: ChainSnapshot): MaybePromise<Marks> => {
    const { height, id } = snapshot.tip;
    // History may be completed while the tip stands still.
    if (kept?.tip.id === id && kept.oldest.height === 1) return kept;
    return andThen(markAt(snapshot, finalHeight(height)), (final) =>
      andThen(oldestState(snapshot), (oldest) => {
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
