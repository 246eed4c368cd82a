import type { Block } from "../../../types/chain.js";
import type { Store } from "../state/store.js";
import type { GoingBack } from "./going-back.js";
import type { SourceReads } from "./source-reads.js";

export type BlockName = Pick<Block, "height" | "id">;

interface DisownedNeeds {
  store: Store;
  source: SourceReads;
  goingBack: Pick<GoingBack, "has" | "toHeight">;
  /** Told that the store has gone back. */
  onLeft(): void;
}

/** The lowest of the store's blocks that the host has left. It is kept in the store while it cannot be left there yet. */
export interface Disowned {
  /** Leaves a block and all above it, as far as nothing keeps the store from it. @throws PorticoError STORE_UNDO_EXHAUSTED */
  leave(block: BlockName): Promise<void>;
  /** Tries again what could not be left before, unless the source has it again. */
  leaveKept(): Promise<void>;
  /** The host has applied this block: it may be back on a chain that it had left. */
  applied(block: BlockName | undefined): void;
}

export const createDisowned = ({ store, source, goingBack: { has, toHeight }, onLeft }: DisownedNeeds): Disowned => {
  let disowned = store.disowned();

  const set = (block: BlockName | undefined): void => {
    disowned = block;
    store.disown(block);
  };

  const leave = async (block: BlockName): Promise<void> => {
    if (disowned === undefined || block.height < disowned.height) disowned = block;
    try {
      await toHeight(disowned.height - 1);
    } catch (error) {
      set(disowned);
      throw error;
    }
    onLeft();
    if (!source.isStopped()) set(undefined);
  };

  return {
    leave,
    leaveKept: async () => {
      const block = disowned;
      if (block === undefined) return;
      const isKept = !has(block) || (store.tip()?.id !== block.id && (await source.at(block.height))?.id === block.id);
      if (source.isStopped()) return;
      if (isKept) set(undefined);
      else await leave(block);
    },
    applied: (block) => {
      if (disowned !== undefined && block !== undefined && block.height >= disowned.height && has(block)) set(undefined);
    },
  };
};
