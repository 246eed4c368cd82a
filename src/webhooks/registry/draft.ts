import type { WebhookRow } from "../../../types/webhook-store.js";
import type { Condition, WebhookDraft } from "../../../types/webhooks.js";
import { inputError, messageOf } from "../../errors.js";
import { didYouMean } from "../../known-names.js";
import { jsonLength } from "../conditions/json-value.js";
import { canonicalEvent, knownEvents } from "../../follow/known-events.js";
import { operatorNames, operators, type ValueForm } from "../conditions/operators.js";
import { patternSize } from "../conditions/pattern.js";
import type { TargetGuard } from "../send/target-guard.js";

/** A client's draft, checked. Whatever is wrong is a BAD_REQUEST that names the member and the rule. */
export type CheckedDraft = Pick<WebhookRow, "event" | "target" | "enabled" | "conditions" | "match" | "confirmations">;

export interface DraftRules {
  guard: TargetGuard;
  /** Every event that a webhook may listen to. */
  events: readonly string[];
}

/** Limits of one webhook. */
export const limits = {
  conditions: 100,
  /** Characters. */
  key: 200,
  /** Characters. */
  pattern: 1_000,
  /** Instructions that all patterns compile to, together. */
  instructions: 10_000,
  /** Characters of JSON that the values of all conditions have, together, without the lists of `in`. */
  values: 50_000,
  /** Values in one list of `in`. */
  listed: 100_000,
  /** Characters of JSON that all lists of `in` have, together. */
  lists: 8_388_608,
  confirmations: 1_000,
} as const;

const isScalar = (value: unknown): boolean => typeof value === "number" || typeof value === "bigint" || typeof value === "string";

const isRange = (value: unknown): boolean => {
  if (typeof value !== "object" || value === null) return false;
  const { min, max, ...rest } = value as Record<string, unknown>;
  return isScalar(min) && isScalar(max) && Object.keys(rest).length === 0;
};

/** What a value of each form has to be: as a test, and in words. */
const forms: Readonly<Record<ValueForm, { fits(value: unknown): boolean; rule: string }>> = {
  any: { fits: (value) => value !== undefined, rule: "is required" },
  scalar: { fits: isScalar, rule: "must be a number or a string" },
  list: {
    fits: (value) => Array.isArray(value) && value.length <= limits.listed && value.every(isScalar),
    rule: `must be a list of at most ${limits.listed} numbers and strings`,
  },
  range: { fits: isRange, rule: "must be {min, max}, each a number or a string" },
  pattern: {
    fits: (value) => typeof value === "string" && value.length <= limits.pattern,
    rule: `must be a regular expression of at most ${limits.pattern} characters`,
  },
  none: { fits: () => true, rule: "" },
};

const checkCondition = (condition: Condition, at: string): void => {
  const { key, condition: operator, value } = condition;
  if (typeof key !== "string" || key === "" || key.length > limits.key) throw inputError("payload", `${at}.key`, `must be a string of 1 to ${limits.key} characters`);
  if (!operatorNames.includes(operator)) throw inputError("payload", `${at}.condition`, `must be one of ${operatorNames.join(", ")}${didYouMean(operator, operatorNames)}`);
  const { fits, rule } = forms[operators[operator].form];
  if (!fits(value)) throw inputError("payload", `${at}.value`, rule);
};

/** Instructions of a condition's pattern; 0 where it has none. */
const sizeOf = ({ condition, value }: Condition, at: string): number => {
  if (operators[condition].form !== "pattern") return 0;
  try {
    return patternSize(value as string, limits.instructions);
  } catch (error) {
    throw inputError("payload", at, `does not compile: ${messageOf(error)}`);
  }
};

/** @throws PorticoError BAD_REQUEST */
export const checkConditions = (conditions: readonly Condition[]): void => {
  if (!Array.isArray(conditions)) throw inputError("payload", "conditions", "must be a list");
  if (conditions.length > limits.conditions) throw inputError("payload", "conditions", `must not have more than ${limits.conditions} items`);
  let [length, listLength, instructions] = [0, 0, 0];
  for (const [index, condition] of (conditions as readonly Condition[]).entries()) {
    checkCondition(condition, `conditions.${index}`);
    if (operators[condition.condition].form === "list") listLength += jsonLength(condition.value);
    else length += jsonLength(condition.value);
    if (listLength > limits.lists) {
      throw inputError("payload", `conditions.${index}.value`, `is too long: all lists together may have ${limits.lists} characters as JSON`);
    }
    if (length > limits.values) {
      throw inputError("payload", `conditions.${index}.value`, `is too long: the values of all conditions together may have ${limits.values} characters as JSON`);
    }
    instructions += sizeOf(condition, `conditions.${index}.value`);
    if (instructions > limits.instructions) {
      throw inputError("payload", `conditions.${index}.value`, `is too large: all patterns together may compile to ${limits.instructions} instructions, for which x{100} counts as a hundred`);
    }
  }
};

/** @throws PorticoError BAD_REQUEST */
export const checkEvent = (event: string, events: readonly string[]): void => {
  if (!events.includes(event)) throw inputError("payload", "event", `must be one of ${events.join(", ")}${didYouMean(event, events)}`);
};

const mayBeConfirmed = (event: string): boolean => Object.entries(knownEvents).some(([name, known]) => name === event && known.confirmations === true);

const checkConfirmations = (confirmations: number, event: string): void => {
  if (!Number.isInteger(confirmations) || confirmations < 0 || confirmations > limits.confirmations) {
    throw inputError("payload", "confirmations", `must be a whole number from 0 to ${limits.confirmations}`);
  }
  if (confirmations > 0 && !mayBeConfirmed(canonicalEvent(event))) {
    throw inputError("payload", "confirmations", "is allowed for block.applied and transaction.applied only");
  }
};

/** A condition as it is kept: without other members. */
const tidy = ({ key, condition, value }: Condition): Condition => ({ key, condition, ...(value === undefined ? {} : { value }) });

/** @throws PorticoError BAD_REQUEST */
export const checkDraft = (draft: WebhookDraft, { guard, events }: DraftRules): CheckedDraft => {
  const { event, target, enabled = true, conditions = [], match = "any", confirmations = 0 } = draft;
  checkEvent(event, events);
  const refusal = typeof target === "string" ? guard.refusal(target) : "is required";
  if (refusal !== undefined) throw inputError("payload", "target", refusal);
  if (![true, false, "true", "false"].includes(enabled)) throw inputError("payload", "enabled", "must be true or false");
  if (!["any", "all"].includes(match)) throw inputError("payload", "match", "must be one of any, all");
  checkConditions(conditions);
  checkConfirmations(confirmations, event);
  return { event, target, enabled: String(enabled) === "true", conditions: conditions.map(tidy), match, confirmations };
};
