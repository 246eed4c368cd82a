import type { MaybePromise } from "../../types/chain-adapter.js";
import type { Logger } from "../../types/node-context.js";
import type { WebhookOptions } from "../../types/webhook-options.js";
import type { EventDescription, Webhooks } from "../../types/webhooks.js";
import { closeAll } from "../async/close-all.js";
import { runSliced } from "../async/time-slicing.js";
import { type After, type FullClock, readingsOf, systemAfter } from "../async/clock.js";
import type { Follow } from "../follow/index.js";
import type { Problems } from "../operate/problems.js";
import { createDispatcher, type Dispatcher } from "./deliver/dispatcher.js";
import { createMessages, type Messages, type NodeKey } from "./send/request.js";
import { createStandstill, type Standstill } from "./failures.js";
import { webhookDefaults } from "../options/options.js";
import { type ChainReader, createChainReader, type ReaderNeeds } from "./read/reader.js";
import { attemptsElsewhere, keepSent } from "./read/ledger.js";
import { createRecorder, type RecorderNeeds, type NewDeliveries } from "./read/write-deliveries.js";
import { createArchive } from "./register/archive.js";
import { createDryRuns, createRecentEvents, type RecentEvents } from "./register/dry-run.js";
import { createDeliveries } from "./register/delivery-service.js";
import { createRegister, standingOf, type WebhookStanding } from "./register/register.js";
import { createWebhookService } from "./register/service.js";
import { type DeliveryRow, isOpen, openStates } from "./rows/rows.js";
import type { WebhookStore } from "./rows/store.js";
import { createHttpSender, type Sender } from "./send/http-sender.js";
import { createResolver, createTargetGuard, type Resolve } from "./send/target-guard.js";
import { createTimekeeper, createTimeReader, type Timekeeper } from "./timekeeper.js";
import { describeEvents } from "../follow/event-catalogue.js";
import type { ReaderPositions } from "./read/positions.js";
import { isLongOver, type OnOutcome } from "./deliver/outcome.js";

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

const what = { trim: "old deliveries cannot be removed", write: "positions of webhooks cannot be written" } as const;

/** Work in the background: removes what is past its retention, writes recent payloads, and keeps the time. Returns what ends it. */
const startUpkeep = (
  { deliveredRetention, deadRetention }: UpkeepOptions,
  { store, recent, clock, time, after, standstill, positions }: UpkeepNeeds,
): (() => Promise<void>) => {
  const trim = (): number => {
    try {
      const passed = time.passed();
      const before = { delivered: passed - deliveredRetention, dead: passed - deadRetention };
      const count = store.trim(before, batchSize, (row) => keepSent(store, row));
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

const ownEvents: EventDescription[] = [
  {
    event: "webhook.disabled",
    description: "A webhook was disabled: its target answered 410, or every attempt failed for too long.",
    example: { webhook: 1, reason: "the target answered 410" },
  },
  {
    event: "webhook.failing",
    description: "A webhook whose every attempt fails will be disabled in a day.",
    example: { webhook: 1, reason: "every attempt fails; it will be disabled in a day" },
  },
  { event: "webhook.enabled", description: "A webhook was enabled again.", example: { webhook: 1, reason: "a client enabled it" } },
  {
    event: "delivery.dead",
    description: "A delivery was given up.",
    example: { webhook: 1, delivery: 12, event: "block.applied", reason: "The target answered 500." },
  },
].map((one) => ({ ...one, source: "webhooks", confirmations: false }));

/** The events that a webhook of this node can listen to: those that can be followed, and those about webhooks themselves. */
export const describeWebhookEvents = (declared: readonly string[], keepsChain: boolean): EventDescription[] => [
  ...describeEvents(declared, keepsChain),
  ...ownEvents,
];

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
  /** Stops reading and sending. Attempts under way have `grace` milliseconds (default 2,000); the other deliveries stay in the store. */
  stop(grace?: number): Promise<void>;
  /** Resolves when every webhook has read up to the tip, or has a full window of deliveries. */
  settled(): Promise<void>;
  /** Counts for metrics and health. `tip`: the last known height, as the host may not answer. */
  standing(tip: number): Promise<WebhookStanding>;
}

const defaultGrace = 2_000;
/** Bytes of an answer that are read. */
const responseLimit = 16_384;
/** By how much each wait for a retry varies at random: ±20 %. */
const jitter = 0.2;

/** What the last process may have sent without recording it, if that was killed, or stopped before attempts had ended. */
const createLeftBehind = (store: WebhookStore) => {
  const last = store.wasKilled() ? store.lastDelivery() : 0;
  return {
    has: (row: DeliveryRow): boolean => row.id <= last && row.attemptCount === 0 && isOpen(row),
    /** Whether some of it may still be open. */
    remains: (): boolean => {
      const isOpenIn = (id: number) => (state: DeliveryRow["state"]) => (store.deliveryIds(id, state, 0, 1)[0] ?? Infinity) <= last;
      return last > 0 && [...store.webhookIds()].some((id) => openStates.some(isOpenIn(id)));
    },
  };
};

/** Coalesces calls: `work` runs once, in the next turn of the event loop, however often it was asked for in this one. */
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

interface LifeNeeds {
  store: WebhookStore;
  deliver: boolean;
  begin(): EndUpkeep;
  end(endUpkeep: EndUpkeep, grace: number): Promise<void>;
  /** Once it has ended: whether the outcome of every attempt is recorded, of earlier processes too. */
  isAllRecorded(): boolean;
}

/** Starting and stopping, each once. The store has a mark while an engine runs, and where one has left attempts without their outcomes. */
const createLife = ({ store, deliver, begin, end, isAllRecorded }: LifeNeeds) => {
  let endUpkeep: EndUpkeep | undefined;
  let stopping: Promise<void> | undefined;
  const noteRunning = (isRunning: boolean): void => store.transaction(() => store.noteRunning(isRunning));
  return {
    start: (): void => {
      if (!deliver || endUpkeep !== undefined) return;
      noteRunning(true);
      endUpkeep = begin();
    },
    stop: (grace = defaultGrace): Promise<void> => {
      const ending = endUpkeep;
      return (stopping ??= closeAll(() => end(async () => ending?.(), grace), () => ending && noteRunning(!isAllRecorded())));
    },
  };
};

interface EngineReaderNeeds extends Omit<RecorderNeeds, "attempts" | "onWritten">, Omit<ReaderNeeds, "recorder"> {
  messages: Messages;
  dispatcher: Dispatcher;
}

/** The reader, which hands the deliveries that it has committed to the dispatcher. */
const createReader = ({ messages, dispatcher, ...needs }: EngineReaderNeeds): ChainReader => {
  const onWritten = (written: readonly NewDeliveries[], changed: ReadonlySet<number>): void => {
    if (changed.size > 0) dispatcher.wake(changed);
    for (const { messageId, message } of written) messages.note(messageId, message);
    dispatcher.add(written.flatMap(({ rows }) => rows));
  };
  return createChainReader({ ...needs, recorder: createRecorder({ ...needs, onWritten, attempts: dispatcher }) });
};

/** After a client's change, dispatcher and reader read the webhook again, in a later turn: it may have a list of 100,000 addresses. */
const createOnChange = (dispatcher: Dispatcher, reader: ChainReader) => {
  const refreshSoon = onceInTurn(dispatcher.refresh);
  return (id: number): void => {
    dispatcher.wake([id]);
    reader.reload(id);
    refreshSoon();
  };
};

/** Sends and writes nothing before `start`. An engine is started once. @throws PorticoError OPTION_INVALID */
export const createWebhookEngine = (given: WebhookOptions, needs: WebhookEngineNeeds): WebhookEngine => {
  const options = { ...webhookDefaults, ...given };
  const { store, clock, problems, keepsChain } = needs;
  const { concurrency = 256, random = Math.random, after = systemAfter, resolve = createResolver() } = needs;
  const guard = createTargetGuard(options.allowTargets);
  const descriptions = describeWebhookEvents(options.events, keepsChain);
  const names = descriptions.map(({ event }) => event);
  const time = options.deliver ? createTimekeeper(store, clock) : createTimeReader(store, clock);
  const register = createRegister(store);
  const parts = { ...needs, nodeKey: needs.nodeKey, register, time, after };
  const standstill = createStandstill(problems);
  const recent = createRecentEvents(store);
  const sender = needs.sender ?? createHttpSender({ ...options, responseLimit }, { guard, resolve });
  const messages = createMessages(store);
  const dryRuns = createDryRuns({ recent, events: names });
  const leftBehind = createLeftBehind(store);

  const dispatcher = createDispatcher({ ...options, jitter }, {
    ...parts,
    messages, sender, concurrency, random,
    isLeftBehind: leftBehind.has,
    onSettled: (webhookIds, changed) => {
      for (const id of changed) reader.reload(id);
      if (webhookIds.size > 0) reader.hasRoom();
    },
  });
  const reader = createReader({ ...parts, window: options.window, recent, standstill, messages, dispatcher });

  const onChange = createOnChange(dispatcher, reader);
  const attempts = options.deliver ? dispatcher : attemptsElsewhere;
  const service = createWebhookService({
    ...parts,
    onChange, attempts, rules: { guard, events: names },
    maxWebhooks: options.maxWebhooks,
    keepPosition: reader.positions.keepOne,
  });

  const life = createLife({
    store,
    deliver: options.deliver,
    begin: () => {
      dispatcher.start();
      reader.start();
      // Last: where a host's chain cannot be watched, nothing would end it.
      return startUpkeep(options, { ...parts, recent, standstill, positions: reader.positions });
    },
    end: (endUpkeep, grace) => closeAll(dispatcher.rest, reader.stop, dryRuns.close, endUpkeep, () => dispatcher.stop(grace)),
    isAllRecorded: () => !dispatcher.hasUnrecorded() && !leftBehind.remains(),
  });

  return {
    ...service,
    ...createDeliveries({ ...parts, onWork: dispatcher.wake }),
    ...createArchive({ store, register, attempts, keepPosition: reader.positions.keepOne, onChange }),
    dryRun: dryRuns.dryRun,
    events: () => descriptions,
    settled: reader.settled,
    // Where there is the log of the host's events alone, nothing is behind in blocks.
    standing: (tip) => runSliced(standingOf({ register, store }, keepsChain ? tip : 0), "cooperative"),
    ...life,
  };
};
