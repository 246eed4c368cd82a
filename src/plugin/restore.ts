import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Logger, Network } from "../../types/node-context.js";
import type { TransactionType } from "../../types/transaction-type.js";
import { createChainRules } from "../chain/rules.js";
import { messageOf, PorticoError } from "../errors.js";
import { type LakeFiles, unpackSnapshot } from "../lake/index.js";
import { makeFolder } from "../files/make-folder.js";
import { defaultOptions } from "../options/options.js";
import { layoutVersion } from "../store/layout/keys.js";
import { storeFile } from "../store/lmdb/environment.js";
import { adoptStore } from "../store/copy/store-copy.js";

interface RestoreOptions {
  dataDir: string;
  network: Network;
  transactionTypes?: TransactionType[];
  undoBlocks?: number;
  logger: Logger;
  /** Whether a snapshot may lie beyond the last block file, because the blocks after it come from elsewhere. Default false. */
  beyondBlocks?: boolean;
}

/**
 * Makes the newest snapshot of a lake the store of a data folder that has none: it saves the indexing of the blocks up to there. Returns
 * its height. Undefined where there is a store already, or no snapshot that fits: one of another layout, say; the blocks are then taken.
 * @throws PorticoError LAKE_DAMAGED if the file is not what the manifest says
 */
export const restoreFromLake = async (files: LakeFiles, { dataDir, network, transactionTypes, undoBlocks = defaultOptions.undoBlocks, logger, beyondBlocks = false }: RestoreOptions): Promise<number | undefined> => {
  const end = beyondBlocks ? Infinity : (files.manifest.blocks.at(-1)?.to ?? 0);
  const snapshot = files.manifest.snapshots.findLast(({ height }) => height <= end);
  if (snapshot === undefined || existsSync(storeFile(dataDir))) return undefined;
  if (snapshot.layout !== layoutVersion) {
    logger.info(`${files.path}/${snapshot.file} has layout ${snapshot.layout}, not ${layoutVersion}: the blocks are read instead`);
    return undefined;
  }
  const folder = join(dataDir, "restore-draft");
  rmSync(folder, { recursive: true, force: true });
  makeFolder(folder);
  try {
    const file = join(folder, "snapshot.mdb");
    await unpackSnapshot(files, snapshot, file);
    await adoptStore({ ...snapshot, file }, { dataDir, folder: join(folder, "store"), rules: createChainRules(network, transactionTypes), undoBlocks });
    logger.info(`the store begins with ${files.path}/${snapshot.file}`);
    return snapshot.height;
  } catch (error) {
    if (!(error instanceof PorticoError) || !error.code.startsWith("STORE_")) throw error;
    logger.warn(`${files.path}/${snapshot.file} cannot be used (${messageOf(error)}): the blocks are read instead`);
    return undefined;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};
