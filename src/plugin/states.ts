import type { ChainAdapter, ChainSnapshot, MaybePromise, SnapshotBounds } from "../../types/chain-adapter.js";
import type { Logger, NodeContext, ReaderContext } from "../../types/node-context.js";
import { type ApiNeeds, type ApiState, createApiState, openAtHeight } from "../api/state.js";
import { deadline, Overdue } from "../async/deadline.js";
import { andThen, ask, type Asking, drive, isPromised } from "../async/maybe-promise.js";
import { finalHeightAt } from "../chain/milestones.js";
import type { FullClock } from "../async/clock.js";
import { HostGivenUp, PorticoError } from "../errors.js";
import type { Options } from "../options/options.js";
import { createErrorLog, type Problem, type Problems } from "../operate/problems.js";
import type { HostChain } from "./host.js";
import type { Replica } from "./replica.js";
import type { ChainRules } from "../chain/rules.js";
import type { Following } from "./follow.js";
import type { Shared } from "./webhooks.js";
import { createLmdbChain, type LmdbChain, type LmdbChainNeeds } from "../store/lmdb-chain.js";
import { createReaderChain } from "../store/reader-chain.js";

type StoreMembers = "copyAt" | "tipId" | "height" | "isReady" | "rebuilding" | "filling" | "standing" | "scanState" | "settled" | "problem";

/**
 * The chain in use. The optional members are those of the chains kept in LMDB: what a host's own adapter has beyond `ChainAdapter` may be
 * anything, and is not asked.
 */
export type Chain = ChainAdapter & Partial<Pick<LmdbChain, StoreMembers>>;

interface ChainNeeds {
  rules: ChainRules;
  onLog: Following["onLog"];
  onWritten(milliseconds: number): void;
  /** Of a replica. */
  node: LmdbChainNeeds["node"];
}

/** The LMDB store in `dataDir`: written by this process, or only read by it if it is a reader. @throws PorticoError OPTION_INVALID */
export const createStoreChain = (context: NodeContext | ReaderContext, { options, ...needs }: Shared & ChainNeeds): Chain => {
  const { dataDir } = context;
  if (dataDir === undefined) {
    throw new PorticoError(
      "OPTION_INVALID",
      "createApiPlugin needs `dataDir`, a folder for its store, or `chain`, an adapter of the host's own",
    );
  }
  if (context.reader === true) {
    return createReaderChain({ dataDir, history: options.history }, { ...needs, onLog: (log) => needs.onLog(log, false) });
  }
  const { events, blocks: source, onProgress, follows } = context;
  const { undoBlocks, followOrphans, history } = options;
  const onLog: LmdbChainNeeds["onLog"] = (log) => needs.onLog(log, true);
  const timesOf = follows?.timesOf;
  const settings = { dataDir, undoBlocks, followOrphans, history };
  return createLmdbChain(settings, { ...needs, onLog, events, source, onProgress, timesOf });
};

interface StatesNeeds extends Pick<ApiNeeds, "rules" | "host" | "openWebhooks"> {
  clock: FullClock;
  chain: Chain;
  /** A host's own, which is read in the place of `chain`. */
  hostChain: HostChain | undefined;
  problems: Problems;
  replica: Replica | undefined;
  options: Readonly<Options>;
  logger: Logger;
}

/** Milliseconds that probes wait for the host: who asks for them gives up sooner than a client does. */
export const probePatience = 1_000;

const isSilence = (error: unknown): boolean => error instanceof PorticoError && error.code === "HOST_SILENT";

/**
 * A host's own chain that does not answer in time is a problem until it does again. What was asked before its last answer says nothing of
 * it. Health, which asks it several things, has one such time for all.
 */
const createSilence = (problem: Problem | undefined, hostTimeout: number) => {
  /** How often each was answered. */
  const answers = { state: 0, health: 0 };
  type Asked = keyof typeof answers;

  const missing = (asked: Asked, before: number): undefined => {
    if (answers[asked] === before) problem?.begin(`no answer within ${hostTimeout / 1000} s`, asked);
    return undefined;
  };

  const came = (asked: Asked): void => {
    answers[asked]++;
    problem?.end(asked);
  };

  const found = <T>(value: T | undefined): T | undefined => {
    if (value !== undefined) came("health");
    return value;
  };

  const isKnown = (): boolean => problem?.reason() !== undefined;

  /** Of a chain that is known to be silent, nothing is expected: what it answers all the same ends the problem. */
  const within = async <T>(reading: Promise<T | undefined>): Promise<T | undefined> => {
    const [before, wasKnown] = [answers.health, isKnown()];
    const read = reading.then(found, (error: unknown) => {
      if (isSilence(error)) return missing("health", before);
      throw error;
    });
    try {
      return await deadline(read, wasKnown ? Math.min(hostTimeout, probePatience) : hostTimeout);
    } catch (error) {
      if (!(error instanceof Overdue)) throw error;
      // It may have answered meanwhile, and has not had its time since.
      return wasKnown || isKnown() ? undefined : missing("health", before);
    }
  };

  return {
    answers,
    missing,
    came,
    /** Undefined where it takes too long. */
    inTime: <T>(reading: MaybePromise<T | undefined>): MaybePromise<T | undefined> =>
      problem !== undefined && isPromised(reading) ? within(reading) : andThen(reading, found),
  };
};

type ReadChain = Pick<Chain, "supports" | "snapshot" | "snapshotAt">;

/** Opens the state at the tip, and tells of what keeps it from being read. */
const createOpening = (
  chain: ReadChain,
  bounds: SnapshotBounds,
  { silence, tell }: { silence: ReturnType<typeof createSilence>; tell: (error: unknown) => void },
) => {
  /** State of a host's own chain when it was last asked. */
  const seen: { height: number; problem?: string | undefined } = { height: 0 };
  /** Whether the last answer was a value and not a promise. A store always answers so. */
  let answersAtOnce = true;

  /** @throws PorticoError HOST_SILENT */
  const unreadable = (error: unknown): undefined => {
    if (error instanceof HostGivenUp) return;
    if (isSilence(error)) throw error;
    silence.came("health");
    seen.problem = "The chain cannot be read.";
    tell(error);
  };

  const saw = (snapshot: ChainSnapshot | undefined): ChainSnapshot | undefined => {
    seen.height = snapshot?.tip.height ?? 0;
    seen.problem = undefined;
    silence.came("state");
    // There is nothing more for health to ask it.
    if (snapshot === undefined) silence.came("health");
    return snapshot;
  };

  const failed = (error: unknown, before: number): undefined => {
    if (isSilence(error)) silence.missing("state", before);
    else if (!(error instanceof HostGivenUp)) silence.came("state");
    return unreadable(error);
  };

  /** Undefined while there is no state to read, or if reading it fails. @throws PorticoError HOST_SILENT */
  function* opening(): Asking<ChainSnapshot | undefined> {
    const before = silence.answers.state;
    try {
      const answer = chain.snapshot(bounds);
      answersAtOnce = !isPromised(answer);
      return saw(yield* ask(answer));
    } catch (error) {
      return failed(error, before);
    }
  }

  const openInTime = (): MaybePromise<ChainSnapshot | undefined> => drive(opening());

  /** The same; undefined also where it does not come in time. */
  const openSnapshot = (): MaybePromise<ChainSnapshot | undefined> =>
    drive(
      (function* () {
        try {
          return yield* opening();
        } catch {
          return undefined;
        }
      })(),
    );

  /** Opens the state for routes that do not read it. If the chain answers with promises, returns undefined rather than wait. */
  const openAtOnce = (): ChainSnapshot | undefined => {
    const opened = answersAtOnce ? openSnapshot() : undefined;
    if (!isPromised(opened)) return opened;
    void opened.then((late) => late?.release?.());
    return undefined;
  };

  return { seen, unreadable, openInTime, openSnapshot, openAtOnce };
};

/** Rows of the store that one request may look at where no index has the answer: about a second of processor time. */
export const searchRows = 250_000;

/** The states of the chain from which requests are answered. */
export const createStates = ({ chain: own, hostChain, problems, replica, options, logger, ...given }: StatesNeeds) => {
  const chain: ReadChain = hostChain?.inTime ?? own;
  const bounds = { searchRows };
  const texts = { begun: "the host's chain does not answer", ended: "the host's chain answers again" };
  const silence = createSilence(hostChain && problems.define(texts), options.hostTimeout);
  const tell = createErrorLog("the chain cannot be read", { logger, clock: given.clock });
  const { openInTime, openAtOnce, ...opening } = createOpening(chain, bounds, { silence, tell });

  const snapshotAt = chain.snapshotAt && ((height: number) => chain.snapshotAt?.(height, bounds));
  const finalHeight = (tip: number): number => finalHeightAt(tip, given.rules.milestones, options.finality);

  const stateNeeds: ApiNeeds = { ...given, supports: chain.supports ?? {}, finalHeight, snapshotAt };

  const stateOf = (snapshot: ChainSnapshot | undefined): ApiState => createApiState(snapshot, stateNeeds);

  function* openingState(at: string | undefined): Asking<ApiState> {
    const snapshot = yield* ask(openInTime());
    if (at === undefined || snapshot === undefined) return stateOf(snapshot);
    try {
      const { epoch } = given.rules;
      return createApiState(snapshot, stateNeeds, yield* ask(openAtHeight(at, snapshot, { adapter: chain, bounds, finalHeight, epoch })));
    } catch (error) {
      snapshot.release?.();
      throw error;
    }
  }

  const openStateNow = (at?: string): MaybePromise<ApiState> => drive(openingState(at));

  const openState = (at?: string, readsNone = false): MaybePromise<ApiState> => {
    if (at === undefined) return readsNone ? stateOf(openAtOnce()) : openStateNow();
    return andThen(replica?.patience.reach(at), () => openStateNow(at));
  };

  return {
    ...opening,
    snapshotAt,
    openState,
    finalHeight,
    inTime: silence.inTime,
  };
};
