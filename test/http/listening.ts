import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import Koa from "koa";
import type { Edge } from "../../src/http/edge.js";

/** Runs a test against a listener on a free port of 127.0.0.1. */
export const listening = async (listener: RequestListener, test: (port: number) => Promise<void>): Promise<void> => {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    await test((server.address() as AddressInfo).port);
  } finally {
    server.close();
    server.closeAllConnections();
  }
};

export const listenerOf = (app: Koa): RequestListener => {
  const handle = app.callback();
  return (request, response) => void handle(request, response);
};

/** How an interface is served. */
export const hosts: Record<string, (edge: Edge) => RequestListener> = {
  "a listener": (edge) => edge.callback(),
  "a Koa app": (edge) => {
    const app = new Koa();
    edge.mount(app);
    return listenerOf(app);
  },
};
