import { canonicalEvent, isReversal, namesEvent } from "../../follow/event-names.js";
import type { FollowEvent } from "../../follow/index.js";
import { memberOf } from "../../follow/payload.js";
import type { WebhookRow } from "../rows/rows.js";

/** What a webhook is sent. All pure: the ledger says what its receiver knows. */

/**
 * Whether a receiver knows that a block or transaction was applied:
 *
 * | what was sent of it                      | from → to   |
 * |------------------------------------------|-------------|
 * | applied, answered 2xx                    | → yes       |
 * | applied, attempted but not answered so   | no → maybe  |
 * | reverted, answered 2xx                   | → no        |
 * | reverted, attempted but not answered so  | yes → maybe |
 * | never attempted                          | no change   |
 */
export interface Knowledge {
  known: "no" | "maybe" | "yes";
  /** The `webhook-id` of what it was sent last when that was applied. */
  key?: string | undefined;
}

/** A delivery of a block or transaction. */
export interface Sent {
  isReversal: boolean;
  key: string;
  attempt: "none" | "failed" | "arrived";
}

export const nothingKnown: Knowledge = { known: "no" };

export const knowledgeAfter = (before: Knowledge, { isReversal: isReverted, key, attempt }: Sent): Knowledge => {
  if (attempt === "none") return before;
  if (!isReverted) return { known: attempt === "arrived" || before.known === "yes" ? "yes" : "maybe", key };
  if (attempt === "arrived") return nothingKnown;
  return before.known === "yes" ? { ...before, known: "maybe" } : before;
};

/** The event that takes back what another tells, and the other way round; undefined for events of nothing that is applied. */
const oppositeOf = (event: string): string | undefined => {
  if (event.endsWith(".applied")) return event.replace(/applied$/, "reverted");
  return isReversal(event) ? event.replace(/reverted$/, "applied") : undefined;
};

/** The block or transaction that an event applies or reverts: `block ID`, `transaction ID`. */
export const subjectOf = ({ event, data }: Pick<FollowEvent, "event" | "data">): string | undefined => {
  const [kind, deed, ...others] = event.split(".");
  if (others.length > 0 || (kind !== "block" && kind !== "transaction") || (deed !== "applied" && deed !== "reverted")) return undefined;
  const id = memberOf(data, "id");
  return typeof id === "string" ? `${kind} ${id}` : undefined;
};

export interface Decision {
  isSent: boolean;
  /** Of a reversal: the `webhook-id` of what it takes back, where there is one. */
  reverts?: string | undefined;
}

/**
 * Whether a webhook is sent an event that its conditions match. What is applied is sent unless its receiver knows; what is reverted unless it does not. A
 * webhook that asks for one of the two alone is sent all.
 */
export const decide = (event: string, webhook: Pick<WebhookRow, "events">, { known, key }: Knowledge): Decision => {
  const opposite = oppositeOf(event);
  if (opposite === undefined || !namesEvent(webhook.events.map(canonicalEvent), opposite)) return { isSent: true };
  return isReversal(event) ? { isSent: known !== "no", reverts: key } : { isSent: known !== "yes" };
};
