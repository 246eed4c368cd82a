import type { IncomingMessage } from "node:http";
import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";
import { countedBy, createAddressList, createClientAddress } from "./client-address.js";

export interface RateLimitOptions {
  /** Requests per minute and address; false: no limit. */
  rateLimit: false | { perMinute: number; exempt: readonly string[] };
  /** Addresses or networks (CIDR) of proxies whose X-Forwarded-For is believed. */
  trustedProxies: readonly string[];
}

/** What a counted request is told, in headers. */
export interface Allowance {
  granted: boolean;
  limit: number;
  remaining: number;
  /** Whole seconds until the count starts anew, at least 1. */
  secondsToReset: number;
}

export interface RateLimit {
  /** Whether a request is counted at all. */
  counts(request: IncomingMessage): boolean;
  take(request: IncomingMessage): Promise<Allowance>;
}

/** Addresses seen lately, so that one address is not parsed on every request. */
const remembered = 10_000;

const memoized = (judge: (request: IncomingMessage) => boolean): ((request: IncomingMessage) => boolean) => {
  const known = new Map<string, boolean>();
  return (request) => {
    const address = request.socket.remoteAddress ?? "";
    const present = known.get(address);
    if (present !== undefined) {
      return present;
    }
    if (known.size >= remembered) {
      known.clear();
    }
    const judgement = judge(request);
    known.set(address, judgement);
    return judgement;
  };
};

const unlimited: RateLimit = {
  counts: () => false,
  take: () => Promise.reject(new TypeError("Requests are not counted.")),
};

const consume = async (limiter: RateLimiterMemory, key: string): Promise<{ granted: boolean; state: RateLimiterRes }> => {
  try {
    return { granted: true, state: await limiter.consume(key) };
  } catch (refusal) {
    if (refusal instanceof RateLimiterRes) {
      return { granted: false, state: refusal };
    }
    throw refusal;
  }
};

/** Counts requests by client address in windows of a minute. A request whose address is not known shares one count. */
export const createRateLimit = ({ rateLimit, trustedProxies }: RateLimitOptions): RateLimit => {
  if (rateLimit === false) {
    return unlimited;
  }
  const clientAddress = createClientAddress(trustedProxies);
  const exempt = createAddressList(rateLimit.exempt);
  const limiter = new RateLimiterMemory({ points: rateLimit.perMinute, duration: 60 });
  const counts = (request: IncomingMessage): boolean => {
    const address = clientAddress(request);
    return address === undefined || !exempt(address);
  };
  return {
    // without proxies the address of the connection decides
    counts: trustedProxies.length === 0 ? memoized(counts) : counts,
    take: async (request) => {
      const address = clientAddress(request);
      const { granted, state } = await consume(limiter, address === undefined ? "unknown" : countedBy(address));
      const secondsToReset = Math.max(1, Math.ceil(state.msBeforeNext / 1000));
      return { granted, limit: rateLimit.perMinute, remaining: state.remainingPoints, secondsToReset };
    },
  };
};
