import type { Block, Tip } from "../../../types/chain.js";
import type { BlockData } from "../../../types/events.js";
import { parseBlockHeader } from "../../chain/block.js";

/** Whether a block brings all its transactions. */
const isWhole = ({ transactions }: BlockData, { numberOfTransactions }: Block): boolean => (transactions?.length ?? 0) === numberOfTransactions;

export const follows = ({ height, previousBlock }: Block, before: Tip): boolean => height === before.height + 1 && previousBlock === before.id;

/** Undefined unless the block is valid and brings all its transactions: a host may emit anything. */
export const headerOfWhole = (data: BlockData): Block | undefined => {
  try {
    const header = parseBlockHeader(data);
    return isWhole(data, header) ? header : undefined;
  } catch {
    return undefined;
  }
};

/**
 * Splits what the host emitted into runs that are written together: whole blocks that follow one another. A host that catches up
 * applies more of them in a second than could be written one by one. Whatever else it emitted stands alone.
 */
export const runsOf = (told: readonly BlockData[]): BlockData[][] => {
  const runs: BlockData[][] = [];
  let before: Block | undefined;
  for (const data of told) {
    const header = headerOfWhole(data);
    if (header !== undefined && before !== undefined && follows(header, before)) runs.at(-1)?.push(data);
    else runs.push([data]);
    before = header;
  }
  return runs;
};
