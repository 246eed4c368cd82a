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
  /** A free-form part that is left out of the text. */
  leavesOut?: unknown;
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

/** Stands for what was left out of a text: no JSON text has such a character. */
const leftOut = "\0";

const hooksFor = ({ amountsAsText, leavesOut }: SerializerOptions): Hooks => ({
  asInteger: writeInteger,
  asTime: leavesOut === undefined ? writeFreeForm : (value) => (value === leavesOut ? leftOut : writeFreeForm(value)),
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

// A reply may hold rows that are large: a webhook may list a hundred thousand addresses, and a page has up to a hundred webhooks. As one
// text that is 400 MB, and holds up the process for a second. So rows are written one by one, and once there is much of them, while the
// reply is sent.

/** JSON that is not written yet. */
export interface LongJson {
  /** Its text, in order. */
  pieces(): Generator<string, void>;
}

/** Writes a reply, or begins to. */
export type WriteJson = (value: unknown) => string | LongJson;

/** Characters from which on a reply with such rows is written while it is sent. Half a megabyte takes a millisecond or two. */
const much = 524_288;

/** Characters of one piece. */
const pieceLength = 65_536;

type List = readonly unknown[];

function* rowsWritten(rows: List, writeRow: (row: unknown) => string): Generator<string, void> {
  yield "[";
  for (const [index, row] of rows.entries()) yield (index === 0 ? "" : ",") + writeRow(row);
  yield "]";
}

/** The text around the rows and, in its middle, the rows, in pieces. */
function* piecesOf(text: string, rows: Iterable<string>): Generator<string, void> {
  const [before = "", behind = ""] = text.split(leftOut);
  let piece = before;
  for (const some of rows) {
    piece += some;
    if (piece.length < pieceLength) continue;
    yield piece;
    piece = "";
  }
  yield piece + behind;
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

/** Compiles the writer of a reply whose rows, the list `data`, may be large: they are written one by one. */
export const createRowsWriter = (schema: { properties: { data: { items: unknown } } }, options: { amountsAsText: boolean }): WriteJson => {
  const { properties } = schema;
  const writeRow = createSerializer(properties.data.items, options);
  const noRows: List = [];
  const withoutRows = { ...schema, properties: { ...properties, data: {} } };
  const writeRest = createSerializer(withoutRows, { ...options, leavesOut: noRows });
  return (value) => {
    const { data, ...rest } = value as { data: List };
    // What is spread comes last: the other way round, V8 makes a hidden class of each object, which stays until a full collection.
    return begin(piecesOf(writeRest({ data: noRows, ...rest }), rowsWritten(data, writeRow)));
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
