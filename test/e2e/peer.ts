import type { Peer } from "../../types/chain.js";

/** A peer that a host might know. */
export const peer = (ip: string, rest: Partial<Peer> = {}): Peer => ({
  ip,
  port: 4001,
  ports: { "@arkecosystem/core-api": 4003, "@arkecosystem/core-webhooks": null },
  version: "2.4.15",
  height: 268,
  status: 200,
  os: "linux",
  latency: 50,
  ...rest,
});
