import { Type } from "@sinclair/typebox";
import type { OpenApiInfo } from "./openapi/document.js";
import { type Route, routesOf, type Scope } from "./route.js";

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
