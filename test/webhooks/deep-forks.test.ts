import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect } from "chai";
import type { BlockData } from "../../types/events.js";
import { token } from "../e2e/reader-options.js";
import { endProcess } from "../fixtures/end-process.js";
import { count, isLong, seedOr } from "../fixtures/long.js";
import { programOf } from "../fixtures/programs.js";
import { blockData, genesis, randomFrom, transferData } from "../follow/schedule.js";
import { freePort } from "../free-port.js";
import type { Step } from "../live/forking-host.js";
import { Listener } from "../live/listener.js";
import { createReceiver, type Receiver } from "./receiver.js";

const schedules = count(2, 2_000);
/** Schedules on one node, whose chain grows by some blocks with each. */
const together = 20;
const deepest = 6;
const events = ["block.applied", "block.reverted", "transaction.applied", "transaction.reverted"];
const orders = ["first", "strict", "none"] as const;

/** The host's own database: it outlives a node that is killed, and may have lost its last blocks then. */
class Host {
  readonly blocks: BlockData[] = [genesis];
  private made = 0;
  private readonly random: () => number;

  constructor(random: () => number) {
    this.random = random;
  }

  upTo(most: number): number {
    return 1 + Math.floor(this.random() * most);
  }

  apply(blocks: number): Step[] {
    return Array.from({ length: blocks }, (): Step => {
      const label = `${this.made++}`;
      const transfers = Array.from({ length: this.upTo(4) - 1 }, (_, place) => transferData(`${label} ${place}`, this.upTo(9), this.upTo(3), this.upTo(3)));
      const applied = blockData(label, this.blocks.length + 1, this.blocks.at(-1)?.id ?? null, transfers);
      this.blocks.push(applied);
      return { applied };
    });
  }

  fork(): Step[] {
    const reverted = this.blocks.splice(Math.max(1, this.blocks.length - this.upTo(deepest))).reverse();
    return [...reverted.map((block): Step => ({ reverted: block })), ...this.apply(this.upTo(deepest))];
  }
}

/** A node of its own, killed and started again at the same port, and three webhooks of it. */
class Subject {
  readonly folder = mkdtempSync(join(tmpdir(), "portico-deep-forks-"));
  readonly listeners = orders.map(() => new Listener());
  private readonly host: Host;
  private readonly port: number;
  private child: ChildProcess | undefined;

  constructor(host: Host, port: number) {
    this.host = host;
    this.port = port;
  }

  /** `isUp`: whether to wait until it serves. */
  async start(isUp = true): Promise<void> {
    writeFileSync(join(this.folder, "host.json"), JSON.stringify(this.host.blocks));
    const program = programOf(new URL("deep-fork-node.ts", import.meta.url));
    const child = spawn(process.execPath, [program, this.folder, String(this.port)], { stdio: ["ignore", "ignore", "inherit", "ipc"] });
    this.child = child;
    if (isUp) await Promise.race([once(child, "message"), once(child, "exit").then(() => expect.fail("the node ended"))]);
  }

  tell(steps: readonly Step[]): void {
    this.child?.send(steps);
  }

  kill(): Promise<void> {
    return endProcess(this.child, "SIGKILL");
  }

  async ask<T>(path: string, body?: object): Promise<T> {
    const headers = { authorization: token, "content-type": "application/json" };
    const reply = await fetch(`http://127.0.0.1:${this.port}/api${path}`, { headers, ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }) });
    return (await reply.json()) as T;
  }

  async listen(receiver: Receiver): Promise<void> {
    for (const [place, order] of orders.entries()) await this.ask("/webhooks", { events, order, from: "genesis", target: `${receiver.url}/${place}` });
  }

  async isAtTip(): Promise<boolean> {
    const { data } = await this.ask<{ data?: { block: { id: string } } }>("/blockchain");
    return data?.block.id === this.host.blocks.at(-1)?.id;
  }

  /** All webhooks have seen the tip, and nothing is open. */
  async isQuiet(): Promise<boolean> {
    const { data } = await this.ask<{ data: { id: number; cursor: string }[] }>("/webhooks");
    // One that is at the same height of a branch that the chain has left is not behind, and has yet to go back.
    const tip = `${this.host.blocks.length}-${this.host.blocks.at(-1)?.id}`;
    if (data.some(({ cursor }) => cursor !== tip)) return false;
    for (const { id } of data) {
      for (const state of ["pending", "retrying"]) {
        const { meta } = await this.ask<{ meta: { totalCount: number } }>(`/webhooks/${id}/deliveries?state=${state}&limit=1`);
        if (meta.totalCount > 0) return false;
      }
    }
    return true;
  }
}

const subjectsOf = (blocks: readonly BlockData[]): string[] => blocks.flatMap(({ id, transactions = [] }) => [`block ${id}`, ...transactions.map((one) => `transaction ${one.id}`)]).sort();

const until = async (isSo: () => Promise<boolean>): Promise<void> => {
  while (!(await isSo())) await delay(5);
};

/** One schedule: the host forks, and the node is killed; sometimes again while it starts. It ends with a block that is told to a node that runs. */
const run = async (node: Subject, host: Host, random: () => number): Promise<void> => {
  node.tell(host.apply(host.upTo(deepest)));
  if (random() < 0.5) await delay(random() * 60);
  node.tell(host.fork());
  await delay(random() * 80);
  await node.kill();
  // The host's database may lack what it had emitted last, and its chain may be another when it is back.
  if (random() < 0.3) host.blocks.splice(Math.max(1, host.blocks.length - host.upTo(3)));
  if (random() < 0.5) host.fork();
  if (random() < 0.2) {
    await node.start(false);
    await delay(200 + random() * 400);
    await node.kill();
    if (random() < 0.7) host.fork();
  }
  await node.start();
  node.tell(host.apply(1));
};

describe("a node that is killed while its host's chain leaves it further back than undo records reach", function () {
  this.timeout(isLong ? 0 : 120_000);

  let receiver: Receiver;
  beforeEach(async () => void (receiver = await createReceiver()));

  it(`is where its host is, and its webhooks have been told that chain, no more and no less (${schedules} schedules)`, async () => {
    const seed = seedOr(51);
    for (let first = 0; first < schedules; first += together) {
      const random = randomFrom(seed + first);
      const host = new Host(random);
      host.apply(12);
      const node = new Subject(host, await freePort());
      receiver.answer = ({ path, headers, body }, response) => {
        receiver.received.length = 0;
        const listener = node.listeners[Number(path.slice(1))];
        listener?.hear(String(headers["webhook-id"]), body);
        const fails = random() < 0.1;
        if (!fails) listener?.take(body, false);
        response.writeHead(fails ? 500 : 204).end();
      };
      try {
        await node.start();
        await node.listen(receiver);
        for (let schedule = first; schedule < Math.min(schedules, first + together); schedule++) {
          await run(node, host, random);
          await until(() => node.isAtTip());
          await until(() => node.isQuiet());
          const expected = subjectsOf(host.blocks);
          for (const [place, { onChain, faults }] of node.listeners.entries()) {
            const told = [...onChain].filter(([, isOn]) => isOn).map(([subject]) => subject);
            const [more, less] = [told.filter((one) => !expected.includes(one)), expected.filter((one) => !told.includes(one))];
            expect({ schedule, order: orders[place], more, less, faults }).to.deep.equal({ schedule, order: orders[place], more: [], less: [], faults: [] });
          }
          if (isLong && schedule % 20 === 19) console.log(`      ${schedule + 1} schedules`);
        }
      } finally {
        await node.kill();
        rmSync(node.folder, { recursive: true, force: true });
      }
    }
  });
});
