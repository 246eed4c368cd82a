import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/** A network address and its prefix length in bits. */
export type NetworkRange = ReturnType<typeof ipaddr.parseCIDR>;

/** Parses an address or a network in CIDR form; undefined for anything else. Abbreviated addresses such as 10.1 are not accepted. */
export const networkRangeOf = (text: string): NetworkRange | undefined => {
  const [address = "", bits] = text.split("/", 2);
  const cidr = bits === undefined ? `${text}/${isIP(address) === 4 ? 32 : 128}` : text;
  return isIP(address) === 0 || !ipaddr.isValidCIDR(cidr) ? undefined : ipaddr.parseCIDR(cidr);
};
