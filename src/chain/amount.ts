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
    throw new RangeError(`${value} is not an exact whole number`);
  }
  const text = typeof value === "string" ? value : value.toString();
  if (!isDigits(text.startsWith("-") ? text.slice(1) : text)) throw new RangeError(`"${text}" is not a whole number`);
  return BigInt(text);
};

/**
 * Vote balance in percent of the supply, with two decimals, to the digit as ARK Core 3 reports it. That keeps four or five digits of the
 * quotient, cuts the others, and rounds what is left as a double: 64.39597 % becomes 64.39. A minus sign counts as a
 * digit.
 */
export const approvalOf = (voteBalance: bigint, supply: bigint): number => {
  if (supply <= 0n) return 0;
  const shift = Math.max(0, String(supply).length - String(voteBalance).length + 4);
  const quotient = (voteBalance * 10n ** BigInt(shift)) / supply;
  // Adding 0 makes 0 of -0.
  return Number(((Number(quotient) * 100) / 10 ** shift).toFixed(2)) + 0;
};

/** Mean of `count` amounts that add up to `sum`: halves rounded up, as in the fee statistics of a node's database. */
export const averageOf = (sum: bigint, count: number): bigint => (2n * sum + BigInt(count)) / (2n * BigInt(count));
