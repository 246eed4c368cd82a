import { once } from "node:events";
import { statSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import type { HostLog } from "../../types/host-log.js";
import type { Logger } from "../../types/node-context.js";
import type { ChainRules } from "../chain/rules.js";
import { closeAll } from "../async/close-all.js";
import { messageOf, PorticoError } from "../errors.js";
import type { Problems } from "../problems.js";
import { createHostLog } from "./follow/host-log.js";
import { createPolling } from "./follow/watchers.js";
import { storeFile } from "./lmdb/environment.js";
import { createWriteWatch, unwatched } from "./lmdb/write-watch.js";
import type { LmdbChain, StoreCompanion } from "./lmdb-chain.js";
import { rebuildText } from "./state/rebuild.js";
import { createOpenSnapshots } from "./state/open-snapshots.js";
import { createStore, type Store } from "./state/store.js";
import { createWebhookStore } from "./webhooks/webhook-store.js";

export interface ReaderOptions {
  /** Folder of the store that another process writes. */
  dataDir: string;
  /** Milliseconds between two looks at the store's file. */
  lookInterval?: number;
  /** Whether the states at earlier heights are served. Default true. */
  history?: boolean;
  /** Milliseconds of waiting before the log says what for: the node may be about to start, or the folder misspelt. */
  patience?: number;
}

export interface ReaderNeeds {
  rules: ChainRules;
  logger: Logger;
  /** Not given: nobody is told that webhooks cannot be written. */
  problems?: Problems;
  /** See `LmdbChainNeeds`. Here the log is only read. */
  onLog?: ((log: HostLog | undefined) => void | Promise<void>) | undefined;
  /** Not given: nothing is written to the store, not even webhooks. */
  companion?: Pick<StoreCompanion, "opened" | "closing"> | undefined;
}

/** Identifies a file independently of its name; undefined where there is none. */
const identityOf = (path: string): string | undefined => {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? undefined : `${found.dev} ${found.ino}`;
};

const isNotReady = (error: unknown): boolean => error instanceof PorticoError && error.code === "NOT_READY";

/**
 * The store that another process writes, as a ChainAdapter: a snapshot is of the block that was committed last. Waits for a store that
 * is missing or not complete; when its file is replaced, closes it and opens the one in its place.
 *
 * `start` resolves when there is a state to read, and rejects with STORE_FOREIGN or STORE_DAMAGED where there can be none.
 */
export const createReaderChain = ({ dataDir, history = true, lookInterval = 200, patience = 5_000 }: ReaderOptions, { rules, logger, companion, problems, onLog }: ReaderNeeds): LmdbChain => {
  const writes = problems === undefined ? unwatched : createWriteWatch(problems);
  const path = storeFile(dataDir);
  const snapshots = createOpenSnapshots();
  let hostLog: HostLog | undefined;
  /** Nobody tells this process of a block, nor of an event. */
  const polling = createPolling(() => `${serving?.completeTip()?.id ?? ""} ${hostLog?.last() ?? 0}`);
  let opened: Store | undefined;
  let serving: Store | undefined;
  let problem: string | undefined;
  let life: { started: Promise<void>; stop(): Promise<void> } | undefined;

  /** A failure is logged once, however often it recurs. */
  const tell = (message: string): void => {
    if (message !== problem) logger.error(message);
    problem = message;
  };

  let waits: { since: number; told: boolean } | undefined;
  const wait = (message: string): void => {
    waits ??= { since: performance.now(), told: false };
    if (waits.told || performance.now() - waits.since < patience) return;
    logger.info(`waiting: ${message}`);
    waits.told = true;
  };

  const look = (signal: AbortSignal): Promise<void> => delay(lookInterval, undefined, { signal }).catch(() => undefined);

  /** Serves an open store until its file is replaced, or until `stop`. */
  const serve = async (store: Store, identity: string | undefined, signal: AbortSignal, started: () => void): Promise<void> => {
    waits = undefined;
    const log = createHostLog(store.environment, { writes: false });
    hostLog = log;
    await onLog?.(log);
    const webhooks = companion && createWebhookStore(store.environment, { keepsChain: true });
    if (webhooks !== undefined) companion?.opened(webhooks);
    while (!signal.aborted && identityOf(path) === identity) {
      // Nobody may write a webhook for long: what is wrong ends without.
      if (writes.isFailing("webhooks")) await webhooks?.transactionSoon(() => undefined).catch(() => undefined);
      if (serving === undefined && store.isComplete()) {
        serving = store;
        problem = undefined;
        started();
      }
      await look(signal);
    }
    if (signal.aborted) return;
    tell(`${path} was replaced or removed: the store in its place is served as soon as it is complete`);
    serving = undefined;
    await Promise.race([snapshots.none(), once(signal, "abort")]);
  };

  const openAndServe = async (signal: AbortSignal, started: () => void): Promise<void> => {
    const identity = identityOf(path);
    // Another process writes the blocks: none is ever reverted here.
    const store = createStore({ dataDir, undoBlocks: 1, history, access: companion === undefined ? "read" : "webhooks" }, { rules, writes });
    try {
      opened = store;
      await serve(store, identity, signal, started);
    } finally {
      opened = serving = hostLog = undefined;
      await closeAll(() => onLog?.(undefined), () => companion?.closing(), () => store.stop());
    }
  };

  const run = async (signal: AbortSignal, started: () => void): Promise<void> => {
    let [failures, served] = [0, false];
    const onServed = (): void => {
      served = true;
      started();
    };
    while (!signal.aborted) {
      try {
        await openAndServe(signal, onServed);
      } catch (error) {
        // The file may be in the middle of being put there: what is wrong with it counts only when it is seen again.
        if (!isNotReady(error) && ++failures > 1 && !served) throw error;
        if (isNotReady(error)) wait(messageOf(error));
        else tell(messageOf(error));
      }
      await look(signal);
    }
  };

  const begin = () => {
    const ending = new AbortController();
    problem = undefined;
    let started: () => void = () => undefined;
    const serves = new Promise<void>((resolve) => (started = resolve));
    const ended = run(ending.signal, started);
    return {
      // Whichever comes first: it serves, it cannot, it is told to stop.
      started: Promise.race([serves, ended]),
      stop: async () => {
        ending.abort();
        await ended.catch(() => undefined);
      },
    };
  };

  return {
    start: () => (life ??= begin()).started,
    stop: async () => {
      const ending = life;
      await ending?.stop();
      if (life === ending) life = undefined;
    },
    supports: { history },
    reindexHistory: () => Promise.reject(new PorticoError("NOT_SUPPORTED", "The process that writes the store gives it its history.")),
    snapshotAt: (height, bounds) => {
      const snapshot = serving?.snapshotAt(height, bounds);
      return snapshot === undefined ? undefined : snapshots.counted(snapshot);
    },
    changes: { view: () => serving?.changesView(), watch: polling.add },
    snapshot: (bounds) => {
      const snapshot = serving?.snapshot(bounds);
      return snapshot === undefined ? undefined : snapshots.counted(snapshot);
    },
    tipId: () => serving?.completeTip()?.id,
    height: () => serving?.tip()?.height ?? 0,
    isReady: () => serving?.isComplete() ?? false,
    rebuilding: () => {
      const rebuild = opened?.rebuilding();
      return rebuild && rebuildText(rebuild);
    },
    standing: () => undefined,
    settled: () => Promise.resolve(),
    problem: () => problem,
  };
};
