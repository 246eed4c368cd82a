import { once } from "node:events";
import type { Server } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import type { ChainAdapter } from "../types/chain-adapter.js";
import type { ApiPlugin, Clock, Health, Logger, NodeContext } from "../types/node-context.js";
import { createApiState } from "./api/state.js";
import { v2Routes } from "./api/v2/index.js";
import { type ChainRules, createChainRules } from "./chain/rules.js";
import { PorticoError } from "./errors.js";
import { createEdge } from "./http/edge.js";
import { type Options, readOptions } from "./options.js";
import { createLmdbChain, type LmdbChain } from "./store/lmdb-chain.js";
import { version } from "./version.js";

/** A chain that a host keeps: it has no tip of its own to follow, and is asked as it is. */
type Chain = ChainAdapter & Partial<Pick<LmdbChain, "tipId" | "height" | "settled" | "problem">>;

const systemClock: Clock = { now: () => Date.now() };

const silence = (): void => undefined;
const consoleLogger: Logger = {
  debug: silence,
  info: silence,
  warn: (message) => console.warn(message),
  error: (message) => console.error(message),
};

const requireContext = ({ network, events }: Partial<NodeContext>): void => {
  if (network === undefined) throw new PorticoError("OPTION_INVALID", "createApiPlugin needs `network`: the network's parameters, milestones, exceptions and genesis block");
  if (typeof events?.on !== "function" || typeof events.off !== "function") {
    throw new PorticoError("OPTION_INVALID", "createApiPlugin needs `events`: the host's emitter, with `on` and `off`");
  }
};

/**
 * Makes the public interface of a node. Nothing is opened, subscribed to or listened to before `start()` (or `listen()`).
 * @throws PorticoError OPTION_INVALID
 */
export const createApiPlugin = (context: NodeContext): ApiPlugin => {
  requireContext(context);
  const options = readOptions(context.options);
  const logger = context.logger ?? consoleLogger;
  const clock = context.clock ?? systemClock;
  const rules = createChainRules(context.network, context.transactionTypes);
  const chain: Chain = context.chain ?? createDefaultChain(context, { options, rules, logger, clock });

  type Phase = "stopped" | "starting" | "started" | "stopping";
  let phase: Phase = "stopped";
  let starting: Promise<void> | undefined;
  let stopping: Promise<void> | undefined;
  let server: Server | undefined;

  const health = (): Health => {
    const problem = chain.problem?.();
    const status = phase === "started" ? (problem === undefined ? "ok" : "failing") : phase === "starting" ? "starting" : "stopped";
    return { status, height: chain.height?.() ?? 0, ...(problem === undefined ? {} : { problem }) };
  };

  const edge = createEdge(options, {
    routes: v2Routes,
    openState: async () => createApiState(await chain.snapshot(), { rules, host: context, supports: chain.supports ?? {}, clock }),
    tipId: chain.tipId,
    health,
    isStopping: () => phase === "stopping",
    logger,
    info: { title: "Portico", version, description: `The public interface of a node of the network ${context.network.network.name}.` },
  });

  const start = (): Promise<void> => {
    starting ??= (async () => {
      await stopping;
      phase = "starting";
      stopping = undefined;
      try {
        await chain.start?.();
        // Unless it was told to stop meanwhile.
        if ((phase as Phase) === "starting") phase = "started";
      } catch (error) {
        await chain.stop?.();
        phase = "stopped";
        starting = undefined;
        throw error;
      }
    })();
    return starting;
  };

  const stop = (): Promise<void> => {
    stopping ??= (async () => {
      if (phase === "stopped") return;
      phase = "stopping";
      server?.close();
      await Promise.race([edge.drained(), delay(options.stopTimeout, undefined, { ref: false })]);
      server?.closeAllConnections();
      server = undefined;
      await chain.stop?.();
      phase = "stopped";
      starting = undefined;
    })();
    return stopping;
  };

  return {
    router: edge.router,
    chain,
    health,
    callback: edge.callback,
    mount: edge.mount,
    listen: async (port, address = "127.0.0.1") => {
      const listening = edge.createServer().listen(port, address);
      await once(listening, "listening");
      server = listening;
      try {
        await start();
      } catch (error) {
        listening.close();
        throw error;
      }
      return listening;
    },
    start,
    settled: async () => chain.settled?.(),
    stop,
  };
};

/** The LMDB store in `dataDir`, kept at the host's tip. */
const createDefaultChain = (
  { dataDir, events, blocks, onProgress }: NodeContext,
  { options, rules, logger, clock }: { options: Readonly<Options>; rules: ChainRules; logger: Logger; clock: Clock },
): LmdbChain => {
  if (dataDir === undefined) {
    throw new PorticoError("OPTION_INVALID", "createApiPlugin needs `dataDir`, a folder for its store, or `chain`, an adapter of the host's own");
  }
  return createLmdbChain({ dataDir, undoBlocks: options.undoBlocks }, { rules, events, source: blocks, logger, clock, onProgress });
};
