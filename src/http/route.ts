import type { IncomingHttpHeaders } from "node:http";
import type { TObject, TSchema } from "@sinclair/typebox";
import type { MaybePromise } from "../../types/chain-adapter.js";
import type { AmountPrefix } from "./routing/version.js";

// A route as a value, from which the router, validation, serializer, OpenAPI document, the README's tables and the tests are all made.
// It names no framework, and is together with the input types (input/schema.ts) all of `http` that `api` imports.

/** The requested page, once `page`, `limit` and `offset` are parsed. */
export interface PageRequest {
  offset: number;
  limit: number;
}

/** The page that a list route returns. */
export interface PageAnswer<Item> {
  rows: Item[];
  total: number;
}

/** The state from which one request is answered. This is all that http needs of it; users of http add members of their own. */
export interface Scope {
  /** Identifies the state: replies computed at one tip are valid until the next. Absent while there is no state. */
  tip?: { id: string; height: number };
  /** Height of the state, where that is an earlier one than the tip's. */
  height?: number;
  /** Whether the state is that of a block that will not be reverted: replies computed from it stay right for ever. */
  isFinal?: boolean;
  release?(): void;
}

/** `Schema["static"]` is the same type as `Static<Schema>`, but the compiler can also resolve it for nested schemas. */
type Input<Schema> = Schema extends TSchema ? Schema["static"] : undefined;

interface RouteCommon<Path, Query, Body> {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path below the base path and version, with parameters in braces: `/wallets/{id}/votes`. */
  path: string;
  /** Generations that have the route. Webhooks have both. */
  versions: readonly (1 | 2)[];
  /** The name of the operation, where the one made from method and path (`route-properties.ts`) would not be words. */
  operation?: string;
  /** The group in the docs, such as `wallets`. */
  resource: string;
  /** Whether it is left out of the docs, as the parts of a page are. Default false. */
  hidden?: boolean;
  /** One line for the docs, in the third person: `Lists ...`. */
  summary: string;
  /** Whether its path is no name: it has no other methods, although a path with a parameter would match it. Default false. */
  reserved?: boolean;
  /** Accepted input. Unknown keys are refused; without a schema, there must be no input of that kind. */
  params?: Path;
  query?: Query;
  body?: Body;
  /** For the docs only: headers that its `answer` reads. */
  headers?: TObject;
  /** Whether query parameters that `query` does not name are ignored instead of refused. Default false. */
  ignoresUnknownQuery?: boolean;
  /** Whether a missing or empty body is taken as `{}`. Default false. */
  bodyOptional?: boolean;
  /** Bytes that a body may have, where that is more than the option `bodyLimit`. */
  bodyLimit?: number;
  /** Bytes that a body may have, where that is less than the option `bodyLimit`. */
  mostBody?: number;
  /** Whether the content type must be JSON (415 otherwise). Default false: any content type, or none, is read as JSON. */
  requiresJsonType?: boolean;
  /**
   * Whether replies are kept until the tip moves (`tip`) or not at all (`never`). Default: `tip` for a GET that is neither
   * `authenticated` nor `stateless`, otherwise `never`.
   */
  cache?: "tip" | "never";
  /** Whether it reads no state: it answers while there is none, without `scope.tip`, and none is waited for. Default false. */
  stateless?: boolean;
  /** Whether it is a probe of a supervisor: it answers while the node is stopping, and is not refused by the rate limit. Default false. */
  isProbe?: boolean;
  /** For the docs only: error statuses besides 400, 429, 500 and 503 that it may answer with. */
  errors?: readonly number[];
  /** Whether `at` is accepted besides `query`: it names the block, by height or id, as of which the route answers. Default false. */
  atHeight?: boolean;
  /** Whether its reply has parts that are the host's, which may change without a block: no reply of it is immutable. Default false. */
  hasHostParts?: boolean;
  /** Whether the header `Authorization` must be valid; it is checked before the input is read. Default false. */
  authenticated?: boolean;
}

export interface Request<Path, Query, Body> {
  params: Input<Path>;
  query: Input<Query>;
  body: Input<Body>;
  /** What its path has between base path and version to choose the form of amounts, such as `/strings`: links stay below it. */
  prefix: AmountPrefix;
  /** Whether its path names the generation, as `/v2` does. */
  versioned: boolean;
}

interface RequestWithHeaders<Path, Query, Body> extends Request<Path, Query, Body> {
  /** Of a route with a single object: those of a request with a body, or of one that waits; otherwise none. */
  headers: IncomingHttpHeaders;
}

interface ItemRequest<Path, Query, Body> extends RequestWithHeaders<Path, Query, Body> {
  /** Of a route that `waits`: aborts when the client has left, or has ended its side of the connection. */
  left?: AbortSignal | undefined;
  /** Of a route that `waits`: is told how long it has waited, which is no part of how long it took. */
  waited?: (milliseconds: number) => void;
}

interface BodyRequest<Path, Query, Body> extends RequestWithHeaders<Path, Query, Body> {
  /** Writes a value as JSON by the schema of `application/json` in `content`, with amounts in the form that the client asks for. */
  json: (value: unknown) => string;
}

interface PagedRequest<Path, Query, Body> extends Request<Path, Query, Body> {
  page: PageRequest;
}

/** A route that returns a single object. */
interface ItemRoute<State extends Scope, Path, Query, Body, Reply extends TSchema> extends RouteCommon<Path, Query, Body> {
  kind: "item";
  /** HTTP status, or a function of the reply. Default 200. */
  status?: number | ((reply: Reply["static"]) => number);
  /** Schema of the whole body, envelope included. */
  reply: Reply;
  /**
   * Whether `data` of its reply, which is kept by nobody, is a list of rows that may be large: beyond half a megabyte they are written
   * while it is sent. Default false.
   */
  largeRows?: boolean;
  /**
   * Whether it may wait before it answers, and is told when its client has left. It must be `stateless`: the state that it is given has
   * been released. Default false.
   */
  waits?: boolean;
  answer(request: ItemRequest<Path, Query, Body>, state: State): MaybePromise<Reply["static"]>;
}

/** A route that returns one page of a list. `page`, `limit` and `offset` are accepted besides `query`; http adds `meta`. */
interface ListRoute<State extends Scope, Path, Query, Body, Item extends TSchema> extends RouteCommon<Path, Query, Body> {
  kind: "list";
  /** Schema of one item of `data`. */
  item: Item;
  answer(request: PagedRequest<Path, Query, Body>, state: State): MaybePromise<PageAnswer<Item["static"]>>;
}

export type Chunk = string | Uint8Array;

/**
 * Header names and values, alternating. They take the place of default headers of the same names; `Vary` adds to the default, and
 * `no-transform` of an endless stream stays.
 */
type Headers = readonly string[];

/** A reply that is produced while it is sent. No reply of this kind is compressed. */
export interface StreamAnswer {
  /**
   * Begins the body; a Node.js `Readable` will do. It is asked for the next chunk only when there is room for it. If it throws, the
   * connection is cut, so that the client sees that something is missing. Not called for HEAD. `signal` aborts when the client has left,
   * was too slow, or the node stops.
   */
  stream(signal: AbortSignal): AsyncIterable<Chunk>;
  contentType: string;
  /** Default 200. */
  status?: number;
  headers?: Headers;
  /**
   * Whether it only ends when the client leaves. When the node stops, it is ended at once; one that has an end is sent to its end, as any
   * reply is. The number of endless ones is bounded (`maxStreams`). Default false.
   */
  endless?: boolean;
  /** Milliseconds for which a client may read nothing while there is something to read. Then its connection is cut. Default 30,000. */
  patience?: number;
  /** Whether the state stays open until the stream has ended; otherwise it is released before. Default false. */
  keepsState?: boolean;
}

/** A reply that is there already. Ranges and conditional requests are answered; texts are compressed. */
export interface FileAnswer {
  /** The bytes, or the path of a file on disk: 404 if there is none. Return one and the same answer again to keep what is made of it. */
  file: Buffer | string;
  contentType: string;
  /** The part between the quotes. Default: made from the bytes, or from size and time of the file on disk. */
  etag?: string;
  /** Whether there will never be other bytes at the same URL, so that nobody has to ask again. Default false. */
  immutable?: boolean;
  headers?: Headers;
}

export type BodyAnswer = StreamAnswer | FileAnswer;

/** A route that makes its body itself: a stream or a file, of any content type. */
interface BodyRoute<State extends Scope, Path, Query, Body> extends RouteCommon<Path, Query, Body> {
  kind: "body";
  /** For the docs: the schema of the body by content type, such as `{ "text/csv": Type.String() }`. */
  content: Readonly<Record<string, TSchema>>;
  answer(request: BodyRequest<Path, Query, Body>, state: State): MaybePromise<BodyAnswer>;
}

type Erased<Kind extends { answer: unknown }, AnyRequest, Answer, State> = Omit<Kind, "answer"> & {
  answer(request: AnyRequest, state: State): MaybePromise<Answer>;
};

/** Any route, with its own types erased, for tables of routes. */
export type Route<State extends Scope = Scope> =
  | Erased<ItemRoute<State, TObject, TObject, TSchema, TSchema>, ItemRequest<never, never, never>, unknown, State>
  | Erased<ListRoute<State, TObject, TObject, TSchema, TSchema>, PagedRequest<never, never, never>, PageAnswer<unknown>, State>
  | Erased<BodyRoute<State, TObject, TObject, TSchema>, BodyRequest<never, never, never>, BodyAnswer, State>;

/** A request to an operation, and its reply. */
export interface OperationExample {
  /** Parameters of the path. */
  params?: Record<string, string>;
  body?: unknown;
  reply?: unknown;
  /** The reply with amounts as text, where that differs. */
  replyInText?: unknown;
  /** Of a route that makes its body itself: the text by content type. */
  texts?: Record<string, string>;
}

/** A request that the node itself sends, to targets of webhooks. */
export interface OutgoingRequest {
  /** Its event, or what else it is: all are distinct. */
  name: string;
  /** Its `operationId`. */
  operation: string;
  summary: string;
  description: string;
  /** One member per header; all are always sent. */
  headers: TObject;
  body: TSchema;
  /** An example of the body. */
  example: unknown;
  /** What each answer of the target leads to, by its status. */
  answers: Readonly<Record<string, string>>;
}

/** Makes the constructors of routes, typed by the state from which they answer. */
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
  body: <
    Path extends TObject | undefined = undefined,
    Query extends TObject | undefined = undefined,
    Body extends TSchema | undefined = undefined,
  >(
    route: Omit<BodyRoute<State, Path, Query, Body>, "kind">,
  ): Route<State> => ({ kind: "body", ...route }) as unknown as Route<State>,
});
