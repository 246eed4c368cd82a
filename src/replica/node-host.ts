import type { Peer } from "../../types/chain.js";
import type { TransactionData } from "../../types/events.js";
import type { Network, NodeContext, NodeInfo, PoolResult } from "../../types/node-context.js";
import { messageOf, PorticoError } from "../errors.js";
import { type Answer, type AnswerStore, createAnswer } from "./answers.js";
import { isObject, type NodeClient, NodeRefusal } from "./node-client.js";
import type { NodeWatch } from "./node-watch.js";

/** What the node says of itself and its network, and its pool. */
export interface NodeHost extends Required<Pick<NodeContext, "peers" | "sync" | "pool" | "node">> {
  /** Brings `node` up to date, if it is time to. */
  renew(): Promise<void>;
  /** The node's chain has changed, and with it the state of its sync and its pool. */
  moved(): void;
}

interface NodeHostNeeds {
  client: NodeClient;
  watch: NodeWatch;
  answers: AnswerStore;
  now(): number;
}

/** Milliseconds. */
const goodFor = { status: 500, peers: 1_000, suspended: 1_000, pool: 500, configuration: 10_000 };
const patience = 2_000;

const pageSize = 100;
/** Of one list: a node that always has one more would be asked for ever. */
const mostPages = 1_000;

interface Status {
  synced: boolean;
  networkHeight: number;
}

/** Types whose transactions have a recipient of their own; the others are shown with their sender as one. */
const hasRecipient = (type: unknown, typeGroup: unknown): boolean => typeGroup !== 1 || type === 0 || type === 8;

/** A transaction as the node shows it, as its pool has it. */
const submitted = (shown: Record<string, unknown>): TransactionData => {
  const { sender, recipient, signSignature, confirmations: _, timestamp, ...rest } = shown;
  const isOwn = recipient === sender && !hasRecipient(shown["type"], shown["typeGroup"]);
  return {
    ...rest,
    ...(isOwn ? {} : { recipientId: recipient }),
    ...(signSignature === null || signSignature === undefined ? {} : { secondSignature: signSignature }),
    ...(timestamp === undefined ? {} : { timestamp: (timestamp as { epoch: number }).epoch }),
  } as unknown as TransactionData;
};

/** `/strings/v2`: whatever the node's defaults are. */
const createGet =
  (client: NodeClient) =>
  (path: string): Promise<unknown> =>
    client.json(`/strings/v2${path}`, { timeout: patience });

const createAllPages =
  (get: (path: string) => Promise<unknown>) =>
  async (path: string): Promise<unknown[]> => {
    const rows: unknown[] = [];
    for (let page = 1; page <= mostPages; page++) {
      const { data } = (await get(`${path}?limit=${pageSize}&page=${page}`)) as { data: unknown[] };
      rows.push(...data);
      if (data.length < pageSize) break;
    }
    return rows;
  };

/** @throws PorticoError NOT_SUPPORTED, UNPROCESSABLE, NOT_READY */
const submitTo = async (client: NodeClient, transactions: TransactionData[]): Promise<PoolResult> => {
  try {
    const reply = await client.json("/v2/transactions", { body: { transactions } });
    const { data, errors } = reply as { data: PoolResult; errors?: PoolResult["errors"] };
    return errors === undefined ? data : { ...data, errors };
  } catch (error) {
    const refusal = error instanceof NodeRefusal ? error : undefined;
    if (refusal?.status === 501) throw new PorticoError("NOT_SUPPORTED", "This node does not accept transactions.");
    if (refusal?.status === 422) throw new PorticoError("UNPROCESSABLE", refusal.said ?? "The node refuses these transactions.");
    throw new PorticoError("NOT_READY", `The node accepts no transactions at present: ${messageOf(error)}.`);
  }
};

export const createNodeHost = ({ client, watch, answers, now }: NodeHostNeeds): NodeHost => {
  const answer = <T>(name: keyof typeof goodFor, ask: () => Promise<T>, otherwise?: T): Answer<T> =>
    createAnswer({ name, ask, otherwise, answers, isReachable: () => watch.problem() === undefined, now, goodFor: goodFor[name] });
  const get = createGet(client);
  const allPages = createAllPages(get);

  const peers = answer("peers", async () => (await allPages("/peers")) as Peer[], []);
  const suspended = answer("suspended", async () => (await allPages("/peers/suspended")) as Peer[], []);
  const pool = answer(
    "pool",
    async () => (await allPages("/transactions/unconfirmed")).map((row) => submitted(row as Record<string, unknown>)),
    [],
  );
  const status = answer<Status>("status", async () => {
    const { data } = (await get("/node/status")) as { data: { synced: boolean; now: number; blocksCount: number } };
    return { synced: data.synced, networkHeight: data.now + data.blocksCount };
  });
  const configuration = answer<NodeInfo>("configuration", async () => {
    const { data } = (await get("/node/configuration")) as {
      data: { core?: { version: string }; ports: NodeInfo["ports"]; transactionPool: NonNullable<NodeInfo["transactionPool"]> };
    };
    return {
      ...(data.core === undefined ? {} : { version: data.core.version }),
      ports: data.ports ?? {},
      transactionPool: data.transactionPool,
    };
  });
  const node: NodeInfo = { ...(answers.get("configuration") as NodeInfo | undefined) };

  const submit = async (transactions: TransactionData[]): Promise<PoolResult> => {
    const problem = watch.problem();
    if (problem !== undefined) throw new PorticoError("NOT_READY", `The node accepts no transactions at present: ${problem}.`);
    pool.forget();
    return submitTo(client, transactions).finally(pool.forget);
  };

  return {
    peers: { list: peers.get, suspended: suspended.get },
    sync: {
      networkHeight: async () => Math.max((await status.get()).networkHeight, watch.tip() ?? 0),
      synced: async () => (await status.get()).synced,
    },
    pool: { list: pool.get, submit },
    node,
    moved: () => {
      status.forget();
      pool.forget();
    },
    renew: async () => void Object.assign(node, await configuration.get()),
  };
};

/** The network that the node serves. @throws PorticoError HOST_SILENT where the answer is none: the URL is another service's */
export const askNetwork = async (client: NodeClient): Promise<Network> => {
  const path = "/v2/node/configuration/crypto";
  const reply = await client.json(path, { timeout: 5 * patience });
  const data = isObject(reply) ? reply["data"] : undefined;
  const isNetwork =
    isObject(data) && isObject(data["network"]) && typeof data["network"]["nethash"] === "string" && isObject(data["genesisBlock"]);
  if (!isNetwork) throw new PorticoError("HOST_SILENT", `${client.url}${path} did not return the reply of a node`);
  return data as unknown as Network;
};
