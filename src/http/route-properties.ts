import { type TObject, type TSchema, Type } from "@sinclair/typebox";
import { Meta, pagingProperties } from "./input/query.js";
import { At } from "./input/schema.js";
import type { Route, Scope } from "./route.js";
import type { Generation } from "./routing/version.js";

/** `wallets` → `wallet`, `deliveries` → `delivery`. */
const singular = (plural: string): string => (plural.endsWith("ies") ? `${plural.slice(0, -3)}y` : plural.replace(/s$/, ""));

const isParameter = (segment: string | undefined): boolean => segment?.startsWith("{") === true;

/** `dry-run` → `DryRun`. */
export const capitalized = (segment: string): string =>
  segment
    .split(/[^A-Za-z0-9]/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("");

/** The things that a path names: `/wallets/{id}/votes` → `WalletVotes`. Of the first generation's `blocks/getFee`, `BlocksFee`. */
const thingsOf = (segments: readonly string[]): string =>
  segments
    .map((segment, index) => (isParameter(segments[index + 1]) || segments[index + 1] === "get" ? singular(segment) : segment))
    .filter((segment) => !isParameter(segment) && segment !== "get")
    .map((segment) => capitalized(segment.replace(/^get(?=[A-Z])/, "")))
    .join("");

const verbs = { GET: "get", PUT: "replace", PATCH: "update", DELETE: "delete" } as const;

/**
 * The name of a route, of words: its `operation`, otherwise one made from method and path: `getWalletVotes`, `searchBlocks`, `pingWebhook`.
 * The OpenAPI document has it as `operationId`, the router handed to hosts as the layer's name.
 */
export const routeName = <State extends Scope>({ operation, method, path, versions }: Route<State>): string => {
  if (operation !== undefined) return operation;
  const generation = versions.includes(2) ? "" : "V1";
  const segments = path.split("/").filter((segment) => segment !== "");
  if (segments.length === 0) return "getRoot";
  if (method !== "POST") return verbs[method] + generation + thingsOf(segments);
  const last = segments.at(-1) ?? "";
  const before = segments.slice(0, -1);
  if (last === "search") return `search${thingsOf(before)}`;
  // What is done to a thing, such as /webhooks/{id}/ping, or else a thing that is made.
  return isParameter(before.at(-1)) ? last + thingsOf(before) : `create${thingsOf([...before, singular(last)])}`;
};

/** All query parameters of a route, paging included. */
export const querySchema = <State extends Scope>(route: Route<State>): TObject =>
  Type.Object({
    ...(route.kind === "list" ? pagingProperties : {}),
    ...route.query?.properties,
    ...(route.atHeight === true ? { at: Type.Optional(At) } : {}),
  });

/** The schema of one page of a list. */
const pageSchema = (item: TSchema): TObject => Type.Object({ meta: Meta, data: Type.Array(item) });

/** The schema of a route's JSON reply, envelope included; any, where a route that makes its body makes no JSON. */
export const replySchema = <State extends Scope>(route: Route<State>): TSchema => {
  if (route.kind === "list") return pageSchema(route.item);
  return route.kind === "item" ? route.reply : (route.content["application/json"] ?? Type.Unknown());
};

/** Routes of both generations are the same for either version, and count as second generation. */
export const generationOf = (versions: readonly Generation[]): Generation => (versions.includes(2) ? 2 : 1);

/** Whether replies may be cached at all: only those to a GET that anyone may send. */
export const isCacheable = <State extends Scope>({ method, authenticated }: Route<State>): boolean =>
  method === "GET" && authenticated !== true;

/** Whether replies are cached until the tip moves. Those that are carry an ETag. */
export const isCached = <State extends Scope>(route: Route<State>): boolean =>
  isCacheable(route) && route.kind !== "body" && (route.cache ?? (route.stateless === true ? "never" : "tip")) === "tip";

/**
 * The path of a route below the base path, in the form that works as written: routes of the default generation, or of both, without a
 * version, others below `/v1` or `/v2`.
 */
export const publicPath = <State extends Scope>({ versions, path }: Route<State>, defaultVersion: Generation): string =>
  versions.includes(defaultVersion) ? path : `/v${versions[0]}${path}`;
