import type { IncomingMessage } from "node:http";
import ipaddr from "ipaddr.js";

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Network = [Address, number];

/** Parses an address; an IPv4-mapped IPv6 address becomes the IPv4 address. */
const addressOf = (text: string): Address | undefined => (ipaddr.isValid(text) ? ipaddr.process(text) : undefined);

/** `X-Forwarded-For` members may carry a port: `1.2.3.4:80`, `[::1]:80`. */
const withoutPort = (text: string): string => /^\[(.+)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;

const networkOf = (text: string): Network => {
  if (!text.includes("/")) {
    const address = addressOf(text);
    if (address !== undefined) {
      return [address, address.kind() === "ipv4" ? 32 : 128];
    }
  } else if (ipaddr.isValidCIDR(text)) {
    const [address, bits] = ipaddr.parseCIDR(text);
    const mapped = address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() && bits >= 96;
    return mapped ? [address.toIPv4Address(), bits - 96] : [address, bits];
  }
  throw new TypeError(`"${text}" is neither an address nor a network in CIDR form.`);
};

const contains = ([network, bits]: Network, address: Address): boolean =>
  network.kind() === address.kind() && address.match(network, bits);

/** Tests whether an address is in a list of addresses and networks (CIDR). Throws TypeError if an item is neither. */
export const createAddressList = (list: readonly string[]): ((address: Address) => boolean) => {
  const networks = list.map(networkOf);
  return (address) => networks.some((network) => contains(network, address));
};

/**
 * Finds the address that a request came from. `X-Forwarded-For` is trusted only as far as trusted proxies wrote it: it is walked
 * from the right, past trusted addresses, to the first that is not trusted.
 */
export const createClientAddress = (trustedProxies: readonly string[]): ((request: IncomingMessage) => Address | undefined) => {
  const trusted = createAddressList(trustedProxies);
  return (request) => {
    let client = addressOf(request.socket.remoteAddress ?? "");
    const forwarded = request.headers["x-forwarded-for"];
    if (trustedProxies.length === 0 || forwarded === undefined) {
      return client;
    }
    for (const hop of String(forwarded).split(",").reverse()) {
      if (client === undefined || !trusted(client)) {
        return client;
      }
      const next = addressOf(withoutPort(hop.trim()));
      if (next === undefined) {
        return client;
      }
      client = next;
    }
    return client;
  };
};

/** The key by which requests are counted: an IPv4 address, or the /64 network of an IPv6 address, which is what one subscriber has. */
export const countedBy = (address: Address): string =>
  address instanceof ipaddr.IPv6
    ? address.parts
        .slice(0, 4)
        .map((part) => part.toString(16))
        .join(":")
    : address.toString();
