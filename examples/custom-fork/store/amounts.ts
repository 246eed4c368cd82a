/**
 * SQLite's integers end at 2^63, and its sums turn into doubles. So amounts are stored as texts of equal length that sort as the
 * amounts do, and are added up in JavaScript.
 */
const bias = 10n ** 38n;
const digits = 39;

const sortable = (amount: bigint): string => (amount + bias).toString().padStart(digits, "0");

/** @throws RangeError for an amount of 1e38 or more, or below -1e38, which no chain has */
export const amountText = (amount: bigint): string => {
  if (amount >= bias || amount < -bias) throw new RangeError(`${amount} is out of range for an amount`);
  return sortable(amount);
};

/** Like `amountText`, for bounds and values of filters, which may be of any size: those beyond all amounts sort before or after them. */
export const boundText = (amount: bigint): string => (amount >= bias ? "9".repeat(digits + 1) : amount < -bias ? "" : sortable(amount));

export const amountOf = (text: string): bigint => BigInt(text) - bias;
