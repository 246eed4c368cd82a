import { statSync } from "node:fs";
import { PorticoError } from "portico";
import { createLakeReader, openLake } from "../../../src/lake/index.js";
import { restoreFromLake } from "../../../src/plugin/replica-context.js";
import type { Logger, Network } from "../../../types/node-context.js";
import type { ChainFile } from "./chain-file.js";
import { createRewardCheck } from "./chain-source.js";
import { HostError, messageOf } from "../program/host-error.js";
import type { HostOptions } from "../options.js";

/** A lake as a chain to import: from a folder, or from the URL of a node or a web server. */

export const isLake = (path: string): boolean => /^https?:\/\//.test(path) || statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/** What is wrong with a lake ends the host; that it cannot be reached at the moment does not. */
const explained = (error: unknown): unknown =>
  error instanceof PorticoError && error.code.startsWith("LAKE_") ? new HostError(`${error.message}.`, { cause: error }) : error;

const explaining = async <T>(work: Promise<T>): Promise<T> => {
  try {
    return await work;
  } catch (error) {
    throw explained(error);
  }
};

export interface LakeImportNeeds {
  logger: Logger;
  /** Aborting gives up what is read from a URL. */
  signal?: AbortSignal | undefined;
}

/** Checks all manifests; files are checked before they are read. @throws HostError */
export const openLakeImport = async (path: string, network: Network, { dataDir, lakeKey }: Pick<HostOptions, "dataDir" | "lakeKey">, { logger, signal }: LakeImportNeeds): Promise<ChainFile> => {
  const demands = { nethash: network.network.nethash, key: lakeKey, signal, dataDir, logger };
  const files = await explaining(openLake(path, demands)).catch((error: unknown) => {
    throw error instanceof HostError ? error : new HostError(`${messageOf(error)}.`, { cause: error });
  });
  const reader = createLakeReader(files);
  const { read } = createRewardCheck({ read: (fromHeight, limit) => explaining(reader.read(fromHeight, limit)), where: reader.where }, network);

  try {
    const [firstBlock] = await read(1, 1);
    if (firstBlock === undefined) throw new HostError(`${files.path} has no blocks yet.`);
    if (firstBlock.id !== network.genesisBlock.id) throw new HostError(`${reader.where(1)}: the chain begins with block ${firstBlock.id}; genesis of ${network.network.name} is ${network.genesisBlock.id}.`);
    await explaining(restoreFromLake(files, { dataDir, network, logger }));
    await files.remember();
    return { path: files.path, first: 1, firstBlock, height: reader.height, where: reader.where, read, close: reader.close };
  } catch (error) {
    await reader.close();
    throw error;
  }
};
