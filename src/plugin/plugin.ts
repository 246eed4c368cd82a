import type { NodeContext, ReaderContext } from "../../types/node-context.js";
import type { ApiPlugin } from "../../types/plugin.js";
import { examples } from "../api/examples.js";
import { groups, guide } from "../api/index.js";
import type { ApiState } from "../api/state.js";
import { v1Routes } from "../api/v1/index.js";
import { v2Routes } from "../api/index.js";
import { webhookRequests } from "../api/webhooks/requests.js";
import { EventEmitter } from "eventemitter3";
import type { HostLog } from "../../types/host-log.js";
import { closeAll } from "../async/close-all.js";
import { createChainRules } from "../chain/rules.js";
import { fullClock } from "../async/clock.js";
import { consoleRoutes } from "../console/routes.js";
import { createEdge } from "../http/edge.js";
import { createClientAddress } from "../http/pipeline/rate-limit.js";
import { createLifecycle, createNodePhase, type Lifecycle, type NodePhase } from "../operate/lifecycle.js";
import { createReplyObserver } from "../operate/access-log.js";
import { createHealth } from "../operate/health.js";
import { createMetrics, type Metrics } from "../operate/metrics.js";
import { metricsRoute, probeRoutes } from "../operate/routes.js";
import { consoleLogger, quietLogger } from "../options/checks.js";
import { requireContext } from "../options/node-context.js";
import { readOptions } from "../options/options.js";
import { type Chain, createStates, createStoreChain, probePatience } from "./states.js";
import { type AskedFollow, createFollowing, createLive, followInTime } from "./follow.js";
import { createHostChain } from "./host.js";
import { createHostParts } from "./host-parts.js";
import { createLake } from "./lake.js";
import { createReplica } from "./replica.js";
import { createWebhooks } from "./webhooks.js";
import type { OnOutcome } from "../webhooks/deliver/outcome.js";
import { createProblems, type Problems } from "../operate/problems.js";
import { createWriteWatch } from "../store/lmdb/environment.js";
import { version } from "../version.js";

interface Waiting {
  wait(work: Promise<void>): void;
}

/** What parts of a node tell those that are made after them. */
interface NodeEvents {
  /**
   * The log of the host's events is open or, if it is undefined, closes after all that listeners wait for. `writes`: whether this process
   * writes it.
   */
  log(event: { log: HostLog | undefined; writes: boolean } & Waiting): void;
  /** A block was written, in so many milliseconds. */
  applied(milliseconds: number): void;
  /** An attempt of a delivery has ended, after so many milliseconds, or a delivery was given up. */
  delivered(...outcome: Parameters<OnOutcome>): void;
}

/** Resolves when all that the listeners wait for has ended. */
const emitted = async (emit: (wait: Waiting["wait"]) => void): Promise<void> => {
  const all: Promise<void>[] = [];
  emit((work) => all.push(work));
  await Promise.all(all);
};

/** The chain, and what follows it. */
const createNode = (context: NodeContext | ReaderContext, phase: NodePhase) => {
  requireContext(context);
  const options = readOptions(context.options);
  const logger = quietLogger(context.logger ?? consoleLogger);
  const clock = fullClock(context.clock);
  const rules = createChainRules(context.network, context.transactionTypes);
  const problems = createProblems(logger);
  const shared = { options, logger, clock, problems, writes: createWriteWatch(problems) };
  const replica = createReplica(context, { problems, logger, clock });
  const events = new EventEmitter<NodeEvents>();
  const given = context.reader === true ? undefined : context.chain;
  const { stopping } = phase;
  const hostChain = given && createHostChain(given, { ...shared, stopping });
  const openStore = (): Chain => {
    const store = createStoreChain(context, {
      ...shared,
      rules,
      onLog: (log, writes) => emitted((wait) => events.emit("log", { log, writes, wait })),
      onWritten: (milliseconds) => void events.emit("applied", milliseconds),
      node: replica?.source,
    });
    return replica?.attach(store) ?? store;
  };
  const chain: Chain = hostChain ?? openStore();
  const following = createFollowing(context, { ...shared, rules, chain, hostChain });
  events.on("log", ({ log, writes, wait }) => wait(following.onLog(log, writes)));
  const onOutcome: OnOutcome = (...outcome) => void events.emit("delivered", ...outcome);
  const webhooks = createWebhooks(context, { ...shared, follow: following.follow, onLog: following.onLog, onOutcome });
  const { hostTimeout, stopTimeout } = options;
  const hostParts = createHostParts(context, { within: hostTimeout, stopping, stopTimeout, rules, logger });
  const states = createStates({ chain, hostChain, problems, replica, options, logger, rules, host: hostParts, clock, openWebhooks: webhooks.open });
  return { ...shared, phase, events, rules, replica, webhooks, following, chain, hostChain, states };
};

type Node = ReturnType<typeof createNode>;

/** Health, and metrics. */
const createOperating = (context: NodeContext | ReaderContext, node: Node, { lake }: Services) => {
  const { chain, phase, events, problems, options, rules, clock, logger, replica, webhooks, states } = node;
  const { stopTimeout, hostTimeout } = options;
  const { sync } = createHostParts(
    { sync: context.sync },
    { within: Math.min(hostTimeout, probePatience), stopping: phase.stopping, stopTimeout, rules, logger },
  );
  const reports = createHealth({
    ...states,
    phase: phase.phase,
    problems,
    chain,
    rules,
    clock,
    readerProblem: context.reader === true ? context.problem : undefined,
    warning: context.warning,
    staleAfter: options.staleAfter,
    sync,
    distance: replica?.distance,
  });

  const createNodeMetrics = (): Metrics =>
    createMetrics({
      reports,
      clock,
      sync,
      dataDir: context.dataDir,
      lake: lake.progress,
      // Only the delivering process reports webhooks.
      webhooks: () => (context.reader === true ? undefined : webhooks.engine()),
    });
  const metrics = options.metrics === false ? undefined : createNodeMetrics();
  const token = typeof options.metrics === "object" ? options.metrics.token : undefined;
  const metricsRoutes = metrics === undefined ? [] : [metricsRoute<ApiState>({ metrics, token, others: context.otherMetrics })];
  events.on("applied", (milliseconds) => metrics?.blockApplied(milliseconds / 1000));
  events.on("delivered", (outcome, milliseconds) =>
    metrics?.deliveryEnded(outcome, milliseconds === undefined ? undefined : milliseconds / 1000),
  );

  const clientOf = options.logClients ? createClientAddress(options.trustedProxies) : undefined;
  const onReply = createReplyObserver({ metrics, accessLog: context.accessLog, clock, clientOf });
  return { reports, metrics, onReply, routes: [...probeRoutes<ApiState>(reports), ...metricsRoutes] };
};

type Operating = ReturnType<typeof createOperating>;

/** Following as requests wait for it. */
const createAskedFollow = ({ following, hostChain, replica }: Node): AskedFollow => {
  if (hostChain !== undefined) return followInTime(following);
  const { follow } = following;
  const asked = replica?.patience.patient(follow) ?? follow;
  return { follow: asked, feed: asked };
};

/** What is served besides the chain. */
const createServices = (context: NodeContext | ReaderContext, node: Node) => {
  const { options, chain, phase, logger, clock, states, following } = node;
  return {
    lake: createLake<ApiState>(context, { options, chain, finalHeight: states.finalHeight, logger, clock }),
    live: createLive<ApiState>(
      { ...following, ...createAskedFollow(node) },
      { node: node.replica?.url, stopping: phase.stopping, clock },
    ),
  };
};

type Services = ReturnType<typeof createServices>;

const createDamaged = (problems: Problems, { phase }: NodePhase) => {
  const damage = problems.define({ begun: "the store is damaged", ended: "the store is sound again" });
  return (reason: string): void => {
    // What is read while the store is being closed is no damage.
    if (phase() !== "started") return;
    const what = reason.replace(/^The store is damaged: /, "");
    const advice = "Stop the node and verify the store (verifyStore, or --verify of the example host)";
    damage.begin(`${what} ${advice}. This problem is shown until the node is restarted`);
  };
};

const createPluginEdge = (context: NodeContext | ReaderContext, node: Node, { live, lake, operating }: Services & { operating: Operating }) =>
  createEdge(node.options, {
    damaged: createDamaged(node.problems, node.phase),
    onReply: operating.onReply,
    routes: [
      ...v2Routes,
      ...v1Routes,
      ...live.routes,
      ...lake.routes,
      ...operating.routes,
      ...(node.options.console ? consoleRoutes<ApiState>() : []),
    ],
    openState: node.states.openState,
    tipId: node.chain.tipId,
    health: operating.reports.report,
    isStopping: node.phase.isStopping,
    authorize: node.webhooks.authorize,
    logger: node.logger,
    info: {
      title: "Portico",
      version,
      description: guide(context.network.network.name),
      license: { name: "MIT", identifier: "MIT" },
      contact: { name: "The operator of this node" },
    },
    groups,
    examples,
    epoch: node.rules.epoch.timestamp(0).human,
    outgoing: webhookRequests(node.webhooks.events),
  });

const createPluginLifecycle = (node: Node, services: Services, edge: ReturnType<typeof createPluginEdge>): Lifecycle =>
  createLifecycle({
    prepare: async () => {
      const stopping = node.phase.stopping();
      await node.replica?.prepare(stopping);
      await node.webhooks.prepare(stopping);
    },
    open: async () => {
      await node.chain.start?.();
      // A stop that came meanwhile has ended what it follows.
      if (node.phase.phase() === "starting") node.replica?.begin();
    },
    opened: async () => {
      // Asks a host's own chain once, so that `health()` knows its height from the start.
      if (node.chain.height === undefined) (await node.states.openSnapshot())?.release?.();
      // Nor does the lake begin where a stop came meanwhile.
      if (node.phase.phase() === "started") services.lake.start();
    },
    close: () =>
      closeAll(
        () => services.lake.stop(),
        () => node.replica?.end(),
        // What reads the chain ends before it does.
        () => node.webhooks.closing(),
        () => node.chain.stop?.(),
        () => services.live.close(),
        () => {
          node.hostChain?.closed();
          node.problems.clear();
        },
      ),
    createServer: edge.createServer,
    drained: edge.drained,
    streams: edge.streams,
    stopTimeout: node.options.stopTimeout,
    logger: node.logger,
  }, node.phase);

/**
 * Creates the public interface of a node. Nothing is opened or subscribed to before `start()` or `listen()`.
 * @throws PorticoError OPTION_INVALID
 */
export const createApiPlugin = (context: NodeContext | ReaderContext): ApiPlugin => {
  const node = createNode(context, createNodePhase());
  const services = createServices(context, node);
  const operating = createOperating(context, node, services);
  const edge = createPluginEdge(context, node, { ...services, operating });
  const { start, listen, stop } = createPluginLifecycle(node, services, edge);
  const { chain, webhooks, following } = node;
  const { reports, metrics } = operating;
  metrics?.addEdge(edge);

  return {
    router: edge.router,
    chain: (context.reader === true ? undefined : context.chain) ?? chain,
    get webhooks() {
      return webhooks.engine();
    },
    health: reports.health,
    metrics: async (which) => (await metrics?.values(which)) ?? [],
    callback: edge.callback,
    mount: edge.mount,
    start,
    listen,
    stop,
    settled: async () => {
      await chain.settled?.();
      await following.settled();
      await webhooks.engine()?.settled();
    },
  };
};
