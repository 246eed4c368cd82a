import type { MaybePromise } from "../../types/chain-adapter.js";
import type { Logger } from "../../types/node-context.js";
import type { DeliveryRow, HeardEvent, WebhookStore } from "../../types/webhook-store.js";
import type { Webhooks } from "../../types/webhooks.js";
import type { WebhookOptions } from "../../types/webhook-options.js";
import { closeAll } from "../async/close-all.js";
import { runSliced } from "../async/time-slicing.js";
import type { FullClock } from "../clock.js";
import type { Follow } from "../follow/index.js";
import type { Problems } from "../problems.js";
import { createPatternWorker } from "./conditions/pattern.js";
import { createDeliveries } from "./deliver/deliveries.js";
import { createDispatcher, type Dispatcher } from "./deliver/dispatcher.js";
import { createPayloads, type Payloads } from "./deliver/payloads.js";
import { keyOf } from "./deliver/request.js";
import { startUpkeep } from "./deliver/retention.js";
import { createStandstill } from "./log-failure.js";
import { describeWebhookEvents, webhookDefaults } from "./options.js";
import { createDryRuns, createRecentEvents } from "./registry/dry-run.js";
import { createRegister, type Register } from "./registry/register.js";
import { standingOf, type WebhookStanding } from "./registry/standing.js";
import { createWebhookService } from "./registry/webhook-service.js";
import { createHolding } from "./scan/record/holding.js";
import { createRecorder, type RecorderNeeds } from "./scan/record/recorder.js";
import { createScanner, type Scanner, type ScannerNeeds } from "./scan/scanner.js";
import { createHttpSender, type OnOutcome, type Sender } from "./send/http-sender.js";
import type { NodeKey } from "./send/signature.js";
import { createResolver, createTargetGuard, type Resolve } from "./send/target-guard.js";
import { type After, createTimekeeper, createTimeReader, systemAfter } from "./timekeeper.js";

export interface WebhookEngineNeeds {
  /** Is told of every attempt that has ended, and of every delivery that is given up. */
  onOutcome?: OnOutcome | undefined;
  /** What sends requests. Default: HTTP. */
  sender?: Sender | undefined;
  store: WebhookStore;
  follow: Follow;
  clock: FullClock;
  logger: Logger;
  /** What is wrong with the node, which health says. */
  problems: Pick<Problems, "define">;
  /** Whether following goes by the blocks of the chain; false where the host's events are all there is. */
  keepsChain: boolean;
  /** Height of the last block that an earlier version told webhooks of, where that was not the last. */
  toldHeight?: number | undefined;
  /** Signs for webhooks that ask for it. */
  nodeKey?: NodeKey | undefined;
  /** 0..1; default Math.random. */
  random?: () => number;
  /** Default: timers that do not keep the process alive. */
  after?: After;
  /** Default: the system's name servers. */
  resolve?: Resolve;
}

/** The webhooks of one node: what clients do with them, and the engine that reads the chain for them and delivers. */
export interface WebhookEngine extends Webhooks {
  /** Takes what an earlier version left in its journal; before `start`. */
  takeOld(journal: { events: readonly HeardEvent[]; taken(): void }): void;
  /** Begins to read and to deliver. */
  start(): void;
  /** Reads and sends nothing more; gives what is under way `grace` milliseconds (default 2,000) to end; all else waits in the store. */
  stop(grace?: number): Promise<void>;
  /** Resolves when all webhooks have seen what there is, or have as much to deliver as they may. */
  settled(): Promise<void>;
  /** How they stand, looked at in turns of a millisecond. `tip`: its height, as far as is known: the host is not asked, which may not answer. */
  standing(tip: number): Promise<WebhookStanding>;
}

const defaultGrace = 2_000;

/** An event that an earlier version kept in its journal; within a transaction. */
const writeOld = ({ number, at, event, json }: HeardEvent, store: WebhookStore, register: Register): void => {
  const eventId = `${store.instance}.${number}`;
  const { ids } = register.matcher().match(event, JSON.parse(json));
  const recipients = ids.map((webhookId) => ({ webhookId, event, key: keyOf(webhookId, eventId), begin: { state: "pending" as const } }));
  if (recipients.length > 0) store.append({ at, eventId, event, json }, recipients);
  store.setJournalPosition(number);
};

const takeOldInto =
  (store: WebhookStore, register: Register): WebhookEngine["takeOld"] =>
  ({ events, taken }) => {
    if (events.length > 0) store.transaction(() => events.forEach((event) => writeOld(event, store, register)));
    taken();
  };

/** Webhooks of an earlier version go on after what that told them of; within a transaction. */
const placeOld = (toldHeight: number | undefined, store: WebhookStore, register: Register): void => {
  if (toldHeight === undefined) return;
  for (const id of register.ids()) {
    const { from, cursor, ...progress } = store.progress(id);
    if (cursor !== undefined) continue;
    const below = typeof from === "object" ? from.below : 0;
    store.putProgress(id, { ...progress, from: from === "tip" || typeof from === "object" ? String(Math.max(0, toldHeight - below)) : from });
  }
};

/** What a process left behind that was killed may have been under way: its last deliveries are taken for attempted. */
const attemptedBefore = (store: WebhookStore, isUnderWay: (row: DeliveryRow) => boolean) => {
  const lastBefore = store.wasKilled() ? store.lastDelivery() : 0;
  return (row: DeliveryRow): boolean => row.attemptCount > 0 || row.id <= lastBefore || isUnderWay(row);
};

type ScanningNeeds = Omit<ScannerNeeds, "recorder" | "patterns"> & Pick<RecorderNeeds, "time" | "withdrawn" | "onOutcome"> & Pick<Payloads, "note">;

/** What reads the chain for the webhooks. */
const createScanning = ({ time, withdrawn, note, onOutcome, ...needs }: ScanningNeeds, { isUnderWay, overtake, handOver, wake }: Pick<Dispatcher, "isUnderWay" | "overtake" | "handOver" | "wake">): Scanner => {
  const { store, register, window, keepsChain } = needs;
  const confirmationsOf = (id: number): number => (keepsChain ? 0 : Number(register.find(id)?.confirmations) || 0);
  const holding = createHolding({ store, time, confirmationsOf });
  const onWritten: RecorderNeeds["onWritten"] = (written) => {
    for (const { messageId, message, event } of written) note(messageId, message, event);
    handOver(written.flatMap(({ rows }) => rows));
  };
  const recorder = createRecorder({ store, register, time, window, withdrawn, onWritten, onChanged: wake, onOutcome, holding, mayBeAttempted: attemptedBefore(store, isUnderWay), isUnderWay, overtake });
  return createScanner({ ...needs, recorder, patterns: createPatternWorker() });
};

/** Does work in a later turn, once for all who ask for it until then: a look is at all webhooks, of which thousands may be made in one turn. */
const onceInTurn = (work: () => void): (() => void) => {
  let soon: NodeJS.Immediate | undefined;
  return () => {
    soon ??= setImmediate(() => {
      soon = undefined;
      work();
    });
  };
};

type EndUpkeep = () => MaybePromise<void>;

/** Starting and stopping, each once. */
const createLife = ({ begin, end }: { begin(): EndUpkeep | undefined; end(endUpkeep: EndUpkeep | undefined, grace: number): Promise<void> }) => {
  let endUpkeep: EndUpkeep | undefined;
  let stopping: Promise<void> | undefined;
  return {
    start: (): void => {
      endUpkeep ??= begin();
    },
    stop: (grace = defaultGrace): Promise<void> => (stopping ??= end(endUpkeep, grace)),
  };
};

/** Opens nothing and reads nothing before `start`. An engine is started once. @throws PorticoError OPTION_INVALID */
export const createWebhookEngine = (given: WebhookOptions, needs: WebhookEngineNeeds): WebhookEngine => {
  const options = { ...webhookDefaults, ...given };
  const { store, follow, clock, logger, problems, keepsChain, toldHeight, nodeKey, onOutcome, random = Math.random, after = systemAfter, resolve = createResolver() } = needs;
  const guard = createTargetGuard(options.allowTargets);
  const descriptions = describeWebhookEvents(options.events, keepsChain);
  const names = descriptions.map(({ event }) => event);
  const time = options.deliver ? createTimekeeper(store, clock) : createTimeReader(store, clock);
  const register = createRegister(store);
  const standstill = createStandstill(problems);
  const recent = createRecentEvents(store, options.recentEvents);
  const sender = needs.sender ?? createHttpSender(options, { guard, resolve });
  const payloads = createPayloads(follow, store);
  const withdrawn = new Set<number>();
  const dryRuns = createDryRuns({ recent, events: names });
  const dispatcher = createDispatcher(options, {
    ...{ store, register, payloads, sender, clock, time, after, random, logger, nodeKey, onOutcome },
    isWithdrawn: (id) => withdrawn.has(id),
    onSettled: (webhookIds, changed) => {
      for (const id of changed) scanner.reload(id);
      if (webhookIds.size > 0) scanner.hasRoom();
    },
  });

  const scanner = createScanning({ store, follow, register, time, recent, after, logger, standstill, keepsChain, window: options.window, withdrawn, note: payloads.note, onOutcome }, dispatcher);

  const refreshSoon = onceInTurn(dispatcher.refresh);
  const service = createWebhookService({
    ...{ store, follow, register, clock, time, keepsChain, nodeKey },
    rules: { guard, events: names },
    ...{ maxWebhooks: options.maxWebhooks, rotationOverlap: options.rotationOverlap },
    ...{ keepPlace: scanner.keepPlace, isUnderWay: dispatcher.isUnderWay },
    onChange: (id) => {
      // What was read ahead of it may be gone. The webhook itself may be large: it is read again in another turn than that which wrote it.
      dispatcher.wake([id]);
      scanner.reload(id);
      refreshSoon();
    },
  });

  const life = createLife({
    begin: () => {
      if (!options.deliver) return undefined;
      store.transaction(() => {
        placeOld(toldHeight, store, register);
        store.noteRunning(true);
      });
      dispatcher.start();
      scanner.start();
      // Last: where a host's chain cannot be watched, nothing would end it.
      return startUpkeep(options, { store, recent, clock, time, after, standstill, keepPlaces: scanner.keepPlaces, hasMoved: scanner.hasMoved });
    },
    end: (endUpkeep, grace) =>
      closeAll(dispatcher.rest, scanner.stop, dryRuns.close, () => endUpkeep?.(), () => dispatcher.stop(grace), () => (endUpkeep === undefined ? undefined : store.transaction(() => store.noteRunning(false)))),
  });

  return {
    ...service,
    ...createDeliveries({ store, clock, time, payloads, onWork: dispatcher.wake }),
    dryRun: dryRuns.dryRun,
    events: () => descriptions,
    takeOld: takeOldInto(store, register),
    settled: scanner.settled,
    // Where there is the log of the host's events alone, nothing is behind in blocks.
    standing: (tip) => runSliced(standingOf({ register, store }, keepsChain ? tip : 0), "cooperative"),
    ...life,
  };
};
