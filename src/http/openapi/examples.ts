import type { JsonSchema } from "../json-schema.js";
import type { OperationExample } from "../route.js";
import type { DescribedForm } from "./schemas.js";

export type Examples = Readonly<Record<string, OperationExample>>;

const exampleOf = (value: unknown): JsonSchema => (value === undefined ? {} : { example: value });

export const requestExample = (example: OperationExample | undefined): JsonSchema => exampleOf(example?.body);

export const replyExample = (example: OperationExample | undefined, form: DescribedForm): JsonSchema =>
  exampleOf(form === "string" ? (example?.replyInText ?? example?.reply) : example?.reply);

/** The content of a body that a route makes itself, with its examples. */
export const withTexts = (content: JsonSchema, example: OperationExample | undefined): JsonSchema =>
  Object.fromEntries(
    Object.entries(content).map(([type, media]) => {
      const text = example?.texts?.[type];
      return [type, { ...(media as JsonSchema), ...(type === "application/json" ? exampleOf(example?.reply) : exampleOf(text)) }];
    }),
  );

/** Parameters of a path get the values of the example. */
export const withValues = (parameters: readonly JsonSchema[], example: OperationExample | undefined): JsonSchema[] =>
  parameters.map((parameter) => (parameter.in === "path" ? { ...parameter, ...exampleOf(valueOf(parameter, example?.params?.[String(parameter.name)])) } : parameter));

const valueOf = ({ schema }: JsonSchema, text: string | undefined): unknown =>
  text !== undefined && (schema as JsonSchema).type === "integer" ? Number(text) : text;
