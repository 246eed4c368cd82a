import { setImmediate as nextTurn } from "node:timers/promises";
import type { ChainAdapter, ChainChanges } from "../../types/chain-adapter.js";
import type { HostLog } from "../../types/host-log.js";
import { closeAll } from "../async/close-all.js";
import { createAging } from "../async/clock.js";
import { messageOf } from "../errors.js";
import { createHostLog } from "./follow/host-log.js";
import { trimOrphans } from "./follow/orphans.js";
import { whenFree } from "./lmdb/writer-lock.js";
import { createWriteWatch, type WriteWatch } from "./lmdb/environment.js";
import { scanState, type StateScan } from "./write/undo.js";
import { copyStore, type StoreCopy } from "./copy/store-copy.js";
import { createFollower, type Follower, type FollowerNeeds, type Standing } from "./sync/follower.js";
import { createStore, type Store, type StoreOptions } from "./state/store.js";
import { watchSource } from "./sync/source.js";
import type { TimesOf } from "./write/writer.js";

/** Who is to be told when the tip moves. */
interface Watchers {
  /** Returns what ends it. */
  add(changed: () => void): () => void;
  tell(): void;
}

export const createWatchers = (): Watchers => {
  const all = new Set<{ changed: () => void }>();
  return {
    add: (changed) => {
      const watcher = { changed };
      all.add(watcher);
      return () => void all.delete(watcher);
    },
    tell: () => all.forEach(({ changed }) => changed()),
  };
};

export interface LmdbChainNeeds extends Omit<FollowerNeeds, "store"> {
  /** Is handed the log of the host's events when the store is open, before blocks are written; and undefined before it closes. */
  onLog?: ((log: HostLog | undefined) => void | Promise<void>) | undefined;
  /** Default: one of its own. */
  writes?: WriteWatch | undefined;
  /** See `StoreNeeds`. */
  timesOf?: TimesOf | undefined;
}

/** The default ChainAdapter: the LMDB store, open and kept at the host's tip between `start` and `stop`. */
export interface LmdbChain extends ChainAdapter {
  readonly changes: ChainChanges;
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Id of the tip that `snapshot` would give now. */
  tipId(): string | undefined;
  height(): number;
  /** Whether `snapshot` gives a state. */
  isReady(): boolean;
  /** That the store is being rebuilt, why, and how far it is; undefined unless it is. */
  rebuilding(): string | undefined;
  /** That an index is being filled, and how far it is; undefined where none is. */
  filling?(): string | undefined;
  /** How the store stands to the host's chain, if it is not at its tip. */
  standing(): Standing | undefined;
  /**
   * A copy of the store at a height below the tip, without webhooks, in a folder that is emptied before; writes go on meanwhile. Undefined
   * if the store cannot be taken back that far.
   */
  copyAt?(height: number, folder: string, signal: AbortSignal): Promise<StoreCopy | undefined>;
  /** Computes the digest of the whole state at the tip, in the background, and what is kept as that; undefined while there is no state. */
  scanState?(): Promise<StateScan | undefined>;
  /** Compares the tip with the block source at once. */
  look?(): void;
  /** Resolves when all that the host has emitted so far is written. */
  settled(): Promise<void>;
  /** Why a block cannot be written at present, or that the block source does not answer; undefined if nothing is wrong. */
  problem(): string | undefined;
}

/** Milliseconds. While one state is held for long, other writes, as of webhooks, make the file grow: for no longer than this. */
const freeingInterval = 60_000;

interface LmdbChainOptions extends StoreOptions {
  /** Milliseconds that blocks taken off the chain are kept. Default: for ever. */
  followOrphans?: number;
}

/** Frees pages of the store now and then, and forgets blocks that were taken off the chain long ago. */
const startFreeing = (store: Store, followOrphans: number, isOpen: () => boolean, { clock, logger }: LmdbChainNeeds): NodeJS.Timeout => {
  const now = createAging(clock);
  const free = async (): Promise<void> => {
    try {
      if (followOrphans !== Infinity) while (isOpen() && trimOrphans(store.environment, now() - followOrphans)) await nextTurn();
      if (isOpen()) store.freePages();
    } catch (error) {
      logger.warn(`pages of the store cannot be freed: ${messageOf(error)}`);
    }
  };
  return setInterval(() => void free(), freeingInterval).unref();
};

/** Scans of the state. */
const createScans = () => {
  let last: Promise<unknown> | undefined;
  return {
    run: (store: Store, isStopped: () => boolean): Promise<StateScan | undefined> => {
      const scan = scanState(store.environment, isStopped);
      last = scan.catch(() => undefined);
      return scan;
    },
    /** The state that is being scanned is held until then. */
    ended: async (): Promise<void> => void (await last),
  };
};

export const createLmdbChain = ({ followOrphans = Infinity, ...options }: LmdbChainOptions, needs: LmdbChainNeeds): LmdbChain => {
  const { onLog, timesOf } = needs;
  const watchers = createWatchers();
  const watched = watchSource(needs.source, needs.clock);
  const { writes = createWriteWatch(needs.problems) } = needs;
  let open: { store: Store; follower: Follower; freeing: NodeJS.Timeout } | undefined;
  /** Aborting ends the wait for another process to let go of the store. */
  let opening: AbortController | undefined;
  const scans = createScans();

  const isReady = (): boolean => open?.store.isComplete() ?? false;
  return {
    start: async () => {
      if (open !== undefined || opening !== undefined) return;
      const own = (opening = new AbortController());
      const create = (): Store =>
        createStore(options, { rules: needs.rules, writes, changed: watchers.tell, clock: needs.clock, timesOf });
      const store = await whenFree(create, { logger: needs.logger, clock: needs.clock, signal: own.signal }).finally(() => {
        if (opening === own) opening = undefined;
      });
      // Where `stop` came meanwhile, it has found nothing to close.
      if (store === undefined || own.signal.aborted) return store?.stop();
      const follower = createFollower({ ...needs, source: watched.source, store });
      const isOpen = (): boolean => open?.store === store;
      open = { store, follower, freeing: startFreeing(store, followOrphans, isOpen, needs) };
      await onLog?.(createHostLog(store.environment, { writes: true }));
      await store.trimUndo(() => !isOpen());
      await follower.start();
    },
    stop: async () => {
      opening?.abort();
      opening = undefined;
      const closing = open;
      open = undefined;
      if (closing === undefined) return;
      clearInterval(closing.freeing);
      await scans.ended();
      // The store is closed whatever the host's emitter throws: another start would find it in use.
      await closeAll(closing.follower.stop, () => onLog?.(undefined), () => closing.store.stop());
    },
    supports: { history: options.history ?? true },
    snapshotAt: (height, bounds) => (isReady() ? open?.store.snapshotAt(height, bounds) : undefined),
    changes: { view: () => (isReady() ? open?.store.changesView() : undefined), watch: watchers.add },
    snapshot: (bounds) => (isReady() ? open?.store.snapshot(bounds) : undefined),
    tipId: () => open?.store.completeTip()?.id,
    copyAt: async (height, folder, signal) =>
      isReady() && open !== undefined
        ? copyStore(open.store.environment, { folder, height, rules: needs.rules, undoBlocks: options.undoBlocks, signal })
        : undefined,
    scanState: async () => {
      const { store } = open ?? {};
      if (store === undefined || !isReady()) return undefined;
      return scans.run(store, () => open?.store !== store);
    },
    isReady,
    rebuilding: () => open?.follower.rebuilding(),
    filling: () => open?.follower.filling(),
    height: () => open?.store.tip()?.height ?? 0,
    standing: () => open?.follower.standing(),
    look: () => open?.follower.look(),
    settled: async () => open?.follower.settled(),
    problem: () => (open === undefined ? undefined : (open.follower.problem() ?? watched.problem())),
  };
};
