import type { HostLog } from "../../types/host-log.js";
import type { Logger, NodeContext, ReaderContext } from "../../types/node-context.js";
import type { WebhookStore } from "../../types/webhook-store.js";
import type { FullClock } from "../async/clock.js";
import { closeAll } from "../async/close-all.js";
import { messageOf, PorticoError } from "../errors.js";
import type { Follow } from "../follow/index.js";
import { type NodeKey, openNodeKey } from "../files/node-key.js";
import type { Problems } from "../operate/problems.js";
import type { Options } from "../options/options.js";
import { createHostLog } from "../store/follow/host-log.js";
import { whenFree } from "../store/lmdb/writer-lock.js";
import type { WriteWatch } from "../store/lmdb/write-watch.js";
import { takeOldJournal } from "../store/webhooks/event-journal.js";
import { openWebhookStore, type WebhookEnvironment } from "../store/webhooks/webhook-store.js";
import { createWebhookEngine, type WebhookEngine } from "../webhooks/engine.js";
import { describeWebhookEvents } from "../webhooks/own-events.js";
import type { OnOutcome } from "../webhooks/send/http-sender.js";
import { type Authorize, openAuthorize } from "../webhooks/registry/tokens.js";

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
  follow(): Follow;
}

/** Without it, requests are signed by secrets alone. */
const nodeKeyIn = (folder: string, logger: Logger): NodeKey | undefined => {
  try {
    return openNodeKey(folder);
  } catch (error) {
    logger.warn(`webhooks: requests cannot be signed by the node's key: ${messageOf(error)}`);
    return undefined;
  }
};

/**
 * The webhook engine, which is created when its store is opened: part of the chain's store if Portico keeps the chain, otherwise
 * a store of its own in `dataDir`. A host with its own chain and no `dataDir` has no webhooks.
 * @throws PorticoError OPTION_INVALID
 */
export const createWebhooks = (context: NodeContext | ReaderContext, { options, logger, clock, problems, writes, onLog, follow, onOutcome }: WebhooksNeeds) => {
  const { dataDir } = context;
  const chain = context.reader === true ? undefined : context.chain;
  const keepsChain = chain === undefined;
  if (keepsChain && context.reader !== true && options.webhooks !== false && !options.webhooks.deliver) {
    throw new PorticoError("OPTION_INVALID", "options.webhooks.deliver can be false only where the host keeps its own chain: with the store, the process that writes it delivers");
  }
  const delivering = context.reader === true ? { deliver: false } : {};
  /** A replica has none of its own. */
  const followed = context.reader === true ? undefined : context.follows;
  const settings = options.webhooks === false || dataDir === undefined || followed !== undefined ? undefined : { ...options.webhooks, ...delivering, dataDir };
  let engine: WebhookEngine | undefined;
  let own: WebhookEnvironment | undefined;
  let authorize: Authorize | undefined;

  const opened = (store: WebhookStore): void => {
    if (settings === undefined) return;
    const goesByBlocks = keepsChain || chain.changes !== undefined;
    const needs = { store, follow: follow(), clock, logger, problems, keepsChain: goesByBlocks, nodeKey: nodeKeyIn(settings.dataDir, logger), onOutcome, dispatch: context.reader === true ? undefined : context.dispatch };
    engine = createWebhookEngine(settings, needs);
    if (settings.deliver) engine.takeOld(takeOldJournal(settings.dataDir, store.journalPosition(), { logger, writes }));
    engine.start();
  };

  const requireWebhooks = (): void => {
    if (followed !== undefined) throw new PorticoError("NOT_SUPPORTED", `This is a replica: webhooks are managed at its node, ${followed.url}.`);
    if (settings === undefined) throw new PorticoError("NOT_SUPPORTED", "This node has no webhooks.");
  };

  return {
    engine: () => engine,
    /** What webhooks may listen to; none where there are no webhooks. */
    events: settings === undefined ? [] : describeWebhookEvents(settings.events, keepsChain),
    open: (): WebhookEngine => {
      requireWebhooks();
      if (engine === undefined) throw new PorticoError("NOT_READY");
      return engine;
    },
    authorize: (header: string | undefined): boolean => {
      requireWebhooks();
      if (authorize === undefined) throw new PorticoError("NOT_READY");
      return authorize(header);
    },
    /** To be called before the chain is started. */
    prepare: async () => {
      if (settings === undefined) return;
      authorize = await openAuthorize({ ...settings, makes: context.reader !== true }, logger);
      if (keepsChain) return;
      own = await whenFree(() => openWebhookStore(settings.dataDir, { ...settings, writes }), { logger, clock });
      if (own === undefined) return;
      await onLog(createHostLog(own.environment, { writes: settings.deliver }), settings.deliver);
      opened(own.store);
    },
    opened,
    closing: async () => {
      const [ending, environment] = [engine, own];
      engine = own = undefined;
      await closeAll(() => ending?.stop(), () => (environment === undefined ? undefined : onLog(undefined, false)), () => environment?.close());
    },
  };
};
