import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { expect } from "chai";
import { messageOf } from "../../src/errors.js";
import { count, isLong, seedOr } from "../fixtures/long.js";
import { hasNginx, startNginx } from "../fixtures/nginx.js";
import { randomFrom } from "../follow/schedule.js";
import { hasNats, NatsServer } from "../nats/nats-server.js";
import { atEndOfTest } from "../at-end.js";
import { temporaryFolder } from "../fixtures/folder.js";
import { until } from "../fixtures/until.js";
import { startServer } from "./machines.js";
import { HostProcess } from "./processes.js";

/** A reader of the feed, which asks the replicas in turn, through nginx where that is installed, and keeps its last cursors. */
class Reader {
  readonly chain: string[] = [];
  readonly faults: string[] = [];
  private readonly cursors = ["genesis"];
  private readonly urls: readonly string[];
  private asked = 0;

  constructor(urls: readonly string[]) {
    this.urls = urls;
  }

  async read(): Promise<void> {
    const url = this.urls[this.asked++ % this.urls.length] ?? "";
    const reply = await fetch(`${url}/events/feed?after=${this.cursors[0] ?? ""}&event=block.*&limit=50`).catch(() => undefined);
    if (reply === undefined || [502, 503, 504].includes(reply.status)) return;
    const by = reply.headers.get("x-replica") ?? url;
    // A replica that is killed while it answers.
    const body = (await reply.json().catch(() => undefined)) as { data?: { event: string; block: { height: number; id: string } }[]; meta: { cursor: string } } | undefined;
    if (body === undefined) return;
    const { data, meta } = body;
    if (data === undefined) return void this.faults.push(`${by}: ${reply.status} after ${this.cursors[0] ?? ""}: ${JSON.stringify(body)}`);
    for (const { event, block } of data) {
      const isRight = event === "block.applied" ? this.chain.push(block.id) === block.height : this.chain.pop() === block.id;
      if (!isRight) this.faults.push(`${by}: ${event} ${block.height} (${block.id})`);
    }
    if (meta.cursor !== this.cursors[0]) this.cursors.unshift(meta.cursor);
  }
}

/** A target of webhooks, which keeps the ids of the blocks that it was told of. */
const startTarget = async (): Promise<{ url: string; blocks: Set<string> }> => {
  const blocks = new Set<string>();
  const { url } = await startServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
    request.on("end", () => {
      const { event, data } = JSON.parse(body) as { event: string; data: { id: string } };
      if (event === "block.applied") blocks.add(data.id);
      else blocks.delete(data.id);
      response.writeHead(204).end();
    });
  });
  return { url: `${url}/`, blocks };
};

/** Something that runs, and can be killed and started again. */
interface Victim {
  readonly name: string;
  start(): Promise<unknown>;
  end(signal: NodeJS.Signals): Promise<void>;
  signal(signal: "SIGSTOP" | "SIGCONT"): void;
}

/** The replicas behind nginx, as `examples/deploy` has it; without nginx, each by its own URL. */
const startBalancer = async (replicas: readonly HostProcess[]): Promise<string[]> => {
  if (!hasNginx()) return replicas.map(({ url }) => url);
  const servers = replicas.map(({ port }) => `server 127.0.0.1:${port};`).join(" ");
  const example = readFileSync(new URL("../../examples/deploy/nginx.conf", import.meta.url), "utf8");
  const nginx = await startNginx(example.replace("server 127.0.0.1:4003;", servers).replace("listen 8080;", "listen 8080; add_header X-Replica $upstream_addr always;"));
  atEndOfTest(nginx.end);
  return [`${nginx.origin}/api`];
};

const token = "a token of this test";

describe("A node, and its replicas behind nginx, each a process", () => {
  const kills = count(2, 200);
  const replicaCount = isLong ? 3 : 1;

  it(`are killed, stopped and held up at random (${kills} times), and end with the same state; a reader and a webhook have missed nothing`, async () => {
    const random = randomFrom(seedOr(30));
    const nats = hasNats() ? (await new NatsServer().start()).url : undefined;
    if (nats === undefined) console.log("      nats-server is not installed: changes come from the node alone");
    const over = nats === undefined ? [] : ["--nats", nats];
    const hooks = ["--webhook-token", token, ...over];
    const node = await new HostProcess("node", ["--forge-interval", "250", "--lake", temporaryFolder(), "--lake-blocks", "20", "--lake-snapshots", "40", ...hooks]).start();
    const replicas = await Promise.all(Array.from({ length: replicaCount }, (_, i) => new HostProcess(`replica ${i + 1}`, ["--follow", `http://127.0.0.1:${node.port}`, ...over]).start()));
    const target = await startTarget();
    const created = await fetch(`${node.url}/webhooks`, {
      method: "POST",
      headers: { authorization: token, "content-type": "application/json" },
      body: JSON.stringify({ events: ["block.applied", "block.reverted"], target: target.url, from: "genesis" }),
    });
    expect(created.status, await created.text()).to.equal(201);
    const all: readonly Victim[] = [node, ...replicas];
    const reader = new Reader(await startBalancer(replicas));
    const resting = new AbortController();
    const isReading = (): boolean => !resting.signal.aborted;
    const readOn = (async () => {
      while (isReading()) {
        await reader.read();
        await delay(20);
      }
    })();
    atEndOfTest(() => resting.abort());

    for (let kill = 0; kill < kills; kill++) {
      const victim = all[kill < all.length ? kill : Math.floor(random() * all.length)] as Victim;
      const before = await node.height();
      const way = random();
      if (way < 0.2) {
        victim.signal("SIGSTOP");
        await delay(300 + random() * 700);
        victim.signal("SIGCONT");
      } else {
        await victim.end(way < 0.8 ? "SIGKILL" : "SIGTERM");
        await victim.start().catch((error: unknown) => {
          throw new Error(`after kill ${kill + 1} (${way}): ${messageOf(error)}`, { cause: error });
        });
      }
      await until("blocks after it", async () => (await node.height()) > before);
      // The first fault makes all later ones.
      expect(reader.faults.slice(0, 3), `after kill ${kill + 1}, of ${victim.name} (${way})`).to.deep.equal([]);
    }
    // The node forges no more: all come to rest at its tip.
    await node.end("SIGTERM");
    const still = new HostProcess("node at rest", ["--no-forge", ...hooks]);
    Object.assign(still, { port: node.port, dataDir: node.dataDir });
    await still.start();
    const state = await still.state();
    for (const replica of replicas) await until(`${replica.name} at the node's state`, async () => (await replica.state()) === state);
    const { block } = JSON.parse(state) as { block: { height: number; id: string } };
    await until("the reader at the tip", () => reader.faults.length > 0 || (reader.chain.length === block.height && reader.chain.at(-1) === block.id));
    resting.abort();
    await readOn;
    expect(reader.faults).to.deep.equal([]);
    const ids: string[] = [];
    for (let page = 1; ids.length < block.height; page++) {
      const { data } = (await (await fetch(`${still.url}/blocks?orderBy=height:asc&limit=100&page=${page}`)).json()) as { data: { id: string }[] };
      ids.push(...data.map(({ id }) => id));
    }
    expect(reader.chain).to.deep.equal(ids);
    const missing = (): string[] => ids.filter((id) => !target.blocks.has(id));
    await until("the webhook's last delivery", () => missing().length === 0);
    expect([...target.blocks].sort()).to.deep.equal([...ids].sort());
  });
});
