import { Type } from "@sinclair/typebox";

/**
 * An amount in a reply: a whole number of 1e-8 of the token, written with all its digits. `x-amount` marks it for the
 * request or the option `amounts`, which makes all of these decimal strings.
 */
export const Amount = Type.Unsafe<bigint>({
  type: "integer",
  "x-amount": true,
  description: "Whole number of 1e-8 of the token, with all its digits.",
});

/** An amount that is always a decimal string, whatever the form of the others. */
export const AmountText = Type.String({ pattern: "^-?[0-9]+$", description: "Whole number of 1e-8 of the token." });

/** An amount among a network's constants: always a number, whatever the form of the others. */
export const ConstantAmount = Type.Unsafe<bigint>({ type: "integer", description: "Whole number of 1e-8 of the token." });
