import { type Static, Type } from "@sinclair/typebox";
import { isIP } from "node:net";
import { inputError, PorticoError } from "../../errors.js";
import { OrderBy, Text, WholeNumber } from "../../http/input/schema.js";
import { type Route, routesOf } from "../../http/route.js";
import {
  knownPeers,
  pageOfPeers,
  peerFilters,
  type PeerOrder,
  PeerResource as SecondPeerResource,
} from "../v2/peers.js";
import type { ApiState } from "../state.js";
import { firstGeneration, pageOfQuery, paging, succeeded, SucceededWith } from "./input.js";

const { latency: delay, ...members } = SecondPeerResource.properties;
const status = Type.String({ description: "OK for a peer that answers, otherwise its status code." });

export const PeerResource = Type.Object({ ...members, status, delay }, { title: "FlatPeer" });

const answering = 200;

const presentPeer = ({ latency, status, ...peer }: Static<typeof SecondPeerResource>): Static<typeof PeerResource> => ({
  ...peer,
  status: status === answering ? "OK" : String(status),
  delay: latency,
});

const { item } = routesOf<ApiState>();
/** Peers come from the host, and do not depend on the chain's state. */
const common = { ...firstGeneration, resource: "peers", cache: "never", stateless: true } as const;

const orders = {
  ip: "ip",
  port: "port",
  version: "version",
  height: "height",
  status: "status",
  os: "os",
  delay: "latency",
  latency: "latency",
} as const satisfies Record<string, PeerOrder>;

export const peerRoutes: Route<ApiState>[] = [
  item({
    ...common,
    path: "/peers",
    summary: "Lists the peers whose interface is public, fastest first.",
    query: Type.Object({ ...peerFilters, ...paging, orderBy: OrderBy(orders, { default: "delay:asc" }) }),
    reply: SucceededWith({ peers: Type.Array(PeerResource), totalCount: Type.Integer() }),
    answer: async ({ query: { limit, offset, orderBy, ...filter } }, state) => {
      const { rows, total } = pageOfPeers(await knownPeers(state), { filter, orderBy, page: pageOfQuery({ limit, offset }) });
      return succeeded({ peers: rows.map(presentPeer), totalCount: total });
    },
  }),
  item({
    ...common,
    path: "/peers/get",
    summary: "Returns a peer.",
    query: Type.Object({
      ip: Text({ description: "IPv4 or IPv6 address." }),
      port: WholeNumber({ minimum: 0, maximum: 65_535, description: "Port of the peer protocol." }),
    }),
    reply: SucceededWith({ peer: PeerResource }),
    answer: async ({ query: { ip, port } }, state) => {
      if (isIP(ip) === 0) throw inputError("query", "ip", "must be an IP address");
      const page = { offset: 0, limit: 1 };
      const [peer] = pageOfPeers(await knownPeers(state), { filter: { ip, port }, orderBy: { field: "ip", direction: "asc" }, page }).rows;
      if (peer === undefined) throw new PorticoError("PEER_NOT_FOUND", `Peer ${ip}:${port} not found`);
      return succeeded({ peer: presentPeer(peer) });
    },
  }),
  item({
    ...common,
    path: "/peers/version",
    summary: "Returns the version of the node software.",
    reply: SucceededWith({ version: Type.String() }),
    answer: (_request, { host }) => {
      if (host.node?.version === undefined) throw new PorticoError("NOT_FOUND", "This node does not report its version.");
      return succeeded({ version: host.node.version });
    },
  }),
];
