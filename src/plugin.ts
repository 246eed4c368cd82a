import type { ChainAdapter, ChainSnapshot, MaybePromise } from "../types/chain-adapter.js";
import type { ApiPlugin, NodeContext, ReaderContext } from "../types/node-context.js";
import { openAtHeight, orUndo } from "./api/at-height.js";
import { groups } from "./api/groups.js";
import { type ApiNeeds, type ApiState, createApiState } from "./api/state.js";
import { v1Routes } from "./api/v1/index.js";
import { v2Routes } from "./api/v2/index.js";
import { examples } from "./api/examples.js";
import { webhookRequests } from "./api/webhook-requests.js";
import { consoleRoutes } from "./console/routes.js";
import { finalHeightAt } from "./chain/finality.js";
import { type ChainRules, createChainRules } from "./chain/rules.js";
import { fullClock } from "./clock.js";
import { requireContext } from "./options/node-context.js";
import { messageOf, PorticoError } from "./errors.js";
import { createPatientHost } from "./options/patient-host.js";
import { createEdge } from "./http/edge.js";
import { createLifecycle } from "./lifecycle.js";
import { andThen } from "./async/maybe-promise.js";
import { createHealth } from "./operate/health.js";
import { createLoopLag } from "./operate/loop-lag.js";
import { createMetrics } from "./operate/metrics/metrics.js";
import { metricsRoute } from "./operate/metrics/route.js";
import { createObserved, createReplyObserver } from "./operate/observe.js";
import { probeRoutes } from "./operate/routes.js";
import { readOptions } from "./options/options.js";
import { createLake } from "./plugin-lake.js";
import { createFollowing, type Following } from "./plugin-follow.js";
import { createLive } from "./plugin-live.js";
import { createReplica } from "./plugin-replica.js";
import { createWebhooks, type Shared } from "./plugin-webhooks.js";
import type { StoreNeeds } from "./store/state/store-contract.js";
import { createProblems } from "./problems.js";
import { consoleLogger, quietLogger } from "./options/guarded-logger.js";
import { createLmdbChain, type LmdbChain, type StoreCompanion } from "./store/lmdb-chain.js";
import { createReaderChain } from "./store/reader-chain.js";
import type { Prewarm } from "./store/state/store.js";
import { version } from "./version.js";

/** The chain in use. A host's own adapter has none of the optional members, which belong to the chains kept in LMDB. */
type Chain = ChainAdapter & Partial<Pick<LmdbChain, "copyAt" | "tipId" | "height" | "isReady" | "rebuilding" | "standing" | "reindexHistory" | "scanState" | "settled" | "problem">>;

/**
 * Creates the public interface of a node. Nothing is opened or subscribed to before `start()` or `listen()`.
 * @throws PorticoError OPTION_INVALID
 */
export const createApiPlugin = (context: NodeContext | ReaderContext): ApiPlugin => {
  requireContext(context);
  const options = readOptions(context.options);
  const logger = quietLogger(context.logger ?? consoleLogger);
  const clock = fullClock(context.clock);
  const rules = createChainRules(context.network, context.transactionTypes);
  const problems = createProblems(logger);
  const replica = createReplica(context, { problems, logger });
  const webhooks = createWebhooks(context, {
    ...{ options, logger, clock, problems },
    onLog: (log, writes) => following.onLog(log, writes),
    follow: () => following.follow,
    onAttempt: (outcome, milliseconds) => metrics?.deliveryEnded(outcome, milliseconds / 1000),
  });
  const prewarm: Prewarm = (open) => edge.prewarm(stateOf(open(bounds)));
  const following: Following = createFollowing(context, { options, rules, logger, clock, problems, chain: () => chain });
  const loopLag = createLoopLag();
  const ownChain: Chain = createChain(context, { options, rules, logger, clock, problems, companion: webhooks, prewarm, searches: { lag: loopLag.milliseconds }, onLog: following.onLog, onWritten: (milliseconds) => metrics?.blockApplied(milliseconds / 1000) });
  const chain = replica?.guard(ownChain) ?? ownChain;
  const told = context.reader === true ? context.problem : undefined;

  /** State of a host's own chain when it was last asked. */
  const seen: { height: number; problem?: string | undefined } = { height: 0 };

  const unreadable = (error: unknown): undefined => {
    seen.problem = "The chain cannot be read.";
    logger.error(`the chain cannot be read: ${messageOf(error)}`);
  };

  const saw = (snapshot: ChainSnapshot | undefined): ChainSnapshot | undefined => {
    seen.height = snapshot?.tip.height ?? 0;
    seen.problem = undefined;
    return snapshot;
  };

  const bounds = { searchRows: options.searchRows };

  /** Undefined while there is no state to read, or if reading it fails. */
  const openSnapshot = (): MaybePromise<ChainSnapshot | undefined> => {
    try {
      const opened = andThen(chain.snapshot(bounds), saw);
      return opened instanceof Promise ? opened.catch(unreadable) : opened;
    } catch (error) {
      return unreadable(error);
    }
  };

  let stopping = new AbortController();
  const host = createPatientHost(context, { timeout: options.hostTimeout, stopping: () => stopping.signal });
  const snapshotAt = chain.snapshotAt && ((height: number) => chain.snapshotAt?.(height, bounds));
  const stateNeeds: ApiNeeds = { rules, host, supports: chain.supports ?? {}, clock, openWebhooks: webhooks.open, snapshotAt };

  const stateOf = (snapshot: ChainSnapshot | undefined): ApiState => createApiState(snapshot, stateNeeds);

  const finalHeight = (tip: number): number => finalHeightAt(tip, rules.milestones, options.finality);

  const openState = (at?: string): MaybePromise<ApiState> => andThen(at === undefined ? undefined : replica?.patience.reach(at), () => openStateNow(at));

  const openStateNow = (at?: string): MaybePromise<ApiState> =>
    andThen(openSnapshot(), (snapshot) => {
      if (at === undefined || snapshot === undefined) return stateOf(snapshot);
      return orUndo(
        () => andThen(openAtHeight(at, snapshot, { adapter: chain, bounds, finalHeight }), (past) => createApiState(snapshot, stateNeeds, past)),
        () => snapshot.release?.(),
      );
    });

  const lake = createLake<ApiState>(context, { options, chain, finalHeight, logger });

  const reports = createHealth({
    phase: () => lifecycle.phase(),
    problems,
    chain,
    seen,
    told,
    openSnapshot,
    unreadable,
    finalHeight,
    rules,
    clock,
    staleAfter: options.staleAfter,
    sync: host.sync,
    distance: replica?.distance,
  });

  const damage = problems.define({ begun: "the store is damaged", ended: "the store is sound again" });
  const damaged = (reason: string): void => {
    // What is read while the store is being closed is no damage.
    if (lifecycle.phase() === "started") damage.begin(`${reason.replace(/^The store is damaged: /, "")} Stop the node and verify the store (verifyStore, or --verify of the example host). This is said until the node is started anew`);
  };

  const live = createLive<ApiState>({ ...following, follow: replica?.patience.patient(following.follow) ?? following.follow }, { isStopping: () => lifecycle.phase() === "stopping" });

  const observed = createObserved({
    reports,
    clock,
    sync: context.sync,
    dataDir: context.dataDir,
    loopLag,
    streams: () => edge.streams.count,
    // Of several processes, the one that delivers tells.
    webhooks: () => (context.reader === true ? undefined : webhooks.engine()),
  });
  const metrics = options.metrics === false ? undefined : createMetrics(observed);
  const token = typeof options.metrics === "object" ? options.metrics.token : undefined;
  const metricsRoutes = metrics === undefined ? [] : [metricsRoute<ApiState>({ metrics, token, others: context.otherMetrics })];

  const edge = createEdge(options, {
    damaged,
    onReply: createReplyObserver(metrics, context.accessLog, clock),
    routes: [...v2Routes, ...v1Routes, ...live.routes, ...lake.routes, ...probeRoutes<ApiState>(reports), ...metricsRoutes, ...(options.console ? consoleRoutes<ApiState>() : [])],
    openState,
    tipId: chain.tipId,
    health: reports.report,
    isStopping: () => lifecycle.phase() === "stopping",
    authorize: webhooks.authorize,
    logger,
    info: {
      title: "Portico",
      version,
      description: `The public interface of a node of the network ${context.network.network.name}.`,
      license: { name: "MIT", identifier: "MIT" },
      contact: { name: "The operator of this node" },
    },
    groups,
    examples,
    epoch: rules.epoch.timestamp(0).human,
    outgoing: webhookRequests(webhooks.events),
  });

  const lifecycle = createLifecycle({
    prepare: async () => {
      await replica?.prepare(stopping.signal);
      await webhooks.prepare();
    },
    open: async () => {
      loopLag.start();
      await chain.start?.();
      replica?.begin();
    },
    opened: async () => {
      if (chain.height === undefined) (await openSnapshot())?.release?.();
      lake.start();
    },
    close: async () => {
      try {
        await lake.stop();
        await replica?.end();
        await chain.stop?.();
      } finally {
        await webhooks.closing();
        await live.close();
        problems.clear();
        loopLag.stop();
      }
    },
    createServer: edge.createServer,
    drained: edge.drained,
    streams: edge.streams,
    stopTimeout: options.stopTimeout,
    logger,
  });

  return {
    router: edge.router,
    chain,
    get webhooks() {
      return webhooks.engine();
    },
    health: reports.health,
    metrics: async () => (await metrics?.values()) ?? [],
    callback: edge.callback,
    mount: edge.mount,
    listen: (port, address, outside) => {
      if (stopping.signal.aborted) stopping = new AbortController();
      return lifecycle.listen(port, address, outside);
    },
    start: () => {
      if (stopping.signal.aborted) stopping = new AbortController();
      return lifecycle.start();
    },
    stop: () => {
      stopping.abort();
      return lifecycle.stop();
    },
    reindexHistory: async (during) => {
      if (chain.reindexHistory === undefined) throw new PorticoError("NOT_SUPPORTED", "The chain is the host's own.");
      return chain.reindexHistory(during);
    },
    settled: async () => {
      await chain.settled?.();
      await following.settled();
      await webhooks.engine()?.settled();
    },
  };
};

interface ChainNeeds {
  rules: ChainRules;
  companion: StoreCompanion;
  prewarm: Prewarm;
  onLog: Following["onLog"];
  onWritten(milliseconds: number): void;
  /** How searches share the process. */
  searches: StoreNeeds["searches"];
}

/** The host's own chain, or else the LMDB store in `dataDir`: written by this process, or only read by it if it is a reader. */
const createChain = (context: NodeContext | ReaderContext, { options, prewarm, ...needs }: Shared & ChainNeeds): Chain => {
  if (context.reader !== true && context.chain !== undefined) return context.chain;
  const { dataDir } = context;
  if (dataDir === undefined) {
    throw new PorticoError("OPTION_INVALID", "createApiPlugin needs `dataDir`, a folder for its store, or `chain`, an adapter of the host's own");
  }
  const companion = options.webhooks === false ? undefined : needs.companion;
  if (context.reader === true) {
    return createReaderChain({ dataDir, history: options.history }, { ...needs, companion, onLog: (log) => needs.onLog(log, false) });
  }
  const { events, blocks: source, onProgress, follows } = context;
  return createLmdbChain({ dataDir, undoBlocks: options.undoBlocks, followOrphans: options.followOrphans, history: options.history }, { ...needs, onLog: (log) => needs.onLog(log, true), prewarm, companion, events, source, onProgress, timesOf: follows?.timesOf });
};
