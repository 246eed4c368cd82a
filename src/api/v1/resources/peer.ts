import { type Static, Type } from "@sinclair/typebox";
import { type PeerResource as SecondPeerResource, Ports } from "../../resources/node/peer.js";

export const PeerResource = Type.Object(
  {
    ip: Type.String(),
    port: Type.Integer({ description: "Port of the peer protocol." }),
    ports: Ports,
    version: Type.String({ description: "Version of the node software." }),
    height: Type.Integer(),
    status: Type.String({ description: "OK for a peer that answers, otherwise its status code." }),
    os: Type.String({ description: "`unknown` if the host does not know it." }),
    delay: Type.Integer({ description: "Milliseconds." }),
  },
  { title: "FlatPeer" },
);

const answering = 200;

export const presentPeer = ({ latency, status, ...peer }: Static<typeof SecondPeerResource>): Static<typeof PeerResource> => ({
  ...peer,
  status: status === answering ? "OK" : String(status),
  delay: latency,
});
