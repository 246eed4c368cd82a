import type { Condition, ConditionResult, Operator } from "../../../types/webhooks.js";
import { anyElement, canonical, compareDecimals, type Decimal, jsonText, numberText, toDecimal, valuesAt } from "./json-value.js";
import { compilePattern } from "./pattern.js";

/** A value that many conditions test: what they derive from it is computed once. */
export interface Subject {
  readonly value: unknown;
  /** By its digits, where it is a number or a decimal string. */
  decimal(): Decimal | undefined;
  /** The same text for all values that count as equal. */
  canonical(): string;
  /** Its elements by their canonical texts, where it is an array. */
  elements(): ReadonlySet<string> | undefined;
  /** As JSON. */
  json(): string;
  /** Numbers and booleans as they are written; undefined for anything but a scalar. */
  text(): string | undefined;
}

const textOf = (value: unknown): string | undefined => {
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "bigint") return numberText(value);
  return typeof value === "boolean" ? String(value) : undefined;
};

const once = <T>(make: () => T): (() => T) => {
  let made: { it: T } | undefined;
  return () => (made ??= { it: make() }).it;
};

export const createSubject = (value: unknown): Subject => ({
  value,
  decimal: once(() => toDecimal(value)),
  canonical: once(() => canonical(value)),
  elements: once(() => (Array.isArray(value) ? new Set(value.map(canonical)) : undefined)),
  json: once(() => jsonText(value)),
  text: once(() => textOf(value)),
});

/** What a payload has at a key (see `valuesAt`). */
export const subjectsAt = (payload: unknown, { key, path }: { key: string; path: readonly string[] }): Subject[] =>
  valuesAt(payload, key, path).map(createSubject);

/**
 * The operators of conditions: what each takes as `value`, and what it tests. Both the input that routes accept and the engine are made
 * from this table.
 *
 * - any       any JSON value
 * - scalar    a number or a text
 * - list      numbers and texts
 * - range     `{min, max}`, each a number or a text
 * - pattern   a regular expression in RE2 syntax
 * - none      no value
 */
export type ValueForm = "any" | "scalar" | "list" | "range" | "pattern" | "none";

/** Tests what the payload has at the key. Never called for a key that the payload does not have. */
export type Test = (actual: Subject) => boolean;

export interface OperatorDefinition {
  form: ValueForm;
  meaning: string;
  /** The result for a missing key: false except for the two that negate. */
  whenAbsent: boolean;
  /** Prepares the test of one condition. @throws Error where a pattern does not compile */
  compile(value: unknown): Test;
}

type Accept = (order: number) => boolean;

/** Numbers and decimal strings by value, two other strings by their code units; undefined where there is no order. */
const orderOf = (actual: Subject, expected: Subject): number | undefined => {
  const [a, b] = [actual.value, expected.value];
  if (typeof a === "number" && typeof b === "number") return a - b;
  const [first, second] = [actual.decimal(), expected.decimal()];
  if (first !== undefined && second !== undefined) return compareDecimals(first, second);
  if (first !== undefined || second !== undefined || typeof a !== "string" || typeof b !== "string") return undefined;
  return a < b ? -1 : a > b ? 1 : 0;
};

const ordered =
  (accept: Accept) =>
  (value: unknown): Test => {
    const expected = createSubject(value);
    return (actual) => {
      const order = orderOf(actual, expected);
      return order !== undefined && accept(order);
    };
  };

const greater = ordered((order) => order > 0);
const less = ordered((order) => order < 0);

const between = (value: unknown): Test => {
  const { min, max } = value as { min: unknown; max: unknown };
  const above = greater(min);
  const below = less(max);
  return (actual) => above(actual) && below(actual);
};

const equal = (value: unknown): Test => {
  const expected = canonical(value);
  return (actual) => actual.canonical() === expected;
};

const oneOf = (value: unknown): Test => {
  if (!Array.isArray(value)) throw new TypeError("is no list");
  // Made when it is first needed: where values are looked up by an index, it never is.
  const expected = once(() => new Set(value.map(canonical)));
  return (actual) => expected().has(actual.canonical());
};

const not =
  (compile: (value: unknown) => Test) =>
  (value: unknown): Test => {
    const test = compile(value);
    return (actual) => !test(actual);
  };

const contains = (value: unknown): Test => {
  const expected = createSubject(value);
  const part = expected.text();
  return (actual) => {
    const elements = actual.elements();
    if (elements !== undefined) return elements.has(expected.canonical());
    return typeof actual.value === "string" && part !== undefined && actual.value.includes(part);
  };
};

const regexp = (value: unknown): Test => {
  const pattern = compilePattern(value as string);
  return (actual) => {
    const text = actual.text();
    return text !== undefined && pattern.test(text);
  };
};

export const operators: Readonly<Record<Operator, OperatorDefinition>> = Object.freeze({
  between: { form: "range", meaning: "is greater than min and less than max", whenAbsent: false, compile: between },
  contains: { form: "any", meaning: "contains the value, as part of a string or as an element of an array", whenAbsent: false, compile: contains },
  eq: { form: "any", meaning: "equals the value", whenAbsent: false, compile: equal },
  falsy: { form: "none", meaning: "is exactly false", whenAbsent: false, compile: () => ({ value }) => value === false },
  gt: { form: "scalar", meaning: "is greater than the value", whenAbsent: false, compile: greater },
  gte: { form: "scalar", meaning: "is greater than or equal to the value", whenAbsent: false, compile: ordered((order) => order >= 0) },
  in: { form: "list", meaning: "is any of the list", whenAbsent: false, compile: oneOf },
  lt: { form: "scalar", meaning: "is less than the value", whenAbsent: false, compile: less },
  lte: { form: "scalar", meaning: "is less than or equal to the value", whenAbsent: false, compile: ordered((order) => order <= 0) },
  ne: { form: "any", meaning: "does not equal the value", whenAbsent: true, compile: not(equal) },
  "not-between": { form: "range", meaning: "is not between min and max", whenAbsent: true, compile: not(between) },
  regexp: { form: "pattern", meaning: "has a part that matches the pattern", whenAbsent: false, compile: regexp },
  truthy: { form: "none", meaning: "is exactly true", whenAbsent: false, compile: () => ({ value }) => value === true },
});

export const operatorNames = Object.keys(operators) as Operator[];

/** A condition made ready: its key split, its value prepared, its pattern compiled. */
export interface CompiledCondition extends Condition {
  path: readonly string[];
  /** Takes what the payload has at the key (see `subjectsAt`): it holds if it does for any of that. */
  test(subjects: readonly Subject[]): boolean;
}

/** @throws Error where a pattern does not compile */
export const compileCondition = (condition: Condition): CompiledCondition => {
  const { compile, whenAbsent } = operators[condition.condition];
  const test = compile(condition.value);
  return {
    ...condition,
    path: condition.key.split("."),
    test: (subjects) => (subjects.length === 0 ? whenAbsent : subjects.some(test)),
  };
};

/** Whether conditions hold together: one of them (`any`), or each (`all`). With no conditions, always. */
export const combine = (results: readonly boolean[], match: "any" | "all"): boolean =>
  results.length === 0 || (match === "all" ? results.every(Boolean) : results.some(Boolean));

/**
 * Characters of a value's JSON that are shown, and values of a list, at the most: a dry run may find the same value by a hundred
 * conditions.
 */
export const mostShown = 200;

const beginningOf = (json: string): string => (json.length <= mostShown ? json : `${json.slice(0, mostShown)}…`);

/** Why a condition holds for what a payload has at its key, or does not. */
export const explain = ({ key, path, condition, value }: CompiledCondition, subjects: readonly Subject[], holds: boolean): ConditionResult => {
  const { form, meaning } = operators[condition];
  // A list may have 100,000 values, of which more would be written than are shown.
  const isLong = Array.isArray(value) && value.length > mostShown;
  const expected = form === "none" ? "" : ` (${beginningOf(jsonText(isLong ? value.slice(0, mostShown) : value))})`;
  const [first] = subjects;
  const actual = path.includes(anyElement) && first !== undefined ? createSubject(subjects.map((subject) => subject.value)) : first;
  const found = actual === undefined ? "the payload has nothing there" : `it is ${beginningOf(actual.json())}`;
  const isShown = actual !== undefined && actual.json().length <= mostShown;
  return {
    key,
    condition,
    // It would be in the reply once for each payload that is tried.
    ...(value === undefined || isLong ? {} : { value }),
    holds,
    ...(isShown ? { actual: actual.value } : {}),
    reason: `"${key}" ${holds ? "fulfils" : "does not fulfil"} "${meaning}"${expected}: ${found}`,
  };
};
