import build from "fast-json-stringify";
import { stringify } from "lossless-json";
import { loopShare } from "../../async/loop-share.js";
import { shown } from "../../errors.js";
import { amountKeyword, amountsInsideKeyword, isSchema, type JsonSchema, nullable, unionConstants, withoutNull } from "../json-schema.js";
import { defaultPatience } from "./body-reply.js";
import { emptyReply, plainHeaders, type Reply, type ReplyFacts } from "./reply.js";

/** Writes a reply of one schema as JSON text. Throws if a required member is missing or an integer is not a whole number. */
type Serialize = (value: unknown) => string;

/**
 * Methods that the generated code calls. `asTime` and `asDate` write strings of the formats "time" and "date"; free-form parts are declared
 * as the former to get there, and those with amounts inside as the latter.
 */
interface Hooks {
  asInteger(value: unknown): string;
  asTime(value: unknown): string;
  asDate(value: unknown): string;
}

interface SerializerOptions {
  amountsAsText: boolean;
  /** Whether a list that is a free-form part is left out of the text; it is told of them in the order in which they stand there. */
  leavesOut?: (list: readonly unknown[]) => boolean;
}

interface DebugBuild {
  code: string;
  validator: unknown;
  serializer: object;
}

const restore = (build as unknown as { restore(parts: DebugBuild): Serialize }).restore;

/** Exact, whereas the library's default rounds, and writes null as 0. */
const writeInteger = (value: unknown): string => {
  if (typeof value === "bigint" || Number.isInteger(value)) {
    return String(value);
  }
  throw new TypeError(`${shown(value)} is not a whole number.`);
};

/** JSON.stringify throws on bigints; the other writer takes them, at a fourth of the speed. */
const freeFormWriter =
  (withBigints: (value: unknown) => string) =>
  (value: unknown): string => {
    try {
      return JSON.stringify(value);
    } catch {
      return withBigints(value);
    }
  };

/** Writes a free-form part, with bigints as integers. */
const writeFreeForm = freeFormWriter((value) => stringify(value) ?? "null");
const asTexts = freeFormWriter((value) => JSON.stringify(value, (_, part: unknown) => (typeof part === "bigint" ? String(part) : part)));

/** Stands for a list that was left out of a text: no JSON text has such a character. */
const leftOut = "\0";

const hooksFor = ({ amountsAsText, leavesOut }: SerializerOptions): Hooks => ({
  asInteger: writeInteger,
  asTime: leavesOut === undefined ? writeFreeForm : (value) => (Array.isArray(value) && leavesOut(value) ? leftOut : writeFreeForm(value)),
  asDate: amountsAsText ? asTexts : writeFreeForm,
});
const freeForm: JsonSchema = { type: "string", format: "time" };
const freeFormWithAmounts: JsonSchema = { type: "string", format: "date" };

const propertiesOf = (schema: JsonSchema, convert: (part: unknown) => JsonSchema): JsonSchema => {
  const converted: JsonSchema = { type: "object" };
  if (isSchema(schema.properties)) {
    converted.properties = Object.fromEntries(Object.entries(schema.properties).map(([name, part]) => [name, convert(part)]));
  }
  if (Array.isArray(schema.required)) {
    converted.required = schema.required;
  }
  const patterns = isSchema(schema.patternProperties) ? Object.values(schema.patternProperties) : [];
  if (patterns.length > 0) {
    converted.additionalProperties = convert(patterns[0]);
  } else if (schema.additionalProperties === true) {
    converted.additionalProperties = freeForm;
  } else if (isSchema(schema.additionalProperties)) {
    converted.additionalProperties = convert(schema.additionalProperties);
  }
  return converted;
};

const unionOf = (schema: JsonSchema, convert: (part: unknown) => JsonSchema): JsonSchema => {
  const constants = unionConstants(schema);
  const kinds = new Set(constants?.map((constant) => typeof constant));
  if (kinds.size === 1) {
    return { type: [...kinds][0] };
  }
  return constants === undefined ? { anyOf: (schema.anyOf as unknown[]).map(convert) } : freeForm;
};

/** Rewrites a schema so that the generated code is fast and exact: no ids, null as `nullable`, amounts as integers or strings. */
const forGenerator = (schema: unknown, amountsAsText: boolean): JsonSchema => {
  const convert = (part: unknown): JsonSchema => forGenerator(part, amountsAsText);
  if (!isSchema(schema)) {
    return freeForm;
  }
  if (nullable(schema)) {
    return { ...convert(withoutNull(schema)), nullable: true };
  }
  if (schema[amountKeyword] === true) {
    return { type: amountsAsText ? "string" : "integer" };
  }
  if (schema[amountsInsideKeyword] === true) {
    return freeFormWithAmounts;
  }
  if (Array.isArray(schema.anyOf)) {
    return unionOf(schema, convert);
  }
  if (Array.isArray(schema.allOf)) {
    return { allOf: schema.allOf.map(convert) };
  }
  if (schema.type === "object") {
    return propertiesOf(schema, convert);
  }
  if (schema.type === "array") {
    return { type: "array", items: convert(schema.items) };
  }
  if (schema.const !== undefined) {
    return { type: typeof schema.const };
  }
  return typeof schema.type === "string" ? { type: schema.type } : freeForm;
};

/**
 * Compiles the writer for a reply schema. Amounts (`"x-amount": true`) are bigints, written as JSON integers with all their
 * digits or as decimal strings. Free-form parts (`Unknown`, `Any`) are written as they are, with bigints as integers; in those with
 * `"x-amounts-inside": true` bigints are amounts.
 */
export const createSerializer = (schema: unknown, options: SerializerOptions): Serialize => {
  const generated = build(forGenerator(schema, options.amountsAsText), { mode: "debug" }) as unknown as DebugBuild;
  const serializer = Object.assign(Object.create(generated.serializer) as object, hooksFor(options));
  return restore({ ...generated, serializer });
};

/**
 * A reply may hold long lists, or rows that are large: a webhook may list a hundred thousand addresses, and a page has up to a hundred
 * webhooks. As one text that is 400 MB, and holds up the process for a second. So such parts are left out of the text and written in
 * pieces, and once there is much of them, while the reply is sent.
 */

/** JSON that is not written yet. */
export interface LongJson {
  /** Its text, in order. */
  pieces(): Generator<string, void>;
}

/** Writes a reply, or begins to. */
export type WriteJson = (value: unknown) => string | LongJson;

/** Characters from which on a list is long. All that a page of webhooks has besides such lists is some 10 MB at the worst. */
const longList = 1_024;

/** Characters from which on a reply with such parts is written while it is sent. Half a megabyte takes a millisecond or two. */
const much = 524_288;

/** Characters of one piece. */
const pieceLength = 65_536;

type List = readonly unknown[];

/** The place in a list up to which it has about so many characters as JSON, and how many they are. */
const measure = (list: List, from: number, most: number): { end: number; length: number } => {
  let [end, length] = [from, 0];
  for (; end < list.length && length < most; end++) {
    const value = list[end];
    length += typeof value === "string" ? value.length + 3 : 20;
  }
  return { end, length };
};

/** Whether a list is long, and has no objects or lists at its beginning. */
const isLong = (list: List): boolean => {
  const { end, length } = measure(list, 0, longList);
  return length >= longList && list.slice(0, end).every((value) => typeof value !== "object");
};

function* listWritten(list: List): Generator<string, void> {
  for (let from = 0; from < list.length; ) {
    const { end } = measure(list, from, pieceLength);
    yield (from === 0 ? "[" : ",") + writeFreeForm(list.slice(from, end)).slice(1, -1);
    from = end;
  }
  yield "]";
}

function* rowsWritten(rows: List, writeRow: (row: unknown) => string): Generator<string, void> {
  yield "[";
  for (const [index, row] of rows.entries()) yield (index === 0 ? "" : ",") + writeRow(row);
  yield "]";
}

/** A text with the parts that were left out of it, in pieces. */
function* piecesOf(text: string, parts: readonly Iterable<string>[]): Generator<string, void> {
  let piece = "";
  for (const [index, between] of text.split(leftOut).entries()) {
    piece += between;
    for (const some of parts[index] ?? []) {
      piece += some;
      if (piece.length < pieceLength) continue;
      yield piece;
      piece = "";
    }
  }
  yield piece;
}

function* after(begun: readonly string[], rest: Generator<string, void>): Generator<string, void> {
  yield* begun;
  yield* rest;
}

/** The whole text, or where it is much, its beginning and how it goes on. */
const begin = (pieces: Generator<string, void>): string | LongJson => {
  const begun: string[] = [];
  for (let length = 0; length < much; ) {
    const next = pieces.next();
    if (next.done === true) return begun.join("");
    begun.push(next.value);
    length += next.value.length;
  }
  return { pieces: () => after(begun, pieces) };
};

/** Compiles the writer of a reply schema. A reply that is `sentOnce` may be written while it is sent. */
export const createJsonWriter = (schema: unknown, options: { amountsAsText: boolean; sentOnce: boolean }): WriteJson => {
  const { amountsAsText, sentOnce } = options;
  if (!sentOnce) return createSerializer(schema, { amountsAsText });
  let parts: Iterable<string>[] = [];
  const leavesOut = (list: List): boolean => isLong(list) && parts.push(listWritten(list)) > 0;
  const serialize = createSerializer(schema, { amountsAsText, leavesOut });
  return (value) => {
    try {
      const text = serialize(value);
      return parts.length === 0 ? text : begin(piecesOf(text, parts));
    } finally {
      // Until the next reply, nobody holds what this one was made of.
      parts = [];
    }
  };
};

/** Compiles the writer of a reply whose rows, the list `data`, may be large: they are written one by one. */
export const createRowsWriter = (schema: { properties: { data: { items: unknown } } }, options: { amountsAsText: boolean }): WriteJson => {
  const { properties } = schema;
  const writeRow = createSerializer(properties.data.items, options);
  const noRows: List = [];
  const withoutRows = { ...schema, properties: { ...properties, data: {} } };
  const writeRest = createSerializer(withoutRows, { ...options, leavesOut: (list) => list === noRows });
  return (value) => {
    const { data, ...rest } = value as { data: List };
    // What is spread comes last: the other way round, V8 makes a hidden class of each object, which stays until a full collection.
    return begin(piecesOf(writeRest({ data: noRows, ...rest }), [rowsWritten(data, writeRow)]));
  };
};

/** In their share of the event loop, however many such replies are on their way. */
async function* written(pieces: Generator<string, void>): AsyncGenerator<Buffer> {
  for (;;) {
    const piece = await loopShare.run(() => {
      const next = pieces.next();
      return next.done === true ? undefined : Buffer.from(next.value);
    });
    if (piece === undefined) return;
    yield piece;
  }
}

/** A reply that is written while it is sent: neither kept nor compressed, and its length is not known. */
export const longReply = (facts: Omit<ReplyFacts, "json">, json: LongJson): Reply => ({
  ...emptyReply(facts.status, plainHeaders(facts)),
  stream: { open: () => written(json.pieces()), endless: false, patience: defaultPatience, keepsState: false, length: undefined },
});
