import type { HostEvents } from "../../../types/events.js";
import type { Clock, Logger } from "../../../types/node-context.js";
import type { EventJournal, HeardEvent, WebhookStore } from "../../../types/webhook-store.js";
import { closeAll } from "../../async/close-all.js";
import { isChange } from "../../follow/known-events.js";
import { payloadJson } from "../../follow/payload.js";
import { logFailure } from "../log-failure.js";
import type { RecentEvents } from "./recent-events.js";
import { nextBlock, type Place, type Recorder } from "./recorder.js";
import type { Register } from "../registry/register.js";
import type { After } from "../timers.js";

export interface HostRecorderNeeds {
  store: WebhookStore;
  journal: EventJournal;
  register: Register;
  recent: RecentEvents;
  recorder: Recorder;
  clock: Clock;
  after: After;
  logger: Logger;
  /** Resolves when the blocks that the host has emitted so far are in the chain. Not given: they are at once. */
  blocksWritten?: (() => Promise<void>) | undefined;
}

/**
 * Records what the host emits: in the journal before the emitter's call returns, in the store soon after. At every moment, each event is
 * in at least one of the two.
 */
export interface HostRecorder {
  /** Takes one event from a listener. */
  hear(event: string, payload: unknown): void;
  /** Resolves when everything heard is in the store, or cannot be. */
  settled(): Promise<void>;
  /** Settles, and closes the journal. */
  end(): Promise<void>;
}

/** Events taken into the store in one transaction. */
const batchSize = 500;
/**
 * Milliseconds that events wait for the blocks that the host emitted before them, at the most: a receiver that is told of a transaction
 * asks for it. A chain that cannot go on must not hold events up.
 */
const patience = 5_000;
/** Milliseconds until a store that failed is tried again. */
const retryDelay = 1_000;

const heightIn = (payload: unknown, name: string): number | undefined => {
  const height = typeof payload === "object" && payload !== null ? (payload as Record<string, unknown>)[name] : undefined;
  return Number.isSafeInteger(height) ? (height as number) : undefined;
};

const placeOf = (event: string, payload: unknown): Place | undefined => {
  if (event === "block.applied") return { subject: "block", height: heightIn(payload, "height") ?? nextBlock };
  if (event === "transaction.applied") return { subject: "transaction", height: heightIn(payload, "blockHeight") ?? nextBlock };
  return undefined;
};

const idIn = (payload: unknown): string | undefined => {
  const id = typeof payload === "object" && payload !== null ? (payload as { id?: unknown }).id : undefined;
  return typeof id === "string" ? id : undefined;
};

export const createHostRecorder = (needs: HostRecorderNeeds): HostRecorder => {
  const { store, journal, register, recent, recorder, clock, after, logger, blocksWritten } = needs;
  // Either may be behind: the store waits for the disk and the journal does not, so a power failure may cost only the journal its end.
  let last = Math.max(journal.kept().at(-1)?.number ?? 0, store.journalPosition());
  let draining: Promise<void> | undefined;
  let cancelRetry: (() => void) | undefined;

  const followHost = (event: string, height: number | undefined): void => {
    if (height === undefined) return;
    if (event === "block.applied") recorder.release(height);
    if (event === "block.reverted") recorder.drop(height);
  };

  const recordHeard = ({ event, at, json }: HeardEvent): void => {
    if (!isChange(event)) {
      recorder.record({ event, at, json: () => json });
      return;
    }
    const payload: unknown = JSON.parse(json);
    followHost(event, heightIn(payload, "height"));
    recorder.record({ event, at, json: () => json, place: placeOf(event, payload), id: idIn(payload) });
  };

  /** Whether deliveries depend on an event: they may wait for confirmations, or be superseded by it. */
  const concerns = (event: string, payload: unknown): boolean => {
    if (event !== "transaction.applied") return isChange(event);
    const id = idIn(payload);
    return id !== undefined && (register.matcher().listens("transaction.reverted") || store.isAbout({ event: "transaction.reverted", id }));
  };

  const drainSome = (until: number): void => {
    const position = store.journalPosition();
    const fresh = journal.kept().filter(({ number }) => number > position && number <= until).slice(0, batchSize);
    for (const heard of fresh) recordHeard(heard);
    const newest = fresh.at(-1);
    if (newest !== undefined) store.setJournalPosition(newest.number);
  };

  const committed = (): void => {
    // Before the journal, which may fail on a full disk: what is in the store is to be delivered anyway.
    recorder.committed();
    journal.forget(store.journalPosition());
  };

  const waitForBlocks = (): Promise<void> =>
    new Promise((resolve) => {
      if (blocksWritten === undefined) resolve();
      else {
        const giveUp = after(patience, resolve);
        void blocksWritten().finally(() => {
          giveUp();
          resolve();
        });
      }
    });

  const drainAll = async (): Promise<void> => {
    // With nothing to drain, this would otherwise end before `draining` is set, which would then stay set for good.
    await Promise.resolve();
    try {
      for (let newest = journal.kept().at(-1); newest !== undefined; newest = journal.kept().at(-1)) {
        const { number } = newest;
        await waitForBlocks();
        await store.transactionSoon(() => drainSome(number));
        committed();
      }
    } catch (error) {
      logFailure(logger, "events cannot be moved from the journal into the store", error);
      cancelRetry?.();
      cancelRetry = after(retryDelay, drainSoon);
    } finally {
      draining = undefined;
    }
  };

  const drainSoon = (): void => {
    draining ??= drainAll();
  };

  const settled = async (): Promise<void> => {
    drainSoon();
    await draining;
  };

  if (journal.kept().length > 0) drainSoon();

  return {
    hear: (event, payload) => {
      const json = payloadJson(payload);
      const at = clock.now();
      if (!register.matcher().listens(event) && !concerns(event, payload)) {
        recent.note(event, { at, json: () => json });
        return;
      }
      journal.append({ number: last + 1, at, event, json });
      last++;
      drainSoon();
    },
    settled,
    end: async () => {
      await settled();
      cancelRetry?.();
      journal.close();
    },
  };
};

/** Listens to the host's emitter. Returns what ends it. */
export const listenToHost = (events: HostEvents, names: readonly string[], hear: HostRecorder["hear"]): (() => Promise<void>) => {
  const listeners = names.map((name) => ({ name, listener: (payload?: unknown) => hear(name, payload) }));
  for (const { name, listener } of listeners) events.on(name, listener);
  return () => closeAll(...listeners.map(({ name, listener }) => () => events.off(name, listener)));
};
