import type { WebhookRow } from "../rows/rows.js";
import type { BatchRule, Condition, WebhookDraft } from "../../../types/webhooks.js";
import { inputError, messageOf, type Validation } from "../../errors.js";
import { isNameAmong } from "../../follow/event-names.js";
import { didYouMean } from "../../text/known-names.js";
import { jsonLength } from "../conditions/json-value.js";
import { operatorNames, operators, type ValueForm } from "../conditions/conditions.js";
import { patternSize } from "../conditions/pattern.js";
import type { TargetGuard } from "../send/target-guard.js";

/** A client's draft, checked. Whatever is wrong is a BAD_REQUEST that names the member and the rule. */
export type CheckedDraft = Omit<WebhookRow, "id" | "uid" | "token" | "olderTokens" | "createdAt" | "disabledBecause">;

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
  events: 100,
  confirmations: 100_000,
  /** Events of one request. */
  batch: 100,
  /** Milliseconds. */
  batchWait: 60_000,
  /** A second. */
  rate: 10_000,
  headers: 20,
  tags: 20,
  /** Characters of a description, a tag or a header. */
  text: 1_000,
} as const;

/** What `pausedUntil` has to be where a webhook is patched. */
export const endsPauseRule = "must be null, which ends the pause; only an answer of the target begins one";

/** Whether a change of a webhook ends the pause of its target. @throws PorticoError BAD_REQUEST */
export const endsPause = (pausedUntil: unknown): boolean => {
  if (pausedUntil !== undefined && pausedUntil !== null) throw inputError("payload", "pausedUntil", endsPauseRule);
  return pausedUntil === null;
};

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

type Refuse = (key: string, rule: string) => never;

const refuseIn = (source: Validation["source"]): Refuse => (key, rule) => {
  throw inputError(source, key, rule);
};

const refuse = refuseIn("payload");

const checkCondition = (condition: unknown, at: string, refuse: Refuse): void => {
  if (typeof condition !== "object" || condition === null) return refuse(at, "must be object");
  const { key, condition: operator, value } = condition as Condition;
  if (typeof key !== "string" || key === "" || key.length > limits.key)
    refuse(`${at}.key`, `must be a string of 1 to ${limits.key} characters`);
  if (!operatorNames.includes(operator))
    refuse(`${at}.condition`, `must be one of ${operatorNames.join(", ")}${didYouMean(operator, operatorNames)}`);
  const { fits, rule } = forms[operators[operator].form];
  if (!fits(value)) refuse(`${at}.value`, rule);
};

/** Instructions of a condition's pattern; 0 where it has none. */
const sizeOf = ({ condition, value }: Condition, at: string, refuse: Refuse): number => {
  if (operators[condition].form !== "pattern") return 0;
  try {
    return patternSize(value as string, limits.instructions);
  } catch (error) {
    return refuse(at, `does not compile: ${messageOf(error)}`);
  }
};

/** Conditions that `checkInAdvance` has found right, and their characters. */
const checked = new WeakMap<readonly Condition[], number>();

/**
 * For conditions that nobody changes any more: that of many values takes some milliseconds, which need not be those in which the webhook is
 * written.
 */
export const checkInAdvance = (conditions: readonly Condition[]): void => {
  checked.set(conditions, checkConditions(conditions));
};

/** Returns how many characters their values have as JSON. `source`: where a client gave them. @throws PorticoError BAD_REQUEST */
export const checkConditions = (conditions: readonly Condition[], source: Validation["source"] = "payload"): number => {
  const known = checked.get(conditions);
  if (known !== undefined) return known;
  const refuse = refuseIn(source);
  if (!Array.isArray(conditions)) refuse("conditions", "must be a list");
  if (conditions.length > limits.conditions) refuse("conditions", `must not have more than ${limits.conditions} items`);
  let [length, listLength, instructions] = [0, 0, 0];
  for (const [index, condition] of conditions.entries()) {
    const at = `conditions.${index}.value`;
    checkCondition(condition, `conditions.${index}`, refuse);
    if (operators[condition.condition].form === "list") listLength += jsonLength(condition.value);
    else length += jsonLength(condition.value);
    if (listLength > limits.lists) refuse(at, `is too long: all lists together may have ${limits.lists} characters as JSON`);
    if (length > limits.values)
      refuse(at, `is too long: the values of all conditions together may have ${limits.values} characters as JSON`);
    instructions += sizeOf(condition, at, refuse);
    if (instructions > limits.instructions) refuse(at, `is too large: all patterns together may compile to ${limits.instructions} instructions, for which x{100} counts as a hundred`);
  }
  return length + listLength;
};

/** @throws PorticoError BAD_REQUEST */
export const checkEvent = (event: string, events: readonly string[]): void => {
  if (!events.includes(event)) throw inputError("payload", "event", `must be one of ${events.join(", ")}${didYouMean(event, events)}`);
};

/** @throws PorticoError BAD_REQUEST */
const checkEvents = (draft: Pick<WebhookDraft, "event" | "events">, known: readonly string[]): string[] => {
  const { event, events } = draft;
  if (events === undefined) {
    if (event === undefined) return refuse("event", 'or "events" is required');
    checkEvent(event, known);
    return [event];
  }
  if (!Array.isArray(events) || events.length === 0 || events.length > limits.events)
    return refuse("events", `must be a list of 1 to ${limits.events} names`);
  for (const [index, name] of events.entries()) {
    if (!isNameAmong(name, known))
      refuse(`events.${index}`, `must be a pattern such as transaction.*, or one of ${known.join(", ")}${didYouMean(name, known)}`);
  }
  return [...new Set(events)];
};

const isWhole = (value: unknown, least: number, most: number): value is number =>
  Number.isInteger(value) && (value as number) >= least && (value as number) <= most;

const checkConfirmations = (confirmations: unknown): number | "final" => {
  if (confirmations === "final" || isWhole(confirmations, 0, limits.confirmations)) return confirmations;
  return refuse("confirmations", `must be a whole number from 0 to ${limits.confirmations}, or "final"`);
};

const checkBatch = (batch: WebhookDraft["batch"]): BatchRule | null => {
  if (batch === null || batch === undefined) return null;
  if (!isWhole(batch.size, 1, limits.batch) || !isWhole(batch.wait, 0, limits.batchWait))
    return refuse("batch", `must be {size, wait}: 1 to ${limits.batch} events, 0 to ${limits.batchWait} milliseconds`);
  return { size: batch.size, wait: batch.wait };
};

const checkRate = (rate: WebhookDraft["rate"]): number | null => {
  if (rate === null || rate === undefined) return null;
  if (typeof rate === "number" && rate > 0 && rate <= limits.rate) return rate;
  return refuse("rate", `must be a number of deliveries a second, above 0 and at most ${limits.rate}`);
};

/** Headers that HTTP itself or the signature needs. */
const ownHeaders = /^(?:content-|proxy-|webhook-|:)|^(?:authorization|connection|date|expect|host|keep-alive|te|trailer|transfer-encoding|upgrade|user-agent|via)$/i;

const checkHeaders = (headers: Record<string, string> | null): Record<string, string> => {
  if (typeof headers !== "object" || headers === null) return refuse("headers", "must be an object");
  const entries = Object.entries(headers);
  if (entries.length > limits.headers) refuse("headers", `must not have more than ${limits.headers} members`);
  const names = new Set<string>();
  for (const [name, value] of entries) {
    const lower = name.toLowerCase();
    if (names.has(lower)) refuse(`headers.${name}`, "is given twice; the names of headers are case-insensitive");
    names.add(lower);
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/.test(name)) refuse(`headers.${name}`, "is not the name of a header");
    if (ownHeaders.test(name)) refuse(`headers.${name}`, "must not be given; it is reserved for HTTP or the signature");
    if (typeof value !== "string" || value.length > limits.text || /[^\t\x20-\x7e]/.test(value))
      refuse(`headers.${name}`, `must be a string of at most ${limits.text} printable characters of ASCII`);
  }
  return Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase(), value.trim()]));
};

const isText = (value: unknown): value is string => typeof value === "string" && value.length <= limits.text;

const checkTags = (tags: string[]): string[] => {
  if (!Array.isArray(tags) || tags.length > limits.tags) return refuse("tags", `must be a list of at most ${limits.tags} strings`);
  const wrong = tags.findIndex((tag) => !isText(tag) || tag === "");
  if (wrong !== -1) return refuse(`tags.${wrong}`, `must be a string of 1 to ${limits.text} characters`);
  return [...new Set(tags)];
};

const oneOf = <T extends string>(key: string, value: string, among: readonly T[]): T =>
  among.find((one) => one === value) ?? refuse(key, `must be one of ${among.join(", ")}${didYouMean(value, among)}`);

/** Conditions as they are kept: without other members. */
export const tidyConditions = (conditions: readonly Condition[] = []): Condition[] =>
  conditions.map(({ key, condition, value }) => ({ key, condition, ...(value === undefined ? {} : { value }) }));

/** @throws PorticoError BAD_REQUEST */
export const checkDraft = (draft: WebhookDraft, { guard, events }: DraftRules): CheckedDraft => {
  const { target, enabled = true, conditions = [], match = "any", confirmations = 0, order = "first", headers = {}, description = "", tags = [], signature = "v1" } = draft;
  const names = checkEvents(draft, events);
  const refusal = typeof target === "string" ? guard.refusal(target) : "is required";
  if (refusal !== undefined) refuse("target", refusal);
  if (![true, false, "true", "false"].includes(enabled)) refuse("enabled", "must be true or false");
  checkConditions(conditions);
  if (!isText(description)) refuse("description", `must be a string of at most ${limits.text} characters`);
  return {
    events: names,
    target,
    enabled: String(enabled) === "true",
    conditions: tidyConditions(conditions),
    match: oneOf("match", match, ["any", "all"]),
    confirmations: checkConfirmations(confirmations),
    order: oneOf("order", order, ["first", "strict", "none"]),
    batch: checkBatch(draft.batch),
    rate: checkRate(draft.rate),
    headers: checkHeaders(headers),
    description,
    tags: checkTags(tags),
    signature: oneOf("signature", signature, ["v1", "v1a"]),
  };
};
