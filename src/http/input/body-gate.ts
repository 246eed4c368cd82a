import type { IncomingMessage } from "node:http";
import { PorticoError } from "../../errors.js";

/** How much may be waiting of bodies that have not arrived whole, and how slowly they may come. */
export interface BodyGateLimits {
  /** Bytes, in all: as many as the bodies say they have, or may have. */
  most: number;
  /** Bytes of one client. One body is let in, however large it may be. */
  mostOfClient: number;
  /** Bytes a second that a body must bring on the average, once `grace` milliseconds have passed. */
  leastRate: number;
  grace: number;
}

interface BodyGateNeeds extends BodyGateLimits {
  /** The key by which a request's client is counted. */
  clientOf(request: IncomingMessage): string;
}

/** Lets bodies in: what a flood of unfinished bodies can hold of the memory is bounded, and so is for how long. */
export interface BodyGate {
  /**
   * Reads a body of at most `limit` bytes by `read`, once there is room for it.
   * @throws PorticoError BODY_TOO_LARGE, BODIES_FULL, BODY_TOO_SLOW
   */
  pass<T>(request: IncomingMessage, limit: number, read: () => Promise<T>): Promise<T>;
}

export const bodyGateLimits: BodyGateLimits = { most: 67_108_864, mostOfClient: 16_777_216, leastRate: 4_096, grace: 5_000 };

export const bodyTooLarge = (limit: number): PorticoError => new PorticoError("BODY_TOO_LARGE", `The request body is too large: this route takes up to ${limit} bytes.`);

/** Bytes that a body says it has; undefined if it does not. */
const announced = ({ headers }: IncomingMessage): number | undefined => {
  const length = Number(headers["content-length"] ?? NaN);
  return Number.isSafeInteger(length) ? length : undefined;
};

const isCompressed = ({ headers }: IncomingMessage): boolean => !["", "identity"].includes(headers["content-encoding"] ?? "");

/** Milliseconds between two looks at how much has arrived. */
const interval = 1_000;

/** Rejects once a body comes too slowly. The second function ends the watch. */
const watchRate = (request: IncomingMessage, { leastRate, grace }: BodyGateLimits): [Promise<never>, () => void] => {
  const begun = performance.now();
  const before = request.socket.bytesRead;
  let timer: NodeJS.Timeout | undefined;
  const tooSlow = new Promise<never>((_, reject) => {
    timer = setInterval(() => {
      const passed = performance.now() - begun;
      if (passed < grace || request.complete) return;
      if (request.socket.bytesRead - before < (leastRate * passed) / 1000) reject(new PorticoError("BODY_TOO_SLOW"));
    }, interval).unref();
  });
  // Nobody may be waiting for it any more.
  tooSlow.catch(() => undefined);
  return [tooSlow, () => clearInterval(timer)];
};

export const createBodyGate = (needs: BodyGateNeeds): BodyGate => {
  const { most, mostOfClient, clientOf } = needs;
  const ofClients = new Map<string, number>();
  let waiting = 0;

  const enter = (client: string, bytes: number): (() => void) => {
    const before = ofClients.get(client) ?? 0;
    if (waiting + bytes > Math.max(most, bytes) || (before > 0 && before + bytes > mostOfClient)) throw new PorticoError("BODIES_FULL");
    waiting += bytes;
    ofClients.set(client, before + bytes);
    return () => {
      waiting -= bytes;
      const left = (ofClients.get(client) ?? 0) - bytes;
      if (left > 0) ofClients.set(client, left);
      else ofClients.delete(client);
    };
  };

  return {
    pass: async (request, limit, read) => {
      const length = announced(request);
      if (length !== undefined && length > limit) throw bodyTooLarge(limit);
      if (length === 0) return read();
      const leave = enter(clientOf(request), length === undefined || isCompressed(request) ? limit : length);
      const [tooSlow, endWatch] = watchRate(request, needs);
      try {
        return await Promise.race([read(), tooSlow]);
      } finally {
        endWatch();
        leave();
      }
    },
  };
};
