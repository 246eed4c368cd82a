import { EventEmitter } from "node:events";
import { parseExactJson } from "../../src/http/input/exact-json.js";
import { createApiPlugin } from "../../src/index.js";
import type { ChainAdapter } from "../../types/chain-adapter.js";
import type { Network, NodeContext } from "../../types/node-context.js";
import { atEndOfTest } from "../at-end.js";
import { type ChainName, loadChain } from "../data/read.js";
import { listenTo } from "../fixtures/node.js";
import { storedChain } from "./chains.js";
import { createReplyCheck } from "./reply-check.js";

export interface Answer {
  status: number;
  headers: Headers;
  /** Parsed with all digits: integers beyond 2^53 are bigints. */
  body: unknown;
}

/** A served interface, until the tests have ended that need it. Every reply is checked against the OpenAPI document that it serves itself. */
export interface Interface {
  /** Base URL, for requests that choose another form of amounts than the option gives. */
  url: string;
  /** Path below `/api`. */
  get(path: string): Promise<Answer>;
  post(path: string, body?: unknown): Promise<Answer>;
}

/** What a test's host has besides the chain. */
export type Serving = Pick<NodeContext, "peers" | "sync" | "pool" | "node" | "logger" | "options" | "transactionTypes"> & {
  /** Replaces the chain's default adapter, which is the LMDB store. */
  chain?: ChainAdapter;
  /** Milliseconds since 1970. */
  now?: number;
};

/** Serves one of the chains, complete, as a host that has nothing but the chain, or also what `serving` adds. */
export const serveChain = async (name: ChainName, serving: Serving = {}): Promise<Interface> =>
  serveNetwork(loadChain(name).network, { chain: await storedChain(name), ...serving });

/** The same for a chain of any network, which comes by an adapter or as blocks. */
export const serveNetwork = async (network: Network, { now, ...serving }: Serving & Pick<NodeContext, "blocks" | "dataDir">): Promise<Interface> => {
  const plugin = createApiPlugin({ ...serving, network, events: new EventEmitter(), ...(now === undefined ? {} : { clock: { now: () => now } }) });
  atEndOfTest(() => plugin.stop());
  const { origin } = await listenTo(plugin);

  // Stricter than `/api/openapi.json`, which allows both forms of amounts.
  const strict = serving.options?.amounts === "string" ? "/api/strings" : "/api/numbers";
  const check = createReplyCheck(await (await fetch(`${origin}${strict}/openapi.json`)).json());

  const ask = async (path: string, init: RequestInit): Promise<Answer> => {
    // To compress and decompress takes as long as to answer, and is tested elsewhere.
    const response = await fetch(`${origin}/api${path}`, { ...init, headers: { "Accept-Encoding": "identity" } });
    const text = await response.text();
    check({ method: init.method ?? "GET", path: strict + path, status: response.status, body: JSON.parse(text) });
    return { status: response.status, headers: response.headers, body: parseExactJson(text) };
  };

  return {
    url: `${origin}/api`,
    get: (path) => ask(path, {}),
    post: (path, body) => ask(path, { method: "POST", ...(body === undefined ? {} : { body: exactJson(body) }) }),
  };
};

/** Writes bigints as numbers with all their digits. */
export const exactJson = (value: unknown): string => {
  if (typeof value === "bigint") return value.toString();
  if (Array.isArray(value)) return `[${value.map(exactJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${exactJson(member)}`).join(",")}}`;
};

/** These values as a parsed reply has them: amounts that a double represents exactly are numbers. */
export const parsed = (value: unknown): unknown => parseExactJson(exactJson(value));
