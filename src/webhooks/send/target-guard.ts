import ipaddr from "ipaddr.js";
import { lookup, Resolver } from "node:dns/promises";
import { readFile, stat } from "node:fs/promises";
import { isIP } from "node:net";
import { type Address, addressOf, createNetworks, urlOf } from "../../net/addresses.js";

/** Finds the addresses of a name. Rejects when there are none. */
export type Resolve = (hostname: string) => Promise<string[]>;

export interface ResolverOptions {
  /** Addresses of name servers; default: the system's. */
  servers?: readonly string[];
  /** Default: the system's. */
  hostsFile?: string;
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

const systemHosts = process.platform === "win32" ? "C:/Windows/System32/drivers/etc/hosts" : "/etc/hosts";

const plainName = (hostname: string): string => hostname.toLowerCase().replace(/\.$/, "");

/** Addresses by name. */
const readHosts = (text: string): ReadonlyMap<string, readonly string[]> => {
  const hosts = new Map<string, string[]>();
  for (const line of text.split("\n")) {
    const [address = "", ...names] = line.replace(/#.*/, "").trim().split(/\s+/);
    if (isIP(address) !== 0) for (const name of names.map(plainName)) hosts.set(name, [...(hosts.get(name) ?? []), address]);
  }
  return hosts;
};

/** The hosts file, read again once it has changed. A system without one has no names in it. */
const createHosts = (path: string) => {
  let known: { of: string; hosts: ReturnType<typeof readHosts> } | undefined;
  return async (): Promise<ReturnType<typeof readHosts>> => {
    try {
      const { mtimeMs, size, ino } = await stat(path);
      const of = `${mtimeMs} ${size} ${ino}`;
      if (known?.of !== of) known = { of, hosts: readHosts(await readFile(path, "utf8")) };
      return known.hosts;
    } catch {
      return new Map();
    }
  };
};

/**
 * Looks into the hosts file, as the system does, then asks the name servers without a thread: a dead name server holds up only the targets
 * it serves. Only names that neither has go to the system's resolver, a few at a time.
 */
export const createResolver = ({ servers, hostsFile = systemHosts, timeout = 2_500 }: ResolverOptions = {}): Resolve => {
  const hosts = createHosts(hostsFile);
  const resolver = new Resolver({ timeout, tries });
  if (servers !== undefined) resolver.setServers(servers);
  const oneOfFew = limited(mostLookups);
  return async (hostname) => {
    const listed = (await hosts()).get(plainName(hostname));
    if (listed !== undefined) return [...listed];
    const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const found = answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
    if (found.length > 0) return found;
    const timedOut = answers.find((answer) => answer.status === "rejected" && isTimeout(answer.reason));
    if (timedOut?.status === "rejected") throw timedOut.reason;
    const known = await oneOfFew(() => lookup(hostname, { all: true }));
    return known.map(({ address }) => address);
  };
};

/** Says which addresses deliveries may go to. */
export interface TargetGuard {
  /** Whether an address (as text) may be connected to: any public one, and those that an option allows. */
  allows(address: string): boolean;
  /** Why a target is refused before any name is resolved; undefined when it is not. Worded to follow `target`. */
  refusal(target: string): string | undefined;
}

/** Public by their range, but a cloud's own services answer there. */
const metadataAddresses = ["168.63.129.16"];

/** IPv6 that is routed on the public internet; ipaddr.js takes the ranges in it that embed IPv4 as special. */
const globalUnicast: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse("2000::"), 3];

const longestTarget = 2_048;

const isPublic = (address: Address): boolean => {
  if (address.range() !== "unicast") return false;
  if (address instanceof ipaddr.IPv6) return address.match(globalUnicast);
  return !metadataAddresses.includes(address.toString());
};

const withoutBrackets = (hostname: string): string => (hostname.startsWith("[") ? hostname.slice(1, -1) : hostname);

/** The loopback name and everything below it never leave the machine, whatever a resolver says. */
const isLoopbackName = (hostname: string): boolean => /^(?:.+\.)?localhost\.?$/.test(hostname);
const loopbackAddresses = ["127.0.0.1", "::1"];

/** The addresses that a host of a URL names without being resolved; undefined for a name that has to be. */
export const literalAddresses = (hostname: string): string[] | undefined => {
  const bare = withoutBrackets(hostname.toLowerCase());
  if (isLoopbackName(bare)) return loopbackAddresses;
  return isIP(bare) === 0 ? undefined : [bare];
};

export const createTargetGuard = (allowTargets: readonly string[]): TargetGuard => {
  const isAllowed = createNetworks(allowTargets);

  const allows = (text: string): boolean => {
    const address = addressOf(text);
    return address !== undefined && (isPublic(address) || isAllowed(address));
  };

  return {
    allows,
    refusal: (target) => {
      if (target.length > longestTarget) return `must not be longer than ${longestTarget} characters`;
      const url = urlOf(target);
      if (url?.protocol !== "http:" && url?.protocol !== "https:") return "must be an http or https URL";
      if (url.username !== "" || url.password !== "") return "must not carry a user name or password";
      const literal = literalAddresses(url.hostname);
      if (literal !== undefined && !literal.some(allows))
        return `must not be the special address ${withoutBrackets(url.hostname)}, unless the node's option webhooks.allowTargets lists it`;
      return undefined;
    },
  };
};
