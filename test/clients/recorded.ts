import { Agent, type IncomingHttpHeaders, request } from "node:http";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import type { Transform } from "node:stream";
import { text } from "node:stream/consumers";

/** A request as a program sends it, header by header: only `Host` and the length of the body are added. */
export interface Recorded {
  method?: "GET" | "POST" | "PUT" | "DELETE" | "OPTIONS";
  /** Everything after the origin, including the query. */
  path: string;
  headers?: Record<string, string>;
  /** Byte for byte. */
  body?: string;
}

export interface Replayed {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  /** Parsed as a program's JSON parser does. */
  body: unknown;
}

const decoders: Record<string, (() => Transform) | undefined> = { br: createBrotliDecompress, gzip: createGunzip, deflate: createInflate };

/** Replays recorded requests over persistent connections, as browsers do. */
export const createReplayer = (origin: string, maxSockets = 4) => {
  const agent = new Agent({ keepAlive: true, maxSockets });

  const replay = async ({ method = "GET", path, headers = {}, body }: Recorded): Promise<Replayed> => {
    const length = body === undefined ? {} : { "Content-Length": String(Buffer.byteLength(body)) };
    const asked = request(`${origin}${path}`, { method, agent, headers: { ...headers, ...length } });
    const answer = await new Promise<Parameters<NonNullable<Parameters<typeof request>[2]>>[0]>((resolve, reject) => {
      asked.on("response", resolve).on("error", reject).end(body);
    });
    const decoder = decoders[answer.headers["content-encoding"] ?? ""];
    const plain = decoder === undefined ? answer : answer.pipe(decoder());
    const received = await text(plain);
    return { status: answer.statusCode ?? 0, headers: answer.headers, text: received, body: received === "" ? undefined : JSON.parse(received) };
  };

  return { replay, close: () => agent.destroy() };
};

export type Replayer = ReturnType<typeof createReplayer>;
