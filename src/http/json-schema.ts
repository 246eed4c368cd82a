/** JSON schemas as http handles them: plain objects, whatever made them. */
export type JsonSchema = Record<string, unknown>;

/** Marks a schema of an amount in replies: a bigint, written by the option `amounts`. */
export const amountKeyword = "x-amount";

export const isSchema = (value: unknown): value is JsonSchema =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isNull = (schema: unknown): boolean => isSchema(schema) && schema.type === "null";

/** Whether null is one of several forms that the schema takes. */
export const nullable = (schema: JsonSchema): boolean =>
  (Array.isArray(schema.anyOf) && schema.anyOf.length > 1 && schema.anyOf.some(isNull)) ||
  (Array.isArray(schema.type) && schema.type.includes("null"));

/** The other forms of a nullable schema. */
export const withoutNull = (schema: JsonSchema): JsonSchema => {
  if (Array.isArray(schema.anyOf)) {
    const { anyOf, ...rest } = schema;
    const forms = (anyOf as unknown[]).filter((form) => !isNull(form));
    return forms.length === 1 && isSchema(forms[0]) ? forms[0] : { ...rest, anyOf: forms };
  }
  const types = (schema.type as unknown[]).filter((type) => type !== "null");
  return { ...schema, type: types.length === 1 ? types[0] : types };
};

/** The constants of a union of nothing but constants. */
export const unionConstants = (schema: JsonSchema): unknown[] | undefined => {
  const forms = schema.anyOf;
  if (!Array.isArray(forms) || !forms.every((form): form is JsonSchema => isSchema(form) && form.const !== undefined)) {
    return undefined;
  }
  return forms.map((form) => form.const);
};
