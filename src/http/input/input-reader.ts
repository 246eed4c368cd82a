import type { DefinedError, ErrorObject } from "ajv";
import type { DataValidateFunction } from "ajv/dist/types/index.js";
import { inputError, type Validation } from "../../errors.js";
import { createSchemaCompiler, type SchemaCompiler } from "../../options/schema-compiler.js";
import { amongKnown, didYouMean } from "../../text/known-names.js";
import { amountKeyword, isSchema, type JsonSchema } from "../json-schema.js";
import { parseBounded } from "./exact-json.js";
import { exactKeyword, inputKeyword, type InputKind, requiredKeyword, type Surroundings, textKeyword } from "./schema.js";

/**
 * Derives the validating schema from a route's: ids are dropped (many routes share a schema), objects refuse members that they
 * do not name, and integers are limited to what a double holds exactly.
 */
const inputSchema = (schema: unknown): JsonSchema => close(schema, true);

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
const isSingle = (value: unknown): boolean => isSchema(value) && singles.has(value);

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
const coercion = (schema: unknown): Coerce | undefined => {
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

type Source = Validation["source"];

/** Parses raw input by its schema, or throws BAD_REQUEST naming the field and the rule. Modifies the raw value. */
export type ReadInput = (raw: unknown) => unknown;

interface ParentContext {
  parentData: Record<string, unknown>;
  parentDataProperty: string | number;
}

/** Implements the keyword of `InputOf`: replaces the raw value with the parsed one. */
const compileKind = (kind: InputKind<unknown>, surroundings: Surroundings): DataValidateFunction => {
  const check: DataValidateFunction = (value: unknown, context?: ParentContext): boolean => {
    const parsed = kind.parse(value, surroundings);
    if ("rule" in parsed) {
      check.errors = [{ keyword: inputKeyword, message: parsed.rule, params: {} }];
      return false;
    }
    if (context !== undefined) {
      context.parentData[context.parentDataProperty] = parsed.value;
    }
    return true;
  };
  return check;
};

const createCompiler = (surroundings: Surroundings): SchemaCompiler => {
  const ajv = createSchemaCompiler({ useDefaults: true, verbose: true });
  ajv.addVocabulary([exactKeyword, requiredKeyword, textKeyword, amountKeyword]);
  // Not declared as `modifying`, although it is: the code that Ajv generates for a modifying keyword re-reads the value into a
  // variable whose declaration may have been optimized away, which makes it a global. No other keyword stands beside this one,
  // so nothing needs the re-read.
  ajv.addKeyword({ keyword: inputKeyword, errors: true, compile: (kind: InputKind<unknown>) => compileKind(kind, surroundings) });
  return ajv;
};

const partsOf = (instancePath: string): string[] =>
  instancePath
    .slice(1)
    .split("/")
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));

const memberOf = (value: unknown, name: string): unknown => (isSchema(value) ? value[name] : undefined);

/** The field as the client named it: for a single value that was taken as a range, without the bound's name. */
const keyOf = (instancePath: string, input: unknown): string => {
  const parts = partsOf(instancePath);
  const range = parts.slice(0, -1).reduce(memberOf, input);
  return (isSingle(range) ? parts.slice(0, -1) : parts).join(".");
};

const valueAt = (instancePath: string, input: unknown): unknown =>
  instancePath === "" ? input : partsOf(instancePath).reduce(memberOf, input);

const listed = (values: unknown[]): string => values.map((value) => JSON.stringify(value)).join(", ");

const requirementOf = (schema: unknown): string =>
  isSchema(schema) && typeof schema[requiredKeyword] === "string" ? schema[requiredKeyword] : "";

const membersOf = (schema: unknown): string[] => (isSchema(schema) && isSchema(schema.properties) ? Object.keys(schema.properties) : []);

/** Field and rule of an Ajv error. The input as a whole is called `value`, as in the predecessor's messages. */
const refusalOf = (error: DefinedError, input: unknown): { key: string; rule: string } => {
  const within = error.instancePath === "" ? "" : `${keyOf(error.instancePath, input)}.`;
  const key = error.instancePath === "" ? "value" : keyOf(error.instancePath, input);
  if (error.keyword === "additionalProperties") {
    const name = error.params.additionalProperty;
    return { key: within + name, rule: `is not allowed${amongKnown(name, membersOf(error.parentSchema))}` };
  }
  if (error.keyword === "required") {
    return { key: `${within}${error.params.missingProperty}`, rule: `is required${requirementOf(error.parentSchema)}` };
  }
  if (error.keyword === "enum") {
    const { allowedValues } = error.params;
    const hint = didYouMean(valueAt(error.instancePath, input), allowedValues.map(String));
    return { key, rule: `must be one of ${listed(allowedValues)}${hint}` };
  }
  if (error.keyword === "type" && isSchema(error.parentSchema) && error.parentSchema[textKeyword] === "json") {
    return { key, rule: "must be a list, as JSON" };
  }
  if (error.keyword === "anyOf") {
    return { key, rule: "does not have any of the accepted forms" };
  }
  return { key, rule: error.message ?? "is not valid" };
};

/** That none of the alternatives fits says more than the errors of each alternative. */
const decisive = (errors: ErrorObject[]): DefinedError =>
  (errors.find((error) => error.keyword === "anyOf") ?? errors[0]) as DefinedError;

/**
 * Makes the function that makes input readers; one Ajv instance per edge. A reader is compiled when it is first needed: all would take a
 * third of a second.
 */
export const createInputReaders = (surroundings: Surroundings) => {
  const ajv = createCompiler(surroundings);
  const compile = (schema: unknown) => {
    const prepared = inputSchema(schema);
    return { coerce: coercion(prepared), validate: ajv.compile(prepared) };
  };
  return (schema: unknown, source: Source): ReadInput => {
    let compiled: ReturnType<typeof compile> | undefined;
    return (raw) => {
      const { coerce, validate } = (compiled ??= compile(schema));
      const value = coerce === undefined ? raw : coerce(raw);
      if (validate(value)) {
        return value;
      }
      const { key, rule } = refusalOf(decisive(validate.errors ?? []), value);
      throw inputError(source, key, rule);
    };
  };
};
