/**
 * SQLite's integers end at 2^63 and its sums turn into doubles. So amounts are kept as texts of equal length that sort as the
 * amounts do, and are added up in JavaScript.
 */
const bias = 10n ** 38n;
const digits = 39;

const sortable = (amount: bigint): string => (amount + bias).toString().padStart(digits, "0");

/** @throws RangeError for what no chain has: amounts of 1e38 and more */
export const amountText = (amount: bigint): string => {
  if (amount >= bias || amount < -bias) throw new RangeError(`${amount} is no amount`);
  return sortable(amount);
};

/** A bound of a range or a value looked for, which may be anything: beyond every amount there is nothing to tell apart. */
export const boundText = (amount: bigint): string => (amount >= bias ? "9".repeat(digits + 1) : amount < -bias ? "" : sortable(amount));

export const amountOf = (text: string): bigint => BigInt(text) - bias;
