import type { IncomingMessage } from "node:http";
import ipaddr from "ipaddr.js";
import { type Address, addressOf, createNetworks } from "../../net/addresses.js";

/** `X-Forwarded-For` members may carry a port: `1.2.3.4:80`, `[::1]:80`. */
const withoutPort = (text: string): string => /^\[(.+)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;

/**
 * Finds the address that a request came from. `X-Forwarded-For` is trusted only as far as trusted proxies wrote it: it is walked
 * from the right, past trusted addresses, to the first that is not trusted.
 */
export const createClientAddress = (trustedProxies: readonly string[]): ((request: IncomingMessage) => Address | undefined) => {
  const trusted = createNetworks(trustedProxies);
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

/** The key by which a request's client is counted; "unknown" for all whose address is not known. */
export const clientKey = (trustedProxies: readonly string[]): ((request: IncomingMessage) => string) => {
  const clientAddress = createClientAddress(trustedProxies);
  return (request) => {
    const address = clientAddress(request);
    return address === undefined ? "unknown" : countedBy(address);
  };
};
