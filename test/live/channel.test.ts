import { setImmediate as turn } from "node:timers/promises";
import { expect } from "chai";
import { systemAfter, systemClock } from "../../src/async/clock.js";
import type { Follow } from "../../src/follow/follow.js";
import { createOpenEvents, type EventStream } from "../../src/live/event-stream.js";
import { temporaryFolder } from "../fixtures/folder.js";
import { Node, randomFrom } from "../follow/schedule.js";
import { createManualClock } from "../webhooks/manual-clock.js";

type Open = ReturnType<typeof createOpenEvents>;

/** Selects by the first part of an event's name. */
const openEventsOf = (follow: Follow, heartbeat = 14_000, time: Pick<Parameters<typeof createOpenEvents>[0], "clock" | "after"> = { clock: systemClock, after: systemAfter }): Open =>
  createOpenEvents({
    follow,
    heartbeat,
    ...time,
    select: ({ event = [] }) => Promise.resolve({ filter: { listens: (name) => event.some((one) => name.startsWith(one)), matches: () => true }, hostEvents: event.includes("peer") }),
  });

/** Reads a stream while it is allowed to, and does what it is told; comes back where it left. */
class Client {
  readonly blocks: string[] = [];
  readonly faults: string[] = [];
  hostEvents = 0;
  isReading = true;
  private last = "genesis";
  private stream: EventStream | undefined;
  private ended: Promise<void> = Promise.resolve();
  private readonly open: Open;
  private readonly events: readonly string[];

  constructor(open: Open, events: readonly string[]) {
    this.open = open;
    this.events = events;
  }

  async begin(): Promise<void> {
    const stream = (await this.open(this.last, { event: this.events }))();
    this.stream = stream;
    this.ended = this.read(stream);
  }

  async leave(): Promise<void> {
    await this.stream?.return();
    this.isReading = true;
    await this.ended;
  }

  private async read(stream: EventStream): Promise<void> {
    for (;;) {
      while (!this.isReading) await turn();
      const { done, value } = await stream.next();
      if (done === true) return;
      for (const message of String(value).split("\n\n").slice(0, -1)) this.take(message);
    }
  }

  private take(message: string): void {
    const field = (name: string): string | undefined => message.split("\n").find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
    const [event, id] = [field("event"), field("id")];
    if (event?.startsWith("block.") === true) {
      const { data } = JSON.parse(field("data") ?? "") as { data: { id: string; previousBlock?: string | null } };
      const top = this.blocks.at(-1) ?? null;
      if (event === "block.applied") {
        if (top !== data.previousBlock) this.faults.push(`${data.id} applied on ${String(top)}`);
        this.blocks.push(data.id);
      } else if (this.blocks.pop() !== data.id) this.faults.push(`${data.id} reverted from ${String(top)}`);
    } else if (event?.startsWith("peer.") === true) this.hostEvents++;
    this.last = id ?? this.last;
  }
}

describe("Streams of one channel", () => {
  it("end with the node's chain, whenever they come, are slow, leave and come back", async () => {
    for (let seed = 1; seed <= 8; seed++) {
      const random = randomFrom(seed);
      const node = new Node(temporaryFolder(), `channel ${seed}`);
      await node.begin();
      const open = openEventsOf(node.follow, 20);
      const clients = Array.from({ length: 12 }, (_, place) => new Client(open, place % 3 === 0 ? ["block"] : ["block", "peer"]));
      await Promise.all(clients.slice(0, 6).map((client) => client.begin()));
      for (let step = 0; step < 60; step++) {
        const choice = random();
        const client = clients[Math.floor(random() * clients.length)]!;
        if (choice < 0.35) await node.apply(random);
        else if (choice < 0.5) await node.revert(1 + Math.floor(random() * 3));
        else if (choice < 0.6) await node.hostEvent();
        else if (choice < 0.8) client.isReading = !client.isReading;
        else {
          await client.leave();
          await client.begin();
        }
        // What is new may be seen before it is told of.
        for (let turns = Math.floor(random() * 4); turns > 0; turns--) await turn();
        if (choice < 0.6) node.follow.logged();
      }
      await Promise.all(clients.slice(6).map((client) => client.leave().then(() => client.begin())));
      for (const client of clients) client.isReading = true;
      const chain = node.chain.map(({ block }) => block.id);
      const isThere = ({ blocks, hostEvents }: Client, place: number): boolean => blocks.length === chain.length && blocks.at(-1) === chain.at(-1) && (place % 3 === 0 || hostEvents === node.hostEvents);
      while (!clients.every(isThere) && clients.every(({ faults }) => faults.length === 0)) await turn();
      for (const client of clients) {
        expect(client.faults, `seed ${seed}`).to.deep.equal([]);
        expect(client.blocks, `seed ${seed}`).to.deep.equal(chain);
      }
      await Promise.all(clients.map((client) => client.leave()));
      await node.store.stop();
    }
  });

  it("read a block once for all of them, and stop following when the last has left", async () => {
    const node = new Node(temporaryFolder(), "channel");
    await node.begin();
    let [reads, watchers] = [0, 0];
    const follow: Follow = {
      ...node.follow,
      after: (...asked) => (reads++, node.follow.after(...asked)),
      watch: (changed) => {
        const leave = node.follow.watch(changed);
        watchers++;
        return () => (watchers--, leave());
      },
    };
    const open = openEventsOf(follow);
    const clients = Array.from({ length: 100 }, () => new Client(open, ["block"]));
    await Promise.all(clients.map((client) => client.begin()));
    const all = async (): Promise<void> => {
      while (!clients.every(({ blocks }) => blocks.length === node.chain.length)) await turn();
    };
    await all();
    for (let i = 0; i < 10; i++) await turn();
    reads = 0;
    await node.apply(randomFrom(1));
    node.follow.logged();
    await all();
    expect(reads).to.be.within(1, 2);
    expect(watchers).to.equal(1);
    await Promise.all(clients.map((client) => client.leave()));
    expect(watchers).to.equal(0);
    await node.store.stop();
  });

  it("miss nothing that is told while some of them are still to be woken to say that they are there", async () => {
    const node = new Node(temporaryFolder(), "channel");
    await node.begin();
    const [clock, heartbeat] = [createManualClock(), 14_000];
    const open = openEventsOf(node.follow, heartbeat, { clock, after: clock.after });
    // More than are served before the next look at the clock.
    const clients = Array.from({ length: 80 }, () => new Client(open, ["block"]));
    await Promise.all(clients.map((client) => client.begin()));
    const all = async (): Promise<void> => {
      while (!clients.every(({ blocks, faults }) => faults.length > 0 || blocks.length === node.chain.length)) await turn();
      expect(clients.flatMap(({ faults }) => faults)).to.deep.equal([]);
    };
    await all();
    for (let i = 0; i < 10; i++) await turn();
    await node.apply(randomFrom(1));
    clock.advance(heartbeat / 2);
    node.follow.logged();
    for (let i = 0; i < 10; i++) await turn();
    // Whoever missed that one would now be told of a block whose parent it does not have.
    await node.apply(randomFrom(2));
    node.follow.logged();
    await all();
    await Promise.all(clients.map((client) => client.leave()));
    await node.store.stop();
  });

  it("are told of what came while the first of them was reading", async () => {
    const node = new Node(temporaryFolder(), "channel");
    await node.begin();
    let isFirst = true;
    const after: Follow["after"] = async (...asked) => {
      const batch = await node.follow.after(...asked);
      if (!batch.atEnd || !isFirst) return batch;
      isFirst = false;
      await node.apply(randomFrom(1));
      node.follow.logged();
      return batch;
    };
    const client = new Client(openEventsOf({ ...node.follow, after }), ["block"]);
    await client.begin();
    while (node.chain.length < 2 || client.blocks.length < node.chain.length) await turn();
    await client.leave();
    await node.store.stop();
  });
});
