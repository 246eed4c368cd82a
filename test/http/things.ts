import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Type } from "@sinclair/typebox";
import Koa from "koa";
import { PorticoError } from "../../src/errors.js";
import { createEdge, type Edge, type EdgeNeeds } from "../../src/http/edge.js";
import { Amount, Flag, InputOf, ListOf, OneOf, OrderBy, Range, Text, WholeNumber } from "../../src/http/input/schema.js";
import { type Route, routesOf, type Scope } from "../../src/http/route.js";
import type { EdgeOptions } from "../../src/options/options.js";
import { silentLogger } from "../silent.js";
import { listenerOf, listening } from "./listening.js";
import type { Range as Bounds } from "../../types/chain-queries.js";

/** A fictional resource that uses every kind of input and reply. */
export interface Thing {
  name: string;
  size: bigint;
  debt: bigint | null;
  rank?: number;
  asset?: Record<string, unknown>;
}

export interface ThingState extends Scope {
  things: Thing[];
}

const SizeOut = Type.Unsafe<bigint>({ type: "integer", "x-amount": true });

export const ThingReply = Type.Object(
  {
    name: Type.String(),
    size: SizeOut,
    debt: Type.Union([SizeOut, Type.Null()]),
    rank: Type.Optional(Type.Integer()),
    asset: Type.Optional(Type.Unsafe<Record<string, unknown>>({})),
  },
  { $id: "Thing" },
);

const thingRoutes = routesOf<ThingState>();
const within = ({ from, to }: Bounds<bigint>, size: bigint): boolean =>
  (from === undefined || size >= from) && (to === undefined || size <= to);
const found = (name: string, { things }: ThingState): Thing => {
  const thing = things.find((one) => one.name === name);
  if (thing === undefined) {
    throw new PorticoError("WALLET_NOT_FOUND");
  }
  return thing;
};

const Filter = Type.Object({
  name: Type.Optional(Text({ maxLength: 10 })),
  names: Type.Optional(ListOf(Text(), { maxItems: 3 })),
  size: Type.Optional(Range(Amount())),
});

/** The last request to an echo route, as its handler received it, but for its headers. */
export const echoed: { request?: unknown } = {};
const echo = ({ headers: _headers, ...request }: { headers: unknown }): { ok: boolean } => {
  echoed.request = request;
  return { ok: true };
};
const Ok = Type.Object({ ok: Type.Boolean() });

const listed = (filter: { name?: string; names?: string[]; size?: Bounds<bigint> }, state: ThingState): Thing[] =>
  state.things.filter(
    ({ name, size }) =>
      (filter.name === undefined || name === filter.name) &&
      (filter.names === undefined || filter.names.includes(name)) &&
      (filter.size === undefined || within(filter.size, size)),
  );

const ordered = (things: Thing[], { field, direction }: { field: "name" | "totalSize"; direction: "asc" | "desc" }): Thing[] => {
  const sign = direction === "asc" ? 1 : -1;
  const key = field === "name" ? (thing: Thing) => thing.name : (thing: Thing) => thing.size;
  return [...things].sort((a, b) => (key(a) < key(b) ? -sign : key(a) > key(b) ? sign : 0));
};

const page = <T>(rows: T[], { offset, limit }: { offset: number; limit: number }) => ({
  rows: rows.slice(offset, offset + limit),
  total: rows.length,
});

const [first, second] = [{ versions: [1], resource: "things" }, { versions: [2], resource: "things" }] as const;

export const routes: Route<ThingState>[] = [
  thingRoutes.list({
    method: "GET",
    path: "/things",
    ...second,
    summary: "Lists things.",
    query: Type.Object({ ...Filter.properties, orderBy: OrderBy(["name", "totalSize"], { default: "name" }) }),
    item: ThingReply,
    answer: ({ query, page: asked }, state) => page(ordered(listed(query, state), query.orderBy), asked),
  }),
  thingRoutes.list({
    method: "GET",
    path: "/things/all",
    ...second,
    summary: "Lists things without filters.",
    item: ThingReply,
    answer: ({ page: asked }, state) => page(state.things, asked),
  }),
  thingRoutes.list({
    method: "GET",
    path: "/things/later",
    ...second,
    summary: "Lists things, but not at once.",
    item: ThingReply,
    answer: ({ page: asked }, state) => Promise.resolve(page(state.things, asked)),
  }),
  thingRoutes.item({
    method: "GET",
    path: "/things/{name}",
    ...second,
    summary: "Shows a thing.",
    params: Type.Object({ name: Type.String() }),
    reply: Type.Object({ data: ThingReply }),
    answer: ({ params }, state) => ({ data: found(params.name, state) }),
  }),
  thingRoutes.list({
    method: "GET",
    path: "/things/{name}/parts",
    ...second,
    summary: "Lists the thing itself.",
    params: Type.Object({ name: Type.String() }),
    item: ThingReply,
    answer: ({ params, page: asked }, state) => page([found(params.name, state)], asked),
  }),
  thingRoutes.list({
    method: "POST",
    path: "/things/search",
    ...second,
    summary: "Searches things.",
    body: Filter,
    bodyOptional: true,
    item: ThingReply,
    answer: ({ body, page: asked }, state) => page(listed(body, state), asked),
  }),
  thingRoutes.item({
    method: "GET",
    path: "/echo",
    ...second,
    summary: "Tells what was asked.",
    cache: "never",
    query: Type.Object({
      count: WholeNumber({ minimum: 0, maximum: 50, default: 7 }),
      plain: Type.Optional(Type.Integer()),
      share: Type.Optional(Type.Number()),
      flag: Type.Optional(Flag()),
      kind: Type.Optional(OneOf(["big", "small"])),
      numbers: Type.Optional(ListOf(WholeNumber(), { maxItems: 3 })),
      amount: Type.Optional(Amount()),
      height: Type.Optional(Range(WholeNumber(), { exact: true })),
      size: Type.Optional(Range(Amount())),
      even: Type.Optional(
        InputOf<number>({
          parse: (value) => (Number(value) % 2 === 0 ? { value: Number(value) } : { rule: "must be even" }),
          accepts: { type: "integer", multipleOf: 2 },
        }),
      ),
      orderBy: OrderBy({ votes: "voteBalance", producedBlocks: "producedBlocks" }, { default: "votes:desc" }),
    }),
    reply: Ok,
    answer: echo,
  }),
  thingRoutes.item({
    method: "POST",
    path: "/echo",
    ...second,
    summary: "Tells what was sent.",
    body: Type.Object({
      amount: Type.Optional(Amount()),
      size: Type.Optional(Range(Amount())),
      height: Type.Optional(Range(WholeNumber(), { exact: true })),
      count: Type.Optional(WholeNumber({ minimum: 1 })),
      flag: Type.Optional(Flag()),
      either: Type.Optional(Type.Union([Type.Boolean(), Type.Literal("true"), Type.Literal("false")])),
      nested: Type.Optional(Type.Array(Type.Object({ key: Type.String(), value: Type.Optional(Type.Unknown()) }))),
      free: Type.Optional(Type.Unknown()),
    }),
    reply: Ok,
    answer: echo,
  }),
  thingRoutes.item({
    method: "POST",
    path: "/mirror",
    ...second,
    summary: "Sends back what was sent.",
    status: 201,
    body: Type.Object({ free: Type.Unknown() }),
    reply: Type.Object({ data: Type.Unknown() }),
    answer: ({ body }) => ({ data: body.free }),
  }),
  thingRoutes.item({
    method: "POST",
    path: "/typed",
    versions: [1, 2],
    resource: "hooks",
    summary: "Takes JSON that is declared as such, from those who may.",
    authenticated: true,
    requiresJsonType: true,
    stateless: true,
    body: Type.Object({ name: Type.String() }),
    reply: Ok,
    answer: echo,
  }),
  thingRoutes.list({
    method: "GET",
    path: "/hooks",
    versions: [1, 2],
    resource: "hooks",
    summary: "Lists hooks.",
    authenticated: true,
    stateless: true,
    cache: "never",
    item: Type.Object({ id: Type.Integer() }),
    answer: ({ page: asked }) => page([{ id: 1 }, { id: 2 }, { id: 3 }], asked),
  }),
  thingRoutes.item({
    method: "GET",
    path: "/failing",
    versions: [1, 2],
    resource: "things",
    summary: "Fails.",
    reply: Ok,
    answer: () => {
      throw new Error("a secret of the inside");
    },
  }),
  thingRoutes.item({
    method: "GET",
    path: "/old/get",
    ...first,
    summary: "Shows a thing as the first generation does.",
    query: Type.Object({ name: Type.String(), limit: WholeNumber({ maximum: 5, default: 5 }) }),
    reply: Type.Object({ success: Type.Boolean(), size: SizeOut }),
    answer: ({ query }, state) => ({ success: true, size: found(query.name, state).size }),
  }),
  thingRoutes.item({
    method: "GET",
    path: "/things/search",
    ...first,
    summary: "Searches things as the first generation does.",
    query: Type.Object({ q: Text({ minLength: 1, maxLength: 20 }) }),
    reply: Type.Object({ success: Type.Boolean(), names: Type.Array(Type.String()) }),
    answer: ({ query }, { things }) => ({
      success: true,
      names: things.map(({ name }) => name).filter((name) => name.includes(query.q)),
    }),
  }),
  thingRoutes.item({
    method: "GET",
    path: "/both",
    ...first,
    summary: "Is the first generation's.",
    reply: Type.Object({ generation: Type.Integer() }),
    answer: () => ({ generation: 1 }),
  }),
  thingRoutes.item({
    method: "GET",
    path: "/both",
    ...second,
    summary: "Is the second generation's.",
    reply: Type.Object({ generation: Type.Integer() }),
    answer: () => ({ generation: 2 }),
  }),
];

export const manyThings = (count: number): Thing[] =>
  Array.from({ length: count }, (_, index) => ({
    name: `thing${String(index).padStart(3, "0")}`,
    size: BigInt(index),
    debt: null,
  }));

const edgeOptions: EdgeOptions = {
  basePath: "/api",
  defaultVersion: 2,
  amounts: "number",
  bodyLimit: 10_000,
  rateLimit: { perMinute: 300, exempt: ["127.0.0.0/8", "::1"] },
  trustedProxies: [],
  maxConnections: 5_000,
  cors: { origins: "*" },
  compression: { threshold: 1024 },
  maxStreams: 1000,
  cacheSize: 10_000_000,
};

export interface Served {
  edge: Edge;
  server: Server;
  /** `http://127.0.0.1:port` */
  origin: string;
  port: number;
  state: ThingState;
  errors: string[];
  /** How many states are open now, and how many were opened in all. */
  states: { open: number; opened: number };
  stop(): Promise<void>;
}

/** Serves the things on a free port of 127.0.0.1. */
export const serveThings = async (
  options: Partial<EdgeOptions> = {},
  needs: Partial<EdgeNeeds<ThingState>> & { things?: Thing[] } = {},
): Promise<Served> => {
  const { things = manyThings(250), ...rest } = needs;
  const state: ThingState = { things, tip: { id: "tip1", height: 77 } };
  const states = { open: 0, opened: 0 };
  const errors: string[] = [];
  const edge = createEdge(
    { ...edgeOptions, ...options },
    {
      routes,
      openState: () => {
        states.open += 1;
        states.opened += 1;
        return { ...state, release: () => void (states.open -= 1) };
      },
      tipId: () => state.tip?.id,
      health: () => ({ status: "ok", height: 77 }),
      isStopping: () => false,
      logger: { ...silentLogger, error: (message) => void errors.push(message) },
      epoch: "2017-03-21T13:00:00.000Z",
      info: { title: "Things", version: "1" },
      ...rest,
    },
  );
  const server = edge.createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const stop = async (): Promise<void> => {
    server.close();
    server.closeAllConnections();
    await once(server, "close");
  };
  return { edge, server, origin: `http://127.0.0.1:${port}`, port, state, errors, states, stop };
};

/** Runs a test against a server, then stops the server. */
export const withThings = async (
  options: Partial<EdgeOptions>,
  needs: Partial<EdgeNeeds<ThingState>> & { things?: Thing[] },
  test: (served: Served) => Promise<void>,
): Promise<void> => {
  const served = await serveThings(options, needs);
  try {
    await test(served);
  } finally {
    await served.stop();
  }
};

/** Runs a test at a listener, and in a Koa app. */
export const everywhere = (
  title: string,
  given: () => { options?: Partial<EdgeOptions>; needs?: Partial<EdgeNeeds<ThingState>> },
  test: (port: number, served: Served) => Promise<void>,
): void => {
  it(`${title}: listener`, () => {
    const { options = {}, needs = {} } = given();
    return withThings(options, needs, (served) => test(served.port, served));
  });
  it(`${title}: Koa`, () => {
    const { options = {}, needs = {} } = given();
    return withThings(options, needs, async (served) => {
      const app = new Koa();
      app.on("error", (error: Error) => served.errors.push(`Koa: ${error.message}`));
      served.edge.mount(app);
      await listening(listenerOf(app), (port) => test(port, served));
    });
  });
};
