import type { Server } from "node:http";
import type { Socket } from "node:net";
import { addressOf, createNetworks } from "../../net/addresses.js";
import { countedBy } from "../pipeline/rate-limit.js";
import type { EdgeOptions } from "../edge-options.js";

export type ConnectionBounds = Pick<EdgeOptions, "maxConnections" | "maxConnectionsPerAddress" | "rateLimit" | "trustedProxies">;

/** Closes connections beyond the bounds as they come: each holds memory, whatever is sent on it. */
export const boundConnections = (server: Server, { maxConnections, maxConnectionsPerAddress = 256, rateLimit, trustedProxies }: ConnectionBounds): void => {
  server.maxConnections = maxConnections;
  const isExempt = createNetworks([...trustedProxies, ...(rateLimit === false ? [] : rateLimit.exempt)]);
  const open = new Map<string, number>();

  server.on("connection", (socket: Socket) => {
    const address = addressOf(socket.remoteAddress ?? "");
    if (address === undefined || isExempt(address)) return;
    const key = countedBy(address);
    const count = (open.get(key) ?? 0) + 1;
    if (count > maxConnectionsPerAddress) {
      socket.destroy();
      return;
    }
    open.set(key, count);
    socket.once("close", () => {
      const left = (open.get(key) ?? 0) - 1;
      if (left > 0) open.set(key, left);
      else open.delete(key);
    });
  });
};
