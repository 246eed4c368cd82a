import { RE2JS } from "re2js";
import type { Operator } from "../../types/webhooks.js";
import { compareDecimals, type Decimal, numberText, toDecimal } from "./decimal.js";
import { canonical } from "./json-value.js";

/**
 * The operators of conditions: what each takes as `value`, and what it tests. The accepted input of the routes and the engine
 * are both made from this table.
 *
 * - any       any JSON value
 * - scalar    a number or a text
 * - range     `{min, max}`, each a number or a text
 * - pattern   a regular expression in RE2 syntax
 * - none      no value
 */
export type ValueForm = "any" | "scalar" | "range" | "pattern" | "none";

/** Tests what the payload has at the key. Never called for a key that the payload does not have. */
export type Test = (actual: unknown) => boolean;

export interface OperatorDefinition {
  form: ValueForm;
  meaning: string;
  /** What a missing key comes to: false but for the two that negate. */
  whenAbsent: boolean;
  /** Prepares the test of one condition. @throws Error where a pattern does not compile */
  compile(value: unknown): Test;
}

type Accept = (order: number) => boolean;

/** Numbers and decimal strings by value, two other strings by their code units; undefined where there is no order. */
const orderOf = (actual: unknown, expected: unknown, decimal: Decimal | undefined): number | undefined => {
  if (typeof actual === "number" && typeof expected === "number") return actual - expected;
  const actualDecimal = toDecimal(actual);
  if (actualDecimal !== undefined && decimal !== undefined) return compareDecimals(actualDecimal, decimal);
  const isText = actualDecimal === undefined && decimal === undefined && typeof actual === "string" && typeof expected === "string";
  return isText ? (actual < expected ? -1 : actual > expected ? 1 : 0) : undefined;
};

const ordered =
  (accept: Accept) =>
  (value: unknown): Test => {
    const decimal = toDecimal(value);
    return (actual) => {
      const order = orderOf(actual, value, decimal);
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
  return (actual) => canonical(actual) === expected;
};

const not =
  (compile: (value: unknown) => Test) =>
  (value: unknown): Test => {
    const test = compile(value);
    return (actual) => !test(actual);
  };

/** Numbers and booleans are looked at as the text that they are written as. */
const asText = (value: unknown): string | undefined => {
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "bigint") return numberText(value);
  return typeof value === "boolean" ? String(value) : undefined;
};

const contains = (value: unknown): Test => {
  const element = canonical(value);
  const part = asText(value);
  return (actual) => {
    if (Array.isArray(actual)) return actual.some((item) => canonical(item) === element);
    return typeof actual === "string" && part !== undefined && actual.includes(part);
  };
};

const regexp = (value: unknown): Test => {
  const pattern = RE2JS.compile(RE2JS.translateRegExp(value as string));
  return (actual) => {
    const text = asText(actual);
    return text !== undefined && pattern.test(text);
  };
};

export const operators: Readonly<Record<Operator, OperatorDefinition>> = Object.freeze({
  between: { form: "range", meaning: "is greater than min and less than max", whenAbsent: false, compile: between },
  contains: { form: "any", meaning: "contains the value, as a part of a text or an element of an array", whenAbsent: false, compile: contains },
  eq: { form: "any", meaning: "equals the value", whenAbsent: false, compile: equal },
  falsy: { form: "none", meaning: "is exactly false", whenAbsent: false, compile: () => (actual) => actual === false },
  gt: { form: "scalar", meaning: "is greater than the value", whenAbsent: false, compile: greater },
  gte: { form: "scalar", meaning: "is greater than or equal to the value", whenAbsent: false, compile: ordered((order) => order >= 0) },
  lt: { form: "scalar", meaning: "is less than the value", whenAbsent: false, compile: less },
  lte: { form: "scalar", meaning: "is less than or equal to the value", whenAbsent: false, compile: ordered((order) => order <= 0) },
  ne: { form: "any", meaning: "does not equal the value", whenAbsent: true, compile: not(equal) },
  "not-between": { form: "range", meaning: "is not between min and max", whenAbsent: true, compile: not(between) },
  regexp: { form: "pattern", meaning: "has a part that matches the pattern", whenAbsent: false, compile: regexp },
  truthy: { form: "none", meaning: "is exactly true", whenAbsent: false, compile: () => (actual) => actual === true },
});

export const operatorNames = Object.keys(operators) as Operator[];
