import {
  type Static,
  type TArray,
  type TBoolean,
  type TInteger,
  type TNumber,
  type TSchema,
  type TString,
  type TUnsafe,
  Type,
} from "@sinclair/typebox";
import type { Order } from "../../../types/chain-queries.js";
import { PorticoError } from "../../errors.js";
import { amountKeyword } from "../json-schema.js";
import { didYouMean } from "../../text/known-names.js";

/** Dates and times in ISO 8601, as far as they are taken: a day, or a time with its zone. */
export const isoDate = /^\d{4}-\d{2}-\d{2}$/;
export const isoTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})$/;

const dateLength = "2024-05-31".length;
const dayLength = 86_400_000;

/** `Date.parse` takes February 31 for March 3. */
const isDay = (date: string): boolean => {
  const time = Date.parse(date);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(date);
};

/**
 * The first and the last millisecond, since 1970, of a day (UTC) or of a moment; undefined for anything else, also for a day that no month
 * has.
 */
export const spanOf = (text: string): { begin: number; end: number } | undefined => {
  const isDate = isoDate.test(text);
  if ((!isDate && !isoTime.test(text)) || !isDay(text.slice(0, dateLength))) return undefined;
  const begin = Date.parse(text);
  return Number.isNaN(begin) ? undefined : { begin, end: isDate ? begin + dayLength - 1 : begin };
};

// Types of accepted input, for the `params`, `query` and `body` of routes. Values are parsed once, at the edge; handlers get the
// `Static` type. Plain TypeBox types work too. A query string carries nested members as `balance.from=1` and arrays as `a=1,2`,
// `a=1&a=2`, `a.0=1&a.1=2` or `a[]=1&a[]=2`. Numbers and booleans may be written as text, in bodies too.

/** The parsed value, or the rule that the value breaks, worded to follow the field's name: `must be ...`. */
type Parsed<T> = { value: T } | { rule: string };

/** What the parsing of a value may depend on besides the value. */
export interface Surroundings {
  /** When the network's time begins: ISO 8601. */
  epoch: string;
}

/** A custom input type: how its values are parsed, and how the docs describe them. */
export interface InputKind<T> {
  /** `value` is text from a query or path, or any JSON value, with whole numbers beyond 2^53 as bigints. */
  parse(value: unknown, surroundings: Surroundings): Parsed<T>;
  /** JSON schema of what is accepted. */
  accepts: Record<string, unknown>;
}

interface InputOptions {
  description?: string;
  /** As a client would write it. */
  default?: unknown;
}

/** Marks a schema whose values are parsed by an InputKind. */
export const inputKeyword = "x-input";
/** Of an object: what follows "is required" in the message for a member that is missing. */
export const requiredKeyword = "x-required";
/** Marks a range that also takes a single value, as both bounds. */
export const exactKeyword = "x-exact";

/** Of a list: how it is written as a text. */
export const textKeyword = "x-text";

/** Makes an input type that is parsed by `kind`. */
export const InputOf = <T>(kind: InputKind<T>, options: InputOptions = {}): TUnsafe<T> =>
  Type.Unsafe<T>({ ...options, [inputKeyword]: kind });

interface NumberOptions {
  minimum?: number;
  maximum?: number;
  default?: number;
  description?: string;
}

/** A whole number that a double holds exactly. */
export const WholeNumber = (options: NumberOptions = {}): TInteger => Type.Integer(options);

/** Any finite number. */
export const DecimalNumber = (options: NumberOptions = {}): TNumber => Type.Number(options);

export const Flag = (options: { default?: boolean; description?: string } = {}): TBoolean => Type.Boolean(options);

export const Text = (
  options: { minLength?: number; maxLength?: number; pattern?: string; default?: string; description?: string } = {},
): TString => Type.String(options);

/** One of these texts. */
export const OneOf = <const Value extends string>(
  values: readonly Value[],
  options: { default?: NoInfer<Value>; description?: string } = {},
): TUnsafe<Value> => Type.Unsafe<Value>({ ...options, type: "string", enum: [...values] });

/** In a query, comma-separated or repeated. `asText`: a body has it so, too, and spaces around the items do not count. */
export const ListOf = <Item extends TSchema>(
  item: Item,
  { asText = false, ...options }: { minItems?: number; maxItems?: number; description?: string; asText?: boolean } = {},
): TArray<Item> => Type.Array(item, { ...options, ...(asText ? { [textKeyword]: "commas" } : {}) });

/** The same list, which a query has as JSON, and a body as it is or as JSON. */
export const AsJson = <List extends TArray>(list: List, options: { description?: string } = {}): List => ({
  ...list,
  ...options,
  [textKeyword]: "json",
});

const amountText = /^-?\d{1,40}$/;

const parseAmount = (value: unknown): Parsed<bigint> => {
  if (typeof value === "bigint") {
    return { value };
  }
  if (typeof value === "number" && Number.isSafeInteger(value)) {
    return { value: BigInt(value) };
  }
  if (typeof value === "string" && amountText.test(value)) {
    return { value: BigInt(value) };
  }
  return { rule: "must be a whole number" };
};

const amountKind: InputKind<bigint> = {
  parse: parseAmount,
  accepts: { type: "integer", [amountKeyword]: true },
};

/** The unit of amounts, for descriptions. */
export const amountUnit = "A whole number of 1e-8 of the token.";

/** A whole number of 1e-8 of the token, up to 40 digits as text: a JSON number with all its digits, or decimal text. */
export const Amount = (options: InputOptions = {}): TUnsafe<bigint> => InputOf(amountKind, options);

/**
 * Inclusive bounds `{ from, to }`, each optional; in a query `field.from=1&field.to=9`. With `exact`, a single value may replace
 * the object and stands for both bounds: `field=5`.
 */
export const Range = <Bound extends TSchema>(bound: Bound, options: { exact?: boolean; description?: string } = {}) => {
  const { exact = false, ...rest } = options;
  return Type.Object(
    { from: Type.Optional(bound), to: Type.Optional(bound) },
    { ...rest, ...(exact ? { [exactKeyword]: true } : {}), additionalProperties: false },
  );
};

const timeKind = (bound: "from" | "to"): InputKind<number> => ({
  parse: (value, { epoch }) => {
    const text = String(value);
    if (/^\d{1,15}$/.test(text) && typeof value !== "object") return { value: Number(text) };
    const span = typeof value === "string" ? spanOf(value) : undefined;
    if (span === undefined) {
      const times = "a time in ISO 8601 such as 2024-05-31T12:00:00Z, or a date";
      return { rule: `must be whole seconds since the network's epoch (${epoch}), or ${times}` };
    }
    const seconds = ((bound === "from" ? span.begin : span.end) - Date.parse(epoch)) / 1000;
    if (bound === "from") return { value: Math.max(0, Math.ceil(seconds)) };
    return seconds < 0 ? { rule: `must not lie before the network's epoch (${epoch})` } : { value: Math.floor(seconds) };
  },
  accepts: { anyOf: [{ type: "integer", minimum: 0 }, { type: "string", pattern: `^\\d{1,15}$|${isoDate.source}|${isoTime.source}` }] },
});

/**
 * Bounds of time, in whole seconds since the network's epoch. Times and dates in ISO 8601 are taken, too: a date as `from` is its
 * first second, as `to` its last one, and in the place of both the whole day (UTC).
 */
export const TimeRange = (options: { exact?: boolean; description?: string } = {}) => {
  const { exact = false, description = "Time" } = options;
  const seconds = "whole seconds since the network's epoch (`constants.epoch` of `/node/configuration`)";
  const meaning = `${description}: ${seconds}, or ISO 8601: a time with its zone, or a date.`;
  const boundTo = (bound: "from" | "to") => Type.Optional(InputOf(timeKind(bound), { description: meaning }));
  return Type.Object(
    { from: boundTo("from"), to: boundTo("to") },
    { description: meaning, ...(exact ? { [exactKeyword]: true } : {}), additionalProperties: false },
  );
};

const orderMeaning = "The order of the rows: a field, alone or with `:asc` (the default) or `:desc`.";

type OrderFields<Field extends string> = readonly Field[] | Readonly<Record<string, Field>>;

const snakeCased = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const acceptedNames = <Field extends string>(fields: OrderFields<Field>): Map<string, Field> => {
  const named = Array.isArray(fields)
    ? (fields as readonly Field[]).map((field) => [field, field] as const)
    : Object.entries(fields);
  return new Map(named.flatMap(([name, field]) => [[name, field] as const, [snakeCased(name), field] as const]));
};

/** How `OrderBy` parses its values; a building block for order types that accept further forms. */
export const orderKind = <const Field extends string>(fields: OrderFields<Field>): InputKind<Order<Field>> => {
  const names = acceptedNames(fields);
  const shown = Array.isArray(fields) ? (fields as readonly Field[]) : Object.keys(fields);
  const must = `must be one of ${shown.join(", ")}, each alone or with :asc or :desc`;
  const parse = (value: unknown): Parsed<Order<Field>> => {
    if (typeof value !== "string") return { rule: must };
    const [name = "", given = "asc", ...more] = value.split(":", 3);
    const [field, direction] = [names.get(name), given.toLowerCase()];
    const isOrder = field !== undefined && more.length === 0 && (direction === "asc" || direction === "desc");
    const rule = field === undefined ? must + didYouMean(name, shown) : must;
    return isOrder ? { value: { field, direction } } : { rule };
  };
  return { parse, accepts: { type: "string", enum: shown.flatMap((name) => [`${name}:asc`, `${name}:desc`]) } };
};

/**
 * `field`, `field:asc` or `field:desc`; a bare field is ascending. The direction is case-insensitive; names may be in camelCase or
 * snake_case. `fields` lists the names, or maps each accepted name to the one that handlers use (`{ votes: "voteBalance" }`).
 */
export const OrderBy = <const Field extends string>(
  fields: OrderFields<Field>,
  options: { default?: string; description?: string } = {},
): TUnsafe<Order<Field>> => {
  const kind = orderKind(fields);
  const wrong = options.default === undefined ? undefined : kind.parse(options.default, { epoch: "" });
  if (wrong !== undefined && "rule" in wrong) {
    throw new TypeError(`The default order "${String(options.default)}" ${wrong.rule}.`);
  }
  const description = options.description === undefined ? orderMeaning : `${orderMeaning} ${options.description}`;
  return InputOf(kind, { ...options, description });
};

/** The type that handlers get for an input schema. */
export type Input<Schema extends TSchema> = Static<Schema>;

const form = /^([0-9]{1,20}|[0-9a-fA-F]{64})$/;

/** Names the block as of which a route answers: by height, id in lower case, or a time or day as it was given. */
export const At = InputOf<string>(
  {
    parse: (value) => {
      if (typeof value === "string" && form.test(value)) return { value: value.toLowerCase() };
      if (typeof value === "string" && spanOf(value) !== undefined) return { value };
      return { rule: "must be a height, the id of a block (up to 20 decimal or 64 hexadecimal digits), a time in ISO 8601 with its zone (+ is written as %2B), or a date" };
    },
    accepts: { type: "string", pattern: `${form.source}|${isoDate.source}|${isoTime.source}` },
  },
  {
    description:
      "Height or id of a block. The reply is of the state when that block was the tip. A time (ISO 8601, with its zone) or a day (UTC, its end) means the last block at or before it.",
  },
);

/** The routes that take it. A test holds this to them, and to the README. */
export const atTakers =
  "/blocks, /delegates and /votes with all below them; /transactions with its search, {id}, fees and types; " +
  "/wallets/{id} with its transactions, votes, history and statement; " +
  "/rounds/{id}/delegates, /blockchain, /node/configuration and /node/fees";

/** For what is not kept for earlier heights: `what` cannot be told. */
export const notAtHeight = (what: string): PorticoError =>
  new PorticoError(
    "NOT_AT_HEIGHT",
    `${what}. These take "at": ${atTakers}. Then blocks, transactions and votes are listed by height or timestamp.`,
    { validation: { source: "query", keys: ["at"] } },
  );

/** @throws PorticoError NOT_AT_HEIGHT if a route that does not take `at` is asked with it */
export const refuseAt = (pairs: readonly (readonly [name: string, value: string])[]): void => {
  if (pairs.some(([name]) => name === "at")) throw notAtHeight('"at" is not allowed here');
};
