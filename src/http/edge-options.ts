/** The options of the edge, with the defaults of PorticoOptions filled in. */
export interface EdgeOptions {
  /** Where the interface is mounted: `/api`, or empty for the root. */
  basePath: string;
  /** API generation for requests that name none. */
  defaultVersion: 1 | 2;
  /** How the second generation writes amounts, unless a request chooses. */
  amounts: "number" | "string";
  /** Largest request body, in bytes after decompression. */
  bodyLimit: number;
  /**
   * Requests per minute and client address, milliseconds of work that they may cause (default 15,000), and who is exempt (addresses or
   * CIDR).
   */
  rateLimit: false | { perMinute: number; workPerMinute?: number; exempt: readonly string[] };
  /** Addresses or networks (CIDR) of proxies whose X-Forwarded-For is trusted. */
  trustedProxies: readonly string[];
  /** Connections that may be open at a time to servers of the edge's own, in all and from one address that is not exempt. */
  maxConnections: number;
  /** Default: 256. */
  maxConnectionsPerAddress?: number;
  /** Origins that may read replies in a browser. */
  cors: false | { origins: "*" | readonly string[] };
  /** Reply bodies of at least this many bytes are compressed. */
  compression: false | { threshold: number };
  /** Streams without an end that may be open at a time. */
  maxStreams: number;
  /** Bytes of replies kept in memory. */
  cacheSize: number;
}
