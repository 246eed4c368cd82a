import type { MaybePromise } from "../../types/chain-adapter.js";
import type { Peer } from "../../types/chain.js";
import type { TransactionData } from "../../types/events.js";
import type { Logger, NodeContext } from "../../types/node-context.js";
import { runSliced, type Sliced } from "../async/time-slicing.js";
import { parseTransaction } from "../chain/blocks/block.js";
import type { ChainRules } from "../chain/rules.js";
import { messageOf, shown } from "../errors.js";
import { isObject } from "../options/checks.js";
import { createDoor, type DoorNeeds } from "./host.js";

const isText = (value: unknown): boolean => typeof value === "string";
const isTextOrMissing = (value: unknown): boolean => value === undefined || value === null || isText(value);

const peerMembers = {
  ip: isText,
  port: Number.isInteger,
  version: isText,
  height: Number.isInteger,
  status: Number.isInteger,
  latency: Number.isFinite,
  os: isTextOrMissing,
  ports: (value) =>
    value === undefined || (isObject(value) && Object.values(value).every((port) => port === null || Number.isInteger(port))),
} satisfies Partial<Record<keyof Peer, (value: unknown) => boolean>>;

/** What is wrong with a row of a list, which names it; undefined for a sound one. */
type FaultOf<Row> = (row: Row) => string | undefined;

const peerFault: FaultOf<Peer> = (peer) => {
  if (!isObject(peer)) return `a peer is ${shown(peer)}`;
  if (peer.isPublic === false) return undefined;
  const wrong = (Object.keys(peerMembers) as (keyof typeof peerMembers)[]).find((name) => !peerMembers[name](peer[name]));
  return wrong === undefined ? undefined : `the ${wrong} of peer ${shown(peer.ip)} is ${shown(peer[wrong])}`;
};

type Rules = Pick<ChainRules, "addressOf" | "recipientsOf">;

const transactionFault =
  ({ addressOf, recipientsOf }: Rules): FaultOf<TransactionData> =>
  (data) => {
    if (!isObject(data)) return `an unconfirmed transaction is ${shown(data)}`;
    try {
      const parsed = parseTransaction(data, `unconfirmed transaction ${data.id}`, addressOf);
      recipientsOf({ timestamp: 0, ...parsed, blockId: "", blockHeight: 0, sequence: 0 });
      return undefined;
    } catch (error) {
      return messageOf(error);
    }
  };

/** Leaves the rows out of the host's lists that are not sound. The log names the first of a list, once. */
const createSoundRows = (logger: Logger) => {
  const told = new Map<string, string>();
  /** @throws TypeError naming the host's method */
  return function* <Row>(method: string, faultOf: FaultOf<Row>, returned: readonly Row[] | undefined): Sliced<Row[]> {
    if (!Array.isArray(returned ?? [])) throw new TypeError(`the host's ${method}() did not return a list`);
    const rows = [...(returned ?? [])];
    const faults = new Map<Row, string>();
    for (const row of rows) {
      const fault = faultOf(row);
      if (fault !== undefined) faults.set(row, fault);
      yield;
    }
    const [first = ""] = faults.values();
    if (first !== "" && first !== told.get(method))
      logger.warn(`${faults.size} of ${rows.length} rows of the host's ${method}() are left out: ${first}`);
    told.set(method, first);
    return rows.filter((row) => !faults.has(row));
  };
};

/** What requests ask the host, besides its chain. */
type Host = Pick<NodeContext, "peers" | "sync" | "pool" | "node">;

interface HostPartsNeeds extends DoorNeeds {
  /** Milliseconds that an answer may take. */
  within: number;
  rules: Rules;
  logger: Logger;
}

/** The same functions of the host, each at a door, and lists of sound rows alone. @throws PorticoError HOST_SILENT */
export const createHostParts = (host: Host, { within, rules, logger, ...needs }: HostPartsNeeds): Host => {
  const { peers, sync, pool } = host;
  const soundRows = createSoundRows(logger);
  const ofPool = transactionFault(rules);
  const asked = <Args extends unknown[], T>(what: string, ask: (...args: Args) => MaybePromise<T>): ((...args: Args) => Promise<T>) => {
    const door = createDoor(what, needs);
    return async (...args) => door.ask(() => ask(...args), within);
  };
  const listed = <Row>(what: string, method: string, faultOf: FaultOf<Row>, ask: () => MaybePromise<Row[]>): (() => Promise<Row[]>) => {
    const rows = asked(what, ask);
    return async () => runSliced(soundRows(method, faultOf, await rows()), "cooperative");
  };
  // Called as members, since a host's objects may be classes.
  const partsOfPeers = (given: NonNullable<typeof peers>): Host["peers"] => ({
    list: listed("peers", "peers.list", peerFault, () => given.list()),
    ...(given.suspended && { suspended: listed("suspended peers", "peers.suspended", peerFault, () => given.suspended?.() ?? []) }),
  });
  const partsOfSync = (given: NonNullable<typeof sync>): Host["sync"] => ({
    networkHeight: asked("network height", () => given.networkHeight()),
    ...(given.synced && { synced: asked("state of syncing", () => given.synced?.() ?? false) }),
  });
  const partsOfPool = (given: NonNullable<typeof pool>): Host["pool"] => {
    const get = asked("pool", (id: string) => given.get?.(id));
    const one = async (id: string): Promise<TransactionData | undefined> => {
      const found = await get(id);
      return found === undefined ? undefined : (await runSliced(soundRows("pool.get", ofPool, [found])))[0];
    };
    const nothing = { accept: [], broadcast: [], excess: [], invalid: [] };
    return {
      list: listed("pool", "pool.list", ofPool, () => given.list()),
      ...(given.get && { get: one }),
      ...(given.submit && { submit: asked("pool", (transactions: TransactionData[]) => given.submit?.(transactions) ?? nothing) }),
    };
  };
  return {
    // It may change.
    get node() {
      return host.node;
    },
    peers: peers && partsOfPeers(peers),
    sync: sync && partsOfSync(sync),
    pool: pool && partsOfPool(pool),
  };
};
