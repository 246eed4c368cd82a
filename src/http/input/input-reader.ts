import type { DefinedError, ErrorObject } from "ajv";
import type { DataValidateFunction } from "ajv/dist/types/index.js";
import { inputError, type Validation } from "../../errors.js";
import { amongKnown, didYouMean } from "../../text/known-names.js";
import { createSchemaCompiler, type SchemaCompiler } from "../../options/schema-compiler.js";
import { exactKeyword, type InputKind, inputKeyword, requiredKeyword, type Surroundings, textKeyword } from "./schema.js";
import { coercion, inputSchema, isSingle } from "./compile.js";
import { amountKeyword, isSchema } from "../json-schema.js";

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

const valueAt = (instancePath: string, input: unknown): unknown => (instancePath === "" ? input : partsOf(instancePath).reduce(memberOf, input));

const listed = (values: unknown[]): string => values.map((value) => JSON.stringify(value)).join(", ");

const requirementOf = (schema: unknown): string => (isSchema(schema) && typeof schema[requiredKeyword] === "string" ? schema[requiredKeyword] : "");

const membersOf = (schema: unknown): string[] => (isSchema(schema) && isSchema(schema.properties) ? Object.keys(schema.properties) : []);

/** Field and rule of an Ajv error. The input as a whole is called `value`, as in the predecessor's messages. */
const refusalOf = (error: DefinedError, input: unknown): { key: string; rule: string } => {
  const within = error.instancePath === "" ? "" : `${keyOf(error.instancePath, input)}.`;
  const key = error.instancePath === "" ? "value" : keyOf(error.instancePath, input);
  if (error.keyword === "additionalProperties") {
    return { key: `${within}${error.params.additionalProperty}`, rule: `is not allowed${amongKnown(error.params.additionalProperty, membersOf(error.parentSchema))}` };
  }
  if (error.keyword === "required") {
    return { key: `${within}${error.params.missingProperty}`, rule: `is required${requirementOf(error.parentSchema)}` };
  }
  if (error.keyword === "enum") {
    return { key, rule: `must be one of ${listed(error.params.allowedValues)}${didYouMean(valueAt(error.instancePath, input), error.params.allowedValues.map(String))}` };
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

/** Makes the function that makes input readers; one Ajv instance per edge. A reader is compiled when it is first needed: all would take a third of a second. */
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
