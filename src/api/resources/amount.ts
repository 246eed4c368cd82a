import { Type } from "@sinclair/typebox";

/**
 * An amount in a reply: a whole number of 1e-8 of the token, written with all its digits. `x-amount` lets a host that
 * wants decimal strings have them everywhere at once.
 */
export const Amount = Type.Unsafe<bigint>({
  type: "integer",
  "x-amount": true,
  description: "Whole number of 1e-8 of the token, with all its digits.",
});

/** An amount that is a decimal string whatever the host wants. */
export const AmountText = Type.String({ pattern: "^-?[0-9]+$", description: "Whole number of 1e-8 of the token." });

/** An amount among a network's constants: a number whatever the host wants. */
export const ConstantAmount = Type.Unsafe<bigint>({ type: "integer", description: "Whole number of 1e-8 of the token." });
