import type { MaybePromise } from "../../types/chain-adapter.js";
import type { HostEvents } from "../../types/events.js";
import type { EventJournal, HostLog } from "../../types/host-log.js";
import type { Clock, Logger } from "../../types/node-context.js";
import { closeAll } from "../async/close-all.js";
import { deadline, Overdue } from "../async/deadline.js";
import type { ChainRules } from "../chain/rules.js";
import { HostGivenUp, messageOf, PorticoError } from "../errors.js";
import type { Problems } from "../operate/problems.js";
import type { BlockName } from "./cursor.js";
import { canonicalEvent } from "./event-names.js";
import { hostPayload } from "./payload.js";

/**
 * That the store cannot be written lasts, and is logged by whoever keeps the store, once; and so is that the node stops without its host.
 */
const isTold = (error: unknown): boolean =>
  error instanceof Error &&
  (error instanceof HostGivenUp || error.name === "WriteRefused" || (error instanceof PorticoError && error.code === "STORE_UNWRITABLE"));

interface HostFeedNeeds {
  events: HostEvents;
  /** Those to listen to, by any of their names. */
  names: readonly string[];
  rules: Pick<ChainRules, "addressOf" | "recipientsOf">;
  log: HostLog;
  journal: EventJournal;
  clock: Pick<Clock, "now">;
  logger: Logger;
  problems: Pick<Problems, "define">;
  /** Resolves when the blocks that the host has emitted so far are in the chain. */
  blocksWritten(): Promise<void>;
  /** The tip now. */
  tip(): MaybePromise<BlockName | undefined>;
  /** Called when the log has new events. */
  logged(): void;
}

/**
 * Takes what the host emits into the log: in the journal before the emitter's call returns, in the log soon after, so that no event is lost
 * if the process ends, and the host never waits for the disk.
 */
export interface HostFeed {
  /** Resolves when everything emitted so far is in the log, or cannot be. */
  settled(): Promise<void>;
  /** Listens no more, settles, and closes the journal. */
  end(): Promise<void>;
}

/** Events taken into the log in one transaction. */
const takenTogether = 500;
/** Milliseconds that events wait for the blocks emitted before them, at the most: a reader that is told of a transaction asks for it. */
const patience = 5_000;
/** Milliseconds until a log that failed is tried again. */
const retryDelay = 1_000;

/** Resolves with what is waited for, or when it takes too long. */
const withPatience = (awaited: Promise<void>): Promise<void> =>
  deadline(awaited, patience).catch((error: unknown) => {
    if (!(error instanceof Overdue)) throw error;
  });

/** Listens to events. Returns what ends that, event by event. */
const listen = (
  events: HostEvents,
  names: readonly string[],
  hear: (name: string, payload: unknown) => void,
  failed: () => void,
): (() => void)[] => {
  const ends: (() => void)[] = [];
  try {
    for (const name of names) {
      const listener = (payload?: unknown): void => hear(name, payload);
      events.on(name, listener);
      ends.push(() => events.off(name, listener));
    }
    return ends;
  } catch (error) {
    // An emitter may refuse names that it does not know: those before would be heard twice after another start.
    ends.forEach((end) => end());
    failed();
    throw error;
  }
};

const standstillTexts = {
  begun: "the host's events cannot be moved from the journal into the log",
  ended: "the host's events are moved into the log again",
};

export const startHostFeed = (needs: HostFeedNeeds): HostFeed => {
  const { events, names, rules, log, journal, clock, logger, problems, tip } = needs;
  const standstill = problems.define(standstillTexts);
  let last = Math.max(journal.kept().at(-1)?.number ?? 0, log.last());
  let position: BlockName | null = null;
  let draining: Promise<void> | undefined;
  let retry: NodeJS.Timeout | undefined;
  let ended = false;

  const drain = async (): Promise<void> => {
    // With nothing to drain, this would otherwise end before `draining` is set.
    await Promise.resolve();
    try {
      for (let newest = journal.kept().at(-1); newest !== undefined; newest = journal.kept().at(-1)) {
        const until = newest.number;
        await withPatience(needs.blocksWritten());
        const now = await tip();
        if (now !== undefined) position = { height: now.height, id: now.id };
        const due = journal.kept().filter(({ number }) => number <= until);
        const taken = due.slice(0, takenTogether);
        await log.append(taken.map(({ number, at, event, json }) => ({ sequence: number, at, event, json, position })));
        // Before the journal, which may fail on a full disk.
        needs.logged();
        journal.forget(taken.at(-1)?.number ?? 0);
      }
      standstill.end();
    } catch (error) {
      if (!isTold(error)) standstill.begin(messageOf(error));
      clearTimeout(retry);
      if (!ended) retry = setTimeout(drainSoon, retryDelay).unref();
    } finally {
      draining = undefined;
    }
  };

  const drainSoon = (): void => {
    draining ??= drain();
  };

  /** Nothing that fails here reaches the host's emitter. */
  const hear = (name: string, payload: unknown): void => {
    try {
      const event = canonicalEvent(name);
      journal.append({ number: last + 1, at: clock.now(), event, json: hostPayload(event, payload, rules) });
      last++;
      drainSoon();
    } catch (error) {
      if (!isTold(error)) logger.error(`${name} could not be kept for readers: ${messageOf(error)}`);
    }
  };

  const listening = listen(events, names, hear, () => journal.close());
  if (journal.kept().length > 0) drainSoon();

  const settled = async (): Promise<void> => {
    drainSoon();
    await draining;
  };

  const end = (): Promise<void> => {
    ended = true;
    clearTimeout(retry);
    return closeAll(...listening, settled, () => journal.close());
  };
  let ending: Promise<void> | undefined;
  // Once, however often it is called: the journal's file may be another's by then.
  return { settled, end: () => (ending ??= end()) };
};
