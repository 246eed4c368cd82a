import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { EventEmitter } from "eventemitter3";
import { createApiPlugin } from "../../src/index.js";
import { freePort } from "../free-port.js";
import { createMemoryAdapter } from "../memory-adapter/adapter.js";
import { silentLogger } from "../silent.js";
import { atEndOfTest } from "../at-end.js";
import { until } from "../fixtures/until.js";
import { network, TestNode, TestReplica } from "./machines.js";
import { HostProcess } from "./processes.js";

describe("A replica that has never heard its node", () => {
  it("answers at its port, is not ready, and serves once the node is there", async () => {
    const node = await new TestNode(20).start();
    await node.stop();
    const replica = new HostProcess("the replica", ["--follow", node.url]);
    const serving = replica.start();
    const ask = async (path: string): Promise<{ status: number; retryAfter: string | null; body: unknown } | undefined> => {
      const reply = await fetch(`${replica.url}/${path}`).catch(() => undefined);
      return reply && { status: reply.status, retryAfter: reply.headers.get("retry-after"), body: await reply.json() };
    };
    const live = await until("an answer at the port", () => ask("health/live"));
    expect(live).to.deep.equal({ status: 200, retryAfter: null, body: { status: "ok" } });
    const problem = `the node at ${node.url} has not answered yet`;
    const starting = { status: "starting", height: 0 };
    expect(await ask("v2/health/ready")).to.deep.equal({ status: 503, retryAfter: "5", body: { ...starting, problem: "node unreachable", detail: problem } });
    expect(await ask("health?x=1")).to.deep.equal({ status: 503, retryAfter: "5", body: { ...starting, problem } });
    const refused = { statusCode: 503, error: "Service Unavailable", message: `This replica cannot answer yet: ${problem}.`, code: "NOT_READY" };
    for (const path of ["blocks", "health/else"]) expect(await ask(path), path).to.deep.equal({ status: 503, retryAfter: "5", body: refused });
    await node.restart();
    await serving;
    await until("a ready replica", async () => (await ask("health/ready"))?.status === 200);
  });

  it("lets go of its port when it is stopped before the node has come", async () => {
    const node = `http://127.0.0.1:${await freePort()}`;
    const replica = new HostProcess("the replica", ["--follow", node]);
    const ended = replica.run();
    await until("an answer at the port", async () => (await fetch(`${replica.url}/health/live`).catch(() => undefined))?.ok);
    await replica.end("SIGTERM");
    expect(await ended).to.equal(0);
    expect(replica.output.join("")).to.contain(`waiting for the node to follow, at ${node}/api, for 0 of 60 s: `);
  });

  it("says every ten seconds where it waits, and why", async () => {
    const node = await new TestNode(20).start();
    await node.stop();
    const replica = new TestReplica(node.url);
    const starting = replica.start();
    const waits = (): string[] => replica.lines.filter((line) => line.startsWith(`waiting for the node to follow, at ${node.url}, for `));
    for (const seconds of [0, 10, 20]) {
      await until("a line", () => waits().length > seconds / 10);
      expect(Number(/, for (\d+) of 60 s: .*ECONNREFUSED/.exec(waits().at(-1) ?? "")?.[1])).to.be.within(seconds, seconds + 9);
      replica.clock.pass(10_000);
    }
    await node.restart();
    await starting;
    expect(await until("a ready replica", async () => (await replica.ready()).status === 200)).to.equal(true);
  });

  it("ends with a failure where the node's chain offers no changes", async () => {
    const { snapshot } = createMemoryAdapter(network);
    const node = createApiPlugin({ network, events: new EventEmitter(), chain: { snapshot }, logger: silentLogger, options: { webhooks: false } });
    atEndOfTest(() => node.stop());
    const { port } = (await node.listen(0)).address() as AddressInfo;
    const replica = new HostProcess("the replica", ["--follow", `http://127.0.0.1:${port}`]);
    expect(await replica.run()).to.equal(1);
    expect(replica.output.join("")).to.contain(`the node at http://127.0.0.1:${port}/api cannot be followed: This node's chain offers no changes, which replicas need. Its only events are those that its host emits.`);
  });
});
