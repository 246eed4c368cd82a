import { Ajv } from "ajv";
import { expect } from "chai";
import { EventEmitter } from "eventemitter3";
import { v1Routes } from "../../src/api/v1/index.js";
import { parseExactJson } from "../../src/http/input/exact-json.js";
import { inputKeyword } from "../../src/http/input/schema.js";
import { createApiPlugin } from "../../src/index.js";
import type { NodeContext } from "../../types/node-context.js";
import { atEndOfTest } from "../at-end.js";
import { type ChainName, loadChain } from "../data/read.js";
import { listenTo } from "../fixtures/node.js";
import { storedChain } from "./chains.js";
import { createReplyCheck } from "./reply-check.js";

/** The whole plugin, served on a port of its own until the tests have ended that need it, and asked by a client of the first generation. */

export interface Served {
  /** Asks for a path below `/api` with `API-Version: 1`. Checks what all replies of the first generation have in common. */
  get(path: string): Promise<Record<string, unknown>>;
  /** Expects `success: false` and returns the error. */
  refusal(path: string): Promise<unknown>;
  /** Any request, unchanged. */
  ask(path: string, init?: RequestInit): Promise<Response>;
  /** The `data` of a reply of the second generation. */
  second(path: string): Promise<unknown>;
  stop(): Promise<void>;
}

const ajv = new Ajv({ strict: false });
ajv.addKeyword(inputKeyword);
const validators = new Map(v1Routes.flatMap((route) => (route.kind === "item" ? [[route.path, ajv.compile(route.reply)] as const] : [])));

/** Members that the schema does not name, anywhere in a reply: they are as wrong as missing ones. */
const unnamed = (value: unknown, schema: unknown, at = ""): string[] => {
  const { properties, items, additionalProperties } = schema as { properties?: Record<string, unknown>; items?: unknown; additionalProperties?: unknown };
  if (Array.isArray(value)) return items === undefined ? [] : value.flatMap((part, index) => unnamed(part, items, `${at}/${index}`));
  if (typeof value !== "object" || value === null || properties === undefined || additionalProperties !== undefined) return [];
  return Object.entries(value).flatMap(([key, part]) => (key in properties ? unnamed(part, properties[key], `${at}/${key}`) : [`${at}/${key}`]));
};

export const keepsToSchema = (path: string, text: string): void => {
  const name = path.replace(/[?#].*$/, "");
  const validate = validators.get(name);
  if (validate === undefined) throw new Error(`no route ${name}`);
  const value: unknown = JSON.parse(text);
  expect(validate(value), `${path}: ${ajv.errorsText(validate.errors)}`).to.equal(true);
  expect(unnamed(value, validate.schema), path).to.deep.equal([]);
};

export const serveFirst = async (name: ChainName, context: Partial<NodeContext> = {}): Promise<Served> => {
  const plugin = createApiPlugin({
    network: loadChain(name).network,
    events: new EventEmitter(),
    chain: await storedChain(name),
    ...context,
  });
  atEndOfTest(() => plugin.stop());
  const { url } = await listenTo(plugin);
  const ask = (path: string, init: RequestInit = {}): Promise<Response> => fetch(url + path, init);
  const check = createReplyCheck(await (await ask("/openapi.json")).json());
  const below = context.options?.defaultVersion === 1 ? "/api" : "/api/v1";
  const read = async (path: string): Promise<{ text: string; body: Record<string, unknown> }> => {
    const response = await ask(path, { headers: { "API-Version": "1", "Content-Type": "application/json" } });
    const text = await response.text();
    expect(response.status, `${path}: ${text}`).to.equal(200);
    expect(response.headers.get("API-Version"), path).to.equal("1");
    expect(response.headers.get("Content-Type"), path).to.equal("application/json; charset=utf-8");
    check({ method: "GET", path: below + path, status: response.status, body: JSON.parse(text) });
    return { text, body: parseExactJson(text) as Record<string, unknown> };
  };
  return {
    ask,
    get: async (path) => {
      const { text, body } = await read(path);
      expect(body.success, `${path}: ${text}`).to.equal(true);
      keepsToSchema(path, text);
      return body;
    },
    refusal: async (path) => {
      const { text, body } = await read(path);
      expect(body, text).to.have.all.keys("success", "error");
      expect(body.success, path).to.equal(false);
      return body.error;
    },
    second: async (path) => {
      const response = await ask(path, { headers: { "API-Version": "2" } });
      return (parseExactJson(await response.text()) as { data: unknown }).data;
    },
    stop: () => plugin.stop(),
  };
};
