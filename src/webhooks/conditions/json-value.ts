import { isDigits } from "../../digits.js";
import { numberText } from "./decimal.js";

/** A text that is the same for all JSON values that count as equal: object members in any order, a number and its decimal text alike. */
export const canonical = (value: unknown): string => {
  if (typeof value === "string") return `=${JSON.stringify(value)}`;
  if (typeof value === "number" || typeof value === "bigint") return `="${numberText(value)}"`;
  return typeof value === "object" && value !== null ? canonicalObject(value) : String(value);
};

const canonicalObject = (value: object): string => {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  const members = Object.entries(value as Record<string, unknown>).filter(([, member]) => member !== undefined);
  members.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(",")}}`;
};

/** JSON text, with bigints as strings. @throws TypeError or RangeError for what is no JSON value, or nested too deeply */
export const jsonText = (value: unknown): string => JSON.stringify(value, (_key, member: unknown) => (typeof member === "bigint" ? String(member) : member));

/** Characters of a value as JSON; infinitely many for what cannot be written so, and 0 for none. */
export const jsonLength = (value: unknown): number => {
  try {
    return value === undefined ? 0 : jsonText(value).length;
  } catch {
    return Infinity;
  }
};

/** Stands for a value that is not there. */
const absent = Symbol("absent");

const step = (from: unknown, name: string): unknown => {
  if (typeof from !== "object" || from === null || !Object.hasOwn(from, name)) return absent;
  if (Array.isArray(from) && !isDigits(name)) return absent;
  const value = (from as Record<string, unknown>)[name];
  // A host may set a member to undefined: it is not in what is sent.
  return value === undefined ? absent : value;
};

/** Reads own properties only. */
const along = (payload: unknown, path: readonly string[]): unknown => {
  let value = payload;
  for (const name of path) {
    value = step(value, name);
    if (value === absent) return absent;
  }
  return value;
};

/** In a path: any element of an array. */
export const anyElement = "*";

const elementsAlong = (payload: unknown, path: readonly string[]): unknown[] => {
  const star = path.indexOf(anyElement);
  if (star === -1) {
    const value = along(payload, path);
    return value === absent ? [] : [value];
  }
  const list = along(payload, path.slice(0, star));
  return Array.isArray(list) ? list.flatMap((element) => elementsAlong(element, path.slice(star + 1))) : [];
};

/** What a payload has at a key: nothing, a value or, where the path has a `*`, several. A property whose name is the whole key takes precedence over a path. */
export const valuesAt = (payload: unknown, key: string, path: readonly string[]): unknown[] => {
  const direct = step(payload, key);
  if (direct !== absent) return [direct];
  return path.length === 1 && key !== anyElement ? [] : elementsAlong(payload, path);
};
