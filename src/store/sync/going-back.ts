import type { Block } from "../../../types/chain.js";
import type { Logger } from "../../../types/node-context.js";
import { PorticoError } from "../../errors.js";
import type { Store } from "../state/store.js";
import type { BlockName } from "../state/store-contract.js";
import type { SourceReads } from "./source.js";

/** Where the chain of a block source leaves the store's. */
interface Fork {
  /** Of the last block that both have; 0: not even genesis. */
  height: number;
  /** Whether the source has another block above it. If not, its chain ended there when it was looked at. */
  goesOn: boolean;
}

/**
 * Finds the fork below a tip that the source does not have, in a number of reads that grows with the logarithm of its depth: a chain's
 * blocks name those before them, so whoever shares a block shares all below it.
 */
const findFork = async (tip: number, isShared: (height: number) => Promise<boolean>, hasOther: (height: number) => Promise<boolean>): Promise<Fork> => {
  let [shared, other] = [tip - 1, tip];
  for (let step = 1; shared > 0 && !(await isShared(shared)); step *= 2) {
    other = shared;
    shared = shared === 1 ? 0 : Math.max(1, shared - step);
  }
  while (other - shared > 1) {
    const middle = Math.floor((shared + other) / 2);
    if (await isShared(middle)) shared = middle;
    else other = middle;
  }
  return { height: shared, goesOn: await hasOther(shared + 1) };
};

interface GoingBackNeeds {
  store: Store;
  source: SourceReads;
  /** Whether there is a block source at all. */
  hasSource: boolean;
  logger: Logger;
  /** Writes genesis into an empty store. */
  begin(): Promise<void>;
  /** Called when the store begins to be rebuilt: it is no longer served. */
  onRebuild(): void;
  /** Awaited before blocks are left for those of the source. */
  fetchReversalTimes?: ((tip: Pick<Block, "id" | "height">) => Promise<void>) | undefined;
}

/**
 * Leaves blocks that the host's chain no longer has: reverts them, or where undo records do not reach back so far, empties the store, which
 * is then built anew from the block source.
 */
export interface GoingBack {
  has(block: Pick<Block, "id" | "height"> | undefined): boolean;
  /** Where the source's chain leaves the store's, whose tip the source does not have. */
  findFork(): Promise<Fork>;
  /** Goes back to a fork from which the source goes on. */
  toFork(height: number): Promise<void>;
  /**
   * Goes back to a height because the host says so, whose block source may not be there yet, or be gone further.
   * @throws PorticoError STORE_UNDO_EXHAUSTED if that cannot be done, or not yet
   */
  toHeight(height: number): Promise<void>;
  /** Goes on with emptying the store, if the process ended within that. */
  resume(): Promise<void>;
}

/** What keeps the store from going back to a height; undefined if nothing does. */
const obstacle = ({ height: shared, goesOn }: Fork, height: number): string | undefined => {
  if (shared > height) return `the block source still has block ${height + 1}`;
  if (shared < height && !goesOn) return `the block source ends at height ${shared}`;
  return undefined;
};

const exhausted = (height: number, why: string): PorticoError =>
  new PorticoError("STORE_UNDO_EXHAUSTED", `the host has gone back to height ${height}, further than the store can be reverted (\`undoBlocks\`): ${why}`);

const forkOf = async (store: Store, source: SourceReads): Promise<Fork> => {
  const isShared = async (height: number): Promise<boolean> => {
    const block = await source.at(height);
    return block !== undefined && block.id === store.idAt(height);
  };
  // What the source lacked before, it may have now: a host's database can be a moment behind.
  const hasOther = async (height: number): Promise<boolean> => {
    const block = await source.at(height);
    return block !== undefined && block.id !== store.idAt(height);
  };
  return findFork(store.tip()?.height ?? 0, isShared, hasOther);
};

export const createGoingBack = ({ store, source, hasSource, logger, begin, onRebuild, fetchReversalTimes }: GoingBackNeeds): GoingBack => {
  const find = (): Promise<Fork> => forkOf(store, source);

  const revertTo = async (height: number): Promise<void> => {
    for (let tip = store.tip(); !source.isStopped() && tip !== undefined && tip.height > height; tip = store.tip()) await store.revert();
  };

  const empty = async (fork: number): Promise<void> => {
    await store.startOver(fork, { isStopped: source.isStopped, onBegun: onRebuild });
    if (!source.isStopped()) await begin();
  };

  const rebuildFrom = async (fork: number): Promise<void> => {
    const [first, second] = await source.read(1, 2);
    if (source.isStopped()) return;
    if (first === undefined || first.id !== store.idAt(1) || (fork > 1 && second?.id !== store.idAt(2))) {
      throw new PorticoError(
        "STORE_UNDO_EXHAUSTED",
        `the host's chain forks from the store's after block ${fork}, further back than can be reverted (\`undoBlocks\`), and the block source lacks the blocks from genesis on that a rebuild needs: let \`blocks\` read the whole chain`,
      );
    }
    logger.warn(`the host's chain forks from the store's after block ${fork}, further back than can be reverted (\`undoBlocks\`); the store is rebuilt from the block source, and nothing is served until then`);
    await empty(fork);
  };

  return {
    has: (block) => block !== undefined && store.idAt(block.height) === block.id,
    findFork: find,
    toFork: async (height) => {
      const tip = store.tip();
      if (tip === undefined || source.isStopped()) return;
      if (height === 0) {
        const [first, genesis] = [(await source.at(1))?.id, store.idAt(1)];
        const message = `the block source begins with ${String(first)}, but this network's genesis is ${String(genesis)}`;
        throw new PorticoError("BLOCK_DOES_NOT_CHAIN", message);
      }
      await fetchReversalTimes?.(tip);
      if (!store.canRevertTo(height)) return rebuildFrom(height);
      const left = tip.height === height + 1 ? `block ${tip.height} (${tip.id}) is` : `blocks ${height + 1} to ${tip.height} are`;
      logger.info(`${left} no longer in the host's chain: reverted`);
      await revertTo(height);
    },
    toHeight: async (height) => {
      if (height < 1) return;
      if (store.canRevertTo(height)) return revertTo(height);
      if (!hasSource) throw exhausted(height, "there is no block source to rebuild it from: give `createApiPlugin` the option `blocks`, and the store is rebuilt automatically; its webhooks are kept");
      const fork = await find();
      if (source.isStopped()) return;
      const why = obstacle(fork, height);
      if (why !== undefined) throw exhausted(height, why);
      await rebuildFrom(fork.height);
    },
    resume: async () => {
      const rebuild = store.rebuilding();
      if (rebuild === undefined) return;
      logger.warn(`the store is still being rebuilt from the block source, because the host's chain left it after block ${rebuild.fork}`);
      if (!rebuild.emptied) await empty(rebuild.fork);
    },
  };
};

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
