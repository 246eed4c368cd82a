import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ChainRules, createChainRules } from "../../src/chain/rules.js";
import type { PorticoError } from "../../src/errors.js";
import { createStore, type Store, type StoreNeeds, type StoreOptions } from "../../src/store/state/store.js";
import { parseChecksumKey } from "../../src/store/layout/checksums.js";
import type { Network } from "../../types/node-context.js";
import { type ChainName, loadChain } from "../data/read.js";
import { storeBlocks } from "../fixtures/stored-blocks.js";

interface Opened {
  store: Store;
  dataDir: string;
}

/** Blocks that can be reverted, unless a test says otherwise. */
const usual = { undoBlocks: 1_000 };

const opened: Opened[] = [];
const folders: string[] = [];

export const temporaryFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "portico-"));
  folders.push(folder);
  return folder;
};

/** A real store in a folder of its own (or in the one given), deleted by `closeTemporaryStores`. */
export const openTemporaryStore = (
  network: Network,
  options: Partial<StoreOptions> = {},
  needs: Partial<StoreNeeds> = {},
): Opened & { rules: ChainRules } => {
  const rules = createChainRules(network);
  const dataDir = options.dataDir ?? temporaryFolder();
  const store = createStore({ ...usual, ...options, dataDir }, { rules, ...needs });
  opened.push({ store, dataDir });
  return { store, rules, dataDir };
};

/** The same with a real chain's blocks up to a height, which `storeBlocks` has ready. */
export const openStoreAt = async (
  name: ChainName,
  height: number,
  options: Partial<StoreOptions> = {},
  needs: Partial<StoreNeeds> = {},
): Promise<ReturnType<typeof openTemporaryStore>> => {
  const dataDir = options.dataDir ?? temporaryFolder();
  await storeBlocks(name, height, options.undoBlocks ?? usual.undoBlocks, dataDir);
  return openTemporaryStore(loadChain(name).network, { ...options, dataDir }, needs);
};

export const closeStores = async (): Promise<void> => {
  for (const { store } of opened.splice(0)) await store.stop();
};

export const closeTemporaryStores = async (): Promise<void> => {
  await closeStores();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
};

const isOfUndo = (key: Buffer): boolean => parseChecksumKey(key)?.database === "undo";

/** Every key and value of the store except undo records, their checksums, and blocks taken off the chain. */
export const contentsOf = ({ environment: { db } }: Store): Record<string, string[]> =>
  Object.fromEntries(
    Object.entries(db)
      .filter(([name]) => name !== "undo" && name !== "orphans")
      .map(([name, database]) => [
        name,
        [...database.getKeys({})].filter((key) => !isOfUndo(Buffer.from(key))).map((key) => `${Buffer.from(key).toString("hex")}=${database.getBinary(key)?.toString("hex") ?? ""}`),
      ]),
  );

/** The first height whose state a store serves. */
export const oldestOf = (store: Store): number => {
  try {
    store.snapshotAt(1)?.release?.();
    return 1;
  } catch (error) {
    return ((error as PorticoError).members?.["oldest"] as { height: number }).height;
  }
};
