import type { MaybePromise } from "../../types/chain-adapter.js";
import type { HostEvents } from "../../types/events.js";
import type { Logger } from "../../types/node-context.js";
import type { EventJournal, WebhookStore } from "../../types/webhook-store.js";
import type { WebhookOptions, Webhooks } from "../../types/webhooks.js";
import type { FullClock } from "../clock.js";
import { closeAll } from "../async/close-all.js";
import { logFailure } from "./log-failure.js";
import { type ChainChange, createChainRecorder } from "./scan/chain-recorder.js";
import { createCatalogue } from "./registry/webhook-service.js";
import { webhookDefaults } from "./options.js";
import { dryRun } from "./registry/dry-run.js";
import { observedSender, type OnAttempt } from "./send/observed-sender.js";
import { createHttpSender } from "./send/http-sender.js";
import { type HostRecorder, createHostRecorder, listenToHost } from "./scan/host-recorder.js";
import { canonicalEvent, chainEvents, describeEvents } from "../follow/known-events.js";
import { createDeliveries } from "./deliver/deliveries.js";
import { createRecentEvents } from "./scan/recent-events.js";
import { createRecorder } from "./scan/recorder.js";
import { createRegister } from "./registry/register.js";
import { createResolver, type Resolve } from "./send/resolve.js";
import { createTargetGuard } from "./send/target-guard.js";
import { createTimekeeper, createTimeReader } from "./timekeeper.js";
import { type After, systemAfter } from "./timers.js";
import { startUpkeep } from "./deliver/retention.js";
import { createWorker } from "./deliver/worker.js";

export interface WebhookEngineNeeds {
  /** Is told of every attempt that has ended, and how long it took in milliseconds. */
  onAttempt?: OnAttempt | undefined;
  store: WebhookStore;
  /** Called by `start` in the process that delivers; `stop` closes what it opened. */
  openJournal(): EventJournal;
  /** The host's emitter. */
  events: HostEvents;
  clock: FullClock;
  logger: Logger;
  /** Resolves when the blocks that the host has emitted so far are in the chain. Not given: they are at once. */
  blocksWritten?: (() => Promise<void>) | undefined;
  /** Whether changes of the chain come by `witness`; false where the host's events are all there is. */
  keepsChain: boolean;
  /** 0..1; default Math.random. */
  random?: () => number;
  /** Default: timers that do not keep the process alive. */
  after?: After;
  /** Default: the system's name servers. */
  resolve?: Resolve;
}

/** The webhooks of one node: what clients do with them, and the engine that records and delivers. */
export interface WebhookEngine extends Webhooks {
  /** Listens to the host and begins to deliver. */
  start(): void;
  /** Records nothing more; gives what is under way `grace` milliseconds (default 2,000) to end; all else waits in the store. */
  stop(grace?: number): Promise<void>;
  /** Records a block that was applied or reverted; called once for each, within a write transaction. */
  witness(change: ChainChange): void;
  /** Called after that transaction's commit: sends what was recorded. */
  witnessed(): void;
  /** Resolves when everything that the host has emitted so far is in the store. */
  settled(): Promise<void>;
}

const defaultGrace = 2_000;

/** Opens nothing and listens to nothing before `start`. An engine is started once. @throws PorticoError OPTION_INVALID */
export const createWebhookEngine = (given: WebhookOptions, needs: WebhookEngineNeeds): WebhookEngine => {
  const options = { ...webhookDefaults, ...given };
  const { store, openJournal, events, clock, logger, keepsChain, blocksWritten, random = Math.random, after = systemAfter, resolve = createResolver() } = needs;
  const guard = createTargetGuard(options.allowTargets);
  const descriptions = describeEvents(options.events, keepsChain);
  const names = descriptions.map(({ event }) => event);

  const time = options.deliver ? createTimekeeper(store, clock) : createTimeReader(store, clock);
  const register = createRegister(store);
  const recent = createRecentEvents(store, options.recentEvents);
  const sender = observedSender(createHttpSender(options, { guard, resolve }), needs.onAttempt);
  const worker = createWorker(options, { store, register, sender, clock, time, after, random, logger });
  const onWork = worker.wake;
  const recorder = createRecorder({ store, register, recent, time, logger, onWork });
  const chainRecorder = createChainRecorder(recorder, { register, clock });
  const rules = { guard, events: names };
  const catalogue = createCatalogue({ store, clock, time, rules, maxWebhooks: options.maxWebhooks, rotationOverlap: options.rotationOverlap, onChange: worker.refresh });

  let hostRecorder: HostRecorder | undefined;
  let leave: (() => MaybePromise<void>)[] = [];
  let stopping: Promise<void> | undefined;

  /** Nothing that fails here reaches the host's emitter. */
  const hear = (name: string, payload: unknown): void => {
    try {
      const event = canonicalEvent(name);
      if (keepsChain && chainEvents.includes(event)) chainRecorder.expect(event, payload);
      else hostRecorder?.hear(event, payload);
    } catch (error) {
      logFailure(logger, `${name} could not be recorded`, error);
    }
  };

  return {
    ...catalogue,
    ...createDeliveries({ store, clock, time, onWork }),
    dryRun: (request) => dryRun(request, recent, names),
    events: () => descriptions,
    witness: (change) => store.transaction(() => chainRecorder.witness(change)),
    witnessed: recorder.committed,
    start: () => {
      if (leave.length > 0 || !options.deliver) return;
      hostRecorder = createHostRecorder({ store, journal: openJournal(), register, recent, recorder, clock, after, logger, blocksWritten });
      leave = [listenToHost(events, names, hear), startUpkeep(options, { store, recent, time, after, logger })];
      worker.start();
    },
    settled: async () => hostRecorder?.settled(),
    stop: (grace = defaultGrace) => {
      stopping ??= closeAll(...leave, () => hostRecorder?.end(), () => worker.stop(grace));
      return stopping;
    },
  };
};
