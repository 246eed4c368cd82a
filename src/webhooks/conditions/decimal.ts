import { endOfDigits, withoutLeading } from "../../digits.js";
import { withoutTrailing } from "../../trim-end.js";

/**
 * Numbers by their digits: the exact value of a JSON number, a bigint or a decimal string, however long it is.
 */
export interface Decimal {
  negative: boolean;
  /** Digits before the point, without leading zeros; empty for zero. */
  whole: string;
  /** Digits after the point, without trailing zeros. */
  fraction: string;
}

const fromDigits = (negative: boolean, whole: string, fraction: string): Decimal => {
  const trimmed = { whole: withoutLeading(whole, "0"), fraction: withoutTrailing(fraction, "0") };
  const isZero = trimmed.whole === "" && trimmed.fraction === "";
  return { negative: negative && !isZero, ...trimmed };
};

/** `1.5e-7`, which is how JavaScript writes very large and very small numbers: one digit before the point. */
const fromExponent = (negative: boolean, whole: string, fraction: string, exponent: number): Decimal => {
  const digits = whole + fraction;
  const point = 1 + exponent;
  if (point <= 0) return fromDigits(negative, "", "0".repeat(-point) + digits);
  return fromDigits(negative, digits.padEnd(point, "0").slice(0, point), digits.slice(point));
};

/**
 * A number or a decimal string (`-12.50`, no exponent, no plus) by its digits; undefined for everything else. A string may be of any
 * length: it is read in linear time, and without a regular expression (see `endOfDigits`).
 */
export const toDecimal = (value: unknown): Decimal | undefined => {
  if (typeof value !== "string" && typeof value !== "number" && typeof value !== "bigint") return undefined;
  const text = String(value);
  const negative = text.startsWith("-");
  const start = negative ? 1 : 0;
  const point = endOfDigits(text, start);
  const end = text[point] === "." ? endOfDigits(text, point + 1) : point;
  // No digits before the point, or none after it.
  if (point === start || end === point + 1) return undefined;
  const [whole, fraction] = [text.slice(start, point), text.slice(point + 1, end)];
  if (end === text.length) return fromDigits(negative, whole, fraction);
  return typeof value === "number" ? fromExponent(negative, whole, fraction, Number(text.slice(end + 1))) : undefined;
};

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const compareMagnitude = (a: Decimal, b: Decimal): number =>
  a.whole.length - b.whole.length || compareText(a.whole, b.whole) || compareText(a.fraction, b.fraction);

/** Below, at or above 0 as `a` is less than, equal to or greater than `b`. */
export const compareDecimals = (a: Decimal, b: Decimal): number => {
  if (a.negative !== b.negative) return a.negative ? -1 : 1;
  return a.negative ? compareMagnitude(b, a) : compareMagnitude(a, b);
};

/** The shortest decimal text of a number: `12`, `-0.5`, `1000000000000000000000`. */
export const numberText = (value: number | bigint): string => {
  if (typeof value === "bigint") return String(value);
  const decimal = toDecimal(value);
  if (decimal === undefined) return String(value);
  return `${decimal.negative ? "-" : ""}${decimal.whole === "" ? "0" : decimal.whole}${decimal.fraction === "" ? "" : `.${decimal.fraction}`}`;
};
