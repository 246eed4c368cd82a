import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { atEndOfTest } from "../at-end.js";

export type Fault = "none" | "refuse" | "cut head" | "cut body" | "hang" | "slow" | "page" | "wrong page" | "later" | number;

const page = "<!doctype html><title>Down</title><h1>Down for maintenance</h1>";

/** What stands between a client and a node, and treats each request as `choose` says. */
export interface FaultyProxy {
  readonly url: string;
  /** Requests that reached the node, as `METHOD path`. */
  readonly reached: string[];
  /** All that arrived. */
  readonly arrived: string[];
  choose: (path: string) => Fault;
}

const onward = (port: number, message: IncomingMessage, body: Buffer, taken: (reply: IncomingMessage, bytes: Buffer) => void, failed: () => void): void => {
  const { method, url, headers } = message;
  request({ port, method, path: url, headers: { ...headers, connection: "close" }, agent: false }, (reply) => {
    const chunks: Buffer[] = [];
    reply.on("data", (chunk: Buffer) => chunks.push(chunk)).on("end", () => taken(reply, Buffer.concat(chunks)));
  })
    .on("error", failed)
    .end(body);
};

const fail = (fault: Fault, response: ServerResponse): boolean => {
  if (fault === "refuse") response.destroy();
  else if (fault === "page") response.writeHead(200, { "content-type": "text/html" }).end(page);
  else if (fault === "later") response.writeHead(429, { "retry-after": "1" }).end();
  else if (typeof fault === "number") response.writeHead(fault, { "content-type": "text/html" }).end(page);
  else return fault === "hang";
  return true;
};

export const startProxy = async (port: number): Promise<FaultyProxy> => {
  const proxy = { url: "", reached: [] as string[], arrived: [] as string[], choose: (_path: string): Fault => "none" };
  const server = createServer((message, response) => {
    const chunks: Buffer[] = [];
    message.on("data", (chunk: Buffer) => chunks.push(chunk)).on("end", () => {
      const name = `${message.method ?? ""} ${message.url ?? ""}`;
      proxy.arrived.push(name);
      const fault = proxy.choose(message.url ?? "");
      if (fail(fault, response)) return;
      proxy.reached.push(name);
      onward(port, message, Buffer.concat(chunks), (reply, bytes) => {
        if (fault === "cut head") return void response.destroy();
        const answer = (): void => {
          response.writeHead(reply.statusCode ?? 502, reply.headers);
          if (fault === "cut body") response.write(bytes.subarray(0, bytes.length / 2), () => response.destroy());
          else response.end(bytes);
        };
        if (fault === "slow") setTimeout(answer, 30);
        else answer();
      }, () => response.destroy());
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  atEndOfTest(() => {
    server.closeAllConnections();
    server.close();
  });
  proxy.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return proxy;
};
