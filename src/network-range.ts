import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/** A network's address, and how many of its bits count. */
export type NetworkRange = ReturnType<typeof ipaddr.parseCIDR>;

/** An address alone, or a network in CIDR form; undefined for what is neither. Addresses are written in full: 10.1 is none. */
export const networkRangeOf = (text: string): NetworkRange | undefined => {
  const [address = "", bits] = text.split("/", 2);
  const cidr = bits === undefined ? `${text}/${isIP(address) === 4 ? 32 : 128}` : text;
  return isIP(address) === 0 || !ipaddr.isValidCIDR(cidr) ? undefined : ipaddr.parseCIDR(cidr);
};
