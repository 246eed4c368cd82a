import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import { type Address, addressOf, createNetworks } from "../../net/addresses.js";

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
      if (!URL.canParse(target)) return "must be an http or https URL";
      const url = new URL(target);
      if (url.protocol !== "http:" && url.protocol !== "https:") return "must be an http or https URL";
      if (url.username !== "" || url.password !== "") return "must not carry a user name or password";
      const literal = literalAddresses(url.hostname);
      if (literal !== undefined && !literal.some(allows)) return `must not be the special address ${withoutBrackets(url.hostname)}, unless the node's option webhooks.allowTargets lists it`;
      return undefined;
    },
  };
};
