import type { BlockData, BlockSource } from "../../../types/events.js";
import type { Logger } from "../../../types/node-context.js";
import { pause } from "../../async/pause.js";
import { parseChange } from "../change-line.js";
import { createFailureLog, type NodeClient, NodeRefusal } from "./node-client.js";
import type { NodeWatch } from "./node-watch.js";
import type { ReplicaLake } from "../replica-lake.js";
import type { ToldChanges } from "../told-changes.js";

interface NodeBlocksNeeds {
  client: NodeClient;
  watch: NodeWatch;
  told: ToldChanges;
  lake: ReplicaLake;
  /** Aborted when the replica stops. */
  signal(): AbortSignal;
  logger: Logger;
}

/** The node as a block source: the lake as far as it goes, then `/changes`. While the node is away, a read waits for it. */
type NodeBlocks = Required<BlockSource>;

/** Reads of less only look whether the chain is still the same. */
const shortRead = 10;
const retryDelay = 500;

export const createNodeBlocks = ({ client, watch, told: changes, lake, signal, logger }: NodeBlocksNeeds): NodeBlocks => {
  /** At the first line that is no block above the last, the chain has changed meanwhile: what was read before is asked again. */
  const readOnce = async (from: number, limit: number): Promise<BlockData[]> => {
    const found: BlockData[] = [];
    try {
      for await (const line of client.lines(`/v2/changes?after=${from === 1 ? "genesis" : from - 1}&limit=${limit}&times=true`, { signal: AbortSignal.any([signal(), AbortSignal.timeout(60_000)]) })) {
        const change = parseChange(line);
        const { kind, block } = change;
        if (kind !== "applied" || block.height !== from + found.length) break;
        changes.put(change);
        found.push(block);
      }
    } catch (error) {
      // One alone would be taken for the end of the chain.
      if (found.length < 2) throw error;
    }
    watch.heard();
    return found;
  };

  /** The height before is above the node's tip. */
  const isBeyond = (error: unknown): boolean => error instanceof NodeRefusal && error.status === 400;

  const failures = createFailureLog("the node's blocks", logger);

  const readNode = async (from: number, limit: number): Promise<BlockData[]> => {
    while (!signal().aborted) {
      try {
        const found = await readOnce(from, limit);
        failures.over();
        return found;
      } catch (error) {
        if (isBeyond(error)) return [];
        if (!signal().aborted) failures.note(error);
        await pause(retryDelay, signal());
        await watch.available(signal());
      }
    }
    return [];
  };

  return {
    read: async (from, limit) => {
      const fromLake = limit > shortRead ? await lake.read(from, limit, watch.tip()) : [];
      return fromLake.length > 1 ? fromLake : readNode(from, limit);
    },
    height: () => watch.tip() ?? 0,
  };
};
