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
        if (fault === "slow") setTimeout(answer, 100);
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

/** Stands between a client and a node that may change its port, and passes streams on until it is told to cut them. */
export const startStreamProxy = async (port: () => number) => {
  const open = new Set<ServerResponse>();
  let [refuses, isSilent, bytesLeft] = [(_path: string): boolean => false, false, Infinity];
  const proxy = {
    url: "",
    cuts: 0,
    opened: 0,
    refused: 0,
    refuse: (which: (path: string) => boolean): void => void (refuses = which),
    silence: (silent: boolean): void => void (isSilent = silent),
    /** Cuts all streams at once, or the next bytes after so many. */
    cut: (when: "now" | number): void => {
      if (when !== "now") return void (bytesLeft = when);
      for (const response of open) cut(response);
    },
  };
  const cut = (response: ServerResponse): void => {
    proxy.cuts++;
    bytesLeft = Infinity;
    response.destroy();
  };
  const pass = (reply: IncomingMessage, response: ServerResponse): void => {
    proxy.opened++;
    let isOver = isSilent;
    response.writeHead(reply.statusCode ?? 502, reply.headers).flushHeaders();
    reply.on("data", (chunk: Buffer) => {
      if (isOver || response.destroyed) return;
      if (chunk.length < bytesLeft) {
        bytesLeft -= chunk.length;
        return void response.write(chunk);
      }
      isOver = true;
      response.write(chunk.subarray(0, bytesLeft), () => cut(response));
    });
    reply.on("end", () => void (isOver || response.end())).on("error", () => response.destroy());
  };
  const server = createServer((message, response) => {
    if (refuses(message.url ?? "")) {
      proxy.refused++;
      return void response.destroy();
    }
    open.add(response);
    const { method, url, headers } = message;
    const onward = request({ port: port(), method, path: url, headers, agent: false }, (reply) => pass(reply, response)).on("error", () => response.destroy());
    message.pipe(onward);
    response.on("close", () => {
      open.delete(response);
      onward.destroy();
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  atEndOfTest(() => {
    server.closeAllConnections();
    server.close();
  });
  proxy.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return proxy;
};
