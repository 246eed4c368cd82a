import type { ChainAdapter } from "../../types/chain-adapter.js";
import type { NodeContext, ReaderContext } from "../../types/node-context.js";
import type { ChainRules } from "../chain/rules.js";
import { PorticoError } from "../errors.js";
import type { Following } from "./follow.js";
import type { Shared } from "./webhooks.js";
import { createLmdbChain, type LmdbChain, type LmdbChainNeeds } from "../store/lmdb-chain.js";
import { createReaderChain } from "../store/reader-chain.js";
import type { Prewarm } from "../store/state/store.js";

/** The chain in use. The optional members are those of the chains kept in LMDB: what a host's own adapter has beyond `ChainAdapter` may be anything, and is not asked. */
export type Chain = ChainAdapter & Partial<Pick<LmdbChain, "copyAt" | "tipId" | "height" | "isReady" | "rebuilding" | "standing" | "scanState" | "settled" | "problem">>;

interface ChainNeeds {
  rules: ChainRules;
  prewarm: Prewarm;
  onLog: Following["onLog"];
  onWritten(milliseconds: number): void;
  /** Of a replica. */
  node: LmdbChainNeeds["node"];
}

/** The LMDB store in `dataDir`: written by this process, or only read by it if it is a reader. @throws PorticoError OPTION_INVALID */
export const createStoreChain = (context: NodeContext | ReaderContext, { options, prewarm, ...needs }: Shared & ChainNeeds): Chain => {
  const { dataDir } = context;
  if (dataDir === undefined) {
    throw new PorticoError("OPTION_INVALID", "createApiPlugin needs `dataDir`, a folder for its store, or `chain`, an adapter of the host's own");
  }
  if (context.reader === true) {
    return createReaderChain({ dataDir, history: options.history }, { ...needs, onLog: (log) => needs.onLog(log, false) });
  }
  const { events, blocks: source, onProgress, follows } = context;
  return createLmdbChain({ dataDir, undoBlocks: options.undoBlocks, followOrphans: options.followOrphans, history: options.history }, { ...needs, onLog: (log) => needs.onLog(log, true), prewarm, events, source, onProgress, timesOf: follows?.timesOf });
};
