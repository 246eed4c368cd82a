import type { IncomingMessage } from "node:http";
import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";
import { createNetworks } from "../../net/addresses.js";
import type { HeaderPairs } from "../reply/default-headers.js";
import { countedBy, createClientAddress } from "./client-address.js";

export interface RateLimitOptions {
  /** Requests per minute and client address; false: no limit. */
  rateLimit: false | { perMinute: number; exempt: readonly string[] };
  /** Addresses or networks (CIDR) of proxies whose X-Forwarded-For is trusted. */
  trustedProxies: readonly string[];
}

/** The outcome of counting a request. */
export interface Allowance {
  granted: boolean;
  /** Headers that tell the client where it stands. */
  headers: HeaderPairs;
}

export interface RateLimit {
  /** Whether a request is counted at all. */
  counts(request: IncomingMessage): boolean;
  /** Counts a request; repeated calls for one request count once. */
  take(request: IncomingMessage): Promise<Allowance>;
}

/** Number of recent addresses whose judgement is remembered, so that an address is not parsed on every request. */
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

/** Rate-limit headers; times are whole seconds, at least 1. */
const headersOf = (limit: number, granted: boolean, { remainingPoints, msBeforeNext }: RateLimiterRes): string[] => {
  const seconds = String(Math.max(1, Math.ceil(msBeforeNext / 1000)));
  return [
    "X-RateLimit-Limit",
    String(limit),
    "X-RateLimit-Remaining",
    String(remainingPoints),
    "X-RateLimit-Reset",
    seconds,
    ...(granted ? [] : ["Retry-After", seconds]),
  ];
};

/** Counts requests by client address in windows of a minute. Requests whose address is not known share one count. */
export const createRateLimit = ({ rateLimit, trustedProxies }: RateLimitOptions): RateLimit => {
  if (rateLimit === false) {
    return unlimited;
  }
  const clientAddress = createClientAddress(trustedProxies);
  const exempt = createNetworks(rateLimit.exempt);
  const limiter = new RateLimiterMemory({ points: rateLimit.perMinute, duration: 60 });
  const taken = new WeakMap<IncomingMessage, Promise<Allowance>>();
  const counts = (request: IncomingMessage): boolean => {
    const address = clientAddress(request);
    return address === undefined || !exempt(address);
  };
  const count = async (request: IncomingMessage): Promise<Allowance> => {
    const address = clientAddress(request);
    const { granted, state } = await consume(limiter, address === undefined ? "unknown" : countedBy(address));
    return { granted, headers: headersOf(rateLimit.perMinute, granted, state) };
  };
  return {
    // without trusted proxies, the address of the connection alone decides
    counts: trustedProxies.length === 0 ? memoized(counts) : counts,
    take: (request) => {
      const allowance = taken.get(request) ?? count(request);
      taken.set(request, allowance);
      return allowance;
    },
  };
};
