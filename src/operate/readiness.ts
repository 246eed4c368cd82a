import type { MaybePromise } from "../../types/chain-adapter.js";
import type { SyncState } from "../../types/node-context.js";
import type { Health, ReadyProblem } from "../../types/plugin.js";
import type { FullClock } from "../async/clock.js";
import type { Phase } from "./lifecycle.js";
import type { Present } from "./problems.js";

/** What is wrong, in one word for machines and a sentence for people. */
export interface Unready {
  problem: ReadyProblem;
  detail: string;
}

export interface ReadinessNeeds {
  phase(): Phase;
  health(): MaybePromise<Health>;
  /** Problems that have begun, oldest first. */
  problems(): readonly Present[];
  /** How the built-in store stands to the host's chain; undefined where it is at its tip, or for a host's own chain. */
  standing(): Extract<ReadyProblem, "catching up" | "behind the host" | "diverged"> | undefined;
  sync: SyncState | undefined;
  /** Milliseconds since 1970 at which the tip was forged, and milliseconds between two blocks; undefined while there is no tip. */
  pace(): { forgedAt: number; blockTime: number } | undefined;
  /** Block times without a block after which the tip is stale. */
  staleAfter: number | false;
  clock: FullClock;
}

/** Blocks by which a host may be behind the height that its peers report: they tell of a block when they have it, and the host a moment later. */
const toleratedGap = 5;

const unreadyOf: Partial<Record<Health["status"], ReadyProblem>> = { starting: "starting", stopped: "stopping", failing: "failing" };

/** Whether the host has not caught up with its network. A host that cannot say is not held to be behind. */
const isSyncing = async (sync: SyncState | undefined, height: number): Promise<boolean> => {
  if (sync === undefined) return false;
  try {
    if (sync.synced !== undefined) return !(await sync.synced());
    return (await sync.networkHeight()) - height > toleratedGap;
  } catch {
    return false;
  }
};

/** The oldest, but for a node that is behind: nothing is known of that while it cannot be reached, and whatever is wrong here is worse. */
const worst = (problems: readonly Present[]): ReadyProblem | undefined => {
  const kinds = problems.map(({ kind }) => kind).filter((kind) => kind !== undefined);
  return kinds.find((kind) => kind !== "node behind") ?? kinds[0];
};

/** Says why no requests should be sent here at present; undefined if they should. */
export const createReadiness = (needs: ReadinessNeeds) => {
  const staleness = (): string | undefined => {
    const { staleAfter, clock } = needs;
    const pace = needs.pace();
    if (staleAfter === false || pace === undefined) return undefined;
    const age = clock.now() - pace.forgedAt;
    return age > staleAfter * pace.blockTime ? `there has been no block for ${Math.round(age / 1000)} s` : undefined;
  };

  return async (): Promise<{ health: Health; unready: Unready | undefined }> => {
    const health = await needs.health();
    const unready = (problem: ReadyProblem, detail = health.problem ?? problem) => ({ health, unready: { problem, detail } });
    if (needs.phase() === "stopping") return unready("stopping", "the node is stopping");
    const kind = worst(needs.problems());
    if (kind !== undefined) return unready(kind);
    const standing = needs.standing();
    if (standing !== undefined) return unready(standing, health.problem ?? `the store is at height ${health.height}`);
    const wrong = unreadyOf[health.status];
    if (wrong !== undefined) return unready(wrong);
    if (await isSyncing(needs.sync, health.height)) return unready("catching up", "the host has not caught up with its network");
    const stale = staleness();
    return stale === undefined ? { health, unready: undefined } : unready("stale", stale);
  };
};
