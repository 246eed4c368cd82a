import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type RequestListener, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { atEndOfTest } from "../at-end.js";

export interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  /** The body as received. */
  body: string;
  /** The parsed body. */
  json: { timestamp: number; data: unknown; event: string };
}

/** A real HTTP server that receives deliveries. It ends with its test. */
export interface Receiver {
  readonly url: string;
  readonly received: Received[];
  /** Writes the response; 200 by default. */
  answer: (request: Received, response: ServerResponse) => void;
  /** Resolves when `count` requests have been received in all. */
  until(count: number): Promise<Received[]>;
  close(): Promise<void>;
}

export const readBody = async (request: AsyncIterable<Buffer>): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
};

/** Listens on a free port of 127.0.0.1. */
export const listenLocally = async (listener: RequestListener): Promise<{ server: Server; url: string }> => {
  const server = createServer(listener);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
};

export const closeServer = async (server: Server): Promise<void> => {
  server.closeAllConnections();
  server.close();
  await once(server, "close");
};

export const createReceiver = async (): Promise<Receiver> => {
  const received: Received[] = [];
  let closing: Promise<void> | undefined;
  let waiting: { count: number; resolve: () => void }[] = [];
  const { server, url } = await listenLocally((request, response) => {
    void readBody(request).then((body) => {
      const one = { path: request.url ?? "", headers: request.headers, body, json: JSON.parse(body) as Received["json"] };
      received.push(one);
      receiver.answer(one, response);
      for (const { count, resolve } of waiting) if (received.length >= count) resolve();
      waiting = waiting.filter(({ count }) => received.length < count);
    });
  });
  const receiver: Receiver = {
    url,
    received,
    answer: (_request, response) => response.end(),
    until: async (count) => {
      if (received.length < count) await new Promise<void>((resolve) => waiting.push({ count, resolve }));
      return received;
    },
    close: () => (closing ??= closeServer(server)),
  };
  atEndOfTest(receiver.close);
  return receiver;
};
