import type { Block, Tip } from "../../../types/chain.js";
import type { BlockData } from "../../../types/events.js";
import { parseBlockHeader } from "../../chain/blocks/block.js";
import { firstWhere } from "../records/sorting.js";
import type { Store } from "../state/store.js";
import type { Progress, SourceExtent } from "./read-on.js";
import type { Disowned, GoingBack } from "./going-back.js";
import type { SourceReads } from "./source.js";

/** Whether a block brings all its transactions. */
const isWhole = ({ transactions }: BlockData, { numberOfTransactions }: Block): boolean =>
  (transactions?.length ?? 0) === numberOfTransactions;

const follows = ({ height, previousBlock }: Block, before: Tip): boolean => height === before.height + 1 && previousBlock === before.id;

/** A block as the host emitted it. */
export interface EmittedBlock {
  readonly data: BlockData;
  /** Undefined if that is not valid: a host may emit anything. */
  readonly header: Block | undefined;
  readonly isWhole: boolean;
}

const emittedBlock = (data: BlockData): EmittedBlock => {
  try {
    const header = parseBlockHeader(data);
    return { data, header, isWhole: isWhole(data, header) };
  } catch {
    return { data, header: undefined, isWhole: false };
  }
};

/** @throws PorticoError BLOCK_INVALID */
export const headerOf = ({ data, header }: EmittedBlock): Block => header ?? parseBlockHeader(data);

/**
 * Splits what the host emitted into runs that are written together: whole blocks that follow one another. A host that catches up
 * applies more of them in a second than could be written one by one. Whatever else it emitted stands alone.
 */
export const runsOf = (emitted: readonly BlockData[]): EmittedBlock[][] => {
  const runs: EmittedBlock[][] = [];
  let before: Block | undefined;
  for (const data of emitted) {
    const block = emittedBlock(data);
    const header = block.isWhole ? block.header : undefined;
    if (header !== undefined && before !== undefined && follows(header, before)) runs.at(-1)?.push(block);
    else runs.push([block]);
    before = header;
  }
  return runs;
};

interface ApplyRunNeeds {
  store: Store;
  source: SourceReads;
  hasSource: boolean;
  /** Whether a source that ends with what the host has just applied, below the tip, means that the host went back. */
  mayGoBack: boolean;
  goingBack: Pick<GoingBack, "idAt" | "has">;
  disowned: Disowned;
  extent: SourceExtent;
  /** The progress of blocks that the host applies now. */
  silent: Progress;
  applyAll(blocks: readonly BlockData[], progress: Progress): Promise<void>;
  catchUp(): Promise<void>;
}

/** Writes what the host has applied, and leaves what it has reverted. */
export const createApplyRun = ({ store, source, hasSource, mayGoBack, goingBack: { idAt, has }, disowned, extent, silent, applyAll, catchUp }: ApplyRunNeeds) => {
  /** Leaves the blocks from a height on, unless the source still has them: then the host's event is out of date. */
  const dropFrom = async (height: number): Promise<void> => {
    if (height <= 1 || height > (store.tip()?.height ?? 0)) return;
    const [id, known] = [idAt(height), await source.at(height)];
    if (id !== undefined && !source.isStopped() && known?.id !== id) await disowned.leave({ height, id });
  };

  /** The blocks of a run that the store does not have. If it has one, it has all before it. */
  const lacking = (run: readonly EmittedBlock[]): readonly EmittedBlock[] =>
    run.slice(firstWhere(0, run.length, (place) => !has(run[place]?.data)));

  /** Blocks that follow the tip and bring all their transactions need no source. */
  const applyDirectly = async (run: readonly EmittedBlock[]): Promise<void> => {
    const tip = store.tip();
    const first = run[0]?.isWhole === true ? run[0].header : undefined;
    if (tip !== undefined && first !== undefined && follows(first, tip)) await applyAll(run.map(({ data }) => data), silent);
  };

  const applyLacking = async (run: readonly EmittedBlock[]): Promise<boolean> => {
    const [first] = lacking(run);
    if (first === undefined) return false;
    await dropFrom(first.data.height);
    try {
      await applyDirectly(lacking(run));
    } catch (error) {
      if (!hasSource) throw error;
    }
    if (lacking(run).length === 0) return true;
    // It stays so until the source has the block: hosts emit one before their database has it, and a later try reads it.
    extent.liveFrom = Math.min(extent.liveFrom, first.data.height);
    await catchUp();
    // A source that lags may have had what was missing before them.
    await applyDirectly(lacking(run));
    return true;
  };

  /**
   * What the host says may have made the store begin to be rebuilt: it is complete only when it has been compared with the source to its
   * end.
   */
  const completed = async (): Promise<void> => {
    if (store.rebuilding() !== undefined && !source.isStopped()) await catchUp();
  };

  /**
   * Where the host has applied a block below the tip, and its source ends with it, the host went back while nobody listened. Either alone
   * would not do: an event may be late, and a source may lag.
   */
  const followBack = async ({ height, id }: BlockData): Promise<void> => {
    const above = idAt(height + 1);
    if (!mayGoBack || above === undefined || idAt(height) !== id) return;
    const [known, next] = await source.read(height, 2);
    if (known?.id === id && next === undefined && !source.isStopped()) await disowned.leave({ height: height + 1, id: above });
  };

  return {
    applyRun: async (run: readonly EmittedBlock[]): Promise<boolean> => {
      const lackedAny = await applyLacking(run);
      const last = run.at(-1);
      if (!lackedAny && last !== undefined) await followBack(last.data);
      await completed();
      disowned.applied(run.at(-1)?.data);
      return lackedAny;
    },
    takeOut: async ({ id, height }: { id: string; height: number }): Promise<void> => {
      if (idAt(height) !== id) return;
      if (store.tip()?.id === id) await disowned.leave({ height, id });
      else await dropFrom(height);
      await completed();
    },
  };
};
