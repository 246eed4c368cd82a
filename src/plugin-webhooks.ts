import type { HostEvents } from "../types/events.js";
import type { HostLog } from "../types/host-log.js";
import type { Logger, NodeContext, ReaderContext } from "../types/node-context.js";
import type { WebhookStore } from "../types/webhook-store.js";
import type { FullClock } from "./clock.js";
import { closeAll } from "./async/close-all.js";
import { PorticoError } from "./errors.js";
import type { Problems } from "./problems.js";
import type { Options } from "./options/options.js";
import type { StoreChange } from "./store/state/change-log.js";
import { createHostLog } from "./store/follow/host-log.js";
import { whenFree } from "./store/lmdb/when-free.js";
import { createWriteWatch } from "./store/lmdb/write-watch.js";
import { openEventJournal } from "./store/webhooks/event-journal.js";
import { openWebhookStore, type WebhookEnvironment } from "./store/webhooks/webhook-store.js";
import { createWebhookEngine, type WebhookEngine } from "./webhooks/engine.js";
import { describeEvents } from "./follow/known-events.js";
import type { OnAttempt } from "./webhooks/send/observed-sender.js";
import { type Authorize, openAuthorize } from "./webhooks/registry/tokens.js";

/** What the parts of a plugin share. */
export interface Shared {
  options: Readonly<Options>;
  logger: Logger;
  clock: FullClock;
  problems: Problems;
}

export interface WebhooksNeeds extends Shared {
  /** Is told of every attempt of a delivery that has ended. */
  onAttempt?: OnAttempt | undefined;
  /** Is handed the log of the host's events where it is kept beside the webhooks, because the chain is a host's own. */
  onLog(log: HostLog | undefined, writes: boolean): Promise<void>;
}

const silence = (): void => undefined;

/** A reader receives no events. */
const noEvents: HostEvents = { on: silence, off: silence };

/**
 * The webhook engine, which is created when its store is opened: part of the chain's store if Portico keeps the chain, otherwise
 * a store of its own in `dataDir`. A host with its own chain and no `dataDir` has no webhooks.
 * @throws PorticoError OPTION_INVALID
 */
export const createWebhooks = (context: NodeContext | ReaderContext, { options, logger, clock, problems, onLog, onAttempt }: WebhooksNeeds) => {
  const { dataDir } = context;
  const { events, chain } = context.reader === true ? { events: noEvents } : context;
  const keepsChain = chain === undefined;
  if (keepsChain && context.reader !== true && options.webhooks !== false && !options.webhooks.deliver) {
    throw new PorticoError("OPTION_INVALID", "options.webhooks.deliver can be false only where the host keeps its own chain: with the store, the process that writes it delivers");
  }
  const delivering = context.reader === true ? { deliver: false } : {};
  const settings = options.webhooks === false || dataDir === undefined ? undefined : { ...options.webhooks, ...delivering, dataDir };
  const writes = createWriteWatch(problems);
  let engine: WebhookEngine | undefined;
  let own: WebhookEnvironment | undefined;
  let authorize: Authorize | undefined;

  const opened = (store: WebhookStore, blocksWritten?: () => Promise<void>): void => {
    if (settings === undefined) return;
    const openJournal = () => openEventJournal(settings.dataDir, { logger, writes });
    engine = createWebhookEngine(settings, { store, openJournal, events, clock, logger, blocksWritten, keepsChain, onAttempt });
    engine.start();
  };

  const requireWebhooks = (): void => {
    if (settings === undefined) throw new PorticoError("NOT_SUPPORTED", "This node has no webhooks.");
  };

  return {
    engine: () => engine,
    /** What webhooks may listen to; none where there are no webhooks. */
    events: settings === undefined ? [] : describeEvents(settings.events, keepsChain),
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
      own = await whenFree(() => openWebhookStore(settings.dataDir, { ...settings, writes }), logger);
      if (own === undefined) return;
      await onLog(createHostLog(own.environment, { writes: settings.deliver }), settings.deliver);
      opened(own.store);
    },
    opened,
    witness: (change: StoreChange) => engine?.witness(change),
    witnessed: () => engine?.witnessed(),
    closing: async () => {
      const [ending, environment] = [engine, own];
      engine = own = undefined;
      await closeAll(() => (environment === undefined ? undefined : onLog(undefined, false)), () => ending?.stop(), () => environment?.close());
    },
  };
};
