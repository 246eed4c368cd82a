import type { Block, Tip } from "../../../types/chain.js";
import type { BlockData } from "../../../types/events.js";
import { parseBlockHeader } from "../../chain/blocks/block.js";

/** Whether a block brings all its transactions. */
const isWhole = ({ transactions }: BlockData, { numberOfTransactions }: Block): boolean => (transactions?.length ?? 0) === numberOfTransactions;

export const follows = ({ height, previousBlock }: Block, before: Tip): boolean => height === before.height + 1 && previousBlock === before.id;

/** A block as the host emitted it. */
export interface ToldBlock {
  readonly data: BlockData;
  /** Undefined if that is not valid: a host may emit anything. */
  readonly header: Block | undefined;
  readonly isWhole: boolean;
}

const toldBlock = (data: BlockData): ToldBlock => {
  try {
    const header = parseBlockHeader(data);
    return { data, header, isWhole: isWhole(data, header) };
  } catch {
    return { data, header: undefined, isWhole: false };
  }
};

/** @throws PorticoError BLOCK_INVALID */
export const headerOf = ({ data, header }: ToldBlock): Block => header ?? parseBlockHeader(data);

/**
 * Splits what the host emitted into runs that are written together: whole blocks that follow one another. A host that catches up
 * applies more of them in a second than could be written one by one. Whatever else it emitted stands alone.
 */
export const runsOf = (emitted: readonly BlockData[]): ToldBlock[][] => {
  const runs: ToldBlock[][] = [];
  let before: Block | undefined;
  for (const data of emitted) {
    const told = toldBlock(data);
    const header = told.isWhole ? told.header : undefined;
    if (header !== undefined && before !== undefined && follows(header, before)) runs.at(-1)?.push(told);
    else runs.push([told]);
    before = header;
  }
  return runs;
};
