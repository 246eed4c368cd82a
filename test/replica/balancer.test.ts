import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { onlyWhere } from "../fixtures/installed.js";
import { hasNginx, startNginx } from "../fixtures/nginx.js";
import { atEndOfTest } from "../at-end.js";
import { temporaryFolder } from "../fixtures/folder.js";
import { until } from "../fixtures/until.js";
import { chainBlocks, level, startReplica, TestNode, type TestReplica } from "./machines.js";

/** nginx, as `examples/deploy` has it, in front of replicas and their node. Each reply names the one that gave it. */
const startBalancer = async (node: TestNode, replicas: readonly TestReplica[]): Promise<string> => {
  const servers = replicas.map(({ url }) => `server ${new URL(url).host};`).join(" ");
  const example = readFileSync(new URL("../../examples/deploy/nginx.conf", import.meta.url), "utf8");
  const [first, others] = ["server 127.0.0.1:4003;", `server ${new URL(node.url).host};`];
  const configuration = example.replace(first, servers).replace(first, others).replace("listen 8080;", "listen 8080; add_header X-Replica $upstream_addr always;");
  expect(configuration).to.contain(servers).and.to.contain(others).and.to.contain("X-Replica");
  const nginx = await startNginx(configuration);
  atEndOfTest(nginx.end);
  return `${nginx.origin}/api`;
};

interface Page {
  data: { event: string; block: { height: number; id: string } }[];
  meta: { cursor: string };
}

describe("Three replicas behind nginx", () => {
  onlyWhere(hasNginx, "nginx is not installed: replicas are not tested behind it");

  it("answer a reader with a cursor in turn, without gap, while blocks come and are reverted: all events, one after the other, give the chain", async () => {
    const node = await new TestNode(60).start();
    const replicas = await Promise.all([startReplica(node, 60), startReplica(node, 60), startReplica(node, 60)]);
    for (const replica of replicas) await level(node, replica);
    const url = await startBalancer(node, replicas);
    const answered = new Set<string>();
    const chain: string[] = [];
    let cursor = "genesis";

    const read = async (): Promise<boolean> => {
      const reply = await fetch(`${url}/events/feed?after=${cursor}&event=block.*&limit=7`);
      expect(reply.status, await reply.clone().text()).to.equal(200);
      answered.add(reply.headers.get("x-replica") ?? "");
      const { data, meta } = (await reply.json()) as Page;
      // A replica that is behind another may take back, and tell again, what that one has told.
      for (const { event, block } of data) {
        if (event === "block.applied") expect(chain.push(block.id)).to.equal(block.height);
        else expect(chain.pop()).to.equal(block.id);
      }
      cursor = meta.cursor;
      return data.length > 0;
    };

    const readOn = async (): Promise<void> => {
      while (await read());
    };
    await readOn();
    for (let round = 0; round < 6; round++) {
      await node.grow(4);
      await readOn();
      if (round % 2 === 1) await node.fork(node.chain.length - 3, 5);
      await node.revertTo(60 + round * 4);
    }
    await node.revertTo(60);
    await node.grow(20);
    await until("the reader at the tip", async () => {
      await readOn();
      return chain.at(-1) === chainBlocks[79]?.id;
    });
    expect(chain).to.deep.equal(chainBlocks.slice(0, 80).map(({ id }) => id));
    expect(answered.size).to.equal(3);
  });

  it("give the pages of one walk, from the height at which it began", async () => {
    const node = await new TestNode(60).start();
    const replicas = await Promise.all([startReplica(node, 60), startReplica(node, 60), startReplica(node, 60)]);
    for (const replica of replicas) await level(node, replica);
    const url = await startBalancer(node, replicas);
    await node.grow(1);
    const at = node.chain.length;
    const [answered, found]: [Set<string>, string[]] = [new Set(), []];
    for (let page = 1; page <= 10; page++) {
      const reply = await fetch(`${url}/blocks?at=${at}&limit=7&page=${page}`);
      answered.add(reply.headers.get("x-replica") ?? "");
      found.push(...((await reply.json()) as { data: { id: string }[] }).data.map(({ id }) => id));
      await node.grow(1);
    }
    expect(found).to.deep.equal(chainBlocks.slice(0, at).map(({ id }) => id).reverse());
    expect(answered.size).to.equal(3);
  });

  it("leave webhooks and the lake to the node, whatever form a path has; all else is theirs", async () => {
    const node = await new TestNode(60, { dir: join(temporaryFolder(), "lake"), blocksPerFile: 20, snapshotEvery: 0 }).start();
    const replica = await startReplica(node, 60);
    await level(node, replica);
    await until("the lake", async () => (await fetch(`${node.url}/lake/manifest.json`)).ok);
    const url = await startBalancer(node, [replica]);
    for (const path of ["webhooks", "webhooks?limit=1", "webhooks/1/deliveries", "v1/webhooks", "strings/v2/webhooks", "webhooks/keys", "lake/manifest.json", "numbers/v2/lake/manifest.json"]) {
      const [reply, direct] = [await fetch(`${url}/${path}`), await fetch(`${node.url}/${path}`)];
      // Without the token of webhooks.
      expect(direct.status).to.be.oneOf([200, 401]);
      expect([path, reply.status, reply.headers.get("x-replica")]).to.deep.equal([path, direct.status, new URL(node.url).host]);
    }
    for (const path of ["blocks", "v2/blockchain", "node/status"]) {
      const reply = await fetch(`${url}/${path}`);
      expect([path, reply.status, reply.headers.get("x-replica")]).to.deep.equal([path, 200, new URL(replica.url).host]);
    }
  });
});
