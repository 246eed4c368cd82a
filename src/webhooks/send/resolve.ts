import { lookup, Resolver } from "node:dns/promises";

/** Finds the addresses of a name. Rejects when there are none. */
export type Resolve = (hostname: string) => Promise<string[]>;

export interface ResolverOptions {
  /** Addresses of name servers; default: the system's. */
  servers?: readonly string[];
  /** Milliseconds for one question to a name server. */
  timeout?: number;
}

/** How often a name server is asked. */
const tries = 2;
/** Names under way in the system's resolver, at the most: it shares four threads with the whole process. */
const mostLookups = 2;

const limited = (limit: number) => {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (running >= limit) await new Promise<void>((resume) => waiting.push(resume));
    else running++;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running--;
      else next();
    }
  };
};

const isTimeout = (reason: unknown): boolean => reason instanceof Error && "code" in reason && reason.code === "ETIMEOUT";

/**
 * Asks the name servers without a thread: a dead name server holds up only the targets it serves. Only names that they do not know
 * (from a hosts file, say) go to the system's resolver, a few at a time.
 */
export const createResolver = ({ servers, timeout = 2_500 }: ResolverOptions = {}): Resolve => {
  const resolver = new Resolver({ timeout, tries });
  if (servers !== undefined) resolver.setServers(servers);
  const oneOfFew = limited(mostLookups);
  return async (hostname) => {
    const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const found = answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
    if (found.length > 0) return found;
    const timedOut = answers.find((answer) => answer.status === "rejected" && isTimeout(answer.reason));
    if (timedOut?.status === "rejected") throw timedOut.reason;
    const known = await oneOfFew(() => lookup(hostname, { all: true }));
    return known.map(({ address }) => address);
  };
};
