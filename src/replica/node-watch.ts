import type { ReplicaDistance } from "../../types/followed-node.js";
import { pause } from "../async/clock.js";
import { messageOf } from "../errors.js";
import { isObject, type NodeClient } from "./node-client.js";

/** Whether the node answers, and how far it is. */
export interface NodeWatch {
  start(): void;
  stop(): Promise<void>;
  /** Resolves when the node has answered with a state, or `signal` is aborted. */
  available(signal: AbortSignal): Promise<void>;
  /** Is told that the node has sent something, and its tip where that follows from it. */
  heard(tip?: number): void;
  /** Height of the node's tip, as last known. */
  tip(): number | undefined;
  problem(): string | undefined;
  distance(height: number): ReplicaDistance;
  /** Calls `changed` when the node is reached again, or no longer, and with each `tell`. */
  watch(changed: () => void): () => void;
  tell(): void;
}

interface NodeWatchNeeds {
  client: NodeClient;
  /** Milliseconds, by a clock that is never set. */
  now(): number;
  /** Milliseconds between two looks at the node. */
  lookInterval?: number;
}

/** Milliseconds without an answer after which the node is taken to be away. */
const awayAfter = 5_000;
/** Milliseconds that the node has for an answer. */
const patience = 2_000;
const retryInterval = 250;

const tipIn = (report: unknown): number | undefined => {
  const tip = isObject(report) ? report["tip"] : undefined;
  return isObject(tip) && typeof tip["height"] === "number" ? tip["height"] : undefined;
};

/** When the node was heard last, and who is told when that changes. */
const createContact = (now: () => number, url: string) => {
  const contact = { answers: false, heardAt: now(), failure: "it has not been asked yet" };
  let away: NodeJS.Timeout | undefined;
  const watchers = new Set<() => void>();

  const tell = (): void => {
    for (const changed of watchers) changed();
  };
  const expect = (): void => {
    clearTimeout(away);
    away = setTimeout(tell, awayAfter + 1).unref();
  };
  const problem = (): string | undefined =>
    now() - contact.heardAt < awayAfter
      ? undefined
      : `${url} has not answered for ${Math.round((now() - contact.heardAt) / 1000)} s: ${contact.failure}`;

  return {
    answers: () => contact.answers,
    heardAt: () => contact.heardAt,
    problem,
    tell,
    begin: (): void => {
      contact.heardAt = now();
      expect();
    },
    end: (): void => {
      clearTimeout(away);
      contact.answers = false;
    },
    heard: (): void => {
      const wasAway = !contact.answers || problem() !== undefined;
      contact.heardAt = now();
      contact.answers = true;
      expect();
      if (wasAway) tell();
    },
    failed: (failure: string): void => {
      contact.failure = failure;
      contact.answers = false;
      if (problem() !== undefined) tell();
    },
    watch: (changed: () => void): (() => void) => {
      const own = (): void => changed();
      watchers.add(own);
      return () => void watchers.delete(own);
    },
  };
};

export const createNodeWatch = ({ client, now, lookInterval = 1_000 }: NodeWatchNeeds): NodeWatch => {
  let life: { ending: AbortController; ended: Promise<void> } | undefined;
  let tip: number | undefined;
  let levelAt = now();
  const contact = createContact(now, client.url);
  const { answers, problem } = contact;

  const heard = (height?: number): void => {
    if (height !== undefined) tip = height;
    contact.heard();
  };

  const look = async (signal: AbortSignal): Promise<void> => {
    try {
      const found = tipIn(await client.report("/health", { signal, timeout: patience }));
      if (found !== undefined) heard(found);
      else contact.failed("it has no state to serve yet");
    } catch (error) {
      contact.failed(messageOf(error));
    }
  };

  const run = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      await look(signal);
      await pause(answers() ? lookInterval : retryInterval, signal);
    }
  };

  return {
    start: () => {
      if (life !== undefined) return;
      levelAt = now();
      contact.begin();
      const ending = new AbortController();
      life = { ending, ended: run(ending.signal) };
    },
    stop: async () => {
      const stopping = life;
      life = undefined;
      contact.end();
      stopping?.ending.abort();
      await stopping?.ended;
    },
    available: async (signal) => {
      while (!answers() && !signal.aborted) await pause(retryInterval / 5, signal);
    },
    heard,
    tip: () => tip,
    problem,
    distance: (height) => {
      const behind = Math.max(0, (tip ?? height) - height);
      if (behind === 0) levelAt = Math.max(levelAt, contact.heardAt());
      return { behind, lag: behind === 0 && problem() === undefined ? 0 : Math.round(now() - levelAt) };
    },
    watch: contact.watch,
    tell: contact.tell,
  };
};
