/** JSON schemas as plain objects, whatever library made them. */
export type JsonSchema = Record<string, unknown>;

/**
 * Marks the schema of an amount in replies. `true`: a bigint, written as the request or the option `amounts` says; `"text"` and
 * `"constant"`: always a text, always a number.
 */
export const amountKeyword = "x-amount";

/** Marks the schema of a free-form part of replies in which every bigint is an amount. */
export const amountsInsideKeyword = "x-amounts-inside";

/** What the docs say in the place of a schema that is written as one. */
export const describedKeyword = "x-described";

/** Whether a schema has an amount anywhere in it. */
export const hasAmount = (schema: unknown): boolean =>
  Array.isArray(schema)
    ? schema.some(hasAmount)
    : isSchema(schema) && (schema[amountKeyword] === true || Object.values(schema).some(hasAmount));

export const isSchema = (value: unknown): value is JsonSchema =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isNull = (schema: unknown): boolean => isSchema(schema) && schema.type === "null";

/** Whether a schema accepts null besides other forms. */
export const nullable = (schema: JsonSchema): boolean =>
  (Array.isArray(schema.anyOf) && schema.anyOf.length > 1 && schema.anyOf.some(isNull)) ||
  (Array.isArray(schema.type) && schema.type.includes("null"));

/** A nullable schema without null. */
export const withoutNull = (schema: JsonSchema): JsonSchema => {
  if (Array.isArray(schema.anyOf)) {
    const { anyOf, ...rest } = schema;
    const forms = (anyOf as unknown[]).filter((form) => !isNull(form));
    return forms.length === 1 && isSchema(forms[0]) ? forms[0] : { ...rest, anyOf: forms };
  }
  const types = (schema.type as unknown[]).filter((type) => type !== "null");
  return { ...schema, type: types.length === 1 ? types[0] : types };
};

/** The constants of a union that consists of constants only; undefined for any other schema. */
export const unionConstants = (schema: JsonSchema): unknown[] | undefined => {
  const forms = schema.anyOf;
  if (!Array.isArray(forms) || !forms.every((form): form is JsonSchema => isSchema(form) && form.const !== undefined)) {
    return undefined;
  }
  return forms.map((form) => form.const);
};
