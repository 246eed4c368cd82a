import type { MaybePromise } from "../../types/chain-adapter.js";
import type { Logger } from "../../types/node-context.js";
import type { WebhookOptions } from "../../types/webhook-options.js";
import type { EventDescription, Webhooks } from "../../types/webhooks.js";
import { closeAll } from "../async/close-all.js";
import { runSliced } from "../async/time-slicing.js";
import { type FullClock, readingsOf } from "../async/clock.js";
import type { Follow } from "../follow/index.js";
import type { Problems } from "../operate/problems.js";
import { createDeliveries } from "./deliver/deliveries.js";
import { createDispatcher, type Dispatcher } from "./deliver/dispatcher.js";
import { createMessages, type Messages, type NodeKey } from "./send/request.js";
import { createStandstill, type Standstill } from "./failures.js";
import { webhookDefaults } from "../options/options.js";
import { type ChainReader, createChainReader, type ReaderNeeds } from "./read/reader.js";
import { createRecorder, type RecorderNeeds, type Written } from "./read/record.js";
import { createArchive } from "./register/archive.js";
import { createDryRuns, createRecentEvents, type RecentEvents } from "./register/dry-run.js";
import { createRegister, standingOf, type WebhookStanding } from "./register/register.js";
import { createWebhookService } from "./register/service.js";
import { type DeliveryRow, isOpen } from "./rows/rows.js";
import type { WebhookStore } from "./rows/store.js";
import { createHttpSender, type OnOutcome, type Sender } from "./send/http-sender.js";
import { createResolver, createTargetGuard, type Resolve } from "./send/target-guard.js";
import { type After, createTimekeeper, createTimeReader, systemAfter, type Timekeeper } from "./timekeeper.js";
import { describeEvents } from "../follow/event-catalogue.js";
import type { ReaderPositions } from "./read/positions.js";
import { isLongOver } from "./deliver/outcome.js";

interface UpkeepOptions {
  deliveredRetention: number;
  deadRetention: number;
}

interface UpkeepNeeds {
  store: WebhookStore;
  recent: RecentEvents;
  clock: FullClock;
  time: Timekeeper;
  after: After;
  standstill: Standstill;
  /** Where webhooks are that have moved without a match. */
  positions: Pick<ReaderPositions, "keep" | "hasMoved">;
}

/** Milliseconds between two rounds: with nothing left to remove, and with more of it. */
const interval = { idle: 1_000, busy: 20 };
/** Deliveries removed in one round: a few milliseconds of writing. */
const batchSize = 500;
/** Positions written in one transaction: with each block, all webhooks move. */
const keptTogether = 500;

const what = { trim: "old deliveries cannot be removed", write: "how far they are cannot be written" } as const;

/** Work in the background: removes what is past its retention, writes recent payloads, and keeps the time. Returns what ends it. */
const startUpkeep = (
  { deliveredRetention, deadRetention }: UpkeepOptions,
  { store, recent, clock, time, after, standstill, positions }: UpkeepNeeds,
): (() => Promise<void>) => {
  const trim = (): number => {
    try {
      const passed = time.passed();
      const count = store.trim({ delivered: passed - deliveredRetention, dead: passed - deadRetention }, batchSize);
      standstill.succeeded(what.trim);
      return count;
    } catch (error) {
      standstill.failed(what.trim, error);
      return 0;
    }
  };

  const write = (most: number): boolean => {
    recent.flush();
    const now = readingsOf(clock);
    store.dropPauses((pause) => isLongOver(pause, now));
    time.keep();
    return positions.keep(most);
  };

  const keepRest = async (isMore: boolean): Promise<void> => {
    for (let more = isMore; more; more = await store.transactionSoon(() => positions.keep(keptTogether)));
  };

  let writing: Promise<void> | undefined;
  /** Whether the last writing failed: tried again with each round, so that the store is known to be writable again as soon as it is. */
  let isOwed = false;
  const writeSoon = (): void => {
    // Soon, not at once: that would make the whole process wait for the block that is being committed.
    if (!isOwed && !recent.hasNoted() && !positions.hasMoved() && !time.isStale()) return;
    isOwed = true;
    writing = store.transactionSoon(() => write(keptTogether)).then(keepRest).then(() => {
      isOwed = false;
      standstill.succeeded(what.write);
    }, (error: unknown) => standstill.failed(what.write, error));
  };
  const round = (): void => {
    writeSoon();
    cancel = after(trim() < batchSize ? interval.idle : interval.busy, round);
  };
  writeSoon();
  let cancel = after(interval.idle, round);
  return async () => {
    cancel();
    await writing;
    try {
      store.transaction(() => write(Infinity));
    } catch {
      // Lost, as recent payloads may be, and the last of the time.
    }
  };
};

const own: EventDescription[] = [
  { event: "webhook.disabled", description: "A webhook was disabled: its target answered 410, or every attempt failed for too long.", example: { webhook: 1, reason: "the target answered 410" } },
  { event: "webhook.failing", description: "A webhook whose every attempt fails will be disabled in a day.", example: { webhook: 1, reason: "every attempt fails; it will be disabled in a day" } },
  { event: "webhook.enabled", description: "A webhook was enabled again.", example: { webhook: 1, reason: "a client enabled it" } },
  {
    event: "delivery.dead",
    description: "A delivery was given up.",
    example: { webhook: 1, delivery: 12, event: "block.applied", reason: "The target answered 500." },
  },
].map((one) => ({ ...one, source: "webhooks", confirmations: false }));

/** The events that a webhook of this node can listen to: those that can be followed, and those about webhooks themselves. */
export const describeWebhookEvents = (declared: readonly string[], keepsChain: boolean): EventDescription[] => [...describeEvents(declared, keepsChain), ...own];

export interface WebhookEngineNeeds {
  /** Is told of every attempt that has ended, and of every delivery that is given up. */
  onOutcome?: OnOutcome | undefined;
  /** What sends requests. Default: HTTP. */
  sender?: Sender | undefined;
  /** Most attempts under way in all, of those that have not taken long. Default: 256. */
  concurrency?: number;
  store: WebhookStore;
  follow: Follow;
  clock: FullClock;
  logger: Logger;
  /** What is wrong with the node, which health says. */
  problems: Pick<Problems, "define">;
  /** Whether following goes by the blocks of the chain; false where the host's events are all there is. */
  keepsChain: boolean;
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
/** Bytes of an answer that are read. */
const responseLimit = 16_384;
/** By how much each wait for a retry varies at random: ±20 %. */
const jitter = 0.2;

/** Whether an attempt of a row may have been made by the process before, if that was killed. */
const leftBehind = (store: WebhookStore): ((row: DeliveryRow) => boolean) => {
  const last = store.wasKilled() ? store.lastDelivery() : 0;
  return (row) => row.id <= last && row.attemptCount === 0 && isOpen(row);
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

type ReadingNeeds = Omit<RecorderNeeds, "attempts" | "onWritten"> & Omit<ReaderNeeds, "recorder"> & { messages: Messages; dispatcher: Dispatcher };

/** What reads the chain for the webhooks: what it has written is handed to the dispatcher. */
const createReading = ({ messages, dispatcher, ...needs }: ReadingNeeds): ChainReader => {
  const onWritten = (written: readonly Written[], changed: ReadonlySet<number>): void => {
    if (changed.size > 0) dispatcher.wake(changed);
    for (const { messageId, message } of written) messages.note(messageId, message);
    dispatcher.add(written.flatMap(({ rows }) => rows));
  };
  return createChainReader({ ...needs, recorder: createRecorder({ ...needs, onWritten, attempts: dispatcher }) });
};

/** Opens nothing and reads nothing before `start`. An engine is started once. @throws PorticoError OPTION_INVALID */
export const createWebhookEngine = (given: WebhookOptions, needs: WebhookEngineNeeds): WebhookEngine => {
  const options = { ...webhookDefaults, ...given };
  const { store, follow, clock, logger, problems, keepsChain, nodeKey, onOutcome, concurrency = 256, random = Math.random, after = systemAfter, resolve = createResolver() } = needs;
  const { window } = options;
  const guard = createTargetGuard(options.allowTargets);
  const descriptions = describeWebhookEvents(options.events, keepsChain);
  const names = descriptions.map(({ event }) => event);
  const time = options.deliver ? createTimekeeper(store, clock) : createTimeReader(store, clock);
  const register = createRegister(store);
  const standstill = createStandstill(problems);
  const recent = createRecentEvents(store);
  const sender = needs.sender ?? createHttpSender({ ...options, responseLimit }, { guard, resolve });
  const messages = createMessages(store);
  const dryRuns = createDryRuns({ recent, events: names });
  const withdrawn = new Set<number>();

  const dispatcher = createDispatcher(
    { ...options, jitter },
    {
      store,
      register,
      messages,
      sender,
      concurrency,
      clock,
      time,
      after,
      random,
      logger,
      nodeKey,
      onOutcome,
      isWithdrawn: (id) => withdrawn.has(id),
      isLeftBehind: leftBehind(store),
      onSettled: (webhookIds, changed) => {
        for (const id of changed) reader.reload(id);
        if (webhookIds.size > 0) reader.hasRoom();
      },
    },
  );

  const reader = createReading({ store, follow, register, time, withdrawn, onOutcome, recent, after, logger, standstill, keepsChain, window, messages, dispatcher });

  const refreshSoon = onceInTurn(dispatcher.refresh);
  const onChange = (id: number): void => {
    // What was read of it may be gone. The webhook itself may be large: it is read again in another turn than that which wrote it.
    dispatcher.wake([id]);
    reader.reload(id);
    refreshSoon();
  };
  const service = createWebhookService({
    store,
    follow,
    register,
    clock,
    time,
    keepsChain,
    nodeKey,
    onChange,
    rules: { guard, events: names },
    maxWebhooks: options.maxWebhooks,
    keepPosition: reader.positions.keepOne,
    attempts: dispatcher,
  });

  const life = createLife({
    begin: () => {
      if (!options.deliver) return undefined;
      store.transaction(() => store.noteRunning(true));
      dispatcher.start();
      reader.start();
      // Last: where a host's chain cannot be watched, nothing would end it.
      return startUpkeep(options, { store, recent, clock, time, after, standstill, positions: reader.positions });
    },
    end: (endUpkeep, grace) =>
      closeAll(dispatcher.rest, reader.stop, dryRuns.close, () => endUpkeep?.(), () => dispatcher.stop(grace), () => (endUpkeep === undefined ? undefined : store.transaction(() => store.noteRunning(false)))),
  });

  return {
    ...service,
    ...createDeliveries({ store, clock, time, onWork: dispatcher.wake }),
    ...createArchive({ store, register, attempts: dispatcher, keepPosition: reader.positions.keepOne, onChange }),
    dryRun: dryRuns.dryRun,
    events: () => descriptions,
    settled: reader.settled,
    // Where there is the log of the host's events alone, nothing is behind in blocks.
    standing: (tip) => runSliced(standingOf({ register, store }, keepsChain ? tip : 0), "cooperative"),
    ...life,
  };
};
