import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { parseExactJson } from "../../src/http/exact-json.js";
import { createChainRules } from "../../src/chain/rules.js";
import { createEdge } from "../../src/http/edge.js";
import { defaultOptions } from "../../src/options.js";
import { type ApiHost, createApiState } from "../../src/api/state.js";
import { v2Routes } from "../../src/api/v2/index.js";
import type { ChainAdapter } from "../../types/chain-adapter.js";
import type { PorticoOptions } from "../../types/node-context.js";
import { type ChainName, loadChain } from "../data/read.js";
import { createMemoryAdapter } from "../memory-adapter/adapter.js";

export interface Answer {
  status: number;
  headers: Headers;
  /** Parsed with all digits: whole numbers beyond 2^53 are bigints. */
  body: unknown;
}

/** A served interface. */
export interface Interface {
  get(path: string): Promise<Answer>;
  post(path: string, body?: unknown): Promise<Answer>;
  stop(): Promise<void>;
}

const adapters = new Map<ChainName, ChainAdapter>();

/** The chain as a host's own adapter holds it; read once. */
export const adapterOf = (name: ChainName): ChainAdapter => {
  const known = adapters.get(name);
  if (known !== undefined) return known;
  const { network, blocks } = loadChain(name);
  const adapter = createMemoryAdapter(network);
  for (const block of blocks) adapter.apply(block);
  adapters.set(name, adapter);
  return adapter;
};

export interface Serving {
  host?: ApiHost;
  options?: Pick<PorticoOptions, "amounts">;
  /** In place of the chain's own adapter. */
  adapter?: ChainAdapter;
  /** Milliseconds since 1970. */
  now?: number;
}

const complain = (message: string): never => {
  throw new Error(message);
};

export const serveChain = async (name: ChainName, { host = {}, options = {}, adapter = adapterOf(name), now = 0 }: Serving = {}): Promise<Interface> => {
  const needs = { rules: createChainRules(loadChain(name).network), host, supports: adapter.supports ?? {}, clock: { now: () => now } };
  const edge = createEdge(
    { ...defaultOptions, rateLimit: false, ...options },
    {
      routes: v2Routes,
      openState: async () => createApiState(await adapter.snapshot(), needs),
      health: () => ({ status: "ok", height: 0 }),
      isStopping: () => false,
      logger: { debug: () => undefined, info: () => undefined, warn: complain, error: console.error },
      info: { title: "Test", version: "0" },
    },
  );
  const server = edge.createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const ask = async (path: string, init: RequestInit): Promise<Answer> => {
    const response = await fetch(`${origin}/api${path}`, init);
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: parseExactJson(text) };
  };

  return {
    get: (path) => ask(path, {}),
    post: (path, body) => ask(path, { method: "POST", ...(body === undefined ? {} : { body: exactJson(body) }) }),
    stop: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
};

/** Writes bigints as numbers, with all their digits. */
export const exactJson = (value: unknown): string => {
  if (typeof value === "bigint") return value.toString();
  if (Array.isArray(value)) return `[${value.map(exactJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${exactJson(member)}`).join(",")}}`;
};

/** What a reply with these values looks like once it is parsed: amounts that a double holds are numbers. */
export const parsed = (value: unknown): unknown => parseExactJson(exactJson(value));
