/** Everything of the edge that can be set; what is optional in PorticoOptions has its default here already. */
export interface EdgeOptions {
  /** Where the interface is mounted: `/api`, or empty for the root. */
  basePath: string;
  /** Generation of requests that name none. */
  defaultVersion: 1 | 2;
  /** How the second generation writes amounts. */
  amounts: "number" | "string";
  /** Largest request body, in bytes, decompressed. */
  bodyLimit: number;
  /** Requests per minute and address, and who is exempt (addresses or CIDR). */
  rateLimit: false | { perMinute: number; exempt: readonly string[] };
  /** Addresses or networks (CIDR) of proxies whose X-Forwarded-For is believed. */
  trustedProxies: readonly string[];
  /** Origins that may read replies in a browser. */
  cors: false | { origins: "*" | readonly string[] };
  /** Bodies from this many bytes on are compressed. */
  compression: false | { threshold: number };
  /** Bytes of replies kept in memory. */
  cacheSize: number;
}
