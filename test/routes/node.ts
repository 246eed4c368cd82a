import { EventEmitter } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createApiPlugin } from "../../src/index.js";
import { parseManifest } from "../../src/lake/manifest.js";
import type { TransactionData } from "../../types/events.js";
import type { ApiPlugin } from "../../types/plugin.js";
import { loadChain } from "../data/read.js";
import { type Figures, figuresOf } from "../e2e/figures.js";
import { peer } from "../e2e/peer.js";
import { closeTemporaryStores, temporaryFolder } from "../store/temporary-store.js";
import { createReceiver } from "../webhooks/receiver.js";
import { eventually, localTargets } from "../webhooks/stage.js";

/** What a node with every part of it has to be asked about. */
export interface Subjects extends Figures {
  pooled: TransactionData;
  peerIp: string;
  /** Takes what webhooks send. */
  target: string;
  /** A new webhook's id. */
  webhook(): number;
  /** A webhook that has sent a ping. */
  pinged: { id: number; delivery: number };
  lake: { blocks: string; snapshot: string; older: string };
}

/** A node with history, webhooks, a lake, metrics, peers and a pool, on a real chain. */
export interface WholeNode {
  plugin: ApiPlugin;
  /** Such as `http://127.0.0.1:41234`. */
  origin: string;
  token: string;
  subjects: Subjects;
  stop(): Promise<void>;
}

const name = "core3-testnet-a";

const lakeOf = async (dir: string): Promise<Subjects["lake"]> => {
  const file = join(dir, "manifest.json");
  const manifest = await eventually(() => {
    if (!existsSync(file)) return undefined;
    const read = parseManifest(readFileSync(file), file);
    return read.blocks.length > 1 && read.snapshots.length > 0 && read.previous !== null ? read : undefined;
  });
  const last = (path: string): string => path.slice(path.lastIndexOf("/") + 1);
  return { blocks: last(manifest.blocks[0]!.file), snapshot: last(manifest.snapshots.at(-1)!.file), older: `${manifest.previous}.json` };
};

export const startWholeNode = async (): Promise<WholeNode> => {
  const { network, blocks } = loadChain(name);
  const figures = figuresOf(name);
  const receiver = await createReceiver();
  const token = "the-operator's-token";
  const dir = temporaryFolder();
  const forged = figures.transactionRows.at(-1)!;
  const pooled: TransactionData = { id: "c".repeat(64), version: 2, network: 23, typeGroup: 1, type: 0, nonce: "3", senderPublicKey: forged.senderPublicKey, recipientId: forged.recipient, amount: 1n, fee: 10_000_000n, expiration: 0, signature: "ab" };
  const plugin = createApiPlugin({
    network,
    events: new EventEmitter(),
    dataDir: temporaryFolder(),
    blocks: { read: (from, limit) => blocks.slice(from - 1, from - 1 + limit) },
    node: { version: "3.9.1" },
    peers: { list: () => [peer("10.0.0.1")], suspended: () => [peer("10.0.0.2")] },
    pool: { list: () => [pooled], submit: (transactions) => ({ accept: transactions.map(({ id }) => id), broadcast: [], excess: [], invalid: [] }) },
    options: {
      finality: 10,
      staleAfter: false,
      rateLimit: false,
      metrics: true,
      lake: { dir, blocksPerFile: 100, snapshotEvery: 100 },
      webhooks: { tokens: [token], allowTargets: localTargets, schedule: [] },
    },
  });
  const { port } = (await plugin.listen(0)).address() as AddressInfo;
  await plugin.settled();
  const webhooks = plugin.webhooks!;
  const webhook = (): number => webhooks.create({ events: ["peer.added", "round.created"], target: receiver.url }).id;
  const id = webhook();
  const { id: delivery } = webhooks.ping(id);
  await eventually(() => (webhooks.delivery(id, delivery).state === "delivered" ? true : undefined));
  return {
    plugin,
    origin: `http://127.0.0.1:${port}`,
    token,
    subjects: { ...figures, pooled, peerIp: "10.0.0.1", target: receiver.url, webhook, pinged: { id, delivery }, lake: await lakeOf(dir) },
    stop: async () => {
      await plugin.stop();
      await receiver.close();
      await closeTemporaryStores();
    },
  };
};
