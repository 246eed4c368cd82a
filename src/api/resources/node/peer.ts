import { type Static, Type } from "@sinclair/typebox";
import type { Peer } from "../../../../types/chain.js";

/** Port by component name; null or below 1 if the component is off. */
export const Ports = Type.Unsafe<Record<string, number | null>>({
  type: "object",
  additionalProperties: { type: ["integer", "null"] },
  description: "Port by component name; null or below 1 if the component is off.",
});

export const PeerResource = Type.Object(
  {
    ip: Type.String(),
    port: Type.Integer({ description: "Port of the peer protocol." }),
    ports: Ports,
    version: Type.String({ description: "Version of the node software." }),
    height: Type.Integer(),
    status: Type.Integer({ description: "200 for a peer that answers." }),
    os: Type.String({ description: "`unknown` if the host does not know it." }),
    latency: Type.Integer({ description: "Milliseconds." }),
  },
  { title: "Peer" },
);

const unknownSystem = "unknown";

export const presentPeer = (peer: Peer): Static<typeof PeerResource> => ({
  ip: peer.ip,
  port: peer.port,
  ports: peer.ports ?? {},
  version: peer.version,
  height: peer.height,
  status: peer.status,
  os: peer.os ?? unknownSystem,
  latency: Math.round(peer.latency),
});
