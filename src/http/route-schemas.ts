import { Type, type TObject, type TSchema } from "@sinclair/typebox";
import { At } from "./input/at.js";
import { Meta, pagingProperties } from "./input/paging.js";
import type { Route, Scope } from "./route.js";
import type { Generation } from "./routing/version.js";

/** All query parameters of a route, paging included. */
export const querySchema = <State extends Scope>(route: Route<State>): TObject =>
  Type.Object({
    ...(route.kind === "list" ? pagingProperties : {}),
    ...route.query?.properties,
    ...(route.atHeight === true ? { at: Type.Optional(At) } : {}),
  });

/** The schema of one page of a list. */
const pageSchema = (item: TSchema): TObject => Type.Object({ meta: Meta, data: Type.Array(item) });

/** The schema of a route's reply, envelope included; of one that makes its body itself, any. */
export const replySchema = <State extends Scope>(route: Route<State>): TSchema =>
  route.kind === "list" ? pageSchema(route.item) : route.kind === "item" ? route.reply : Type.Unknown();

/** Routes of both generations are the same for either version, and count as second generation. */
export const generationOf = (versions: readonly Generation[]): Generation => (versions.includes(2) ? 2 : 1);

/** Whether replies may be cached at all: only those to a GET that anyone may send. */
export const isCacheable = <State extends Scope>({ method, authenticated }: Route<State>): boolean => method === "GET" && authenticated !== true;

/** Whether replies are cached until the tip moves. Those that are carry an ETag. */
export const isCached = <State extends Scope>(route: Route<State>): boolean =>
  isCacheable(route) && route.kind !== "body" && (route.cache ?? (route.stateless === true ? "never" : "tip")) === "tip";

/**
 * The path of a route below the base path, in the form that works as written: routes of the default generation, or of both, without a
 * version, others below `/v1` or `/v2`.
 */
export const publicPath = <State extends Scope>({ versions, path }: Route<State>, defaultVersion: Generation): string =>
  versions.includes(defaultVersion) ? path : `/v${versions[0]}${path}`;
