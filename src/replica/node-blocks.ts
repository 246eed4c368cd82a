import type { BlockData, BlockSource } from "../../types/events.js";
import type { Logger } from "../../types/node-context.js";
import { PorticoError } from "../errors.js";
import { createLakeReader, type LakeFiles, type LakeReader, openLake } from "../lake/index.js";
import { pause } from "../async/clock.js";
import { parseChange, type ChangeNotes } from "./changes.js";
import { createFailureLog, type NodeClient, NodeRefusal } from "./node-client.js";
import type { NodeWatch } from "./node-watch.js";

/** The lake that a replica begins with. What is wrong with it costs time alone: the node has the same blocks. */
interface ReplicaLake {
  /** Makes a snapshot the store where there is none yet. */
  restore(signal: AbortSignal): Promise<void>;
  /** Blocks from a height on; none where the lake does not have them. `tip`: height of the node's. */
  read(from: number, limit: number, tip: number | undefined): Promise<BlockData[]>;
  close(): Promise<void>;
}

interface ReplicaLakeNeeds {
  /** Folder or URL. */
  where: string;
  nethash: string;
  /** The key that must have signed it; without one, the first that is seen is remembered in the data folder. */
  key: string | undefined;
  dataDir: string | undefined;
  /** Aborted when the replica stops. */
  signal(): AbortSignal;
  restoreFrom(files: LakeFiles): Promise<void>;
  logger: Logger;
}

const sayInstead = (message: string): string => `${message}: the blocks are read from the node instead`;

/** A node without a lake is no fault. */
const isFault = (error: unknown): boolean =>
  !(error instanceof PorticoError && error.code === "LAKE_FOREIGN" && error.message.includes("is not a lake"));

export const createReplicaLake = (needs: ReplicaLakeNeeds): ReplicaLake => {
  const { where, signal: stopping, restoreFrom, logger } = needs;
  let reader: { files: LakeFiles; blocks: LakeReader } | undefined;
  /** Height of the node's tip when the lake was opened last: it is opened again when it may have more. */
  let openedAt = -1;
  const failures = createFailureLog({ logger, say: sayInstead, isWarning: isFault });

  const close = async (): Promise<void> => {
    const closing = reader;
    reader = undefined;
    await closing?.blocks.close();
  };

  const open = async (signal: AbortSignal): Promise<LakeFiles | undefined> => {
    await close();
    try {
      const files = await openLake(where, { ...needs, signal });
      await files.remember();
      reader = { files, blocks: createLakeReader(files) };
      return files;
    } catch (error) {
      if (!signal.aborted) failures.note(error);
      return undefined;
    }
  };

  /** A new file is there when the node has at least as many blocks more. */
  const mayHaveMore = (from: number, tip: number): boolean => {
    const perFile = reader?.files.manifest.blocks[0]?.to ?? 1_000;
    return openedAt === -1 || (tip - from >= perFile && tip - openedAt >= perFile);
  };

  return {
    restore: async (signal) => {
      const files = await open(signal);
      if (files === undefined) return;
      try {
        await restoreFrom(files);
      } catch (error) {
        if (signal.aborted) throw error;
        failures.note(error);
      }
    },
    read: async (from, limit, tip = 0) => {
      if (from > (reader?.blocks.height() ?? 0)) {
        if (!mayHaveMore(from, tip)) return [];
        openedAt = tip;
        await open(stopping());
      }
      try {
        return reader === undefined || from > reader.blocks.height() ? [] : await reader.blocks.read(from, limit);
      } catch (error) {
        if (!stopping().aborted) failures.note(error);
        await close();
        return [];
      }
    },
    close: async () => {
      openedAt = -1;
      await close();
    },
  };
};

interface NodeBlocksNeeds {
  client: NodeClient;
  watch: NodeWatch;
  notes: ChangeNotes;
  lake: ReplicaLake;
  /** Aborted when the replica stops. */
  signal(): AbortSignal;
  logger: Logger;
}

/** Reads of less only look whether the chain is still the same. */
const shortRead = 10;
const retryDelay = 500;

/** The node as a block source: the lake as far as it goes, then `/changes`. While the node is away, a read waits for it. */
export const createNodeBlocks = ({ client, watch, notes, lake, signal, logger }: NodeBlocksNeeds): Required<BlockSource> => {
  /** At the first line that is no block above the last, the chain has changed meanwhile: what was read before is asked again. */
  const readOnce = async (from: number, limit: number): Promise<BlockData[]> => {
    const found: BlockData[] = [];
    try {
      for await (const line of client.lines(`/v2/changes?after=${from === 1 ? "genesis" : from - 1}&limit=${limit}&times=true`, {
        signal: AbortSignal.any([signal(), AbortSignal.timeout(60_000)]),
      })) {
        const change = parseChange(line);
        const { kind, block } = change;
        if (kind !== "applied" || block.height !== from + found.length) break;
        notes.put(change);
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

  const failures = createFailureLog({ logger, say: (message) => `the node's blocks: ${message}` });

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
