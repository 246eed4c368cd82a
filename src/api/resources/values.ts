import { type TSchema, Type } from "@sinclair/typebox";

export const TextOrNull = Type.Unsafe<string | null>({ type: ["string", "null"] });

/** The envelope of a reply with a single object. */
export const DataOf = <Resource extends TSchema>(resource: Resource) => Type.Object({ data: resource });

/** An object that is passed through unchanged from the chain or the host. */
export const OpenObject = Type.Unsafe<Record<string, unknown>>({ type: "object", additionalProperties: true });

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

/** Made by `Epoch.timestamp` in src/chain/epoch.ts. */
export const TimestampResource = Type.Object(
  {
    epoch: Type.Integer({ description: "Seconds since the network's epoch." }),
    unix: Type.Integer({ description: "Seconds since 1970." }),
    human: Type.String({ description: "ISO 8601, UTC, with milliseconds." }),
  },
  { title: "Timestamp" },
);
