import { expect } from "chai";
import type { BlockData } from "../../types/events.js";
import type { ApiPlugin } from "../../types/plugin.js";
import { createApiPlugin, followNode } from "../../src/index.js";
import { silentLogger } from "../silent.js";
import { createReceiver, type Receiver } from "../webhooks/receiver.js";
import { atEndOfTest } from "../at-end.js";
import { temporaryFolder } from "../fixtures/folder.js";
import { until } from "../fixtures/until.js";
import { TestNode } from "./machines.js";

describe("Replicas with webhooks of their own", () => {
  const token = "the-replica's-token";

  const start = async (url: string, dataDir: string): Promise<ApiPlugin> => {
    const plugin = createApiPlugin(await followNode({ url, dataDir, logger: silentLogger, options: { finality: 10, staleAfter: false, webhooks: { tokens: [token], allowTargets: ["127.0.0.0/8"], schedule: [100, 100, 100] } } }));
    await plugin.start();
    atEndOfTest(() => plugin.stop());
    return plugin;
  };
  const told = (receiver: Receiver, path: string): string[] => receiver.received.filter((one) => one.path === path).map(({ json }) => `${json.event.slice("block.".length)} ${(json.data as BlockData).id}`);

  it("tell each webhook of each event once, through forks and the death of a replica", async () => {
    const receiver = await createReceiver();
    atEndOfTest(() => receiver.close());
    const node = await new TestNode(40).start();
    const folders = [temporaryFolder(), temporaryFolder()] as const;
    const replicas = [await start(node.url, folders[0]), await start(node.url, folders[1])];
    const level = async (): Promise<void> => {
      const { id } = node.chain.at(-1) as BlockData;
      for (const [index, replica] of replicas.entries()) await until(`replica ${index} at the tip`, () => replica.health().tip?.id === id);
    };
    await level();
    for (const [index, replica] of replicas.entries()) expect(replica.webhooks?.create({ events: ["block.*"], target: `${receiver.url}/${index}` }).id, "a register of its own").to.equal(1);
    node.plugin.webhooks?.create({ events: ["block.*"], target: `${receiver.url}/node` });
    await node.grow(3);
    await level();
    await until("all told", () => [0, 1].every((index) => told(receiver, `/${index}`).length === 3));
    await replicas[1]?.stop();
    await node.fork(41, 3);
    replicas[1] = await start(node.url, folders[1]);
    await level();
    await node.grow(0);
    await until("all told of the fork", () => [0, 1].every((index) => told(receiver, `/${index}`).length === told(receiver, "/node").length));
    for (const index of [0, 1]) expect(told(receiver, `/${index}`)).to.deep.equal(told(receiver, "/node"));
    expect(new Set(told(receiver, "/0")).size).to.equal(told(receiver, "/0").length);
  });
});
