import { Type } from "@sinclair/typebox";
import type { MaybePromise } from "../../types/chain-adapter.js";
import type { Health } from "../../types/plugin.js";
import { WholeNumber } from "./input/schema.js";
import type { OpenApiDocument, OpenApiInfo } from "./openapi/document.js";
import { type Route, routesOf, type Scope } from "./route.js";
import type { AmountPrefix, Generation } from "./routing/version.js";

const Root = Type.Object(
  {
    title: Type.String(),
    version: Type.String(),
    openapi: Type.String({ description: "Path of the OpenAPI document." }),
    docs: Type.String({ description: "Path of the interactive reference." }),
    health: Type.String({ description: "Path of the health report." }),
  },
  { title: "Front" },
);

/** `GET` of the base path itself: tells whoever opens it in a browser where to look next. */
export const rootRoute = <State extends Scope>(basePath: string, { title, version }: OpenApiInfo): Route<State> => {
  const at = (base: string) => ({ title, version, openapi: `${base}/openapi.json`, docs: `${base}/docs`, health: `${base}/health` });
  return routesOf<State>().item({
    method: "GET",
    path: "",
    versions: [1, 2],
    resource: "node",
    summary: "Returns the interface's name and version, and where it is described.",
    stateless: true,
    reply: Type.Object({ data: Root }),
    answer: ({ prefix }) => ({ data: at(basePath + prefix) }),
  });
};

const mark = (description: string) => Type.Optional(Type.Object({ height: Type.Integer(), id: Type.String() }, { description }));

/** What every health report has. */
export const healthMembers = {
  status: Type.Unsafe<Health["status"]>({ type: "string", enum: ["ok", "starting", "failing", "stopped"] }),
  height: Type.Integer({ description: "Height of the tip; 0 while there is none." }),
  tip: mark("The last block; absent while there is no state to read."),
  final: mark("The newest block that is taken to be final."),
  oldest: mark("The oldest block whose state can be asked for here (`at`)."),
  behind: Type.Optional(Type.Integer({ description: "Of a replica: blocks to its node's tip." })),
  lag: Type.Optional(
    Type.Integer({
      description: "Of a replica: milliseconds since it was last known to have all blocks of its node; 0 while it has them.",
    }),
  ),
};

const HealthReply = Type.Object(
  {
    ...healthMembers,
    problem: Type.Optional(
      Type.String({
        description: "Why the chain cannot be followed at present, or how far a rebuild of the store is; absent if nothing is wrong.",
      }),
    ),
  },
  { title: "Health" },
);

/** `GET /health`: 200 while the status is `ok`, otherwise 503. */
export const healthRoute = <State extends Scope>(health: () => MaybePromise<Health>): Route<State> =>
  routesOf<State>().item({
    method: "GET",
    path: "/health",
    versions: [1, 2],
    resource: "node",
    summary: "Returns whether the interface follows the chain.",
    stateless: true,
    cache: "never",
    status: ({ status }) => (status === "ok" ? 200 : 503),
    reply: HealthReply,
    answer: () => health(),
  });

export const GenerationQuery = Type.Object({
  generation: Type.Optional(
    Type.Unsafe<Generation>(WholeNumber({ minimum: 1, maximum: 2, description: "The only generation that is described. Default: both." })),
  ),
});

/** `GET /openapi.json`: the document of the prefix below which it is asked for. */
export const openApiRoute = <State extends Scope>(
  documentOf: (prefix: AmountPrefix, generation?: Generation) => OpenApiDocument,
): Route<State> =>
  routesOf<State>().item({
    method: "GET",
    path: "/openapi.json",
    versions: [1, 2],
    resource: "node",
    summary: "Describes this interface.",
    stateless: true,
    cache: "tip",
    query: GenerationQuery,
    reply: Type.Unsafe<OpenApiDocument>({}),
    answer: ({ prefix, versioned, query }) => {
      const document = documentOf(prefix, query.generation);
      if (!versioned) return document;
      return { ...document, servers: document.servers.map(({ url, ...server }) => ({ ...server, url: url === "." ? ".." : `../${url}` })) };
    },
  });
