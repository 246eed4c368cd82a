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

const decimalText = /^(-?)(\d+)(?:\.(\d+))?$/;

const fromDigits = (sign: string, whole: string, fraction: string): Decimal => {
  const trimmed = { whole: whole.replace(/^0+/, ""), fraction: withoutTrailing(fraction, "0") };
  const isZero = trimmed.whole === "" && trimmed.fraction === "";
  return { negative: sign === "-" && !isZero, ...trimmed };
};

/** `1.5e-7`, which is how JavaScript writes very large and very small numbers. */
const fromExponent = (text: string): Decimal | undefined => {
  const match = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(text);
  if (match === null) return undefined;
  const [, sign = "", first = "", rest = "", exponent = "0"] = match;
  const digits = first + rest;
  const point = 1 + Number(exponent);
  if (point <= 0) return fromDigits(sign, "", "0".repeat(-point) + digits);
  return fromDigits(sign, digits.padEnd(point, "0").slice(0, point), digits.slice(point));
};

/** A number or a decimal string (`-12.50`, no exponent, no plus) by its digits; undefined for everything else. */
export const toDecimal = (value: unknown): Decimal | undefined => {
  if (typeof value === "bigint") return fromDigits(value < 0n ? "-" : "", String(value < 0n ? -value : value), "");
  if (typeof value !== "string" && typeof value !== "number") return undefined;
  const text = String(value);
  const match = decimalText.exec(text);
  if (match !== null) return fromDigits(match[1] ?? "", match[2] ?? "", match[3] ?? "");
  return typeof value === "number" ? fromExponent(text) : undefined;
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
