import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect } from "chai";
import { temporaryFolder } from "../fixtures/folder.js";
import { root, runHost as run, type StartedProcess, urlIn } from "../fixtures/process.js";
import { until } from "../fixtures/until.js";

/** The example host as a program: its log, what it refuses, its page, its backups. */
describe("the example host as a program", () => {
  const folder = temporaryFolder();
  const dataDir = (name: string): string => join(folder, name);

  it("refuses a used port, a missing file and a wrong one before it creates anything", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    const bad = join(folder, "bad.json");
    writeFileSync(bad, "{");
    const fork = join(folder, "fork");
    mkdirSync(fork);
    for (const [args, message] of [
      [["--port", String(port)], `Port ${port} on 127.0.0.1 is in use: stop what uses it, or choose another --port.`],
      [["--port", "0", "--host", "192.0.2.1"], "--host 192.0.2.1 is not an address of this machine."],
      [["--import", join(folder, "none.ndjson")], `${join(folder, "none.ndjson")} cannot be read: there is no such file.`],
      [["--network", "testnet", "--secrets", join(folder, "none.json")], `${join(folder, "none.json")} cannot be read: there is no such file.`],
      [["--nats", "nats://127.0.0.1:9", "--nats-creds", join(folder, "none.creds")], `--nats-creds ${join(folder, "none.creds")} cannot be read: there is no such file.`],
      [["--nats", "nats://127.0.0.1:9", "--nats-ca", join(folder, "none.pem"), "--follow", "http://127.0.0.1:9"], `--nats-ca ${join(folder, "none.pem")} cannot be read: there is no such file.`],
      [["--network", fork], `${join(fork, "network.json")} cannot be read: there is no such file.`],
    ] as const) {
      const node = run(["--data-dir", dataDir("refused"), "--log-format", "pretty", ...args]);
      expect(await node.ended).to.equal(1);
      expect(node.lines).to.deep.equal([message]);
      expect(existsSync(dataDir("refused"))).to.equal(false);
    }
    // As a mistake of the command line.
    for (const config of [run(["--config", bad]), run([], { PORTICO_CONFIG: bad }), run([], { PORTICO_BACKUP: dataDir("refused") })]) {
      expect(await config.ended).to.equal(2);
      expect(config.lines).to.have.length(1);
    }
    other.close();
  });

  for (const format of ["pretty", "json"]) {
    it(`goes on when the reader of its output leaves (--log-format ${format}), with a warning of a variable that looks like an option`, async () => {
      const urlFile = join(folder, `${format}.url`);
      const args = ["--data-dir", dataDir(format), "--port", "0", "--url-file", urlFile, "--log-format", format, "--log-level", "debug", "--forge-interval", "20", "--access-log"];
      const node = run(args, { PORTICO_HOME: "/opt" });
      await node.line(/PORTICO_HOME is not an option/);
      await node.line(/block 2 /);
      node.child.stdout?.destroy();
      node.child.stderr?.destroy();
      const url = readFileSync(urlFile, "utf8").trim();
      const height = async (): Promise<number> => ((await (await fetch(`${url}/node/status`)).json()) as { data: { now: number } }).data.now;
      const left = await height();
      await until(async () => ((await height()) > left + 3 ? true : undefined));
      node.kill("SIGTERM");
      expect(await node.ended).to.equal(0);
    });
  }

  it("closes its store when its terminal is closed, also where that is said twice (SIGHUP)", async () => {
    const node = run(["--data-dir", dataDir("hangup"), "--port", "0", "--log-format", "pretty"]);
    await node.line(/^Portico serves/);
    node.kill("SIGHUP");
    await node.line(/^The node is stopping/);
    node.kill("SIGHUP");
    expect(await node.ended).to.equal(0);
    expect(node.lines.at(-1)).to.equal("The node has stopped.");
    expect(readdirSync(dataDir("hangup"))).to.not.include.any.members(["node.pid", "chain.mdb-writer"]);
  });

  it("is asked by the image's health check where it listens, whatever its options say", async () => {
    const image = readFileSync(new URL("examples/deploy/Dockerfile", root), "utf8");
    const [, check = ""] = /HEALTHCHECK [^]*?CMD (\[.*\])$/m.exec(image) ?? [];
    expect(image).to.match(/PORTICO_URL_FILE=\/data\/node\.url /);
    const [command = "", ...args] = JSON.parse(check) as string[];
    const environment = { PORTICO_DATA_DIR: dataDir("image"), PORTICO_PORT: "4003" };
    const isHealthy = (urlFile: string): boolean => spawnSync(command, args, { env: { ...process.env, ...environment, PORTICO_URL_FILE: urlFile } }).status === 0;
    expect(isHealthy(join(folder, "none.url"))).to.equal(false);
    const nodes = [["--host", "0.0.0.0"], ["--follow", "http://127.0.0.1:9"]].map(async (options, index) => {
      const urlFile = join(folder, `node-${index}.url`);
      const node = run(["--port", "0", "--data-dir", dataDir(`image-${index}`), ...options], { ...environment, PORTICO_URL_FILE: urlFile });
      await until(() => Promise.resolve(existsSync(urlFile) || undefined));
      expect(isHealthy(urlFile), options.join(" ")).to.equal(true);
      node.kill("SIGTERM");
      expect(await node.ended, node.lines.join("\n")).to.equal(0);
      expect(isHealthy(urlFile)).to.equal(false);
    });
    await Promise.all(nodes);
  });

  describe("on a public network, behind a proxy", () => {
    let node: StartedProcess;
    let started: { url: string };
    before(async () => {
      node = run(["--data-dir", dataDir("public"), "--port", "0", "--network", "devnet", "--access-log", "--log-clients", "--trusted-proxy", "127.0.0.1"]);
      started = JSON.parse(await node.line(/"the node serves"/)) as { url: string };
    });

    it("takes clients' addresses from a proxy that it is told of", async () => {
      const reply = await fetch(`${started.url}/blocks`, { headers: { "X-Forwarded-For": "198.51.100.7, 203.0.113.9", "X-Request-Id": "proxied-1" } });
      // Clients on this machine are not limited; these are, each by itself.
      expect(reply.headers.get("x-ratelimit-limit")).to.equal("300");
      expect(JSON.parse(await node.line(/"proxied-1"/))).to.include({ client: "203.0.113.9" });
    });

    it("has a page at / that leads to console, docs and health, and loads nothing", async () => {
      const page = await fetch(new URL("/", started.url));
      expect(page.headers.get("content-type")).to.equal("text/html; charset=utf-8");
      expect(page.headers.get("content-security-policy")).to.include("default-src 'none'");
      const html = await page.text();
      for (const path of ["api/console", "api/docs", "api/health"]) expect(html).to.include(`href="${path}"`);
      expect(html).to.not.match(/https?:\/\//);
      expect((await fetch(new URL("/elsewhere", started.url))).status).to.equal(404);
    });

    it("says that it does not sync from peers by itself, and stops", async () => {
      expect(started).to.have.property("note").that.includes("does not sync from peers");
      node.kill("SIGTERM");
      expect(await node.ended).to.equal(0);
    });
  });

  describe("while it forges", () => {
    const token = "a secret token";
    const headers = { Authorization: token, "Content-Type": "application/json" };
    const lastIn = ({ lines }: StartedProcess): number => Math.max(...lines.flatMap((line) => /"msg":"block (\d+)/.exec(line)?.[1] ?? []).map(Number));
    let node: StartedProcess;
    let url: string;
    before(async () => {
      node = run(["--data-dir", dataDir("data"), "--access-log"], { PORTICO_PORT: "0", PORTICO_FORGE_INTERVAL: "50", PORTICO_WEBHOOK_TOKEN: token });
      ({ url } = JSON.parse(await node.line(/"the node serves"/)) as { url: string });
    });

    it("copies a data folder while its node writes there, and starts from the copy", async () => {
      const webhook = { event: "block.applied", target: "http://127.0.0.1:1/", conditions: [], enabled: false };
      expect((await fetch(`${url}/webhooks`, { method: "POST", headers, body: JSON.stringify(webhook) })).status).to.equal(201);
      await node.line(/"block 9 /);

      // As a folder that something is mounted on, which cannot be replaced.
      mkdirSync(dataDir("copy"));
      const { ino } = statSync(dataDir("copy"));
      const copying = run(["--data-dir", dataDir("data"), "--backup", dataDir("copy"), "--log-format", "pretty"]);
      expect(await copying.ended, copying.lines.join("\n")).to.equal(0);
      await node.line(new RegExp(`"block ${lastIn(node) + 1} `));
      expect(readdirSync(dataDir("copy"))).to.include.members(["chain.mdb", "forged.ndjson"]).and.not.include.any.members(["node.pid", ".partial"]);
      expect(statSync(dataDir("copy")).ino).to.equal(ino);

      const again = run(["--data-dir", dataDir("data"), "--backup", dataDir("copy"), "--log-format", "pretty"]);
      expect(await again.ended).to.equal(1);
      expect(again.lines).to.deep.equal([`${dataDir("data")} could not be copied to ${dataDir("copy")}: ${dataDir("copy")} is not empty: choose a folder that is empty or missing.`]);

      const forged = readFileSync(join(dataDir("copy"), "forged.ndjson"), "utf8").split("\n").filter((line) => line !== "");
      const restored = run(["--data-dir", dataDir("copy"), "--port", "0", "--log-format", "pretty", "--forge-interval", "50", "--webhook-token", token]);
      const height = Number((await restored.line(/^ {2}height /)).slice(12));
      expect(height).to.be.at.least(9);
      // Its forged blocks are those of the copy's chain.
      expect(forged.length).to.be.at.least(height - 1);
      const second = urlIn(await restored.line(/^Portico serves/));
      const idAt = async (served: string): Promise<string> => ((await (await fetch(`${served}/blocks/${height}`)).json()) as { data: { id: string } }).data.id;
      expect(await idAt(second)).to.equal(await idAt(url));
      const { data } = (await (await fetch(`${second}/webhooks`, { headers })).json()) as { data: { target: string }[] };
      expect(data.map(({ target }) => target)).to.deep.equal([webhook.target]);
      await until(async () => ((await fetch(`${second}/health/ready`)).status === 200 ? true : undefined));
      // And it forges on.
      await restored.line(new RegExp(`^block ${height + 3} `));
      expect(await idAt(second)).to.equal(await idAt(url));
      restored.kill("SIGTERM");
      expect(await restored.ended).to.equal(0);
    });

    it("copies into no folder that the system does not make, nor into the data folder, a file or a folder that is in use", async () => {
      symlinkSync(dataDir("data"), dataDir("link"));
      writeFileSync(dataDir("file"), "");
      const within = (target: string): string => `${dataDir("data")} could not be copied to ${target}: ${target} lies within the data folder ${dataDir("data")}: choose a folder outside of it.`;
      for (const [target, message] of [
        // The system has no such folder, nor makes one, and says so as if the one above were missing.
        ["/proc/x", `${dataDir("data")} could not be copied to /proc/x: ENOENT: no such file or directory, mkdir '/proc/x'.`],
        [dataDir("data"), within(dataDir("data"))],
        [join(dataDir("data"), "backups", "monday"), within(join(dataDir("data"), "backups", "monday"))],
        [join(dataDir("link"), "backup"), within(join(dataDir("link"), "backup"))],
        [dataDir("file"), `${dataDir("data")} could not be copied to ${dataDir("file")}: ${dataDir("file")} is not a folder.`],
        [join(dataDir("file"), "x"), `${dataDir("data")} could not be copied to ${join(dataDir("file"), "x")}: ENOTDIR: not a directory, stat '${join(dataDir("file"), "x")}'.`],
      ] as const) {
        if (target === "/proc/x" && process.platform !== "linux") continue;
        const copying = run(["--data-dir", dataDir("data"), "--backup", target, "--log-format", "pretty"]);
        expect(await copying.ended, target).to.equal(1);
        expect(copying.lines).to.deep.equal([message]);
      }
      expect(readdirSync(dataDir("data"))).to.not.include.any.members(["backups", "backup"]);
      // Its name begins as that of the data folder does.
      const beside = run(["--data-dir", dataDir("data"), "--backup", dataDir("data..2"), "--log-format", "pretty"]);
      expect(await beside.ended, beside.lines.join("\n")).to.equal(0);
    });

    it("logs JSON lines only where no person looks, an access log among them, without the client or the URL", async () => {
      const secret = "a secret in the query";
      const reply = await fetch(`${url}/wallets/top?limit=1&unknown=${encodeURIComponent(secret)}`);
      expect(reply.status).to.equal(400);
      const body = await (await fetch(`${url}/wallets/top?limit=1`, { headers: { "X-Request-Id": "mine-1", "Accept-Encoding": "identity" } })).text();
      const entry = JSON.parse(await node.line(/"mine-1"/)) as Record<string, unknown>;
      expect(entry).to.include({ level: "info", msg: "request", method: "GET", route: "/wallets/top", status: 200, bytes: Buffer.byteLength(body) });
      expect(Object.keys(entry).sort()).to.deep.equal(["bytes", "level", "method", "ms", "msg", "requestId", "route", "status", "time", "work"]);
      expect(new Date(String(entry.time)).toISOString()).to.equal(entry.time);
      expect(Number(entry.work)).to.be.above(0).and.at.most(Number(entry.ms));
      await node.line(/"status":400/);
      node.kill("SIGTERM");
      expect(await node.ended).to.equal(0);
      for (const line of node.lines) expect(JSON.parse(line), line).to.include.keys("time", "level", "msg");
      const requests = node.lines.filter((line) => line.includes('"msg":"request"')).join("\n");
      expect(requests).to.not.include("127.0.0.1").and.not.include(secret).and.not.include("limit");
      expect(node.lines.join("\n")).to.not.include(token);
    });
  });
});
