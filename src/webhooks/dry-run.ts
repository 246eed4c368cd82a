import type { DryRunRequest, DryRunResult } from "../../types/webhooks.js";
import { PorticoError } from "../errors.js";
import { combine, explain } from "./conditions.js";
import { checkConditions, checkEvent } from "./draft.js";
import { canonicalEvent } from "./known-events.js";
import type { RecentEvents } from "./recent-events.js";

const defaultLast = 10;

/** Tries conditions on a sample, or on the last real payloads of an event. Nothing is sent. @throws PorticoError BAD_REQUEST */
export const dryRun = (request: DryRunRequest, recent: RecentEvents, events: readonly string[]): DryRunResult[] => {
  const { event, conditions, match = "any", last = defaultLast } = request;
  checkConditions(conditions);
  if (event !== undefined) checkEvent(event, events);

  const resultOf = (payload: unknown, timestamp: number | null): DryRunResult => {
    const results = conditions.map((condition) => explain(condition, payload));
    return { matches: combine(results.map(({ holds }) => holds), match), timestamp, payload, conditions: results };
  };

  if (request.payload !== undefined) return [resultOf(request.payload, null)];
  if (event === undefined) {
    throw new PorticoError("BAD_REQUEST", '"event" is required if no "payload" is given', { validation: { source: "payload", keys: ["event"] } });
  }
  return recent.last(canonicalEvent(event), last).map(({ at, json }) => resultOf(JSON.parse(json), at));
};
