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
      const nats = ["--nats", server.url, "--nats-prefix", "shop"];
      start("examples/standalone/main.ts", ...node, ...nats, "--dispatch");
      start("examples/delivery-worker/main.ts", ...nats, "--allow-target", "127.0.0.0/8", "--metrics-port", String(metricsPort));
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

describe("A replica of the example host, with NATS", function () {
  this.timeout(60_000);
  afterEach(closeAll);

  it("shows in its metrics that changes come over NATS, and how many have come", async function () {
    if (!hasNats()) this.skip();
    const server = await new NatsServer().start();
    const [port, own] = [await freePort(), await freePort()];
    const nats = ["--nats", server.url];
    const folder = temporaryFolder();
    start("examples/standalone/main.ts", "--data-dir", `${folder}/node`, "--port", String(port), "--forge-interval", "300", ...nats);
    start("examples/standalone/main.ts", "--data-dir", `${folder}/replica`, "--port", String(own), "--follow", `http://127.0.0.1:${port}`, ...nats);
    const counted = await until("changes over NATS", async () => {
      const now = await scrape(`http://127.0.0.1:${own}/api/metrics`);
      return now !== undefined && (now.portico_nats_changes_received_total ?? 0) >= 2 && now;
    });
    expect(Object.keys(counted)).to.deep.equal(["portico_nats_changes_received_total", "portico_nats_changes_connected"]);
    expect(counted.portico_nats_changes_connected).to.equal(1);
  });
});

/** What a worker prints until it has ended by itself, or has said something after which it is to end. */
const outputOf = async (args: readonly string[], until?: string, environment: NodeJS.ProcessEnv = {}): Promise<{ status: number | null; output: string; errors: string }> => {
  const child = spawn(process.execPath, [programOf("examples/delivery-worker/main.ts"), ...args], { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, ...environment } });
  const ended = once(child, "close");
  const said = { output: "", errors: "" };
  for (const name of ["output", "errors"] as const) {
    child[name === "output" ? "stdout" : "stderr"].setEncoding("utf8").on("data", (text: string) => {
      said[name] += text;
      if (child.killed) return;
      if (until !== undefined && said[name].includes(until)) child.kill("SIGTERM");
    });
  }
  const [status] = (await ended) as [number | null];
  return { status, ...said };
};

describe("A delivery worker", function () {
  this.timeout(60_000);
  afterEach(closeAll);

  it("says that it takes requests once it does, and not before", async function () {
    if (!hasNats()) this.skip();
    const port = await freePort();
    const away = await outputOf(["--nats", `nats://127.0.0.1:${port}`], "takes no requests");
    expect([away.status, away.output]).to.deep.equal([0, "The worker has sent 0 requests.\n"]);
    const server = await new NatsServer().start();
    const there = await outputOf([], "the worker takes requests", { NATS_URL: server.url.replace("nats://", "nats://any:s3cret@") });
    expect(there).to.deep.equal({ status: 0, output: `the worker takes requests of webhooks (NATS at ${server.url.slice("nats://".length)})\nThe worker has sent 0 requests.\n`, errors: "" });
  });

  for (const [line, message] of [
    ["--nats foo", "--nats must be a URL such as nats://10.0.0.7:4222."],
    ["--nats 10.0.0.7:4222", "--nats must be a URL such as nats://10.0.0.7:4222."],
    ["--concurrency 4", "--nats is missing"],
    ["--nats nats://h --concurrency 0", "--concurrency must be a whole number from 1 on."],
    ["--nats nats://h --metrics-port x", "--metrics-port must be a whole number from 0 to 65535."],
    ["--nats nats://h --nats-prefix a.b", "--nats-prefix must be 1 to 64 letters, digits, - or _."],
    ["--nats", "Option '--nats <value>' argument missing."],
    ["--bogus", "Unknown option '--bogus'."],
    ["--bogus=tls://node:s3cret@h", "Unknown option '--bogus'."],
    ["tls://node:s3cret@h", "One of the arguments does not belong to an option."],
  ] as const) {
    it(`refuses "${line}", and says what is wrong with it`, async () => {
      const { status, output, errors } = await outputOf(line.split(" "), undefined, { NATS_URL: "" });
      expect([status, output]).to.deep.equal([2, ""]);
      expect(errors.startsWith(message), errors).to.equal(true);
      expect(errors).to.contain("\nUsage: main.ts --nats URL ").and.not.contain("s3cret");
    });
  }

  it("tells how it is used, and ends well, when it is asked for help", async () => {
    const { status, output, errors } = await outputOf(["--help"]);
    expect([status, output.startsWith("Usage: main.ts --nats URL "), errors]).to.deep.equal([0, true, ""]);
  });

  for (const [option, variable] of [["--nats-creds", "NATS_CREDS"], ["--nats-ca", "NATS_CA"]] as const) {
    it(`ends at once where the file of ${option} cannot be read, however it was given`, async () => {
      const [folder, given] = [temporaryFolder(), ["--nats", "nats://127.0.0.1:9"]];
      const missing = `${option} ${folder}/none cannot be read: there is no such file.\n`;
      expect(await outputOf([...given, option, `${folder}/none`])).to.deep.equal({ status: 1, output: "", errors: missing });
      expect(await outputOf(given, undefined, { [variable]: `${folder}/none` })).to.deep.equal({ status: 1, output: "", errors: missing });
      const { status, errors } = await outputOf([...given, option, folder]);
      expect([status, errors.startsWith(`${option} ${folder} cannot be read: EISDIR`), errors.split("\n").length]).to.deep.equal([1, true, 2]);
    });
  }

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
      const said = await outputOf(["--nats", url], "takes no requests");
      const output = said.output + said.errors;
      expect(said.status).to.equal(status);
      expect(output).to.contain(status === 0 ? "127.0.0.1:9" : "Usage: ").and.not.match(/s3|cret@|cret#/);
    });
  }
});
