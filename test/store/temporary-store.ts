import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ChainRules, createChainRules } from "../../src/chain/rules.js";
import { createStore, type Store, type StoreNeeds, type StoreOptions } from "../../src/store/state/store.js";
import { parseChecksumKey } from "../../src/store/layout/checksums.js";
import type { Network } from "../../types/node-context.js";

interface Opened {
  store: Store;
  dataDir: string;
}

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
  const store = createStore({ undoBlocks: 1_000, ...options, dataDir }, { rules, ...needs });
  opened.push({ store, dataDir });
  return { store, rules, dataDir };
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
