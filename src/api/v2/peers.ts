import { Type } from "@sinclair/typebox";
import { Text } from "../../http/input/schema.js";
import { type Route, routesOf } from "../../http/route.js";
import { findPeer, knownPeers, pageOfPeers, PeerListQuery, PeerResource, suspendedPeers } from "../resources/peers.js";
import { DataOf } from "../resources/values.js";
import type { ApiState } from "../state.js";

const { item, list } = routesOf<ApiState>();
/** Peers come from the host, and do not depend on the chain's state. */
const common = { method: "GET", versions: [2], resource: "peers", cache: "never", stateless: true } as const;

export const peerRoutes: Route<ApiState>[] = [
  list({
    ...common,
    path: "/peers",
    summary: "Lists the peers whose interface is public.",
    query: PeerListQuery,
    item: PeerResource,
    answer: async ({ query: { orderBy, ...filter }, page }, state) => pageOfPeers(await knownPeers(state), { filter, orderBy, page }),
  }),
  list({
    ...common,
    path: "/peers/suspended",
    operation: "getSuspendedPeers",
    summary: "Lists the peers that the node has suspended.",
    query: PeerListQuery,
    item: PeerResource,
    answer: async ({ query: { orderBy, ...filter }, page }, state) => pageOfPeers(await suspendedPeers(state), { filter, orderBy, page }),
  }),
  item({
    ...common,
    path: "/peers/{ip}",
    summary: "Returns a peer.",
    params: Type.Object({ ip: Text({ description: "IPv4 or IPv6 address." }) }),
    errors: [404],
    reply: DataOf(PeerResource),
    answer: async ({ params: { ip } }, state) => ({ data: findPeer(await knownPeers(state), ip) }),
  }),
];
