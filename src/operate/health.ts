import type { ChainSnapshot, MaybePromise } from "../../types/chain-adapter.js";
import type { ReplicaDistance } from "../../types/followed-node.js";
import type { NodeContext } from "../../types/node-context.js";
import type { Health } from "../../types/plugin.js";
import { andThen, isPromised } from "../async/maybe-promise.js";
import type { ChainRules } from "../chain/rules.js";
import type { FullClock } from "../async/clock.js";
import type { Phase } from "./lifecycle.js";
import type { Problems } from "./problems.js";
import { createMarks, type Marks } from "./marks.js";
import { createReadiness, type ReadinessNeeds } from "./readiness.js";

/** What the chain in use tells of itself; a host's own adapter tells nothing. */
interface ObservedChain {
  height?(): number;
  isReady?(): boolean;
  rebuilding?(): string | undefined;
  problem?(): string | undefined;
  standing?: ReadinessNeeds["standing"];
}

interface HealthNeeds {
  phase(): Phase;
  problems: Problems;
  chain: ObservedChain;
  /** State of a host's own chain when it was last asked. */
  seen: { readonly height: number; readonly problem?: string | undefined };
  /** A reader's host: what keeps the node from following the chain. */
  told: (() => string | undefined) | undefined;
  /** What is wrong beside the node, which serves all the same. */
  warning: (() => string | undefined) | undefined;
  openSnapshot(): MaybePromise<ChainSnapshot | undefined>;
  /** Is told of a block that cannot be read. @throws PorticoError HOST_SILENT where it did not come in time */
  unreadable(error: unknown): undefined;
  /** Height of the newest final block of a chain that ends at a height. */
  finalHeight(tip: number): number;
  /** Opens the state at an earlier height; undefined where none is kept. */
  snapshotAt: ((height: number) => MaybePromise<ChainSnapshot | undefined>) | undefined;
  /** Waits for what is read from the chain, also where that rejects with HOST_SILENT; undefined where it does not come in time, of which `problems` tells then. */
  inTime<T>(reading: MaybePromise<T | undefined>): MaybePromise<T | undefined>;
  rules: ChainRules;
  clock: FullClock;
  staleAfter: number | false;
  sync: NodeContext["sync"];
  /** Of a replica with a tip at a height. */
  distance: ((height: number) => ReplicaDistance) | undefined;
}

/** What `health`, the health routes and the metrics tell of the chain. */
export const createHealth = (needs: HealthNeeds) => {
  const { phase, problems, chain, seen, told, rules } = needs;
  let tipTime: number | undefined;

  const openSnapshot = (): MaybePromise<ChainSnapshot | undefined> =>
    andThen(needs.openSnapshot(), (snapshot) => {
      tipTime = snapshot?.tip.timestamp;
      return snapshot;
    });
  const marks = createMarks({ ...needs, openSnapshot });

  const withMarks = (found: Marks | undefined): Health => {
    const wrong = [problems.present(), chain.problem?.() ?? seen.problem, told?.()].filter((reason) => reason !== undefined);
    // It ends by itself: nothing is wrong unless something keeps it from going on.
    const rebuilding = told?.() === undefined ? chain.rebuilding?.() : undefined;
    const problem = [...wrong, rebuilding, needs.warning?.()].filter((reason) => reason !== undefined).join("; ");
    const isReady = chain.isReady?.() ?? seen.height > 0;
    const started = wrong.length > 0 ? "failing" : isReady ? "ok" : "starting";
    const status = phase() === "started" ? started : phase() === "starting" ? "starting" : "stopped";
    const height = found?.tip.height ?? chain.height?.() ?? seen.height;
    return { status, height, ...(problem === "" ? {} : { problem }), ...found, ...needs.distance?.(height) };
  };

  /** Nothing is opened unless the plugin runs. What cannot be read is part of the health by then. */
  const findMarks = (): MaybePromise<Marks | undefined> => (phase() === "started" ? marks() : undefined);

  const report = (): MaybePromise<Health> => andThen(needs.inTime(findMarks()), withMarks);

  const pace = (): { forgedAt: number; blockTime: number } | undefined =>
    tipTime === undefined
      ? undefined
      : { forgedAt: rules.epoch.toMilliseconds(tipTime), blockTime: rules.milestones.at(seen.height + 1).blocktime * 1000 };

  return {
    /** At once: of a chain that answers later, what it answered last. */
    health: (): Health => {
      const found = needs.inTime(findMarks());
      return withMarks(isPromised(found) ? undefined : found);
    },
    report,
    ready: createReadiness({ ...needs, health: report, pace, problems: problems.list, standing: chain.standing ?? (() => undefined) }),
    pace,
  };
};

export type HealthReports = ReturnType<typeof createHealth>;
