import type { Condition } from "../../types/webhooks.js";
import type { FullClock } from "../clock.js";
import type { Route, Scope } from "../http/route.js";
import { liveRoutes } from "../live/routes.js";
import type { CompileFilter } from "../live/selection.js";
import type { Following } from "./follow.js";
import { createMatcher } from "../webhooks/conditions/matcher.js";
import { createPatternWorker } from "../webhooks/conditions/pattern.js";
import { checkConditions } from "../webhooks/registry/draft.js";

/** The routes of the event stream, the feed and the changes, with the conditions of webhooks. */
export const createLive = <State extends Scope>({ follow, eventNames, offersChanges }: Following, { node, isStopping, clock }: { node: string | undefined; isStopping(): boolean; clock: FullClock }): { routes: Route<State>[]; close(): Promise<void> } => {
  let worker: ReturnType<typeof createPatternWorker> | undefined;

  const compileFilter: CompileFilter = (events, given, match) => {
    const conditions = given as readonly Condition[];
    checkConditions(conditions);
    const matcher = createMatcher();
    matcher.put(1, { id: 1, events, enabled: true, conditions, match });
    const { listens } = matcher;
    if (conditions.length === 0) return { listens, matches: () => true };
    return {
      listens,
      matches: ({ event, data }) => {
        const { ids, undecided } = matcher.match(event, data);
        if (ids.length > 0) return true;
        const [pending] = undecided;
        return pending === undefined ? false : pending.decide((worker ??= createPatternWorker()));
      },
    };
  };

  return {
    routes: liveRoutes<State>({ follow, compileFilter, eventNames, offersChanges, node, isStopping, clock }),
    close: async () => {
      const ending = worker;
      worker = undefined;
      await ending?.close();
    },
  };
};
