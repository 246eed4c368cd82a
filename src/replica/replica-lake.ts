import type { BlockData } from "../../types/events.js";
import type { Logger } from "../../types/node-context.js";
import { messageOf, PorticoError } from "../errors.js";
import { createLakeReader, type LakeFiles, type LakeReader, openKnownLake } from "../lake/index.js";

/** The lake that a replica begins with. What is wrong with it costs time alone: the node has the same blocks. */
export interface ReplicaLake {
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

/** Logs a failure once, however often it recurs. A node without a lake is no fault. */
const createFailed = (logger: Logger) => {
  let told: string | undefined;
  return (error: unknown): void => {
    const message = messageOf(error);
    const isMissing = (error instanceof PorticoError && error.code === "LAKE_FOREIGN" && message.includes("is not a lake"));
    if (message === told) return;
    told = message;
    logger[isMissing ? "debug" : "warn"](`${message}: the blocks are read from the node instead`);
  };
};

export const createReplicaLake = ({ where, nethash, key, dataDir, signal: stopping, restoreFrom, logger }: ReplicaLakeNeeds): ReplicaLake => {
  let reader: { files: LakeFiles; blocks: LakeReader } | undefined;
  /** Height of the node's tip when the lake was opened last: it is opened again when it may have more. */
  let openedAt = -1;
  const failed = createFailed(logger);

  const close = async (): Promise<void> => {
    const closing = reader;
    reader = undefined;
    await closing?.blocks.close();
  };

  const open = async (signal: AbortSignal): Promise<LakeFiles | undefined> => {
    await close();
    try {
      const { files, remember } = await openKnownLake(where, { nethash, key, signal, dataDir, logger });
      await remember();
      reader = { files, blocks: createLakeReader(files) };
      return files;
    } catch (error) {
      if (!signal.aborted) failed(error);
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
        failed(error);
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
        if (!stopping().aborted) failed(error);
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
