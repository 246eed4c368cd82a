/** A healthy client beside 100 dearest searches at once, and a block of 20,000 transactions: prints its waits, idle and flooded. `--count`: transactions of the chain. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { Agent, type IncomingMessage, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { expect } from "chai";
import { count } from "../fixtures/long.js";
import { programOf } from "../fixtures/programs.js";

interface Told {
  port: number;
  stall: number;
  /** Milliseconds of processor time that one turn of the loop took at the most. */
  held: number;
  memory: number;
}

interface Waits {
  p50: number;
  p99: number;
}

describe("a healthy client", function () {
  this.timeout(0);
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "portico-flood-"))));
  afterEach(() => rmSync(folder, { recursive: true }));

  const start = async (transactions: number, perBlock: number) => {
    const program = programOf(new URL("flood-node.ts", import.meta.url));
    const child = spawn(process.execPath, [program, folder, String(transactions), String(perBlock)], { stdio: ["pipe", "pipe", "inherit"] });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const next = async (): Promise<Told> => JSON.parse((await lines.next()).value as string) as Told;
    const begun = await next();
    const look = (): Promise<Told> => {
      child.stdin.write("\n");
      return next();
    };
    const stop = async (): Promise<void> => {
      child.stdin.end();
      await once(child, "exit");
    };
    return { begun, look, stop };
  };

  const agent = new Agent({ keepAlive: true });
  after(() => agent.destroy());
  const ask = async (port: number, path: string, body?: string): Promise<{ status: number; waited: number }> => {
    const begun = performance.now();
    const sent = request({ host: "127.0.0.1", port, path, agent, ...(body === undefined ? {} : { method: "POST" }) }).end(body);
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    response.resume();
    await once(response, "end");
    return { status: response.statusCode ?? 0, waited: performance.now() - begun };
  };

  const waits = async (port: number): Promise<Waits> => {
    const times: number[] = [];
    for (let left = 300; left > 0; left--) {
      times.push((await ask(port, `/api/wallets?limit=5&offset=${left % 3}`)).waited);
      await delay(10);
    }
    times.sort((one, other) => one - other);
    return { p50: times[150] ?? 0, p99: times[297] ?? 0 };
  };

  it("is answered within 100 ms, or 3 times what it waits otherwise, beside 100 dearest searches at once", async () => {
    const node = await start(count(20_000, 60_000), 500);
    const { port } = node.begun;
    await waits(port);
    const idle = await waits(port);
    const ending = new AbortController();
    const statuses: Record<number, number> = {};
    const search = async (from: number): Promise<void> => {
      while (!ending.signal.aborted) {
        const { status } = await ask(port, "/api/transactions/search?limit=100&orderBy=amount:desc", JSON.stringify({ fee: { from: 1 }, amount: { from, to: 95_000 }, type: 0 }));
        statuses[status] = (statuses[status] ?? 0) + 1;
        // As the reply asks.
        if (status === 503) await delay(1_000);
      }
    };
    const searches = Array.from({ length: 100 }, (_, i) => search(i));
    await delay(1_000);
    await node.look();
    const flooded = await waits(port);
    const { stall, held, memory } = await node.look();
    ending.abort();
    await Promise.all(searches);
    await node.stop();
    console.log({ idle, flooded, stall, held, memory, statuses });
    expect(flooded.p99).to.be.below(Math.max(100, 3 * idle.p99));
  });

  it("of a block of 20,000 transactions: what indexing it takes", async () => {
    const node = await start(20_000, 20_000);
    console.log(node.begun);
    await node.stop();
  });
});
