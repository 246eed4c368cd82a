import { type TSchema, Type } from "@sinclair/typebox";
import { type ErrorCode, errorTable } from "../../errors.js";
import { hasAmount, type JsonSchema } from "../json-schema.js";
import { reasonOf } from "../reply/error-reply.js";
import { capitalized, generationOf, isCached, publicPath, replySchema, routeName } from "../route-properties.js";
import type { OperationExample, OutgoingRequest, Route, Scope } from "../route.js";
import { type AmountForm, type AmountPrefix, formOf, type Generation } from "../routing/version.js";
import { createSchemaWriter, type DescribedForm, headerParameters, parametersOf, type SchemaWriter } from "./schemas.js";

export type Examples = Readonly<Record<string, OperationExample>>;

const exampleOf = (value: unknown): JsonSchema => (value === undefined ? {} : { example: value });

const requestExample = (example: OperationExample | undefined): JsonSchema => exampleOf(example?.body);

const replyExample = (example: OperationExample | undefined, form: DescribedForm): JsonSchema =>
  exampleOf(form === "string" ? (example?.replyInText ?? example?.reply) : example?.reply);

/** The content of a body that a route makes itself, with its examples. */
const withTexts = (content: JsonSchema, example: OperationExample | undefined, form: DescribedForm): JsonSchema =>
  Object.fromEntries(
    Object.entries(content).map(([type, media]) => {
      const text = example?.texts?.[type];
      return [type, { ...(media as JsonSchema), ...(type === "application/json" ? replyExample(example, form) : exampleOf(text)) }];
    }),
  );

/** Parameters of a path get the values of the example. */
const withValues = (parameters: readonly JsonSchema[], example: OperationExample | undefined): JsonSchema[] =>
  parameters.map((parameter) => {
    const text = example?.params?.[String(parameter.name)];
    return parameter.in === "path" ? { ...parameter, ...exampleOf(valueOf(parameter, text)) } : parameter;
  });

const valueOf = ({ schema }: JsonSchema, text: string | undefined): unknown =>
  text !== undefined && (schema as JsonSchema).type === "integer" ? Number(text) : text;

/** The member `webhooks` of an OpenAPI document: by event or what else it is, the request that a target gets. */
const describeOutgoing = (requests: readonly OutgoingRequest[], writer: SchemaWriter): Record<string, JsonSchema> =>
  Object.fromEntries(
    requests.map(({ name, operation, summary, description, headers, body, example, answers }) => [
      name,
      {
        post: {
          tags: ["webhooks"],
          summary,
          description,
          operationId: operation,
          security: [],
          parameters: headerParameters(headers, writer),
          requestBody: { required: true, content: { "application/json": { schema: writer.reply(body, "number"), example } } },
          responses: Object.fromEntries(Object.entries(answers).map(([status, meaning]) => [status, { description: meaning }])),
        },
      },
    ]),
  );

export interface OpenApiInfo {
  title: string;
  version: string;
  description?: string;
  license?: { name: string; identifier: string };
  contact?: { name: string };
}

/** What the docs say of each group of routes, by `Route.resource`. */
export type GroupDescriptions = Readonly<Record<string, string>>;

/** An OpenAPI 3.1 document. */
export interface OpenApiDocument {
  openapi: "3.1.0";
  info: OpenApiInfo;
  servers: { url: string; description: string }[];
  security: JsonSchema[];
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, JsonSchema>>;
  webhooks: Record<string, JsonSchema>;
  components: Record<string, JsonSchema>;
}

interface OpenApiOptions {
  basePath: string;
  defaultVersion: Generation;
  /** The form of amounts for requests that name none. */
  amounts: AmountForm;
  /** What is between base path and version in all of its paths. Default: nothing. */
  prefix?: AmountPrefix;
  /** The generation that it describes alone. Default: both. */
  generation?: Generation | undefined;
  groups?: GroupDescriptions | undefined;
  /** By operation id. */
  examples?: Examples | undefined;
}

/** What a client may meet. */
const exposedCodes = (Object.keys(errorTable) as ErrorCode[]).filter((code) => errorTable[code].exposed || code === "INTERNAL");

const blockName = { height: Type.Integer(), id: Type.String() };

const Failure = Type.Object(
  {
    success: Type.Optional(Type.Literal(false, { description: "Only in the first generation." })),
    statusCode: Type.Integer(),
    error: Type.String(),
    message: Type.String(),
    code: Type.Optional(
      Type.Unsafe<ErrorCode>({
        type: "string",
        enum: exposedCodes,
        description: "Names the error, for programs. Only in the second generation.",
      }),
    ),
    docs: Type.Optional(Type.String({ description: "For an unknown path: the path of the docs." })),
    validation: Type.Optional(Type.Object({ source: Type.String(), keys: Type.Array(Type.String()) })),
    oldest: Type.Optional(
      Type.Object(blockName, { description: "If data is no longer kept: the oldest block with data." }),
    ),
    tip: Type.Optional(Type.Object(blockName, { description: "If the cursor is not known: the newest block." })),
  },
  { title: "Failure" },
);

/** How the first generation reports client errors, with HTTP 200. */
const FirstGenerationFailure = Type.Object(
  { success: Type.Literal(false), error: Type.String() },
  { title: "FirstGenerationFailure" },
);

const replyHeaders = {
  "API-Version": { description: "Generation that answered.", schema: { type: "integer", enum: [1, 2] } },
  "X-Request-Id": { description: "Identifies the request in the log.", schema: { type: "string" } },
  "X-Block-Height": {
    description: "Height of the state that the reply was computed from; left out where there was none.",
    schema: { type: "integer" },
  },
  ETag: { description: "Strong validator of the body's bytes.", schema: { type: "string" } },
  "WWW-Authenticate": { description: "How to authenticate: by a token.", schema: { type: "string" } },
  "Retry-After": { description: "Seconds to wait before the next try.", schema: { type: "integer" } },
};

const referTo = (kind: string, name: string): JsonSchema => ({ $ref: `#/components/${kind}/${name}` });
const referToHeaders = (names: (keyof typeof replyHeaders)[]): JsonSchema =>
  Object.fromEntries(names.map((name) => [name, referTo("headers", name)]));
const json = (schema: JsonSchema, example: JsonSchema = {}): JsonSchema => ({ "application/json": { schema, ...example } });

/** Statuses of requests that are refused before they reach a route: malformed, overdue, with an `Expect` that cannot be met, too large. */
const refusedEarly = [400, 408, 417, 431];

/** Error statuses that a route may answer with. In the first generation, few errors keep a status of their own. */
const failuresOf = <State extends Scope>(route: Route<State>, generation: Generation): number[] => {
  const kept = (route.errors ?? []).filter((status) => status >= 500);
  const own = [...(route.params === undefined ? [] : [404]), ...(route.errors ?? []), ...(route.atHeight === true ? [404, 410, 501] : [])];
  const body = generation === 1 || route.body === undefined ? [] : [413, 415];
  const entry = route.authenticated === true ? [401] : [];
  // Every route answers 503 while the node is stopping; that of a route with statuses of its own is in its `default`.
  const always = [429, 500, ...(route.kind === "item" && typeof route.status === "function" ? [] : [503])];
  return [...new Set([...refusedEarly, ...(generation === 1 ? kept : own), ...entry, ...body, ...always])].sort((a, b) => a - b);
};

/** How a route's replies write amounts: below a prefix as that says, otherwise as each request does. */
const formOfReplies = <State extends Scope>(route: Route<State>, { prefix = "" }: OpenApiOptions): DescribedForm =>
  generationOf(route.versions) === 1 ? "number" : (formOf(prefix) ?? "either");

/** An object that has no name of its own is named after its operation. */
const named = (schema: TSchema, name: string): TSchema => (schema.type === "object" ? { title: name, ...schema } : schema);

const responsesOf = <State extends Scope>(route: Route<State>, writer: SchemaWriter, options: OpenApiOptions): JsonSchema => {
  const generation = generationOf(route.versions);
  const form = formOfReplies(route, options);
  const example = options.examples?.[routeName(route)];
  const write = (schema: TSchema): JsonSchema => writer.reply(named(schema, `${capitalized(routeName(route))}Reply`), form);
  const schemaOf = (reply: JsonSchema): JsonSchema =>
    generation === 1 ? { anyOf: [reply, writer.reply(FirstGenerationFailure, "number")] } : reply;
  const media = ([type, schema]: [string, TSchema]): [string, JsonSchema] => [type, { schema: write(schema) }];
  const content =
    route.kind === "body"
      ? withTexts(Object.fromEntries(Object.entries(route.content).map(media)), example, form)
      : json(schemaOf(write(replySchema(route))), replyExample(example, form));
  const status = route.kind === "item" && route.status !== undefined ? route.status : 200;
  const headers = referToHeaders([
    "API-Version",
    "X-Request-Id",
    ...(route.kind === "body" && route.stateless === true ? [] : ["X-Block-Height" as const]),
    ...(isCached(route) ? ["ETag" as const] : []),
  ]);
  const success = { description: route.summary, headers, content };
  return {
    [typeof status === "number" ? status : 200]: success,
    ...(typeof status === "number" ? {} : { default: success }),
    ...Object.fromEntries(failuresOf(route, generation).map((failure) => [failure, referTo("responses", String(failure))])),
  };
};

/** The header that chooses the form of amounts, where a reply has any. */
const amountsHeader = <State extends Scope>(route: Route<State>, options: OpenApiOptions): JsonSchema[] => {
  if (formOfReplies(route, options) !== "either" || !hasAmount(replySchema(route))) return [];
  const description =
    "How the reply writes amounts. Below `/numbers` and `/strings` the path says so, " +
    "and the documents that are served there describe one form only.";
  const schema = { type: "string", enum: ["number", "string"], default: options.amounts };
  return [{ name: "API-Amounts", in: "header", required: false, description, schema }];
};

const firstGeneration = "first generation";

/** Routes of the two generations are in groups of their own. */
const tagOf = <State extends Scope>({ resource, versions }: Route<State>): string =>
  generationOf(versions) === 1 ? `${resource} (${firstGeneration})` : resource;

const tagsOf = <State extends Scope>(routes: readonly Route<State>[], groups: GroupDescriptions): OpenApiDocument["tags"] =>
  [...new Map(routes.map((route) => [tagOf(route), route]))].map(([name, { resource, versions }]) => {
    const about = groups[resource] ?? `Routes of ${resource}.`;
    return { name, description: generationOf(versions) === 1 ? `${about} In the form for clients of the ${firstGeneration}.` : about };
  });

const pageHint = "Answers with one page; `meta` has the total and links to the other pages, which all cost the same.";
const cacheHint =
  "The reply is valid until the next block. Its `ETag` changes with its bytes, and `X-Block-Height` is the height it was computed at.";
const amountHint =
  "Amounts are whole numbers of 1e-8 of the token. Some exceed 2^53, beyond which a JSON number loses digits in many languages. " +
  "Generated clients should ask for text, with `API-Amounts: string` or a path below `/strings`.";

const streamHint = "The reply is a stream; read it as it arrives. The docs page shows its first two seconds, at most 100 kB.";
const isStream = /event-stream|ndjson/;

/** What a client has to know of a route besides its summary. */
const descriptionOf = <State extends Scope>(route: Route<State>): string =>
  [
    route.summary,
    ...(route.kind === "list" ? [pageHint] : []),
    ...(route.kind === "body" && isStream.test(Object.keys(route.content).join()) ? [streamHint] : []),
    ...(route.authenticated === true ? ["Needs the token in `Authorization`."] : []),
    ...(isCached(route) && route.stateless !== true ? [cacheHint] : []),
    ...(hasAmount(replySchema(route)) && generationOf(route.versions) === 2 ? [amountHint] : []),
    ...(generationOf(route.versions) === 1 ? ["Client errors have the status 200 and `success: false`."] : []),
  ].join(" ");

const operationOf = <State extends Scope>(
  route: Route<State>,
  writer: SchemaWriter,
  options: OpenApiOptions,
): JsonSchema => {
  const example = options.examples?.[routeName(route)];
  const parameters = [...withValues(parametersOf(route, writer), example), ...amountsHeader(route, options)];
  const bodyOf = (body: TSchema) =>
    json(writer.input(named(body, `${capitalized(routeName(route))}Body`)), requestExample(example));
  return {
    operationId: routeName(route),
    tags: [tagOf(route)],
    summary: route.summary,
    description: descriptionOf(route),
    ...(route.authenticated === true ? { security: [{ token: [] }] } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(route.body === undefined
      ? {}
      : { requestBody: { required: route.bodyOptional !== true, content: bodyOf(route.body) } }),
    responses: responsesOf(route, writer, options),
  };
};

/** Statuses of requests that are refused before a state is opened for them. */
const beforeState = ["401", "408", "413", "415", "417", "429", "431"];

const failureResponses = (failures: Set<string>, schema: JsonSchema): JsonSchema =>
  Object.fromEntries(
    [...failures].sort().map((status) => {
      const waits = status === "429" || status === "503" ? (["Retry-After"] as const) : [];
      // No generation is known where nothing of the request is.
      const version = ["408", "417", "431"].includes(status) ? [] : (["API-Version"] as const);
      const height = beforeState.includes(status) ? [] : (["X-Block-Height"] as const);
      const authenticate = status === "401" ? (["WWW-Authenticate"] as const) : [];
      const headers = referToHeaders([...version, "X-Request-Id", ...height, ...waits, ...authenticate]);
      return [status, { description: reasonOf(Number(status)), headers, content: json(schema) }];
    }),
  );

/** The folder of a document, from that document: a proxy in front may have put more before the path, and stripped it. */
const fromWithin = (folder: string): string => (folder === "" ? "." : `../${folder.slice(folder.lastIndexOf("/") + 1)}`);

/**
 * Describes routes and the requests that targets of webhooks receive. Routes of the default generation or of both are listed
 * as they are, others below `/v1` or `/v2`, so that every path works as written. Throws TypeError if two different
 * schemas have the same name.
 */
export const createOpenApi = <State extends Scope>(
  routes: readonly Route<State>[],
  options: OpenApiOptions,
  info: OpenApiInfo,
  outgoing: readonly OutgoingRequest[] = [],
): OpenApiDocument => {
  const writer = createSchemaWriter(formOf(options.prefix ?? "") ?? "either");
  const paths: OpenApiDocument["paths"] = {};
  const failures = new Set<string>();
  const { generation } = options;
  const shown = routes.filter(({ hidden, versions }) => hidden !== true && (generation === undefined || versions.includes(generation)));
  for (const route of shown) {
    const operation = operationOf(route, writer, options);
    const path = publicPath(route, options.defaultVersion) || "/";
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation };
    failuresOf(route, generationOf(route.versions)).forEach((status) => failures.add(String(status)));
  }
  const webhooks = describeOutgoing(outgoing, writer);
  const responses = failureResponses(failures, writer.reply(Failure, "number"));
  return {
    openapi: "3.1.0",
    info,
    servers: [{ url: fromWithin(options.basePath + (options.prefix ?? "")), description: "This node." }],
    // Only the routes of webhooks need a token.
    security: [],
    tags: tagsOf(shown, options.groups ?? {}),
    paths,
    webhooks,
    components: {
      schemas: writer.components,
      responses,
      headers: replyHeaders,
      securitySchemes: {
        token: { type: "apiKey", in: "header", name: "Authorization", description: "The token, or `Bearer` followed by the token." },
      },
    },
  };
};

/** The documents by prefix and generation, each made when it is first wanted. @throws TypeError if two schemas have one title */
export const createOpenApis = <State extends Scope>(
  ...[routes, options, info, outgoing]: Parameters<typeof createOpenApi<State>>
): ((prefix: AmountPrefix, generation?: Generation) => OpenApiDocument) => {
  const made: Record<string, OpenApiDocument> = {};
  return (prefix, generation) =>
    (made[`${prefix} ${generation ?? ""}`] ??= createOpenApi(routes, { ...options, prefix, generation }, info, outgoing));
};
