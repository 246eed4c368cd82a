import { closeSync, existsSync, fsyncSync, linkSync, openSync, renameSync, rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import { dirname } from "node:path";
import type { BlockData } from "../../../types/events.js";
import type { Network } from "../../../types/node-context.js";
import { inBackgroundProcess } from "../../async/background-process.js";
import { runSliced } from "../../async/time-slicing.js";
import { blockLine } from "../../chain/blocks/block.js";
import type { ChainRules } from "../../chain/rules.js";
import { PorticoError } from "../../errors.js";
import { makeFolder } from "../../files/make-folder.js";
import { layoutVersion } from "../layout/keys.js";
import { type Environment, storeFile } from "../lmdb/environment.js";
import { createReadSession } from "../lmdb/read-session.js";
import { keepFromOthers } from "../lmdb/open-file.js";
import { scanDigest } from "../write/undo.js";
import type { CopyResult, CopyTask } from "./copy-process.js";
import { createStore, type Store } from "../state/store.js";

/** A copy of a store as it was at a block, without webhooks and their secrets. */
export interface StoreCopy {
  /** Its file. */
  file: string;
  height: number;
  id: string;
  layout: number;
  /** 64 hex digits. */
  digest: string;
}

const syncFile = (path: string): void => {
  const file = openSync(path, "r+");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
};

/** Of a copy: nobody else opens it, and it can be made again. */
const openCopy = (dataDir: string, rules: ChainRules, undoBlocks: number): Store =>
  createStore({ dataDir, undoBlocks, disposable: true }, { rules });

const digestOf = (store: Store): string => {
  const snapshot = store.snapshot();
  const digest = snapshot?.digest ?? "";
  snapshot?.release?.();
  return digest;
};

interface CopyOptions {
  folder: string;
  height: number;
  rules: ChainRules;
  undoBlocks: number;
  signal: AbortSignal;
}

/** A host's genesis may have amounts of any kind, for which JSON has no form. */
const asJson = ({ network, parseBlock }: ChainRules): Network => ({ ...network, genesisBlock: JSON.parse(blockLine(parseBlock(network.genesisBlock))) as BlockData });

/**
 * Copies an open store into `folder`, which is emptied, as it was at a height. A process of its own reads the store, as any reader does,
 * and holds one state of it; writes go on. Undefined if the store cannot be taken back that far.
 */
export const copyStore = async ({ path, root }: Pick<Environment, "path" | "root">, { folder, signal, rules, ...plan }: CopyOptions): Promise<StoreCopy | undefined> => {
  await rm(folder, { recursive: true, force: true });
  makeFolder(folder);
  const task: CopyTask = { dataDir: dirname(path), folder, network: asJson(rules), ...plan };
  try {
    const copied = (await inBackgroundProcess("copy-process", import.meta.url, task, signal)) as CopyResult;
    return copied === null ? undefined : { file: storeFile(folder), layout: layoutVersion, ...copied };
  } finally {
    // If it was killed, LMDB would keep the pages of the state that it read.
    root.readerCheck();
  }
};

/**
 * Makes a copy the store of a data folder that has none, after checking that its state is what it is said to be.
 * @throws PorticoError STORE_DAMAGED, STORE_FOREIGN; the folder is then as it was, and the copy is left to the caller
 */
export const adoptStore = async ({ file, height, id, digest }: Omit<StoreCopy, "layout">, { dataDir, folder, rules, undoBlocks }: { dataDir: string; folder: string; rules: ChainRules; undoBlocks: number }): Promise<void> => {
  if (existsSync(storeFile(dataDir))) throw new PorticoError("STORE_IN_USE", `${storeFile(dataDir)} already exists`);
  makeFolder(folder);
  const draft = storeFile(folder);
  renameSync(file, draft);
  const store = openCopy(folder, rules, undoBlocks);
  try {
    const tip = store.tip();
    if (tip?.height !== height || tip.id !== id) throw new PorticoError("STORE_DAMAGED", `the snapshot is of block ${tip?.height ?? 0} (${tip?.id ?? "none"}), not of ${height} (${id})`);
    const found = (await runSliced(scanDigest(createReadSession(store.environment)), "cooperative")).toString("hex");
    if (found !== digest || digestOf(store) !== digest)
      throw new PorticoError("STORE_DAMAGED", `the snapshot of block ${height} has the state ${found}, not ${digest}`);
  } finally {
    await store.stop();
  }
  syncFile(draft);
  keepFromOthers(draft);
  makeFolder(dataDir);
  linkSync(draft, storeFile(dataDir));
  rmSync(draft);
};
