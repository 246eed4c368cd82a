import type { DryRunRequest, DryRunResult } from "../../../types/webhooks.js";
import { inputError, PorticoError } from "../../errors.js";
import { type CompiledCondition, combine, compileCondition, explain } from "../conditions/conditions.js";
import { checkConditions, checkEvent } from "./draft.js";
import { jsonLength } from "../conditions/json-value.js";
import { canonicalEvent } from "../../follow/known-events.js";
import { largestKept, type RecentEvents } from "../scan/recent-events.js";
import { type Subject, subjectsAt } from "../conditions/operand.js";

const defaultLast = 10;

/** What a payload has at the keys of conditions: once for each key, however many conditions test it. */
const createSubjects = (payload: unknown): ((condition: CompiledCondition) => Subject[]) => {
  const subjects = new Map<string, Subject[]>();
  return ({ key, path }) => {
    const there = subjects.get(key) ?? subjectsAt(payload, { key, path });
    subjects.set(key, there);
    return there;
  };
};

/** Tries conditions on a sample, or on the last real payloads of an event. Nothing is sent. @throws PorticoError BAD_REQUEST */
export const dryRun = (request: DryRunRequest, recent: RecentEvents, events: readonly string[]): DryRunResult[] => {
  const { event, conditions, match = "any", last = defaultLast } = request;
  checkConditions(conditions);
  if (event !== undefined) checkEvent(event, events);
  if (jsonLength(request.payload) > largestKept) throw inputError("payload", "payload", `must not have more than ${largestKept} characters as JSON`);
  const compiled = conditions.map(compileCondition);

  const resultOf = (payload: unknown, timestamp: number | null): DryRunResult => {
    const subjectsOf = createSubjects(payload);
    const results = compiled.map((condition) => explain(condition, subjectsOf(condition)));
    return { matches: combine(results.map(({ holds }) => holds), match), timestamp, payload, conditions: results };
  };

  if (request.payload !== undefined) return [resultOf(request.payload, null)];
  if (event === undefined) {
    throw new PorticoError("BAD_REQUEST", '"event" is required if no "payload" is given', { validation: { source: "payload", keys: ["event"] } });
  }
  return recent.last(canonicalEvent(event), last).map(({ at, json }) => resultOf(JSON.parse(json), at));
};
