import {
  type ChangesOptions,
  createChanges,
  createFollow,
  type FollowOptions,
  linesOf,
  withEventAmounts,
} from "./follow.js";
import { createList, type ListQuery, type PageReply } from "./list.js";
import { type Operations, operations } from "./operations.js";
import { checkTransaction, type WithProof } from "./proof.js";
import type { Change, EventFeed, EventSelector } from "./schemas.js";
import {
  type Asked,
  type CallOptions,
  type ClientOptions,
  createTransport,
  PorticoClientError,
  readJson,
  type Transport,
  TransportError,
  type Walk,
} from "./transport.js";
import { queryOf, withAmounts } from "./values.js";

export interface RequestOptions extends CallOptions {
  /** Parameters of the query, by name. @default none */
  query?: object | undefined;
  /** Sent as JSON. @default none */
  body?: unknown;
  /** Further headers. @default none */
  headers?: Record<string, string> | undefined;
}

export interface Client extends Operations {
  /** Asks for any path below the base path, such as a fork's own. Returns the JSON: whole numbers beyond 2^53 are bigints. */
  request(method: string, path: string, options?: RequestOptions): Promise<unknown>;
  /**
   * Hands on each event once and in order, whatever becomes of node and connection. Resolves when the signal aborts.
   * @throws PorticoClientError CURSOR_UNKNOWN without `onUnknown`; whatever `onEvent` and `save` throw
   */
  follow<const Selector extends EventSelector = "*">(options: FollowOptions<Selector>): Promise<void>;
  /** Whole blocks, applied and reverted. */
  changes(options?: ChangesOptions): AsyncIterable<Change>;
}

/** An operation, as its row in the table has it. */
interface Operation {
  method: string;
  path: string;
  kind: string;
  marks: readonly string[];
  amounts: string | undefined;
}

const operationOf = (row: string | readonly [string, string]): Operation => {
  const [how, amounts] = typeof row === "string" ? [row] : row;
  const [method = "", path = "", kind = "", ...marks] = how.split(" ");
  return { method, path, kind, marks, amounts };
};

/** A segment of a path. @throws TypeError for what would lead elsewhere */
const segmentOf = (value: unknown): string => {
  const text = typeof value === "string" || typeof value === "number" || typeof value === "bigint" ? String(value) : "";
  if (/^\.{0,2}$/.test(text)) throw new TypeError(`A path needs a name, and "${text}" is not one.`);
  return encodeURIComponent(text);
};

/** Of a search, what its query has: the rest is its body. */
const inQuery = new Set(["page", "limit", "offset", "at"]);

const split = (input: object): { query: object; body: object } => {
  const entries = Object.entries(input);
  return {
    query: Object.fromEntries(entries.filter(([name]) => inQuery.has(name))),
    body: Object.fromEntries(entries.filter(([name]) => !inQuery.has(name))),
  };
};

interface Call {
  operation: Operation;
  input: object;
  options: CallOptions;
  /** The path with its parameters. */
  path: () => string;
}

const askedOf = ({ operation: { method, kind, marks }, input, options, path }: Call, token: string | undefined): Asked => {
  // A feed's `limit` is a member of its body.
  const isSearch = marks.includes("body") && kind === "list";
  const { query, body } = isSearch || marks.includes("at") ? split(input) : { query: {}, body: input };
  const { wait = 0 }: { wait?: number } = kind === "feed" ? input : {};
  return {
    ...options,
    method,
    path: `/v2${path()}${queryOf(marks.includes("body") ? query : input)}`,
    ...(marks.includes("body") ? { body: Array.isArray(input) ? { transactions: input } : body } : {}),
    ...(marks.includes("token") && token !== undefined ? { headers: { authorization: token } } : {}),
    ...(wait > 0 ? { waits: wait * 1000 } : {}),
  };
};

/** A reply's members. @throws TransportError for what no node says */
const membersOf = async (response: Response): Promise<Record<string, unknown>> => {
  const body = await readJson(response);
  if (typeof body !== "object" || body === null) throw new TransportError("The reply is not from a node.", { status: response.status });
  return body as Record<string, unknown>;
};

const dataOf = async (response: Response): Promise<{ data: unknown; meta?: unknown; others: object }> => {
  const { data, meta, ...others } = await membersOf(response);
  if (data === undefined) throw new TransportError("The reply has no data.", { status: response.status });
  return { data, meta, others };
};

const either = (one: AbortSignal | undefined, other: AbortSignal | undefined): AbortSignal | undefined =>
  one === undefined || other === undefined ? (one ?? other) : AbortSignal.any([one, other]);

const createCalls = (transport: Transport, token: string | undefined) => {
  const pageOf = async (call: Call, query: ListQuery, walk?: Walk, leaving?: AbortSignal): Promise<PageReply<object>> => {
    const signal = either(call.options.signal, leaving);
    const asked = askedOf({ ...call, input: { ...call.input, ...query }, options: { ...call.options, signal } }, token);
    return transport.ask({ ...asked, walk }, async (response) => {
      const { data, meta } = await dataOf(response);
      if (!Array.isArray(data) || meta === undefined) throw new TransportError("The reply is not a list.", { status: response.status });
      const rows = data.map((row: object) => withAmounts(row, call.operation.amounts));
      const isLasting = response.headers.get("cache-control")?.includes("immutable") === true;
      return { page: { data: rows, meta: meta as PageReply<object>["page"]["meta"] }, isLasting };
    });
  };
  const tip = async (walk: Walk, options: CallOptions): Promise<string> => {
    const { data } = await transport.ask({ ...options, method: "GET", path: "/v2/blockchain", walk }, dataOf);
    return (data as { block: { id: string } }).block.id;
  };
  const item = async (call: Call, walk?: Walk): Promise<unknown> =>
    transport.ask({ ...askedOf(call, token), walk }, async (response) => {
      if (call.operation.kind === "none") return void (await membersOf(response));
      const { data, meta, others } = await dataOf(response);
      if (call.operation.kind === "feed") return { data: (data as EventFeed["data"]).map(withEventAmounts), meta };
      const converted = withAmounts(data, call.operation.amounts);
      return Object.keys(others).length === 0 ? converted : { ...others, ...(converted as object) };
    });

  /** A transaction with its proof, both of one node. */
  const proven = async (call: Call, { proof, ...input }: WithProof): Promise<unknown> => {
    const [walk, end]: [Walk, number] = [{ isPinned: false }, Date.now() + (call.options.timeout ?? transport.timeout)];
    const part = async (path: string, query: object): Promise<unknown> => {
      const operation = { ...call.operation, path, amounts: undefined };
      const options = { ...call.options, timeout: Math.max(1, end - Date.now()) };
      return item({ operation, path: () => path, input: query, options }, walk);
    };
    const transaction = await item({ ...call, input }, walk);
    if (proof === undefined) return transaction;
    await checkTransaction(transaction, proof, {
      proof: () => part(`${call.path()}/proof`, input),
      crypto: () => part("/node/configuration/crypto", {}),
    });
    return transaction;
  };

  return (call: Call): unknown => {
    const { operation, input, options } = call;
    if (operation.marks.includes("proof") && "proof" in input) return proven(call, input as WithProof);
    if (operation.kind === "lines") return linesOf(transport.open(askedOf(call, token)), operation.amounts ?? "");
    if (operation.kind !== "list") return item(call);
    return createList({
      query: input,
      takesAt: operation.marks.includes("at"),
      ask: (query, walk, signal) => pageOf(call, query, walk, signal),
      tip: (walk) => tip(walk, options),
    });
  };
};

const orUndefined = (found: Promise<unknown>): Promise<unknown> =>
  found.catch((error: unknown) => {
    // `NOT_FOUND` alone is a path that the node does not have.
    if (error instanceof PorticoClientError && error.status === 404 && error.code !== "NOT_FOUND") return undefined;
    throw error;
  });

/** The methods of a group. */
const groupOf = (rows: (typeof operations)[string], call: ReturnType<typeof createCalls>): Record<string, unknown> => {
  const methods = Object.entries(rows).map(([name, row]) => {
    const operation = operationOf(row);
    const parameters = operation.path.match(/\{\w+\}/g) ?? [];
    const hasInput = operation.marks.includes("query") || operation.marks.includes("body") || operation.marks.includes("at");
    const method = (...given: unknown[]): unknown => {
      const [input, options] = given.slice(parameters.length);
      const path = (): string =>
        parameters.reduce((filled, parameter, index) => filled.replace(parameter, () => segmentOf(given[index])), operation.path);
      return call({ operation, path, input: (hasInput ? input : undefined) ?? {}, options: (hasInput ? options : input) ?? {} });
    };
    return [name, method] as const;
  });
  const group = Object.fromEntries(methods);
  const { get } = group;
  if (get === undefined || rows.get === undefined || !operationOf(rows.get).path.includes("{")) return group;
  return { ...group, find: (...given: unknown[]) => orUndefined(get(...given) as Promise<unknown>) };
};

/**
 * Makes a client of one node, or of several that serve the same network.
 * @param url an origin, whose base path is then `/api`, or a URL that ends with the base path
 */
export const createClient = (url: string | readonly string[], options: ClientOptions = {}): Client => {
  const transport = createTransport(typeof url === "string" ? [url] : url, options);
  const call = createCalls(transport, options.token);
  const groups = Object.fromEntries(Object.entries(operations).map(([name, rows]) => [name, groupOf(rows, call)])) as unknown as Operations;
  return {
    ...groups,
    request: (method, path, { query = {}, ...rest } = {}) => transport.ask({ ...rest, method, path: path + queryOf(query) }, readJson),
    follow: createFollow(transport),
    changes: createChanges(transport),
  };
};
