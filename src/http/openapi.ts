import { Type } from "@sinclair/typebox";
import type { EdgeOptions } from "./edge-options.js";
import { type Route, routesOf, type Scope } from "./route.js";

export interface OpenApiInfo {
  title: string;
  version: string;
  description?: string;
}

export type OpenApiDocument = Record<string, unknown>;

export const createOpenApi = <State extends Scope>(_routes: readonly Route<State>[], _options: EdgeOptions, info: OpenApiInfo): OpenApiDocument => ({
  openapi: "3.1.0",
  info,
  paths: {},
});

/** `GET /openapi.json`. */
export const openApiRoute = <State extends Scope>(document: OpenApiDocument): Route<State> =>
  routesOf<State>().item({
    method: "GET",
    path: "/openapi.json",
    versions: [1, 2],
    resource: "node",
    summary: "Describes this interface.",
    stateless: true,
    cache: "never",
    reply: Type.Unsafe<OpenApiDocument>({}),
    answer: () => document,
  });
