import type { TObject, TSchema } from "@sinclair/typebox";
import type { MaybePromise } from "../../types/chain-adapter.js";

/**
 * A route as a value. Router, validation, serializer, OpenAPI, the README's tables and the tests are all made from it.
 * This file is the one piece of `http` that `api` may import: it names no framework.
 */

/** What a page request comes to once `page`, `limit` and `offset` are parsed. */
export interface PageRequest {
  offset: number;
  limit: number;
}

/** One page of what a list route answers. */
export interface PageAnswer<Item> {
  rows: Item[];
  total: number;
}

/** The state that one request is answered from. http needs no more of it than this; a host of routes adds its own. */
export interface Scope {
  /** Names the state: replies computed at one tip are good until the next. Absent while there is no state. */
  tip?: { id: string; height: number };
  release?(): void;
}

/** `Schema["static"]` and not `Static<Schema>`: the same type, which the compiler gets through for nested schemas too. */
type Input<Schema> = Schema extends TSchema ? Schema["static"] : undefined;

interface RouteCommon<Path, Query, Body> {
  method: "GET" | "POST" | "PUT" | "DELETE";
  /** Below the base path and version, parameters in braces: `/wallets/{id}/votes`. */
  path: string;
  /** Generations that have the route. Webhooks have both. */
  versions: readonly (1 | 2)[];
  /** Resource it belongs to, in the plural, as the docs group it: `wallets`. */
  resource: string;
  /** One line for the docs, in the third person: `Lists ...`. */
  summary: string;
  /** Accepted input. Unknown keys are refused; a missing schema accepts nothing there. */
  params?: Path;
  query?: Query;
  body?: Body;
  /** Query parameters that `query` does not name are left out, not refused. Default false. */
  ignoresUnknownQuery?: boolean;
  /** A missing or empty body is taken as `{}`. Default false. */
  bodyOptional?: boolean;
  /** The body must be declared as JSON (415 otherwise). Default: any content type, or none, is read as JSON. */
  requiresJsonType?: boolean;
  /** Good until the tip moves (`tip`, the default of GET), or never kept (`never`, the default of the others). */
  cache?: "tip" | "never";
  /** Answers while there is no state: does not need `scope.tip`. Default false. */
  stateless?: boolean;
  /** Named in the docs only: error statuses beyond 400, 429, 500 and 503 that it may answer with. */
  errors?: readonly number[];
  /** The header `Authorization` is checked before anything else of the request is read. */
  authenticated?: boolean;
}

export interface Request<Path, Query, Body> {
  params: Input<Path>;
  query: Input<Query>;
  body: Input<Body>;
}

/** A route that answers with one thing. */
export interface ItemRoute<State extends Scope, Path, Query, Body, Reply extends TSchema> extends RouteCommon<Path, Query, Body> {
  kind: "item";
  /** Default 200; a function where it follows from the reply. */
  status?: number | ((reply: Reply["static"]) => number);
  /** Schema of the whole body, envelope included. */
  reply: Reply;
  answer(request: Request<Path, Query, Body>, state: State): MaybePromise<Reply["static"]>;
}

/** A route that answers with a page of a list. `page`, `limit` and `offset` are accepted besides `query`; http adds `meta`. */
export interface ListRoute<State extends Scope, Path, Query, Body, Item extends TSchema> extends RouteCommon<Path, Query, Body> {
  kind: "list";
  /** Schema of one item of `data`. */
  item: Item;
  answer(request: Request<Path, Query, Body> & { page: PageRequest }, state: State): MaybePromise<PageAnswer<Item["static"]>>;
}

/** Any route, its own types forgotten: what tables of routes hold. */
export type Route<State extends Scope = Scope> =
  | (Omit<ItemRoute<State, TObject, TObject, TSchema, TSchema>, "answer"> & {
      answer(request: Request<never, never, never>, state: State): MaybePromise<unknown>;
    })
  | (Omit<ListRoute<State, TObject, TObject, TSchema, TSchema>, "answer"> & {
      answer(request: Request<never, never, never> & { page: PageRequest }, state: State): MaybePromise<PageAnswer<unknown>>;
    });

/** No route, but the other way round: a request that is sent to whoever asked to be told of an event. */
export interface OutgoingRequest {
  event: string;
  summary: string;
  /** A member for each header; all of them are sent. */
  headers: TObject;
  body: TSchema;
  /** Of the body. */
  example: unknown;
}

/** Makes the two constructors of a room's routes, typed by the state that its answers are computed from. */
export const routesOf = <State extends Scope>() => ({
  item: <
    Reply extends TSchema,
    Path extends TObject | undefined = undefined,
    Query extends TObject | undefined = undefined,
    Body extends TSchema | undefined = undefined,
  >(
    route: Omit<ItemRoute<State, Path, Query, Body, Reply>, "kind">,
  ): Route<State> => ({ kind: "item", ...route }) as unknown as Route<State>,
  list: <
    Item extends TSchema,
    Path extends TObject | undefined = undefined,
    Query extends TObject | undefined = undefined,
    Body extends TSchema | undefined = undefined,
  >(
    route: Omit<ListRoute<State, Path, Query, Body, Item>, "kind">,
  ): Route<State> => ({ kind: "list", ...route }) as unknown as Route<State>,
});
