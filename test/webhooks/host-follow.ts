import type { HostEvents } from "../../types/events.js";
import type { Logger, Network } from "../../types/node-context.js";
import { systemClock } from "../../src/async/clock.js";
import { createChainRules } from "../../src/chain/rules.js";
import { createFollow } from "../../src/follow/create-follow.js";
import { createProblems } from "../../src/operate/problems.js";
import { type HostFeed, startHostFeed } from "../../src/follow/host/host-feed.js";
import type { Follow } from "../../src/follow/index.js";
import { describeEvents } from "../../src/follow/host/known-events.js";
import { createHostLog } from "../../src/store/follow/host-log.js";
import { openEventJournal } from "../../src/store/follow/event-journal.js";
import type { WebhookEnvironment } from "../../src/webhooks/rows/store.js";
import { loadChain } from "../data/read.js";

export interface HostFollowNeeds {
  environment: WebhookEnvironment;
  dataDir: string;
  events: HostEvents;
  declared?: string[];
  logger: Logger;
  network?: Network;
}

/** Following where the host keeps the chain: its events alone, in the log beside the webhooks. */
export const followHostEvents = ({ environment, dataDir, events, declared = [], logger, network = loadChain("core3-testnet-a").network }: HostFollowNeeds): { follow: Follow; feed: HostFeed } => {
  const log = createHostLog(environment.environment, { writes: true });
  const rules = createChainRules(network);
  const follow = createFollow({ changes: undefined, log: () => log, rules, finality: undefined });
  const feed = startHostFeed({
    ...{ events, rules, log, logger, problems: createProblems(logger), clock: systemClock, logged: follow.logged },
    names: describeEvents(declared, false).map(({ event }) => event),
    journal: openEventJournal(dataDir),
    blocksWritten: () => Promise.resolve(),
    tip: () => undefined,
  });
  return { follow, feed };
};
