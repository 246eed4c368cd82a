import type { AmountLike } from "../../types/events.js";

/**
 * Reads an amount from whatever form a host holds it in. Exact: a number that a double cannot hold is refused.
 * @throws RangeError when it is no whole number.
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

/** Vote balance as a share of the supply: percent, two decimals, half rounded up. */
export const approvalOf = (voteBalance: bigint, supply: bigint): number =>
  supply > 0n ? Number((voteBalance * 20_000n + supply) / (2n * supply)) / 100 : 0;

/** Mean of `count` amounts that add up to `sum`: half rounded up, as a node's database rounds its fee statistics. */
export const averageOf = (sum: bigint, count: number): bigint => (2n * sum + BigInt(count)) / (2n * BigInt(count));
