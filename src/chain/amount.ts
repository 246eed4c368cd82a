import type { AmountLike } from "../../types/events.js";

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
  if (!/^-?\d+$/.test(text)) throw new RangeError(`"${text}" is not a whole number`);
  return BigInt(text);
};

/** Vote balance in percent of the supply: two decimals, halves rounded up. */
export const approvalOf = (voteBalance: bigint, supply: bigint): number =>
  supply > 0n ? Number((voteBalance * 20_000n + supply) / (2n * supply)) / 100 : 0;

/** Mean of `count` amounts that add up to `sum`: halves rounded up, as in the fee statistics of a node's database. */
export const averageOf = (sum: bigint, count: number): bigint => (2n * sum + BigInt(count)) / (2n * BigInt(count));
