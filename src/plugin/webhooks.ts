import { existsSync } from "node:fs";
import { join } from "node:path";
import type { HostLog } from "../../types/host-log.js";
import type { Logger, NodeContext, ReaderContext } from "../../types/node-context.js";
import type { FullClock } from "../async/clock.js";
import { closeAll } from "../async/close-all.js";
import { messageOf, PorticoError } from "../errors.js";
import type { Follow } from "../follow/index.js";
import { type NodeKey, openNodeKey } from "../files/node-key.js";
import { createErrorLog, type Problems } from "../operate/problems.js";
import type { Options } from "../options/options.js";
import { createHostLog } from "../store/follow/host-log.js";
import { whenFree } from "../store/lmdb/writer-lock.js";
import type { WriteWatch } from "../store/lmdb/environment.js";
import { createWebhookEngine, describeWebhookEvents, type WebhookEngine } from "../webhooks/engine.js";
import { openWebhookStore, type WebhookEnvironment } from "../webhooks/rows/store.js";
import type { OnOutcome } from "../webhooks/deliver/outcome.js";
import { type Authorize, openAuthorize } from "../webhooks/register/tokens.js";

/** What the parts of a plugin share. */
export interface Shared {
  options: Readonly<Options>;
  logger: Logger;
  clock: FullClock;
  problems: Problems;
  /** One for all that the node writes: what fails is told once. */
  writes: WriteWatch;
}

interface WebhooksNeeds extends Shared {
  /** Is told of every attempt of a delivery that has ended. */
  onOutcome?: OnOutcome | undefined;
  /** Is handed the log of the host's events where it is kept beside the webhooks, because the chain is a host's own. */
  onLog(log: HostLog | undefined, writes: boolean): Promise<void>;
  follow: Follow;
}

/** Milliseconds between two tries to write to a store that could not be written. */
const lookInterval = 200;

/** Without it, requests are signed by secrets alone. */
const nodeKeyIn = (folder: string, logger: Logger): NodeKey | undefined => {
  try {
    return openNodeKey(folder);
  } catch (error) {
    logger.warn(`webhooks: requests cannot be signed by the node's key: ${messageOf(error)}`);
    return undefined;
  }
};

/** What is open of the webhooks: also where a start has failed half-way. */
interface OpenWebhooks {
  environment?: WebhookEnvironment | undefined;
  engine?: WebhookEngine;
  looking?: NodeJS.Timeout;
}

type Settings = Exclude<Options["webhooks"], false> & { dataDir: string };

const hasFile = ({ dataDir }: Settings): boolean => existsSync(join(dataDir, "webhooks.mdb"));

const hostChainOf = (context: NodeContext | ReaderContext): NodeContext["chain"] => (context.reader === true ? undefined : context.chain);

/** Whether webhooks go by the blocks of the chain. Of a host's own chain without changes, they know what the host emits. */
const goesByBlocks = (context: NodeContext | ReaderContext): boolean => {
  const chain = hostChainOf(context);
  return chain === undefined || chain.changes !== undefined;
};

/** Undefined where there are no webhooks. @throws PorticoError OPTION_INVALID */
const settingsOf = (context: NodeContext | ReaderContext, { webhooks }: Pick<Options, "webhooks">): Settings | undefined => {
  const { dataDir } = context;
  if (hostChainOf(context) === undefined && context.reader !== true && webhooks !== false && !webhooks.deliver) {
    throw new PorticoError("OPTION_INVALID", "options.webhooks.deliver can be false only if the host keeps its own chain; with the built-in store, the process that writes it delivers");
  }
  if (webhooks === false || dataDir === undefined) return undefined;
  if (context.reader === true) return { ...webhooks, deliver: false, dataDir };
  return context.follows !== undefined && context.options?.webhooks === undefined ? undefined : { ...webhooks, dataDir };
};

/** Opens nothing once the signal is aborted. */
const openWebhooks = async (
  opened: OpenWebhooks,
  context: NodeContext | ReaderContext,
  needs: WebhooksNeeds,
  settings: Settings,
  signal: AbortSignal,
): Promise<void> => {
  const { logger, clock, problems, writes, onLog, follow, onOutcome } = needs;
  const environment = await whenFree(() => openWebhookStore(settings.dataDir, { ...settings, writes }), { logger, clock, signal });
  if (environment === undefined || signal.aborted) return environment?.close();
  opened.environment = environment;
  const { store } = environment;
  if (hostChainOf(context) !== undefined)
    await onLog(createHostLog(environment.environment, { writes: settings.deliver }), settings.deliver);
  const nodeKey = nodeKeyIn(settings.dataDir, logger);
  const keepsChain = goesByBlocks(context);
  const engine = createWebhookEngine(settings, { store, follow, clock, logger, problems, keepsChain, nodeKey, onOutcome });
  opened.engine = engine;
  // Nobody may write a webhook for long: what is wrong ends without.
  const look = (): void => void (writes.isFailing("webhooks") && store.transactionSoon(() => undefined).catch(() => undefined));
  opened.looking = setInterval(look, lookInterval).unref();
  engine.start();
};

/**
 * The webhook engine, on a store of its own in `dataDir`: `webhooks.mdb`, which outlives the chain's. A host with its own chain and no
 * `dataDir` has no webhooks, nor has a replica that does not ask for its own.
 * @throws PorticoError OPTION_INVALID
 */
export const createWebhooks = (context: NodeContext | ReaderContext, needs: WebhooksNeeds) => {
  const { options, logger, onLog } = needs;
  const hasStore = hostChainOf(context) === undefined;
  const followed = context.reader === true ? undefined : context.follows;
  const settings = settingsOf(context, options);
  const cannotOpen = createErrorLog("webhooks: the store cannot be opened", needs);
  let opened: OpenWebhooks = {};
  let waiting: NodeJS.Timeout | undefined;
  let authorize: Authorize | undefined;

  const begin = (own: Settings, signal: AbortSignal): Promise<void> => openWebhooks((opened = {}), context, needs, own, signal);

  const closing = async (): Promise<void> => {
    const { environment, engine, looking } = opened;
    opened = {};
    clearInterval(waiting);
    clearInterval(looking);
    const endLog = (): unknown => (environment === undefined || hasStore ? undefined : onLog(undefined, false));
    await closeAll(() => engine?.stop(), endLog, () => environment?.close());
  };

  /** A reader waits for the file, which is made by the process that delivers, and for one that it can open. */
  const beginLater = (own: Settings, signal: AbortSignal): void => {
    waiting = setInterval(() => {
      if (!hasFile(own)) return;
      clearInterval(waiting);
      begin(own, signal).catch(async (error: unknown) => {
        cannotOpen(error);
        await closing().catch(cannotOpen);
        if (!signal.aborted) beginLater(own, signal);
      });
    }, lookInterval).unref();
  };

  const prepare = async (signal: AbortSignal): Promise<void> => {
    if (settings === undefined) return;
    authorize = await openAuthorize({ ...settings, makes: context.reader !== true }, logger);
    if (context.reader === true && !hasFile(settings)) beginLater(settings, signal);
    else await begin(settings, signal);
  };

  const requireWebhooks = (): void => {
    if (settings !== undefined) return;
    if (followed !== undefined) throw new PorticoError("NOT_SUPPORTED", `This replica has no webhooks of its own. They are managed at its node, ${followed.url}.`);
    throw new PorticoError("NOT_SUPPORTED", "This node has no webhooks.");
  };

  return {
    engine: () => opened.engine,
    /** What webhooks may listen to; none where there are no webhooks. */
    events: settings === undefined ? [] : describeWebhookEvents(settings.events, goesByBlocks(context)),
    open: (): WebhookEngine => {
      requireWebhooks();
      if (opened.engine === undefined) throw new PorticoError("NOT_READY");
      return opened.engine;
    },
    authorize: (header: string | undefined): boolean => {
      requireWebhooks();
      if (authorize === undefined) throw new PorticoError("NOT_READY");
      return authorize(header);
    },
    /** To be called before the chain is started. Aborting the signal ends the wait for the file. */
    prepare,
    closing,
  };
};
