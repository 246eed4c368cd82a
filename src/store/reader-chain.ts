import { once } from "node:events";
import { statSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import type { ChainSnapshot } from "../../types/chain-adapter.js";
import type { HostLog } from "../../types/host-log.js";
import type { Logger } from "../../types/node-context.js";
import type { ChainRules } from "../chain/rules.js";
import { closeAll } from "../async/close-all.js";
import { createOpenCount } from "../async/open-count.js";
import { messageOf, PorticoError } from "../errors.js";
import { createHostLog } from "./follow/host-log.js";
import { storeFile } from "./lmdb/environment.js";
import { createWatchers, type LmdbChain } from "./lmdb-chain.js";
import { rebuildText } from "./state/rebuild.js";
import type { StoreNeeds } from "./state/store-contract.js";
import { createStore, type Store } from "./state/store.js";

interface ReaderOptions {
  /** Folder of the store that another process writes. */
  dataDir: string;
  /** Milliseconds between two looks at the store's file. */
  lookInterval?: number;
  /** Whether the states at earlier heights are served. Default true. */
  history?: boolean;
  /** Milliseconds of waiting before the log says what for: the node may be about to start, or the folder misspelt. */
  patience?: number;
}

interface ReaderNeeds {
  rules: ChainRules;
  logger: Logger;
  /** See `LmdbChainNeeds`. Here the log is only read. */
  onLog?: ((log: HostLog | undefined) => void | Promise<void>) | undefined;
  /** See `StoreNeeds`. */
  searches?: StoreNeeds["searches"];
}

/** Identifies a file independently of its name; undefined where there is none. */
const identityOf = (path: string): string | undefined => {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? undefined : `${found.dev} ${found.ino}`;
};

const isNotReady = (error: unknown): boolean => error instanceof PorticoError && error.code === "NOT_READY";

/** What is logged while the store is waited for and read. A failure is logged once, however often it recurs. */
const createNotices = (logger: Logger, patience: number) => {
  let problem: string | undefined;
  let waits: { since: number; isLogged: boolean } | undefined;
  return {
    problem: () => problem,
    tell: (message: string): void => {
      if (message !== problem) logger.error(message);
      problem = message;
    },
    wait: (message: string): void => {
      waits ??= { since: performance.now(), isLogged: false };
      if (waits.isLogged || performance.now() - waits.since < patience) return;
      logger.info(`waiting: ${message}`);
      waits.isLogged = true;
    },
    opened: (): void => {
      waits = undefined;
    },
    isWell: (): void => {
      problem = undefined;
    },
  };
};

/** What a reader has open. */
interface Current {
  opened: Store | undefined;
  /** The same, once it is complete. */
  serving: Store | undefined;
  hostLog: HostLog | undefined;
}

interface ServingNeeds extends ReaderNeeds, Required<Omit<ReaderOptions, "patience">> {
  current: Current;
  notices: ReturnType<typeof createNotices>;
  /** Resolves when nobody reads the store any more. */
  noSnapshots(): Promise<void>;
}

/** Opens the store and serves it until `signal` is aborted; again, when its file was replaced. `started` is called when it is served. */
const createServing = ({ dataDir, history, lookInterval, rules, onLog, searches, current, notices, noSnapshots }: ServingNeeds) => {
  const path = storeFile(dataDir);
  const look = (signal: AbortSignal): Promise<void> => delay(lookInterval, undefined, { signal }).catch(() => undefined);

  /** Serves an open store until its file is replaced, or until the end. */
  const serve = async (store: Store, identity: string | undefined, signal: AbortSignal, started: () => void): Promise<void> => {
    notices.opened();
    const log = createHostLog(store.environment, { writes: false });
    current.hostLog = log;
    await onLog?.(log);
    while (!signal.aborted && identityOf(path) === identity) {
      if (current.serving === undefined && store.isComplete()) {
        current.serving = store;
        notices.isWell();
        started();
      }
      await look(signal);
    }
    if (signal.aborted) return;
    notices.tell(`${path} was replaced or removed; the new store is served as soon as it is complete`);
    current.serving = undefined;
    await Promise.race([noSnapshots(), once(signal, "abort")]);
  };

  const openAndServe = async (signal: AbortSignal, started: () => void): Promise<void> => {
    const identity = identityOf(path);
    // Another process writes the blocks: none is ever reverted here.
    const store = createStore({ dataDir, undoBlocks: 1, history, access: "read" }, { rules, searches });
    try {
      current.opened = store;
      await serve(store, identity, signal, started);
    } finally {
      current.opened = current.serving = current.hostLog = undefined;
      await closeAll(() => onLog?.(undefined), () => store.stop());
    }
  };

  return async (signal: AbortSignal, started: () => void): Promise<void> => {
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
        if (isNotReady(error)) notices.wait(messageOf(error));
        else notices.tell(messageOf(error));
      }
      await look(signal);
    }
  };
};

/** Milliseconds between two looks at a store that another process writes. */
const pollInterval = 25;

/** Watchers of something that only looking shows: it is looked at while somebody watches. */
const createPolling = (look: () => string): Pick<ReturnType<typeof createWatchers>, "add"> => {
  const watchers = createWatchers();
  let [count, last, timer] = [0, "", undefined as NodeJS.Timeout | undefined];
  const compare = (): void => {
    const now = look();
    if (now === last) return;
    last = now;
    watchers.tell();
  };
  return {
    add: (changed) => {
      const remove = watchers.add(changed);
      if (count++ === 0) {
        last = look();
        timer = setInterval(compare, pollInterval).unref();
      }
      let watching = true;
      return () => {
        if (!watching) return;
        watching = false;
        remove();
        if (--count === 0) clearInterval(timer);
      };
    },
  };
};

/**
 * The store that another process writes, as a ChainAdapter: a snapshot is of the block that was committed last. Waits for a store that
 * is missing or not complete; when its file is replaced, closes it and opens the one in its place.
 *
 * `start` resolves when there is a state to read, and rejects with STORE_FOREIGN or STORE_DAMAGED where there can be none.
 */
export const createReaderChain = ({ dataDir, history = true, lookInterval = 200, patience = 5_000 }: ReaderOptions, needs: ReaderNeeds): LmdbChain => {
  const notices = createNotices(needs.logger, patience);
  const reads = createOpenCount();
  /** The store is not closed under a snapshot before it is released. */
  const counted = (snapshot: ChainSnapshot): ChainSnapshot => {
    reads.enter();
    const release = snapshot.release?.bind(snapshot);
    snapshot.release = () => {
      release?.();
      reads.leave();
    };
    return snapshot;
  };
  const current: Current = { opened: undefined, serving: undefined, hostLog: undefined };
  const serve = createServing({ ...needs, dataDir, history, lookInterval, current, notices, noSnapshots: reads.none });
  /** Nobody tells this process of a block, nor of an event. */
  const polling = createPolling(() => `${current.serving?.completeTip()?.id ?? ""} ${current.hostLog?.last() ?? 0}`);
  let life: { started: Promise<void>; stop(): Promise<void> } | undefined;

  const begin = () => {
    const ending = new AbortController();
    notices.isWell();
    let started: () => void = () => undefined;
    const serves = new Promise<void>((resolve) => (started = resolve));
    const ended = serve(ending.signal, started);
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
    snapshotAt: (height, bounds) => {
      const snapshot = current.serving?.snapshotAt(height, bounds);
      return snapshot === undefined ? undefined : counted(snapshot);
    },
    changes: { view: () => current.serving?.changesView(), watch: polling.add },
    snapshot: (bounds) => {
      const snapshot = current.serving?.snapshot(bounds);
      return snapshot === undefined ? undefined : counted(snapshot);
    },
    tipId: () => current.serving?.completeTip()?.id,
    height: () => current.serving?.tip()?.height ?? 0,
    isReady: () => current.serving?.isComplete() ?? false,
    rebuilding: () => {
      const rebuild = current.opened?.rebuilding();
      return rebuild && rebuildText(rebuild);
    },
    standing: () => undefined,
    settled: () => Promise.resolve(),
    problem: notices.problem,
  };
};
