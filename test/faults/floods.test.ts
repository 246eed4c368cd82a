/** Floods of eleven kinds, each from many addresses at once, and a healthy client beside them. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { Agent, type IncomingMessage, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { expect } from "chai";
import { count, isLong } from "../fixtures/long.js";
import { programOf } from "../fixtures/programs.js";
import { type FloodKind, floodKinds } from "./flood.js";

/** What a node says of itself (flood-node.ts). */
interface Told {
  port: number;
  connections: number;
  /** MB that the process cannot let go of: told if asked for. */
  kept: number;
  /** Milliseconds of processor time that one turn of its loop took at the most since it was last asked. */
  held: number;
}

interface Waits {
  p50: number;
  p99: number;
}

describe("a healthy client", () => {
  const connections = count(40, 1_000);
  const folder = mkdtempSync(join(tmpdir(), "portico-flood-"));
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let node: ChildProcess;
  let lines: AsyncIterator<string>;
  let port: number;

  const nextLine = async (): Promise<Told> => JSON.parse((await lines.next()).value as string) as Told;
  const look = (line = "memory"): Promise<Told> => {
    node.stdin?.write(`${line}\n`);
    return nextLine();
  };

  before(async function () {
    this.timeout(120_000);
    const transactions = isLong ? 20_000 : 2_000;
    node = spawn(process.execPath, ["--expose-gc", programOf(new URL("flood-node.ts", import.meta.url)), folder, String(transactions), "500"], { stdio: ["pipe", "pipe", "inherit"] });
    lines = createInterface({ input: node.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]();
    ({ port } = await nextLine());
    // Compiled, and with all that is made once.
    await waits();
  });
  after(async () => {
    agent.destroy();
    node.stdin?.end();
    await once(node, "exit");
    rmSync(folder, { recursive: true });
  });

  const ask = async (path: string): Promise<number> => {
    const begun = performance.now();
    const [response] = (await once(request({ host: "127.0.0.1", port, path, agent }).end(), "response")) as [IncomingMessage];
    await once(response.resume(), "end");
    expect(response.statusCode, path).to.equal(200);
    return performance.now() - begun;
  };

  const waits = async (): Promise<Waits> => {
    const times: number[] = [];
    const questions = isLong ? 1_000 : 30;
    for (let index = 0; index < questions; index++) times.push(await ask(`/api/wallets?limit=5&offset=${index % 3}`));
    times.sort((one, other) => one - other);
    return { p50: times[questions >> 1] ?? 0, p99: times[Math.floor(questions * 0.99)] ?? 0 };
  };

  const startFlood = async (kind: FloodKind): Promise<() => Promise<void>> => {
    const flooder = spawn(process.execPath, [programOf(new URL("flooder-process.ts", import.meta.url)), kind, String(port), String(connections)], { stdio: ["pipe", "pipe", "inherit"] });
    const exit = once(flooder, "exit");
    await Promise.race([once(flooder.stdout, "data"), exit.then(() => Promise.reject(new Error("the flooder ended")))]);
    return async () => {
      flooder.stdin.end();
      await exit;
    };
  };

  /** Until nothing is left of a flood: no connection but this client's, and no more memory than before. */
  const untilBack = async (before: Told): Promise<Told> => {
    for (;;) {
      const told = await look();
      if (told.connections <= 1 && told.kept < before.kept + 16) return told;
      await delay(20);
    }
  };

  for (const kind of floodKinds) {
    it(`is answered beside ${kind}, of which nothing is left when they end`, async function () {
      // A thousand questions, idle and flooded, take as long as each of them may.
      this.timeout(isLong ? 300_000 : 60_000);
      const before = await look();
      const idle = isLong ? await waits() : undefined;
      const end = await startFlood(kind);
      let flooded: Waits;
      let during: Told;
      try {
        await look("held");
        flooded = await waits();
        during = await look();
      } finally {
        // What fails here must not flood the next one's node.
        await end();
      }
      const back = await untilBack(before);
      if (idle !== undefined) console.log({ kind, idle, flooded, held: during.held, connections: during.connections, kept: [before.kept, during.kept, back.kept] });
      // MB: each stream that is not read once kept 4 of events.
      expect(during.kept).to.be.below(before.kept + 128);
      // Milliseconds of processor time: they do not depend on what else the machine does.
      expect(during.held).to.be.below(100);
      if (idle !== undefined) expect(flooded.p99).to.be.below(Math.max(50, 2 * idle.p99));
    });
  }
});
