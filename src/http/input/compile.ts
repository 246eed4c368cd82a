import { parseBounded } from "./bounded-json.js";
import { exactKeyword, inputKeyword, textKeyword } from "./schema.js";
import { isSchema, type JsonSchema } from "../json-schema.js";

/**
 * Derives the validating schema from a route's: ids are dropped (many routes share a schema), objects refuse members that they
 * do not name, and integers are limited to what a double holds exactly.
 */
export const inputSchema = (schema: unknown): JsonSchema => close(schema, true);

const mapValues = (record: JsonSchema, change: (value: unknown) => unknown): JsonSchema =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));

const integerBounds = { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER };

const close = (schema: unknown, closing: boolean): JsonSchema => {
  if (!isSchema(schema)) {
    return {};
  }
  const closed = { ...schema };
  delete closed.$id;
  for (const keyword of ["properties", "patternProperties"]) {
    if (isSchema(closed[keyword])) {
      closed[keyword] = mapValues(closed[keyword], (part) => close(part, true));
    }
  }
  for (const keyword of ["anyOf", "oneOf"]) {
    if (Array.isArray(closed[keyword])) {
      closed[keyword] = closed[keyword].map((part) => close(part, closing));
    }
  }
  if (Array.isArray(closed.allOf)) {
    closed.allOf = closed.allOf.map((part) => close(part, false));
  }
  if (isSchema(closed.items)) {
    closed.items = close(closed.items, true);
  }
  if (closed.type === "integer") {
    return { ...integerBounds, ...closed };
  }
  const open = "additionalProperties" in closed || "patternProperties" in closed;
  return closing && closed.type === "object" && !open ? { ...closed, additionalProperties: false } : closed;
};

/** Converts text to the declared type; a value that does not fit is left for the validation to report. */
type Coerce = (value: unknown) => unknown;

const toInteger: Coerce = (value) => {
  if (typeof value === "bigint" || (typeof value === "string" && /^-?\d{1,300}$/.test(value))) {
    return Number(value);
  }
  return value;
};

const toNumber: Coerce = (value) => {
  if (typeof value === "bigint" || (typeof value === "string" && /^-?\d{1,300}(\.\d{1,300})?(e[+-]?\d{1,3})?$/i.test(value))) {
    return Number(value);
  }
  return value;
};

const toBoolean: Coerce = (value) => (value === "true" ? true : value === "false" ? false : value);

const toTrimmed: Coerce = (value) => (typeof value === "string" ? value.trim() : value);

const fromCommas: Coerce = (value) => {
  const list: unknown = typeof value === "string" ? value.split(",") : value;
  return Array.isArray(list) ? list.map(toTrimmed) : list;
};

/** Characters of a list as JSON: no body has more. */
const longestJson = 8_388_608;

const fromJson: Coerce = (value) => {
  if (typeof value !== "string") return value;
  try {
    return parseBounded(value, longestJson);
  } catch {
    return value;
  }
};

const listCoercion = (schema: JsonSchema): Coerce | undefined => {
  const items = coercion(schema.items);
  const ofText = schema[textKeyword] === "json" ? fromJson : schema[textKeyword] === "commas" ? fromCommas : undefined;
  if (items === undefined) return ofText;
  return (value) => {
    const list = ofText === undefined ? value : ofText(value);
    return Array.isArray(list) ? list.map(items) : list;
  };
};

const singles = new WeakSet<object>();

/** Whether a range was made from a single value given in its place. */
export const isSingle = (value: unknown): boolean => isSchema(value) && singles.has(value);

const single = (value: unknown): JsonSchema => {
  const range = { from: value, to: value };
  singles.add(range);
  return range;
};

const memberCoercion = (schema: JsonSchema): Coerce | undefined => {
  const members = isSchema(schema.properties) ? Object.entries(schema.properties) : [];
  const coercions = members.flatMap(([name, part]) => {
    const coerce = coercion(part);
    return coerce === undefined ? [] : [{ name, coerce }];
  });
  const exact = schema[exactKeyword] === true;
  if (coercions.length === 0 && !exact) {
    return undefined;
  }
  return (value) => {
    const members = exact && value !== undefined && !isSchema(value) ? single(value) : value;
    if (!isSchema(members)) {
      return members;
    }
    for (const { name, coerce } of coercions) {
      if (Object.hasOwn(members, name)) {
        members[name] = coerce(members[name]);
      }
    }
    return members;
  };
};

/** The conversion to apply to values before validation; undefined if there is none. Objects are changed in place. */
export const coercion = (schema: unknown): Coerce | undefined => {
  if (!isSchema(schema) || inputKeyword in schema) {
    return undefined;
  }
  switch (schema.type) {
    case "integer":
      return toInteger;
    case "number":
      return toNumber;
    case "boolean":
      return toBoolean;
    case "array":
      return listCoercion(schema);
    case "object":
      return memberCoercion(schema);
    default:
      return undefined;
  }
};
