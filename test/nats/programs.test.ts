import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { programOf } from "../fixtures/programs.js";
import { freePort } from "../free-port.js";
import { atEnd, closeAll, temporaryFolder, until } from "../replica/machines.js";
import { hasNats, NatsServer } from "./nats-server.js";

const start = (program: string, ...args: string[]): void => {
  const child = spawn(process.execPath, [programOf(program), ...args], { stdio: "ignore" });
  const ended = once(child, "exit");
  atEnd(() => {
    child.kill();
    return ended;
  });
};

/** Values of the metrics of NATS, by their names and labels; undefined while nobody answers. */
const scrape = async (url: string): Promise<Record<string, number> | undefined> => {
  const text = await fetch(url).then((reply) => reply.text()).catch(() => undefined);
  return text === undefined ? undefined : Object.fromEntries([...text.matchAll(/^(portico_nats_\S+) (\d+)$/gm)].map(([, name, value]) => [name ?? "", Number(value)]));
};

describe("The example host and a delivery worker, with NATS", function () {
  this.timeout(60_000);
  afterEach(closeAll);

  before(function () {
    if (!hasNats()) this.skip();
  });

  for (const workers of ["1", "2"]) {
    it(`count what is published and sent (processes that serve: ${workers})`, async () => {
      const server = await new NatsServer().start();
      let received = 0;
      const target = createServer((request, response) => void (received++, request.resume(), response.writeHead(204).end())).listen(0, "127.0.0.1");
      await once(target, "listening");
      atEnd(() => target.close().closeAllConnections());
      const [port, metricsPort] = [await freePort(), await freePort()];
      const node = ["--data-dir", `${temporaryFolder()}/data`, "--port", String(port), "--workers", workers, "--forge-interval", "300", "--webhook-token", "a token for this test"];
      start("examples/standalone/main.ts", ...node, "--nats", server.url, "--dispatch");
      start("examples/delivery-worker/main.ts", "--nats", server.url, "--allow-target", "127.0.0.0/8", "--metrics-port", String(metricsPort));
      const api = `http://127.0.0.1:${port}/api`;
      const there = await until("the worker at the node", async () => {
        const counted = await scrape(`${api}/metrics`);
        return counted?.portico_nats_delivery_workers === 1 && counted;
      });
      expect(there).to.include({ 'portico_nats_deliveries_total{by="worker"}': 0, 'portico_nats_deliveries_total{by="node"}': 0, portico_nats_deliveries_repeated_total: 0 });
      const created = await fetch(`${api}/webhooks`, {
        method: "POST",
        headers: { authorization: "a token for this test", "content-type": "application/json" },
        body: JSON.stringify({ event: "block.applied", target: `http://127.0.0.1:${(target.address() as AddressInfo).port}/` }),
      });
      expect(created.status).to.equal(201);
      const counted = await until("changes and deliveries", async () => {
        const now = await scrape(`${api}/metrics`);
        return now !== undefined && (now.portico_nats_changes_published_total ?? 0) >= 2 && (now['portico_nats_deliveries_total{by="worker"}'] ?? 0) >= 2 && now;
      });
      expect(received).to.be.at.least(counted['portico_nats_deliveries_total{by="worker"}'] ?? 0);
      expect(counted['portico_nats_deliveries_total{by="node"}']).to.equal(0);
      expect((await scrape(`http://127.0.0.1:${metricsPort}/metrics`))?.portico_nats_worker_requests_total).to.be.at.least(2);
    });
  }
});

describe("A delivery worker", () => {
  for (const [args, message] of [[["--allow-target", "here"], '"here" is neither an address nor a network in CIDR form.'], [["--metrics-port", "taken"], "listen EADDRINUSE: address already in use 127.0.0.1:"]] as const) {
    it(`ends with one line that says what is wrong with ${args.join(" ")}`, async () => {
      const other = createServer().listen(0, "127.0.0.1");
      await once(other, "listening");
      const given = args.map((arg) => (arg === "taken" ? String((other.address() as AddressInfo).port) : arg));
      const child = spawn(process.execPath, [programOf("examples/delivery-worker/main.ts"), "--nats", "nats://127.0.0.1:9", ...given], { stdio: ["ignore", "ignore", "pipe"] });
      let said = "";
      child.stderr.setEncoding("utf8").on("data", (text: string) => (said += text));
      expect(await once(child, "close")).to.deep.equal([1, null]);
      other.close();
      expect(said).to.contain(message).and.not.contain("    at ");
    });
  }

  for (const [url, status] of [["nats://node:s3/cret@127.0.0.1:9", 2], ["node:s3cret@127.0.0.1:9", 2], ["nats://node:s3cret#127.0.0.1:9", 2], ["http://node:s3cret@127.0.0.1:9", 2], ["nats://node:s3%cret@127.0.0.1:9", 0], ["nats://node:s3cret@127.0.0.1:9", 0]] as const) {
    it(`prints no password from ${url}, ${status === 0 ? "whose server cannot be reached" : "which it refuses"}`, async () => {
      const child = spawn(process.execPath, [programOf("examples/delivery-worker/main.ts"), "--nats", url], { stdio: ["ignore", "pipe", "pipe"] });
      const ended = once(child, "close");
      let output = "";
      const end = (text: string): void => {
        output += text;
        if (text.includes("takes no requests")) child.kill("SIGTERM");
      };
      for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", end);
      expect(await ended).to.deep.equal([status, null]);
      expect(output).to.contain(status === 0 ? "127.0.0.1:9" : "Usage: ").and.not.match(/s3|cret@|cret#/);
    });
  }
});
