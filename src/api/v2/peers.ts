import { type Static, Type } from "@sinclair/typebox";
import semver from "semver";
import type { Order } from "../../../types/chain-queries.js";
import type { Peer } from "../../../types/chain.js";
import { DataOf } from "../fields.js";
import type { ApiState } from "../state.js";
import { PorticoError } from "../../errors.js";
import { OrderBy, Text, WholeNumber } from "../../http/input/schema.js";
import { type PageAnswer, type PageRequest, type Route, routesOf } from "../../http/route.js";

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

const presentPeer = (peer: Peer): Static<typeof PeerResource> => ({
  ip: peer.ip,
  port: peer.port,
  ports: peer.ports ?? {},
  version: peer.version,
  height: peer.height,
  status: peer.status,
  os: peer.os ?? unknownSystem,
  latency: Math.round(peer.latency),
});

type PresentedPeer = Static<typeof PeerResource>;
export type PeerOrder = "ip" | "port" | "version" | "height" | "status" | "os" | "latency";

const peerOrders: readonly PeerOrder[] = ["ip", "port", "version", "height", "status", "os", "latency"];

export const peerFilters = {
  ip: Type.Optional(Text({ description: "Address: IPv4 or IPv6." })),
  port: Type.Optional(WholeNumber({ minimum: 0, maximum: 65_535, description: "Port of its peer-to-peer interface." })),
  version: Type.Optional(Text({ description: "Version that it says it runs." })),
  os: Type.Optional(Text({ description: "Operating system that it says it runs on." })),
  status: Type.Optional(Text({ description: "A number, or OK for 200." })),
};

const PeerListQuery = Type.Object({ ...peerFilters, orderBy: OrderBy(peerOrders, { default: "latency:asc" }) });
type PeerFilter = Omit<Static<typeof PeerListQuery>, "orderBy">;

const answering = "200";

const passes = (peer: PresentedPeer, { status, ...rest }: PeerFilter): boolean =>
  (status === undefined || String(peer.status) === (status.toUpperCase() === "OK" ? answering : status)) &&
  (Object.keys(rest) as (keyof typeof rest)[]).every((key) => rest[key] === undefined || peer[key] === rest[key]);

const compare = <T>(a: T, b: T): number => (a < b ? -1 : a > b ? 1 : 0);

/**
 * By semantic version. Versions that are not semantic come first, compared as text. Each is parsed once: sorting 1,000 peers compares
 * 10,000 times.
 */
const versionOrder = (peers: readonly PresentedPeer[]): ((a: string, b: string) => number) => {
  const parsed = new Map(
    [...new Set(peers.map(({ version }) => version))].map((version) => [version, semver.parse(version, { loose: true })]),
  );
  return (a, b) => {
    const [left, right] = [parsed.get(a) ?? null, parsed.get(b) ?? null];
    if (left === null || right === null) return left === right ? compare(a, b) : left === null ? -1 : 1;
    return semver.compareBuild(left, right);
  };
};

/** Ties are broken by address, then port, which identify a peer; `asc` is the exact reverse of `desc`. */
const inOrder = (peers: PresentedPeer[], { field, direction }: Order<PeerOrder>): PresentedPeer[] => {
  const sign = direction === "asc" ? 1 : -1;
  const compareVersions = field === "version" ? versionOrder(peers) : undefined;
  const compareBy = (a: PresentedPeer, b: PresentedPeer): number => compareVersions?.(a.version, b.version) ?? compare(a[field], b[field]);
  return peers.sort((a, b) => sign * (compareBy(a, b) || compare(a.ip, b.ip) || a.port - b.port));
};

const isPublic = (peer: Peer): boolean => peer.isPublic ?? true;

/** As far as their public interface is on. */
export const knownPeers = async ({ host: { peers } }: ApiState): Promise<Peer[]> => ((await peers?.list()) ?? []).filter(isPublic);
const suspendedPeers = async ({ host: { peers } }: ApiState): Promise<Peer[]> => ((await peers?.suspended?.()) ?? []).filter(isPublic);

export const pageOfPeers = (
  peers: readonly Peer[],
  { filter, orderBy, page: { offset, limit } }: { filter: PeerFilter; orderBy: Order<PeerOrder>; page: PageRequest },
): PageAnswer<PresentedPeer> => {
  const rows = inOrder(
    peers.map(presentPeer).filter((peer) => passes(peer, filter)),
    orderBy,
  );
  return { rows: rows.slice(offset, offset + limit), total: rows.length };
};

/** @throws PorticoError PEER_NOT_FOUND */
const findPeer = (peers: readonly Peer[], ip: string): PresentedPeer => {
  const peer = peers.find((each) => each.ip === ip);
  if (peer === undefined) throw new PorticoError("PEER_NOT_FOUND");
  return presentPeer(peer);
};

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
