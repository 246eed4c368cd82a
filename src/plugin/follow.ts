import { setImmediate as nextTurn } from "node:timers/promises";
import type { ChainAdapter, ChainChanges, MaybePromise } from "../../types/chain-adapter.js";
import type { HostLog } from "../../types/host-log.js";
import type { NodeContext, ReaderContext } from "../../types/node-context.js";
import { closeAll } from "../async/close-all.js";
import { andThen } from "../async/maybe-promise.js";
import type { ChainRules } from "../chain/rules.js";
import { createAging, type FullClock } from "../async/clock.js";
import { messageOf } from "../errors.js";
import type { BlockName } from "../follow/cursor.js";
import { createFollow, type FollowRoom } from "../follow/create-follow.js";
import { derivedEvents } from "../follow/derive.js";
import type { Follow } from "../follow/follow.js";
import { type HostFeed, startHostFeed } from "../follow/host-feed.js";
import { followedEvent } from "../api/webhooks/requests.js";
import { describeEvents } from "../follow/event-catalogue.js";
import type { HostChain } from "./host.js";
import type { Shared } from "./webhooks.js";
import { openEventJournal } from "../store/follow/event-journal.js";
import type { Condition } from "../../types/webhooks.js";
import { loopShare, runShared } from "../async/loop-share.js";
import { conditionsInput } from "../api/webhooks/schemas.js";
import type { Route, Scope } from "../http/route.js";
import { liveRoutes } from "../live/routes.js";
import type { Filters } from "../live/selection.js";
import { namesEvent } from "../follow/event-names.js";
import { createMatcher } from "../webhooks/conditions/matcher.js";
import { createPatternWorker } from "../webhooks/conditions/pattern.js";
import { checkConditions } from "../webhooks/register/draft.js";

interface FollowingNeeds extends Shared {
  rules: ChainRules;
  chain: ChainAdapter & { settled?(): Promise<void>; isReady?(): boolean };
  /** A host's own. */
  hostChain: Pick<HostChain, "inTime"> | undefined;
}

/** Bytes of the store that the host's own events may take: beyond that the oldest are removed. */
const hostEventsSize = 2 ** 30;

/** Milliseconds between two looks for events that are older than they are kept. */
const trimInterval = 60_000;

/** Following, over the chain in use and the log of the host's events. */
export interface Following {
  readonly follow: FollowRoom;
  /** The same for requests: each answer of a host's own chain has `hostTimeout`. @throws PorticoError HOST_SILENT */
  readonly inTime: Pick<Follow, "locate" | "tip" | "after">;
  /** Names of all events that there may be. */
  readonly eventNames: readonly string[];
  /** Whether the chain offers its changes; if not, events of blocks are the host's. */
  readonly offersChanges: boolean;
  /** To be called when the log is open, with undefined before it closes. `writes`: whether this process keeps the host's events. */
  onLog(log: HostLog | undefined, writes: boolean): Promise<void>;
  /** Resolves when all that the host has emitted so far is in the log. */
  settled(): Promise<void>;
}

const tipIn = ({ view }: Pick<ChainChanges, "view">): MaybePromise<BlockName | undefined> =>
  andThen(view(), (state) => {
    state?.release?.();
    return state?.tip;
  });

export const createFollowing = (context: NodeContext | ReaderContext, needs: FollowingNeeds): Following => {
  const { options, logger, clock, problems, rules, chain, hostChain, writes } = needs;
  const isReader = context.reader === true;
  const { changes } = chain;
  const declared = options.webhooks === false ? [] : options.webhooks.events;
  const eventNames = describeEvents(declared, changes !== undefined).map(({ event }) => event);
  let opened: HostLog | undefined;
  let feed: HostFeed | undefined;
  let trimming: NodeJS.Timeout | undefined;
  const now = createAging(clock);

  const followOf = (read: typeof changes): FollowRoom =>
    createFollow({ changes: read, log: () => opened, rules, finality: options.finality });
  const follow = followOf(changes);
  const read = hostChain?.inTime.changes;

  /** As many as there are: a host may emit more between two looks than are removed in one transaction. */
  const trim = async (log: HostLog): Promise<void> => {
    try {
      while (opened === log && log.trim({ before: now() - options.followHostEvents, bytes: hostEventsSize })) await nextTurn();
    } catch (error) {
      logger.warn(`old events of the host cannot be removed: ${messageOf(error)}`);
    }
  };

  const begin = (log: HostLog, dataDir: string): void => {
    feed = startHostFeed({
      events: (context as NodeContext).events,
      names: eventNames.filter((name) => changes === undefined || !derivedEvents.includes(name)),
      rules,
      log,
      journal: openEventJournal(dataDir, { logger, writes }),
      clock,
      logger,
      problems,
      blocksWritten: async () => {
        if (chain.isReady?.() !== false) await chain.settled?.();
      },
      tip: () => changes && tipIn(changes),
      logged: follow.logged,
    });
    trimming = setInterval(() => void trim(log), trimInterval).unref();
  };

  const end = async (): Promise<void> => {
    const ending = feed;
    clearInterval(trimming);
    feed = undefined;
    await closeAll(() => ending?.end(), () => (opened = undefined));
  };

  return {
    follow,
    inTime: read === undefined ? follow : followOf(read),
    eventNames,
    offersChanges: changes !== undefined,
    onLog: async (log, writes) => {
      if (log === undefined) return end();
      opened = log;
      if (writes && !isReader && context.dataDir !== undefined) begin(log, context.dataDir);
    },
    settled: async () => feed?.settled(),
  };
};

/** Following as requests wait for it. */
export interface AskedFollow {
  /** `locate` does not wait for ever. A stream that is open goes on when its chain answers, and sends its heartbeat meanwhile. */
  follow: FollowRoom;
  /** For a request that waits for all that it asks. */
  feed: Follow;
}

/** Following a host's own chain, which may be silent. @throws PorticoError HOST_SILENT */
export const followInTime = ({ follow, inTime: { locate, tip, after } }: Pick<Following, "follow" | "inTime">): AskedFollow => ({
  follow: { ...follow, locate },
  feed: { ...follow, locate, tip, after },
});

const anyEvent = "event";

/** The routes of the event stream, the feed and the changes, with the conditions of webhooks. */
export const createLive = <State extends Scope>(
  { follow, feed, eventNames, offersChanges }: Omit<Following, "follow"> & AskedFollow,
  { node, stopping, clock }: { node: string | undefined; stopping(): AbortSignal; clock: FullClock },
): { routes: Route<State>[]; close(): Promise<void> } => {
  let worker: ReturnType<typeof createPatternWorker> | undefined;

  const filters: Filters = {
    check: (conditions, source) => checkConditions(conditions as readonly Condition[], source),
    compile: async (events, given, match) => {
      const conditions = given as readonly Condition[];
      const listens = (event: string): boolean => namesEvent(events, event);
      if (conditions.length === 0) return { listens, matches: () => true };
      const matcher = createMatcher();
      // Under one name, whatever the event is: there is one index of a long list, not one for each event.
      await runShared(matcher.change(1, { id: 1, events: [anyEvent], enabled: true, conditions, match }), loopShare);
      return {
        listens,
        matches: ({ data }) => {
          const { ids, undecided } = matcher.match(anyEvent, data);
          if (ids.length > 0) return true;
          const [pending] = undecided;
          return pending === undefined ? false : pending.decide((worker ??= createPatternWorker()));
        },
      };
    },
  };

  const sourceOf = (event: string) => (offersChanges && derivedEvents.includes(event) ? "chain" : "host");
  const events = eventNames.map((event) => followedEvent({ event, source: sourceOf(event) }));
  const needs = { follow, feed, filters, conditions: conditionsInput, eventNames, events, offersChanges, node, stopping, clock };
  return {
    routes: liveRoutes<State>(needs),
    close: async () => {
      const ending = worker;
      worker = undefined;
      await ending?.close();
    },
  };
};
