import type { MaybePromise } from "../../types/chain-adapter.js";
import type { Peer } from "../../types/chain.js";
import type { TransactionData } from "../../types/events.js";
import type { Logger, NodeContext } from "../../types/node-context.js";
import { isPromised } from "../async/maybe-promise.js";
import { runSliced, type Sliced } from "../async/time-slicing.js";
import { parseTransaction } from "../chain/blocks/block.js";
import type { ChainRules } from "../chain/rules.js";
import { messageOf, PorticoError, shown } from "../errors.js";

/** What requests ask the host, besides its chain. */
type Host = Pick<NodeContext, "peers" | "sync" | "pool" | "node">;

type Rules = Pick<ChainRules, "addressOf" | "recipientsOf">;

interface HostPatience {
  /** Milliseconds that an answer may take. */
  timeout: number;
  /** Aborted when the node stops: nothing is waited for much longer then. */
  stopping(): AbortSignal | undefined;
  rules: Rules;
  logger: Logger;
}

/** Milliseconds that answers may still take once the node stops. */
const lastPatience = 2_000;

/** Waits for an answer of the host, but not for ever. @throws PorticoError HOST_SILENT, NOT_READY while the node stops */
const within = <T>(what: string, answer: Promise<T>, { timeout, stopping }: HostPatience): Promise<T> =>
  new Promise((resolve, reject) => {
    const signal = stopping();
    let timer = setTimeout(() => end(() => reject(new PorticoError("HOST_SILENT", `The node's ${what} did not answer within ${timeout / 1000} s.`))), timeout);
    const onStop = (): void => {
      if (timeout <= lastPatience) return;
      clearTimeout(timer);
      timer = setTimeout(() => end(() => reject(new PorticoError("NOT_READY", "The node is stopping."))), lastPatience);
    };
    const end = (settle: () => void): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onStop);
      settle();
    };
    if (signal?.aborted === true) onStop();
    else signal?.addEventListener("abort", onStop, { once: true });
    answer.then(
      (value) => end(() => resolve(value)),
      (error: unknown) => end(() => reject(error instanceof Error ? error : new Error(String(error)))),
    );
  });

const isObject = (value: unknown): boolean => typeof value === "object" && value !== null;
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
    value === undefined || (isObject(value) && Object.values(value as object).every((port) => port === null || Number.isInteger(port))),
} satisfies Partial<Record<keyof Peer, (value: unknown) => boolean>>;

/** What is wrong with a row of a list, which names it; undefined for a sound one. */
type FaultOf<Row> = (row: Row) => string | undefined;

const peerFault: FaultOf<Peer> = (peer) => {
  if (!isObject(peer)) return `a peer is ${shown(peer)}`;
  if (peer.isPublic === false) return undefined;
  const wrong = (Object.keys(peerMembers) as (keyof typeof peerMembers)[]).find((name) => !peerMembers[name](peer[name]));
  return wrong === undefined ? undefined : `the ${wrong} of peer ${shown(peer.ip)} is ${shown(peer[wrong])}`;
};

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
    if (!Array.isArray(returned ?? [])) throw new TypeError(`the host's ${method}() returned something else than a list`);
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

/** The same functions of the host, each with a limit of time, and lists of sound rows alone. */
export const createPatientHost = (host: Host, patience: HostPatience): Host => {
  const { peers, sync, pool } = host;
  const soundRows = createSoundRows(patience.logger);
  const limited =
    <Args extends unknown[], T>(what: string, ask: (...args: Args) => MaybePromise<T>) =>
    (...args: Args): MaybePromise<T> => {
      const answer = ask(...args);
      return isPromised(answer) ? within(what, Promise.resolve(answer), patience) : answer;
    };
  const listed = <Row>(what: string, method: string, faultOf: FaultOf<Row>, ask: () => MaybePromise<Row[]>): (() => Promise<Row[]>) => {
    const asked = limited(what, ask);
    return async () => runSliced(soundRows(method, faultOf, await asked()), "cooperative");
  };
  const ofPool = transactionFault(patience.rules);
  const one = async (id: string): Promise<TransactionData | undefined> => {
    const found = await limited("pool", () => pool?.get?.(id))();
    return found === undefined ? undefined : (await runSliced(soundRows("pool.get", ofPool, [found])))[0];
  };
  // Called as members, since a host's objects may be classes.
  return {
    // It may change.
    get node() {
      return host.node as NonNullable<typeof host.node>;
    },
    ...(peers === undefined
      ? {}
      : {
          peers: {
            list: listed("peers", "peers.list", peerFault, () => peers.list()),
            ...(peers.suspended === undefined ? {} : { suspended: listed("suspended peers", "peers.suspended", peerFault, () => peers.suspended?.() ?? []) }),
          },
        }),
    ...(sync === undefined
      ? {}
      : {
          sync: {
            networkHeight: limited("network height", () => sync.networkHeight()),
            ...(sync.synced === undefined ? {} : { synced: limited("state of syncing", () => sync.synced?.() ?? false) }),
          },
        }),
    ...(pool === undefined
      ? {}
      : {
          pool: {
            list: listed("pool", "pool.list", ofPool, () => pool.list()),
            ...(pool.get === undefined ? {} : { get: one }),
            ...(pool.submit === undefined ? {} : { submit: limited("pool", (transactions: Parameters<NonNullable<typeof pool.submit>>[0]) => pool.submit?.(transactions) ?? { accept: [], broadcast: [], excess: [], invalid: [] }) }),
          },
        }),
  };
};
