import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

export type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** An address and its prefix length in bits. */
type Network = [Address, number];

/**
 * Parses an address. IPv4 that is mapped into IPv6 becomes IPv4; abbreviations such as 10.1 are not accepted, nor are names of interfaces
 * other than the plainest (fe80::1%eth0).
 */
export const addressOf = (text: string): Address | undefined =>
  isIP(text) === 0 || !ipaddr.isValid(text) ? undefined : ipaddr.process(text);

/** Bits in front of an IPv4 address that is mapped into IPv6. */
const mappedBits = 96;

const networkOf = (text: string): Network | undefined => {
  if (!text.includes("/")) {
    const address = addressOf(text);
    return address === undefined ? undefined : [address, address.kind() === "ipv4" ? 32 : 128];
  }
  if (addressOf(text.slice(0, text.indexOf("/"))) === undefined || !ipaddr.isValidCIDR(text)) return undefined;
  const [address, bits] = ipaddr.parseCIDR(text);
  const isMapped = address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() && bits >= mappedBits;
  return isMapped ? [address.toIPv4Address(), bits - mappedBits] : [address, bits];
};

/** Whether a text is an address or a network in CIDR form. */
export const isNetwork = (text: string): boolean => networkOf(text) !== undefined;

/** Tells whether an address is in a list of addresses and networks. Throws TypeError if a member is neither. */
export const createNetworks = (list: readonly string[]): ((address: Address) => boolean) => {
  const networks = list.map((text) => {
    const network = networkOf(text);
    if (network === undefined) throw new TypeError(`"${text}" is neither an address nor a network in CIDR form.`);
    return network;
  });
  return (address) => networks.some(([network, bits]) => network.kind() === address.kind() && address.match(network, bits));
};

/**
 * The URL that a text is; undefined where it is none. `URL` drops control characters, and spaces at either end: another URL would be asked
 * than is shown.
 */
export const urlOf = (text: string): URL | undefined => (/\p{Cc}|^\s|\s$/u.test(text) || !URL.canParse(text) ? undefined : new URL(text));
