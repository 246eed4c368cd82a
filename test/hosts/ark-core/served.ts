import { Agent, fetch, type RequestInit } from "undici";
import { parseExactJson } from "../../../src/http/input/exact-json.js";

export interface Answer {
  status: number;
  /** The height that the answer was computed at; NaN if the server does not send it. */
  height: number;
  /** Parsed with all digits: integers beyond 2^53 are bigints. */
  body: unknown;
}

/** An interface on 127.0.0.1. */
export interface Served {
  get(path: string): Promise<Answer>;
  send(method: "GET" | "POST", path: string, body: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** The `data` of the answer. */
  data(path: string): Promise<unknown>;
  /** Every row of a list. */
  rows(path: string): Promise<Record<string, unknown>[]>;
}

/** The node closes connections unpredictably, so none is reused. */
const dispatcher = new Agent({ pipelining: 0 });

export const servedOn = (port: number): Served => {
  const ask = async (path: string, init: RequestInit): Promise<Answer> => {
    const response = await fetch(`http://127.0.0.1:${port}/api${path}`, { ...init, dispatcher });
    const height = Number(response.headers.get("x-block-height") ?? NaN);
    return { status: response.status, height, body: parseExactJson(await response.text()) };
  };
  const get = (path: string): Promise<Answer> => ask(path, {});
  const expected = async (path: string): Promise<Record<string, unknown>> => {
    const { status, body } = await get(path);
    if (status !== 200) throw new Error(`${path} on port ${port} answered ${status}: ${JSON.stringify(body)}`);
    return body as Record<string, unknown>;
  };
  return {
    get,
    send: (method, path, body, headers = {}) =>
      ask(path, {
        method,
        headers: { "content-type": "application/json", ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    data: async (path) => (await expected(path))["data"],
    rows: async (path) => {
      const rows: Record<string, unknown>[] = [];
      for (let page = 1, pages = 1; page <= pages; page++) {
        const { meta, data } = (await expected(`${path}${path.includes("?") ? "&" : "?"}page=${page}&limit=100`)) as {
          meta: { pageCount: number };
          data: Record<string, unknown>[];
        };
        pages = meta.pageCount;
        rows.push(...data);
      }
      return rows;
    },
  };
};
