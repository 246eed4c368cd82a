import { setImmediate as nextTurn, setTimeout as delay } from "node:timers/promises";
import { EventEmitter } from "eventemitter3";
import type { ChainChanges } from "../../types/chain-adapter.js";
import type { HostEvents } from "../../types/events.js";
import type { Logger } from "../../types/node-context.js";
import type { HostLog } from "../../types/host-log.js";
import type { WebhookStore } from "../../src/webhooks/rows/store.js";
import type { Delivery, DeliveryState } from "../../types/webhooks.js";
import type { WebhookOptions } from "../../types/webhook-options.js";
import type { Follow } from "../../src/follow/index.js";
import { createFollow } from "../../src/follow/create-follow.js";
import { derivedEvents } from "../../src/follow/derive.js";
import { type HostFeed, startHostFeed } from "../../src/follow/host-feed.js";
import { describeEvents } from "../../src/follow/event-catalogue.js";
import { andThen } from "../../src/async/maybe-promise.js";
import { createHostLog } from "../../src/store/follow/host-log.js";
import { openEventJournal } from "../../src/store/follow/event-journal.js";
import { createChainRules } from "../../src/chain/rules.js";
import { loadChain } from "../data/read.js";
import { openWebhookStore, type WebhookEnvironment } from "../../src/webhooks/rows/store.js";
import { createProblems } from "../../src/operate/problems.js";
import { createWebhookEngine, type WebhookEngine, type WebhookEngineNeeds } from "../../src/webhooks/engine.js";
import { atEndOfTest } from "../at-end.js";
import { temporaryFolder } from "../fixtures/folder.js";
import { createManualClock, type ManualClock } from "./manual-clock.js";

export interface Emitter extends HostEvents {
  emit(event: string, payload?: unknown): unknown;
}

/** An engine on a real store in a temporary folder, with a manual clock. It ends with its test. */
export interface Stage {
  readonly events: EventEmitter;
  readonly clock: ManualClock;
  readonly lines: string[];
  readonly engine: WebhookEngine;
  readonly environment: WebhookEnvironment;
  readonly dataDir: string;
  readonly follow: Follow;
  /** Resolves when the delivery is in the given state. */
  reaches(webhookId: number, deliveryId: number, state: DeliveryState): Promise<Delivery>;
  /** Resolves when `count` attempts of the delivery are recorded. */
  attempted(webhookId: number, deliveryId: number, count: number): Promise<Delivery>;
  /** Resolves when `count` deliveries of the webhook are in the given state. */
  count(webhookId: number, state: DeliveryState, count: number): Promise<void>;
  /** Stops the engine, does `meanwhile`, and opens another engine on the same store. */
  restart(options?: WebhookOptions, meanwhile?: () => Promise<void>): Promise<void>;
  close(): Promise<void>;
}

export interface StageNeeds extends Partial<Pick<WebhookEngineNeeds, "resolve" | "logger" | "nodeKey" | "onOutcome" | "sender" | "concurrency">> {
  /** The host's. Default: one of eventemitter3. */
  events?: Emitter;
  /** The chain to follow; without it, there is what the host emits. */
  changes?: ChainChanges;
  /** Wraps the engine's store. */
  wrapStore?: (store: WebhookStore) => WebhookStore;
}

const rules = createChainRules(loadChain("core3-testnet-a").network);

export const createLogger = (lines: string[]): Logger => {
  const to = (level: string) => (message: string) => void lines.push(`${level} ${message}`);
  return { debug: to("debug"), info: to("info"), warn: to("warn"), error: to("error") };
};

/** Most of what it waits for comes within a few turns; only then are there pauses, in which the processor is free for what is waited for. */
const turnsWithoutPause = 20;

/** Looks again until there is something: it comes from a real socket or another thread, and the test's own timeout ends the wait. */
export const eventually = async <T>(look: () => T | undefined): Promise<T> => {
  for (let turn = 0; ; turn++) {
    const found = look();
    if (found !== undefined) return found;
    await (turn < turnsWithoutPause ? nextTurn() : delay(1));
  }
};

export const localTargets = ["127.0.0.0/8", "::1"];

const openStage = (options: WebhookOptions, { wrapStore = (store) => store, events = new EventEmitter(), changes, ...needs }: StageNeeds): Stage => {
  const dataDir = temporaryFolder();
  const lines: string[] = [];
  const clock = createManualClock();
  const problems = createProblems(createLogger(lines));
  let follow: Follow;
  let feed: HostFeed;
  const followHost = (log: HostLog, declared: string[]): Follow => {
    const room = createFollow({ changes, log: () => log, rules, finality: undefined });
    feed = startHostFeed({
      ...{ events, rules, log, clock, problems, logger: createLogger(lines), logged: room.logged },
      names: describeEvents(declared, changes !== undefined).map(({ event }) => event).filter((name) => changes === undefined || !derivedEvents.includes(name)),
      journal: openEventJournal(dataDir),
      blocksWritten: () => Promise.resolve(),
      tip: () => changes && andThen(changes.view(), (view) => view?.tip),
    });
    follow = room;
    return room;
  };
  const create = (environment: WebhookEnvironment, changed: WebhookOptions): WebhookEngine => {
    const engine = createWebhookEngine(
      { allowTargets: localTargets, ...options, ...changed },
      { store: wrapStore(environment.store), follow: followHost(createHostLog(environment.environment, { writes: true }), changed.events ?? options.events ?? []), clock, after: clock.after, logger: createLogger(lines), problems, keepsChain: changes !== undefined, random: () => 0.5, ...needs },
    );
    engine.start();
    const own = feed;
    return {
      ...engine,
      settled: async () => {
        await own.settled();
        await engine.settled();
      },
      stop: async (grace) => {
        await own.end();
        await engine.stop(grace);
      },
    };
  };
  let environment = openWebhookStore(dataDir);
  let engine = create(environment, {});
  const found = (webhookId: number, deliveryId: number, is: (delivery: Delivery) => boolean): Delivery | undefined => {
    const exists = environment.store.delivery(webhookId, deliveryId) !== undefined;
    const delivery = exists ? engine.delivery(webhookId, deliveryId) : undefined;
    return delivery !== undefined && is(delivery) ? delivery : undefined;
  };
  let closing: Promise<void> | undefined;
  const end = async (): Promise<void> => {
    await engine.stop(0);
    await environment.close();
  };
  const close = (): Promise<void> => (closing ??= end());
  atEndOfTest(close);
  return {
    events: events as EventEmitter,
    clock,
    lines,
    dataDir,
    get engine() {
      return engine;
    },
    get follow() {
      return follow;
    },
    get environment() {
      return environment;
    },
    reaches: (webhookId, deliveryId, state) => eventually(() => found(webhookId, deliveryId, (delivery) => delivery.state === state)),
    attempted: (webhookId, deliveryId, count) => eventually(() => found(webhookId, deliveryId, (delivery) => delivery.attemptCount >= count)),
    count: async (webhookId, state, count) => {
      await eventually(() => (engine.deliveries(webhookId, state, { offset: 0, limit: 1 }).total >= count ? true : undefined));
    },
    restart: async (changed = {}, meanwhile = () => Promise.resolve()) => {
      await engine.stop(0);
      await environment.close();
      await meanwhile();
      environment = openWebhookStore(dataDir);
      engine = create(environment, changed);
    },
    close,
  };
};

export const createStage = (options: WebhookOptions = {}, needs: StageNeeds = {}): Promise<Stage> => Promise.resolve(openStage(options, needs));
