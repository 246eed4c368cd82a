import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** The replica's port, before there is an interface to serve there. */
export interface WaitingDoor {
  readonly port: number;
  close(): Promise<void>;
}

const isProbe = (path: string, probe: "" | "/live" | "/ready"): boolean => new RegExp(`^(?:/(?:strings|numbers))?(?:/v[12])?/health${probe}/?$`).test(path);

/** What a request is answered with, as the interface itself does while it starts. */
const answerTo = (path: string, problem: string): { status: number; body: object } => {
  if (isProbe(path, "/live")) return { status: 200, body: { status: "ok" } };
  if (isProbe(path, "/ready")) return { status: 503, body: { status: "starting", height: 0, problem: "node unreachable", detail: problem } };
  if (isProbe(path, "")) return { status: 503, body: { status: "starting", height: 0, problem } };
  return { status: 503, body: { statusCode: 503, error: "Service Unavailable", message: `This replica cannot answer yet: ${problem}.`, code: "NOT_READY" } };
};

/**
 * Opens the port for a replica that has never heard its node. The interface cannot be made before the network is known, and probes of a supervisor or a
 * balancer would be refused the connection until then.
 */
export const openWaitingDoor = async ({ port, host, basePath }: { port: number; host: string; basePath: string }, problem: string): Promise<WaitingDoor> => {
  const server = createServer((request, response) => {
    const [path = ""] = (request.url ?? "").split("?", 1);
    const { status, body } = answerTo(path.startsWith(basePath) ? path.slice(basePath.length) : "", problem);
    const text = JSON.stringify(body);
    response.writeHead(status, { "Content-Type": "application/json; charset=utf-8", "Content-Length": Buffer.byteLength(text), "Cache-Control": "no-store", Connection: "close", ...(status === 503 ? { "Retry-After": "5" } : {}) });
    response.end(request.method === "HEAD" ? undefined : text);
  }).listen(port, host);
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      if (!server.listening) return;
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
};
