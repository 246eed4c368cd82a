import { cpSync } from "node:fs";
import { expect } from "chai";
import type { ApiPlugin } from "../../types/plugin.js";
import { webhookOptions } from "../e2e/reader-options.js";
import { blockData, genesis, network } from "../follow/schedule.js";
import { temporaryFolder } from "../fixtures/folder.js";
import { createNode } from "../fixtures/node.js";
import { createReceiver, type Receiver } from "./receiver.js";

const second = blockData("second", 2, genesis.id, []);
const blocks = [genesis, second, blockData("third", 3, second.id, [])];

describe("webhooks of a data folder that was restored", () => {
  let receiver: Receiver;
  let node: ApiPlugin;

  const start = async (dataDir: string): Promise<void> => {
    node = createNode({ network, dataDir, blocks, options: { webhooks: webhookOptions } });
    await node.start();
    await node.settled();
  };
  const hook = (path: string) => node.webhooks!.create({ event: "block.applied", target: `${receiver.url}${path}`, from: "genesis" });
  const namesAt = (path: string): unknown[] => receiver.received.filter((one) => one.path === path).map(({ headers }) => headers["webhook-id"]);

  beforeEach(async () => {
    receiver = await createReceiver();
  });

  it("have ids of their own, though others that were made since the backup had their numbers; those that are in it keep theirs", async () => {
    const [dataDir, backup] = [temporaryFolder(), temporaryFolder()];
    await start(dataDir);
    const kept = hook("/kept");
    await receiver.until(3);
    await node.stop();
    cpSync(dataDir, backup, { recursive: true });

    await start(dataDir);
    const before = hook("/before");
    await receiver.until(6);
    await node.stop();

    await start(backup);
    const after = hook("/after");
    node.webhooks!.replay(kept.id, { from: 1, to: 3 });
    await receiver.until(12);
    expect(after.id).to.equal(before.id);
    expect(namesAt("/after")).to.have.length(3);
    expect(new Set([...namesAt("/before"), ...namesAt("/after")])).to.have.property("size", 6);
    expect(namesAt("/kept").slice(3)).to.deep.equal(namesAt("/kept").slice(0, 3));
  });
});
