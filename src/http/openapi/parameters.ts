import type { TObject } from "@sinclair/typebox";
import { querySchema } from "../route-schemas.js";
import { exactKeyword, inputKeyword, textKeyword } from "../input/schema.js";
import { isSchema, type JsonSchema } from "../json-schema.js";
import { jsonAsText, type SchemaWriter } from "./schemas.js";
import type { Route, Scope } from "../route.js";

interface Parameter {
  name: string;
  required: boolean;
  schema: unknown;
}

/** What a member of a range means: its range's description, and which end it is. */
const boundOf = (name: string, part: unknown, range: unknown): unknown => {
  const which = name === "from" ? "At least this." : name === "to" ? "At most this." : undefined;
  return which === undefined || typeof range !== "string" || !isSchema(part) ? part : { ...part, description: `${range} ${which}` };
};

/** In a query, what may be JSON within a text is nothing else. */
const asText = (part: unknown): unknown => (isSchema(part) && part[textKeyword] === "json" ? { ...jsonAsText, description: part.description } : part);

/** The parameters of a query as clients write them: members of nested objects have dotted names. */
const flattened = (schema: JsonSchema, within: string): Parameter[] => {
  const { description } = schema;
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(isSchema(schema.properties) ? schema.properties : {}).flatMap(([name, part]): Parameter[] => {
    const own = {
      name: within + name,
      required: within === "" && required.includes(name) && !(isSchema(part) && "default" in part),
      schema: within === "" ? asText(part) : boundOf(name, part, description),
    };
    if (!isSchema(part) || part.type !== "object" || inputKeyword in part) {
      return [own];
    }
    const single = part[exactKeyword] === true && isSchema(part.properties) ? [{ ...own, schema: { ...(part.properties.from as JsonSchema), ...(part.description === undefined ? {} : { description: part.description }) } }] : [];
    return [...single, ...flattened(part, `${own.name}.`)];
  });
};

const describe =
  (place: "path" | "query" | "header", writer: SchemaWriter) =>
  (parameter: Parameter): JsonSchema => {
    const { description, ...schema } = writer.input(parameter.schema);
    return {
      name: parameter.name,
      in: place,
      required: parameter.required,
      ...(description === undefined ? {} : { description }),
      ...(schema.type === "array" ? { style: "form", explode: false } : {}),
      schema,
    };
  };

const parametersIn = (place: "path" | "header", { properties, required = [] }: TObject, writer: SchemaWriter): JsonSchema[] =>
  Object.entries(properties).map(([name, schema]) => describe(place, writer)({ name, required: required.includes(name), schema }));

export const headerParameters = (headers: TObject, writer: SchemaWriter): JsonSchema[] => parametersIn("header", headers, writer);

/** The parameters of a route, those of its path first. */
export const parametersOf = <State extends Scope>(route: Route<State>, writer: SchemaWriter): JsonSchema[] => [
  ...(route.params === undefined ? [] : parametersIn("path", route.params, writer)),
  ...flattened(querySchema(route), "").map(describe("query", writer)),
  ...(route.headers === undefined ? [] : headerParameters(route.headers, writer)),
];
