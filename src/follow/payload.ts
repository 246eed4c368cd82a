import { messageOf } from "../errors.js";

interface BigNumberLike {
  _isBigNumber: true;
  toFixed(): string;
}

/** bignumber.js, whose own JSON form has exponents for large numbers. */
const isBigNumber = (value: unknown): value is BigNumberLike =>
  typeof value === "object" && value !== null && (value as Partial<BigNumberLike>)._isBigNumber === true;

const plain = (original: unknown, value: unknown): unknown => {
  if (isBigNumber(original)) return original.toFixed();
  if (typeof value === "bigint") return String(value);
  if (value instanceof Error) return { name: value.name, message: value.message };
  return value;
};

/** Values in a payload, at the most: some hundred times those of a full block. One with more leads into the host's internals. */
const mostValues = 250_000;

/** A replacer that leaves out circular references, and throws where a payload has too many values. */
const withoutCycles = () => {
  const ancestors: unknown[] = [];
  let values = 0;
  return function replace(this: unknown, key: string, value: unknown): unknown {
    if (++values > mostValues) throw new RangeError(`The payload has more than ${mostValues} values.`);
    const holder = this as Record<string, unknown>;
    const replaced = plain(holder[key], value);
    if (typeof replaced !== "object" || replaced === null) return replaced;
    while (ancestors.length > 0 && ancestors.at(-1) !== holder) ancestors.pop();
    if (ancestors.includes(replaced)) return undefined;
    ancestors.push(replaced);
    return replaced;
  };
};

/** Undefined for what JSON leaves out, itself or as the result of `toJSON`, which the types of `JSON.stringify` do not say. */
const textOf: (value: unknown, replacer: ReturnType<typeof withoutCycles>) => string | undefined = JSON.stringify;

/**
 * What a host emits, as JSON text: amounts of any kind as decimal strings, errors by name and message, `null` for nothing at all.
 * Never throws, whatever the payload is: for one that cannot be read, it says why.
 *
 * Maps and sets are `{}`, as in JSON: a wallet that ARK Core 3 emits (`round.created`) holds the node's event dispatcher, and through
 * its map of listeners the whole node. Serializing that would block the node for seconds.
 */
export const payloadJson = (payload: unknown): string => {
  try {
    return textOf(payload, withoutCycles()) ?? "null";
  } catch (error) {
    return JSON.stringify({ unreadable: messageOf(error) });
  }
};

/** A member of a payload, which may be anything. */
export const memberOf = (payload: unknown, name: string): unknown => (typeof payload === "object" && payload !== null ? (payload as Record<string, unknown>)[name] : undefined);
