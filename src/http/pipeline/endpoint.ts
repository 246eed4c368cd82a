import type { IncomingHttpHeaders } from "node:http";
import { Type } from "@sinclair/typebox";
import type { MaybePromise } from "../../../types/chain-adapter.js";
import { inputError, PorticoError } from "../../errors.js";
import type { ReadInput } from "../input/input-reader.js";
import { refuseAt } from "../input/schema.js";
import { createQueryLayout, pageMeta, pageRequest, type QueryPairs } from "../input/query.js";
import type { PageAnswer, PageRequest, Route, Scope } from "../route.js";
import { generationOf, isCacheable, isCached, querySchema, replySchema } from "../route-properties.js";
import { parameterNames } from "../routing/router.js";
import { createRowsWriter, createSerializer, type LongJson, type WriteJson } from "../reply/json-writer.js";
import type { AmountForm, AmountPrefix, Generation } from "../routing/version.js";

/** The input of one request, parsed. */
export interface RouteInput {
  params: unknown;
  query: unknown;
  /** For list routes only. */
  page: PageRequest | undefined;
  /** Set once the body has been read. */
  body: unknown;
  prefix: AmountPrefix;
  versioned: boolean;
  /** The block as of which it is answered: height or id; undefined: the tip. */
  at: string | undefined;
  /** Those of the request where it has a body, makes its body itself or waits: set when the route is asked. Otherwise none. */
  headers: IncomingHttpHeaders;
  /** For routes that make their body only; set when they are asked. */
  json?: (value: unknown) => string;
  /** For routes that wait only; set when they are asked. */
  left?: AbortSignal | undefined;
  waited?: (milliseconds: number) => void;
}

/** What a reply depends on besides its route and body: the parameters of path and query as text, for links to repeat, and its form. */
export interface Asked {
  params: Record<string, string>;
  pairs: QueryPairs;
  prefix: AmountPrefix;
  versioned: boolean;
  amounts: AmountForm;
}

/** The outcome of a route. */
interface Answered {
  status: number;
  json: string | LongJson;
}

/** A route with everything that is derived from it at start. */
export interface Endpoint<State extends Scope> {
  readonly route: Route<State>;
  /** Whether replies are cached until the tip moves. */
  readonly cached: boolean;
  /** The generation whose error format applies. */
  readonly failsAs: Generation;
  readonly takesBody: boolean;
  /** Throws BAD_REQUEST. */
  readInput(asked: Asked): RouteInput;
  /** Takes the parsed JSON body, undefined if there was none. Throws BAD_REQUEST. */
  readBody(body: unknown): unknown;
  /** What the route answers: a reply, or the rows of a page. */
  ask(input: RouteInput, state: State): MaybePromise<unknown>;
  /** Writes what `ask` has returned, or its promise has resolved with, as JSON text. */
  write(answer: unknown, input: RouteInput, asked: Asked): Answered;
}

interface EndpointNeeds {
  basePath: string;
  inputReader(schema: unknown, source: "query" | "params" | "payload"): ReadInput;
}

const refuse = (path: string, problem: string): never => {
  throw new TypeError(`Route ${path}: ${problem}.`);
};

const checkParams = <State extends Scope>(route: Route<State>): void => {
  const declared = Object.keys(route.params?.properties ?? {}).sort();
  const named = parameterNames(route.path).sort();
  if (declared.join() !== named.join()) {
    refuse(route.path, "the parameters of the path and of its schema differ");
  }
};

const readerOfBody = <State extends Scope>(route: Route<State>, needs: EndpointNeeds): ((body: unknown) => unknown) => {
  const schema = route.body ?? Type.Object({});
  const read = needs.inputReader(schema, "payload");
  const optional = route.bodyOptional === true || route.body === undefined;
  return (body) => {
    if (body === undefined && !optional) {
      throw inputError("payload", "value", "is required");
    }
    const value = read(body ?? {});
    return route.body === undefined ? undefined : value;
  };
};

const splitPaging = (given: unknown): { page: PageRequest; query: unknown } => {
  const { page, limit, offset, ...query } = given as { page?: number; limit: number; offset?: number };
  return { page: pageRequest(page, limit, offset), query };
};

const noHeaders: IncomingHttpHeaders = Object.freeze({});

const readerOfInput = <State extends Scope>(route: Route<State>, needs: EndpointNeeds) => {
  const schema = querySchema(route);
  const layOut = createQueryLayout(schema, { leaveOutUnknown: route.ignoresUnknownQuery === true });
  const readQuery = needs.inputReader(schema, "query");
  const readParams = route.params === undefined ? undefined : needs.inputReader(route.params, "params");
  const own = route.query !== undefined;
  const takesAt = route.atHeight === true;
  // In the first generation it is as unknown as any other name.
  const refusesAt = !takesAt && generationOf(route.versions) === 2 && !("at" in schema.properties);
  return ({ params, pairs, prefix, versioned }: Asked): RouteInput => {
    const parsedParams = readParams?.({ ...params });
    if (refusesAt) refuseAt(pairs);
    const { at, ...rest } = readQuery(layOut(pairs)) as { at?: string };
    const all = takesAt || at === undefined ? rest : { at, ...rest };
    // What is spread comes last: the other way round, V8 makes a hidden class of each object, which stays until a full collection.
    const common = { params: parsedParams, body: undefined, prefix, versioned, at: takesAt ? at : undefined, headers: noHeaders };
    if (route.kind !== "list") return { query: own ? all : undefined, page: undefined, ...common };
    const { page, query } = splitPaging(all);
    return { query: own ? query : undefined, page, ...common };
  };
};

/** Makes the path of a list for links. */
const createLinkPath = (basePath: string, path: string): ((asked: Asked) => string) => {
  const [begin = "", ...rest] = path.split("{");
  const parts = rest.map((part) => part.split("}")) as [name: string, text: string][];
  return ({ params, prefix }) =>
    parts.reduce((written, [name, text]) => written + encodeURIComponent(params[name] ?? "") + text, `${basePath}${prefix}/v2${begin}`);
};

/** The writer of a route's JSON for each form of amounts, made when it is first needed. The first generation has but one form. */
const jsonWritersOf = <State extends Scope>(route: Route<State>): ((amounts: AmountForm) => WriteJson) => {
  const made: Partial<Record<AmountForm, WriteJson>> = {};
  const isFree = generationOf(route.versions) === 2;
  const make = (amountsAsText: boolean): WriteJson =>
    (route.kind === "list" ? !isCached(route) : route.kind === "item" && route.largeRows === true)
      ? createRowsWriter(replySchema(route) as never, { amountsAsText })
      : createSerializer(replySchema(route), { amountsAsText });
  return (asked) => {
    const amounts = isFree ? asked : "number";
    return (made[amounts] ??= make(amounts === "string"));
  };
};

const writerOf = <State extends Scope>(route: Route<State>, needs: EndpointNeeds): Endpoint<State>["write"] => {
  const writeJson = jsonWritersOf(route);
  if (route.kind === "item") {
    const status = route.status ?? 200;
    return (answer, _, { amounts }) => ({
      status: typeof status === "number" ? status : status(answer),
      json: writeJson(amounts)(answer),
    });
  }
  if (route.kind === "body") return (value, _, { amounts }) => ({ status: 200, json: writeJson(amounts)(value) });
  const linkPath = createLinkPath(needs.basePath, route.path);
  return (answer, { page }, asked) => {
    if (page === undefined) throw new PorticoError("INTERNAL", "A list was requested without a page.");
    const { rows, total } = answer as PageAnswer<unknown>;
    const meta = pageMeta({ count: rows.length, total }, linkPath(asked), asked.pairs, page);
    return { status: 200, json: writeJson(asked.amounts)({ meta, data: rows }) };
  };
};

/** Derives everything that a route needs at run time. Throws TypeError for an inconsistent route. */
export const createEndpoint = <State extends Scope>(route: Route<State>, needs: EndpointNeeds): Endpoint<State> => {
  checkParams(route);
  if (route.method === "GET" && route.body !== undefined) {
    refuse(route.path, "a GET has no body");
  }
  if (route.cache === "tip" && (!isCacheable(route) || route.kind === "body")) {
    refuse(route.path, "only the JSON reply to a GET that anyone may send can be cached");
  }
  if (route.kind === "item" && route.waits === true && route.stateless !== true) {
    refuse(route.path, "a route that waits has no state to read");
  }
  return {
    route,
    cached: isCached(route),
    failsAs: generationOf(route.versions),
    takesBody: route.method === "POST" || route.method === "PUT" || route.method === "PATCH",
    readInput: readerOfInput(route, needs),
    readBody: readerOfBody(route, needs),
    ask: (input, state) => route.answer(input as never, state),
    write: writerOf(route, needs),
  };
};
