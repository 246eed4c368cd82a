import type { Sliced } from "../../async/time-slicing.js";
import { parseCursors } from "../../follow/index.js";
import type { WebhookStore } from "../rows/store.js";
import type { Register } from "./register.js";

/** Blocks from a cursor to the tip, by height. */
export const blocksBehind = (cursor: string, tip: number): number => {
  const [parsed] = parseCursors(cursor);
  return Math.max(0, tip - (parsed?.kind === "cursor" ? (parsed.cursor.block?.height ?? 0) : 0));
};

/** How webhooks stand, for whoever runs the node. */
export interface WebhookStanding {
  /** How many are enabled and deliver, enabled and fail, disabled. */
  byState: { enabled: number; failing: number; disabled: number };
  /** Of the enabled one that is farthest behind: blocks to the tip. */
  blocksBehind: number;
}

/** Looks at all of them, which may be ten thousand. `tip`: its height. */
export function* standingOf({ register, store }: { register: Register; store: WebhookStore }, tip: number): Sliced<WebhookStanding> {
  const standing: WebhookStanding = { byState: { enabled: 0, failing: 0, disabled: 0 }, blocksBehind: 0 };
  for (const { id, enabled } of register.rows().values()) {
    yield;
    const progress = enabled ? store.progress(id) : undefined;
    if (progress === undefined) {
      standing.byState.disabled++;
      continue;
    }
    standing.byState[progress.failingSince === null ? "enabled" : "failing"]++;
    if (progress.cursor !== undefined) standing.blocksBehind = Math.max(standing.blocksBehind, blocksBehind(progress.cursor, tip));
  }
  return standing;
}
