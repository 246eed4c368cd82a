import { rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { ChainAdapter } from "../../types/chain-adapter.js";
import type { Logger, NodeContext, ReaderContext } from "../../types/node-context.js";
import type { FullClock } from "../async/clock.js";
import { PorticoError } from "../errors.js";
import type { Route, Scope } from "../http/route.js";
import { createLakeWriter, lakeRoutes, type LakeWriter } from "../lake/index.js";
import { openNodeKey } from "../files/node-key.js";
import type { LmdbChain } from "../store/lmdb-chain.js";
import { lakeDefaults, type Options } from "../options/options.js";

interface LakeNeeds {
  options: Readonly<Options>;
  chain: ChainAdapter & Partial<Pick<LmdbChain, "copyAt">>;
  finalHeight(tip: number): number;
  logger: Logger;
  clock: Pick<FullClock, "monotonic">;
}

/** Below the data folder: where snapshots are made. */
const copyFolder = "snapshot-draft";

/** Half a copy would keep a full disk full, which the store needs, too. @throws the error */
const discard = async (folder: string, error: unknown): Promise<never> => {
  await rm(folder, { recursive: true, force: true });
  throw error;
};

/** The lake as the plugin holds it: every process serves its files, the node's own writes them. */
interface Lake<State extends Scope> {
  routes: Route<State>[];
  start(): void;
  /** Undefined where this process writes none. */
  progress(): ReturnType<LakeWriter["progress"]> | undefined;
  stop(): Promise<void>;
}

/** @throws PorticoError OPTION_INVALID */
export const createLake = <State extends Scope>(
  context: NodeContext | ReaderContext,
  { options, chain, finalHeight, logger, clock }: LakeNeeds,
): Lake<State> => {
  const given = options.lake;
  const settings = given === false ? undefined : { ...lakeDefaults, ...given };
  const { dataDir } = context;
  if (settings !== undefined && dataDir === undefined)
    throw new PorticoError("OPTION_INVALID", "options.lake needs `dataDir` for the key that signs the lake");
  let writer: LakeWriter | undefined;
  return {
    routes: lakeRoutes<State>(settings?.dir),
    start: () => {
      if (settings === undefined || dataDir === undefined || context.reader === true) return;
      const { nethash } = context.network.network;
      const folder = join(dataDir, copyFolder);
      // A killed process may have left one, as large as the store.
      rmSync(folder, { recursive: true, force: true });
      const { copyAt } = chain;
      const copying = copyAt === undefined ? {} : { copyAt: (height: number, signal: AbortSignal) => copyAt(height, folder, signal).catch((error: unknown) => discard(folder, error)) };
      const { changes } = chain;
      const watching = changes === undefined ? {} : { watch: (moved: () => void) => changes.watch(moved) };
      writer = createLakeWriter(settings, { nethash, key: openNodeKey(dataDir), openSnapshot: () => chain.snapshot(), finalHeight, logger, now: clock.monotonic, ...copying, ...watching });
      writer.start();
    },
    progress: () => writer?.progress(),
    stop: async () => {
      await writer?.stop();
      writer = undefined;
    },
  };
};
