import { InputOf, Text } from "../../http/input.js";

/** Types of the values that lists are filtered by. */

const hexText = (description: string, digits?: number) =>
  InputOf<string>(
    {
      parse: (value) =>
        typeof value === "string" && /^[0-9a-fA-F]+$/.test(value) && (digits === undefined || value.length === digits)
          ? { value: value.toLowerCase() }
          : { rule: digits === undefined ? "must be hexadecimal digits" : `must be ${digits} hexadecimal digits` },
      accepts: { type: "string", pattern: digits === undefined ? "^[0-9a-fA-F]+$" : `^[0-9a-fA-F]{${digits}}$` },
    },
    { description },
  );

/** A hash or a public key in a path, in the case in which they are known; whatever else a path may name, as it stands. */
export const inKnownCase = (name: string): string =>
  (name.length === 64 || name.length === 66) && /^[0-9a-fA-F]+$/.test(name) ? name.toLowerCase() : name;

export const Hex = hexText("Hexadecimal digits.");
export const Hash = hexText("64 hexadecimal digits.", 64);
export const PublicKey = hexText("Public key: 66 hexadecimal digits.", 66);

/** Whether anyone has seen the address is no question of form: an address of no wallet gives an empty list. */
export const Address = Text({ pattern: "^[0-9A-Za-z]+$", maxLength: 64, description: "Address." });

export const BlockId = InputOf<string>(
  {
    parse: (value) =>
      typeof value === "string" && /^([0-9]{1,20}|[0-9a-fA-F]{64})$/.test(value)
        ? { value: value.toLowerCase() }
        : { rule: "must be up to 20 decimal or 64 hexadecimal digits" },
    accepts: { type: "string", pattern: "^([0-9]{1,20}|[0-9a-fA-F]{64})$" },
  },
  { description: "Id of a block: up to 20 decimal or 64 hexadecimal digits." },
);
