import build from "fast-json-stringify";
import { stringify } from "lossless-json";
import { shown } from "../../errors.js";
import { amountKeyword, amountsInsideKeyword, isSchema, type JsonSchema, nullable, unionConstants, withoutNull } from "../json-schema.js";

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
export const writeFreeForm = freeFormWriter((value) => stringify(value) ?? "null");
const asTexts = freeFormWriter((value) => JSON.stringify(value, (_, part: unknown) => (typeof part === "bigint" ? String(part) : part)));

/** Stands for a list that was left out of a text: no JSON text has such a character. */
export const leftOut = "\0";

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
