import { LosslessNumber, parse } from "lossless-json";
import { exactNumber } from "../../../src/http/input/exact-json.js";
import { type GoType, type Integer, integers, isQuoted, type Scalar } from "./types.js";

/** Reads JSON into a type as Go's `encoding/json` does, and fails where that fails. */

const fail = (path: string, type: GoType, value: unknown): never => {
  throw new TypeError(`${path}: ${JSON.stringify(value)} is no ${typeof type === "string" ? type : Object.keys(type).join()}`);
};

const zeroOf = (type: GoType): unknown => {
  if (typeof type !== "string") {
    return "members" in type ? Object.fromEntries(Object.entries(type.members).map(([name, part]) => [name, zeroOf(part)])) : null;
  }
  return type === "string" ? "" : type === "bool" ? false : isQuoted(type) ? "0" : 0;
};

/** Only digits: Go refuses a fraction and an exponent in an integer, and one that is out of range. */
const readInteger = (type: Integer, text: string): string | undefined => {
  const [least, most] = integers[type];
  if (!(least < 0n ? /^-?(?:0|[1-9]\d*)$/ : /^(?:0|[1-9]\d*)$/).test(text)) return undefined;
  return BigInt(text) >= least && BigInt(text) <= most ? text : undefined;
};

const readScalar = (type: Scalar, value: unknown, path: string): unknown => {
  if (type === "string") return typeof value === "string" ? value : fail(path, type, value);
  if (type === "bool") return typeof value === "boolean" ? value : fail(path, type, value);
  if (isQuoted(type)) {
    const digits = typeof value === "string" ? readInteger(type.replace(",string", "") as Integer, value) : undefined;
    return digits ?? fail(path, type, value);
  }
  if (!(value instanceof LosslessNumber)) return fail(path, type, value);
  if (type === "float64") return Number(value.value);
  const digits = readInteger(type, value.value);
  return digits === undefined ? fail(path, type, value.value) : exactNumber(digits);
};

const entriesOf = (type: GoType, value: unknown, path: string): [string, unknown][] =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof LosslessNumber) ? Object.entries(value) : fail(path, type, value);

const read = (type: GoType, value: unknown, path: string): unknown => {
  // Go leaves a member as it is where there is null.
  if (value === null) return zeroOf(type);
  if (typeof type === "string") return readScalar(type, value, path);
  if ("list" in type) {
    return Array.isArray(value) ? value.map((each, index) => read(type.list, each, `${path}[${index}]`)) : fail(path, type, value);
  }
  const given = entriesOf(type, value, path);
  if ("map" in type) return Object.fromEntries(given.map(([name, part]) => [name, read(type.map, part, `${path}.${name}`)]));
  const result = zeroOf(type) as Record<string, unknown>;
  const names = Object.keys(type.members);
  for (const [key, part] of given) {
    const name = names.includes(key) ? key : names.find((each) => each.toLowerCase() === key.toLowerCase());
    const member = name === undefined ? undefined : type.members[name];
    if (name !== undefined && member !== undefined) result[name] = read(member, part, `${path}.${name}`);
  }
  return result;
};

/** The value that Go would have, as it would write it. Throws TypeError where Go gives an error. */
export const readAsGo = (type: GoType, json: string): unknown => read(type, parse(json), "");
