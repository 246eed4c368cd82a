import type { Condition } from "../../types/webhooks.js";
import { loopShare, runShared } from "../async/loop-share.js";
import { conditionsInput } from "../api/resources/webhook.js";
import type { FullClock } from "../async/clock.js";
import type { Route, Scope } from "../http/route.js";
import { liveRoutes } from "../live/routes.js";
import type { Filters } from "../live/selection.js";
import { namesEvent } from "../follow/event-names.js";
import type { Following } from "./follow.js";
import type { AskedFollow } from "./host-follow.js";
import { createMatcher } from "../webhooks/conditions/matcher.js";
import { createPatternWorker } from "../webhooks/conditions/pattern.js";
import { checkConditions } from "../webhooks/register/draft.js";

const anyEvent = "event";

/** The routes of the event stream, the feed and the changes, with the conditions of webhooks. */
export const createLive = <State extends Scope>({ follow, feed, eventNames, offersChanges }: Omit<Following, "follow"> & AskedFollow, { node, isStopping, clock }: { node: string | undefined; isStopping(): boolean; clock: FullClock }): { routes: Route<State>[]; close(): Promise<void> } => {
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

  return {
    routes: liveRoutes<State>({ follow, feed, filters, conditions: conditionsInput, eventNames, offersChanges, node, isStopping, clock }),
    close: async () => {
      const ending = worker;
      worker = undefined;
      await ending?.close();
    },
  };
};
