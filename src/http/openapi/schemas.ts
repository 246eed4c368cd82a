import type { TObject } from "@sinclair/typebox";
import { exactKeyword, inputKeyword, type InputKind, textKeyword } from "../input/schema.js";
import { amountKeyword, describedKeyword, isSchema, type JsonSchema } from "../json-schema.js";
import { querySchema } from "../route-properties.js";
import type { Route, Scope } from "../route.js";
import type { AmountForm } from "../routing/version.js";

/** How the replies of an operation write amounts: "either" if each request chooses. */
export type DescribedForm = AmountForm | "either";

/** Writes schemas for an OpenAPI document. Named ones are collected in `components` and replaced by references. */
export interface SchemaWriter {
  /** Named schemas, for `components.schemas`. */
  readonly components: Record<string, JsonSchema>;
  reply(schema: unknown, amounts: DescribedForm): JsonSchema;
  input(schema: unknown): JsonSchema;
}

interface Manner {
  amounts: DescribedForm;
  input: boolean;
}

/** A value that is written as JSON within a text. */
const jsonAsText: JsonSchema = { type: "string", contentMediaType: "application/json" };

/** Whole numbers without a bound: no form of OpenAPI's own is as wide. */
const amountFormat = "bigint";

const amountForms: Readonly<Record<AmountForm, JsonSchema>> = {
  number: { type: "integer", format: amountFormat },
  string: { type: "string", pattern: "^-?\\d{1,40}$", format: amountFormat },
};

const amountIn = (form: DescribedForm): JsonSchema =>
  form === "either" ? { anyOf: [amountForms.number, amountForms.string], format: amountFormat } : amountForms[form];

/** The members of a schema that describe a value rather than its form. */
const annotations = ({ title, description, default: preset }: JsonSchema): JsonSchema => ({
  ...(title === undefined ? {} : { title }),
  ...(description === undefined ? {} : { description }),
  ...(preset === undefined ? {} : { default: preset }),
});

const nameOf = ({ $id, title }: JsonSchema): string | undefined => {
  const name = $id ?? title;
  return typeof name === "string" ? name.replace(/[^\w.-]/g, "") : undefined;
};

const withDefault = (properties: unknown, name: unknown): boolean =>
  isSchema(properties) && isSchema(properties[String(name)]) && "default" in (properties[String(name)] as JsonSchema);

/** An object as input: members with a default are not required, and members that are not named are not allowed. */
const asInput = (schema: JsonSchema): JsonSchema => {
  if (schema.type !== "object") {
    return schema;
  }
  const { required, ...rest } = schema;
  const needed = Array.isArray(required) ? required.filter((name) => !withDefault(schema.properties, name)) : [];
  return { additionalProperties: false, ...rest, ...(needed.length === 0 ? {} : { required: needed }) };
};

const listOrJson = ({ description, ...list }: JsonSchema): JsonSchema => ({ anyOf: [list, jsonAsText], description });

/** By each value of the member that tells the forms apart, the reference to the form. */
const discriminatorOf = ({ discriminator, anyOf }: JsonSchema, references: readonly JsonSchema[]): JsonSchema => {
  const { propertyName } = discriminator as { propertyName: string };
  const forms = anyOf as { properties: Record<string, { const: string }> }[];
  const mapping = forms.map(({ properties }, place) => [properties[propertyName]?.const, references[place]?.$ref]);
  return { propertyName, mapping: Object.fromEntries(mapping) };
};

/** `amounts`: how most replies of the document write them. That form has a name. */
export const createSchemaWriter = (amounts: DescribedForm): SchemaWriter => {
  const components: Record<string, JsonSchema> = {};

  /** Refers to a named schema. Throws TypeError if the name already stands for a different one. */
  const refer = (name: string, schema: JsonSchema): JsonSchema => {
    const present = components[name];
    if (present !== undefined && JSON.stringify(present) !== JSON.stringify(schema)) {
      throw new TypeError(`Two schemas are called "${name}".`);
    }
    components[name] = schema;
    return { $ref: `#/components/schemas/${name}` };
  };

  const parts = (schema: JsonSchema, manner: Manner): JsonSchema => {
    const written: JsonSchema = {};
    for (const [keyword, value] of Object.entries(schema)) {
      if (keyword === "properties" || keyword === "patternProperties") {
        written[keyword] = Object.fromEntries(
          Object.entries(value as JsonSchema).map(([name, part]) => [name, write(part, manner)]),
        );
      } else if (keyword === "anyOf" || keyword === "allOf" || keyword === "oneOf") {
        written[keyword] = (value as unknown[]).map((part) => write(part, manner));
      } else if (keyword === "discriminator") {
        written[keyword] = discriminatorOf(schema, written.anyOf as JsonSchema[]);
      } else if (keyword === "items" || (keyword === "additionalProperties" && isSchema(value))) {
        written[keyword] = write(value, manner);
      } else if (keyword !== "$id" && !keyword.startsWith("x-")) {
        written[keyword] = value;
      }
    }
    return manner.input ? asInput(written) : written;
  };

  const form = (schema: JsonSchema, manner: Manner): JsonSchema => {
    if (isSchema(schema[describedKeyword])) return parts(schema[describedKeyword], manner);
    if (inputKeyword in schema) {
      return { ...form((schema[inputKeyword] as InputKind<unknown>).accepts, manner), ...annotations(schema) };
    }
    if (schema[amountKeyword] === true) {
      const amount = amountIn(manner.amounts);
      return { ...(manner.amounts === amounts ? refer("Amount", amount) : amount), ...annotations(schema) };
    }
    const written = parts(schema, manner);
    if (schema[textKeyword] === "json") return listOrJson(written);
    if (schema[exactKeyword] === true && isSchema(schema.properties)) {
      return { anyOf: [write(schema.properties.from, manner), written] };
    }
    return written;
  };

  const write = (schema: unknown, manner: Manner): JsonSchema => {
    if (!isSchema(schema)) {
      return {};
    }
    const name = nameOf(schema);
    const written = form(schema, manner);
    return name === undefined ? written : refer(name, written);
  };

  return {
    components,
    reply: (schema, amounts) => write(schema, { amounts, input: false }),
    input: (schema) => write(schema, { amounts: "either", input: true }),
  };
};

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
const asText = (part: unknown): unknown =>
  isSchema(part) && part[textKeyword] === "json" ? { ...jsonAsText, description: part.description } : part;

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
    const members = flattened(part, `${own.name}.`);
    if (part[exactKeyword] !== true || !isSchema(part.properties)) return members;
    const meaning = part.description === undefined ? {} : { description: part.description };
    return [{ ...own, schema: { ...(part.properties.from as JsonSchema), ...meaning } }, ...members];
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
