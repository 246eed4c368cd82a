import { setTimeout as delay } from "node:timers/promises";
import { expect } from "chai";
import { messageOf } from "../../src/errors.js";
import { count, isLong, seedOr } from "../fixtures/long.js";
import { randomFrom } from "../follow/schedule.js";
import { atEnd, closeAll, temporaryFolder, until } from "./machines.js";
import { HostProcess } from "./processes.js";

/** A reader of the feed, which asks each replica in turn and keeps its last cursors. */
class Reader {
  readonly chain: string[] = [];
  readonly faults: string[] = [];
  private readonly cursors = ["genesis"];
  private readonly sources: readonly HostProcess[];
  private asked = 0;

  constructor(sources: readonly HostProcess[]) {
    this.sources = sources;
  }

  async read(): Promise<void> {
    const { url, name } = this.sources[this.asked++ % this.sources.length] as HostProcess;
    const reply = await fetch(`${url}/events/feed?after=${this.cursors[0] ?? ""}&event=block.*&limit=50`).catch(() => undefined);
    if (reply === undefined || reply.status === 503) return;
    const body = (await reply.json()) as { data?: { event: string; block: { height: number; id: string } }[]; meta: { cursor: string } };
    const { data, meta } = body;
    if (data === undefined) return void this.faults.push(`${name}: ${reply.status} after ${this.cursors[0] ?? ""}: ${JSON.stringify(body)}`);
    for (const { event, block } of data) {
      const isRight = event === "block.applied" ? this.chain.push(block.id) === block.height : this.chain.pop() === block.id;
      if (!isRight) this.faults.push(`${name}: ${event} ${block.height} (${block.id})`);
    }
    if (meta.cursor !== this.cursors[0]) this.cursors.unshift(meta.cursor);
  }
}

describe("A node and its replicas, each a process", function () {
  this.timeout(0);
  afterEach(closeAll);

  const kills = count(2, 200);
  const replicaCount = isLong ? 3 : 1;

  it(`are killed, stopped and held up at random (${kills} times), and end with the same state; their reader has missed nothing`, async () => {
    const random = randomFrom(seedOr(30));
    const node = await new HostProcess("node", ["--forge-interval", "250", "--lake", temporaryFolder(), "--lake-blocks", "20", "--lake-snapshots", "40"]).start();
    const replicas = await Promise.all(Array.from({ length: replicaCount }, (_, i) => new HostProcess(`replica ${i + 1}`, ["--follow", `http://127.0.0.1:${node.port}`]).start()));
    const all = [node, ...replicas];
    const reader = new Reader(replicas);
    const resting = new AbortController();
    const isReading = (): boolean => !resting.signal.aborted;
    const readOn = (async () => {
      while (isReading()) {
        await reader.read();
        await delay(20);
      }
    })();
    atEnd(() => resting.abort());

    for (let kill = 0; kill < kills; kill++) {
      const victim = all[kill < all.length ? kill : Math.floor(random() * all.length)] as HostProcess;
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
    const still = new HostProcess("node at rest", ["--no-forge"]);
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
  });
});
