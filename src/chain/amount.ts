import type { AmountLike } from "../../types/events.js";
import { isDigits } from "../text/digits.js";

/**
 * Parses an amount in any form that hosts use.
 * @throws RangeError if it is not a whole number, or is a number beyond 2^53, which may have lost digits
 */
export const parseAmount = (value: AmountLike): bigint => {
  if (typeof value === "bigint") return value;
  if (typeof value === "number") {
    if (Number.isSafeInteger(value)) return BigInt(value);
    throw new RangeError(`${value} is ${Number.isInteger(value) ? "a number beyond 2^53, which may have lost digits: large amounts must be strings or bigints" : "not a whole number"}`);
  }
  const text = typeof value === "string" ? value : value.toString();
  if (!isDigits(text.startsWith("-") ? text.slice(1) : text)) throw new RangeError(`"${text}" is not a whole number`);
  return BigInt(text);
};

/** Up to here, powers of ten are doubles without a remainder. */
const exactPowers = 22;

/**
 * How many digits a number has before the point; NaN where its double does not tell: a power of ten may stand for a whole number just below
 * it.
 */
const digitsBeforePoint = (value: number): number => {
  let [digits, power] = [1, 10];
  for (; power < value; power *= 10) digits++;
  return power === value || digits > exactPowers ? NaN : digits;
};

/**
 * How far a quotient of five digits has to be from a whole number to be cut as it is without errors: four roundings are off by less than a
 * tenth of it.
 */
const surely = 1e-9;

/** `approvalOf` a balance that is no larger than the supply, where doubles are exact enough to tell; else undefined. */
const approvalInDoubles = (voteBalance: number, supply: number): number | undefined => {
  const shift = digitsBeforePoint(supply) - digitsBeforePoint(voteBalance) + 4;
  const quotient = (voteBalance * 10 ** shift) / supply;
  const cut = Math.floor(quotient);
  const isSure = shift <= exactPowers && voteBalance <= supply && quotient - cut > surely && cut + 1 - quotient > surely;
  const hundredth = 10 ** (shift - 4);
  // Halves go up or down by how their doubles are rounded.
  return isSure && cut % hundredth !== hundredth / 2 ? Math.round(cut / hundredth) / 100 : undefined;
};

/**
 * Vote balance in percent of the supply, with two decimals, to the digit as ARK Core 3 reports it. That keeps four or five digits of the
 * quotient, cuts the others, and rounds what is left as a double: 64.39597 % becomes 64.39. A minus sign counts as a
 * digit.
 */
export const approvalOf = (voteBalance: bigint, supply: bigint): number => {
  if (supply <= 0n || voteBalance === 0n) return 0;
  // 0.33 µs in the place of 0.70: digits of bigints take longer than all the rest.
  const quick = voteBalance > 0n ? approvalInDoubles(Number(voteBalance), Number(supply)) : undefined;
  return quick ?? approvalInDigits(voteBalance, supply);
};

const approvalInDigits = (voteBalance: bigint, supply: bigint): number => {
  const shift = Math.max(0, String(supply).length - String(voteBalance).length + 4);
  const quotient = (voteBalance * 10n ** BigInt(shift)) / supply;
  // Adding 0 makes 0 of -0.
  return Number(((Number(quotient) * 100) / 10 ** shift).toFixed(2)) + 0;
};

/** Produced blocks in percent of those and the missed ones, two decimals, halves rounded up; null where there are neither. */
export const productivityOf = (produced: number, missed: number): number | null =>
  produced + missed === 0 ? null : Math.round((produced * 10_000) / (produced + missed)) / 100;

/** Mean of `count` amounts that add up to `sum`: halves rounded up, as in the fee statistics of a node's database. */
export const averageOf = (sum: bigint, count: number): bigint => (2n * sum + BigInt(count)) / (2n * BigInt(count));
