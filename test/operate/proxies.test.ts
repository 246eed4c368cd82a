import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { get, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { type ApiPlugin, createApiPlugin } from "../../src/index.js";
import { loadChain } from "../data/read.js";
import { temporaryFolder } from "../fixtures/folder.js";
import { freePort } from "../free-port.js";
import { silentLogger } from "../silent.js";
import { until } from "../fixtures/until.js";

const chain = loadChain("core3-custom-c");
const read = (name: string): string => readFileSync(fileURLToPath(new URL(`../../examples/deploy/${name}`, import.meta.url)), "utf8");
const isThere = (tool: string): boolean => spawnSync("sh", ["-c", `command -v ${tool}`]).status === 0;

interface Proxy {
  tool: string;
  /** Writes its configuration into a folder, and returns the command that starts it. */
  command(folder: string, port: number, node: number): string[];
}

/** The files of `examples/deploy` as they are, but for the ports. */
const proxies: Proxy[] = [
  {
    tool: "nginx",
    command: (folder, port, node) => {
      const server = read("nginx.conf").replaceAll("127.0.0.1:4003", `127.0.0.1:${node}`).replace("listen 8080", `listen 127.0.0.1:${port}`);
      const own = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${folder}/${name};`).join("\n");
      writeFileSync(join(folder, "nginx.conf"), `daemon off;\npid ${folder}/pid;\nerror_log ${folder}/log;\nevents {}\nhttp {\naccess_log off;\n${own}\n${server}\n}\n`);
      return ["-p", folder, "-e", join(folder, "log"), "-c", join(folder, "nginx.conf")];
    },
  },
  {
    tool: "caddy",
    command: (folder, port, node) => {
      const site = read("Caddyfile").replace("127.0.0.1:4003", `127.0.0.1:${node}`).replace(":8080 {", `http://127.0.0.1:${port} {`);
      writeFileSync(join(folder, "Caddyfile"), `{\n\tadmin off\n\tgrace_period 1s\n\tstorage file_system ${folder}\n}\n${site}`);
      return ["run", "--config", join(folder, "Caddyfile"), "--adapter", "caddyfile"];
    },
  },
];

for (const { tool, command } of proxies) {
  describe(`a node behind ${tool}, with the file of examples/deploy`, () => {
    let plugin: ApiPlugin | undefined;
    let started: ChildProcess | undefined;
    let origin: string;
    let direct: string;
    const events = new EventEmitter();
    const folder = temporaryFolder();
    // All but the last are the chain at first.
    let known = chain.blocks.slice(0, 59);

    before(async function () {
      if (!isThere(tool)) {
        console.log(`      There is no ${tool}: the node is not tested behind it.`);
        return this.skip();
      }
      plugin = createApiPlugin({
        network: chain.network,
        events,
        dataDir: temporaryFolder(),
        blocks: { read: (from, limit) => known.slice(from - 1, from - 1 + limit) },
        logger: silentLogger,
        options: { staleAfter: false, metrics: true, trustedProxies: ["127.0.0.1"], rateLimit: { perMinute: 100, exempt: [] }, lake: { dir: join(folder, "lake"), blocksPerFile: 5 }, finality: 3 },
      });
      const server = await plugin.listen(0);
      const [node, port] = [(server.address() as AddressInfo).port, await freePort()];
      direct = `http://127.0.0.1:${node}`;
      started = spawn(tool, command(folder, port, node), { stdio: "ignore", env: { ...process.env, HOME: folder } });
      origin = `http://127.0.0.1:${port}`;
      await until(async () => ((await fetch(`${origin}/api/health/live`).catch(() => undefined))?.status === 200 ? true : undefined));
      // Asked of the node itself, for another address: the proxy's requests are counted in these tests.
      await until(async () => ((await fetch(`${direct}/api/lake/manifest.json`, { headers: { "X-Forwarded-For": "192.0.2.9" } })).status === 200 ? true : undefined));
    });
    after(async () => {
      if (started?.exitCode === null) {
        started.kill();
        await once(started, "exit");
      }
      await plugin?.stop();
    });

    it("sends the same replies through it, health among them, and hides the metrics", async () => {
      for (const path of ["/api/blocks?limit=2", "/api/openapi.json", "/api/docs"]) {
        expect(await (await fetch(origin + path)).text(), path).to.equal(await (await fetch(direct + path)).text());
      }
      for (const path of ["/api/metrics", "/api/v2/metrics", "/api/v01/metrics", "/api/strings/metrics", "/api/numbers/v2/metrics"]) {
        expect([(await fetch(origin + path)).status, (await fetch(direct + path)).status], path).to.deep.equal([404, 200]);
      }
    });

    it("sends an event on at once, while the stream goes on", async () => {
      const leave = new AbortController();
      const reply = await fetch(`${origin}/api/strings/v2/events?event=block.applied`, { signal: leave.signal });
      const reader = (reply.body ?? expect.fail("no body")).pipeThrough(new TextDecoderStream()).getReader();
      const first = await reader.read();
      expect(first.value).to.match(/^id: 59-/);
      known = chain.blocks.slice(0, 60);
      events.emit("block.applied", chain.blocks[59]);
      let text = "";
      while (!text.includes("\n\n")) text += (await reader.read()).value ?? expect.fail("the stream has ended");
      expect(text).to.include("event: block.applied").and.to.include(`id: 60-${chain.blocks[59]?.id}`);
      leave.abort();
    });

    it("sends the part of a file that is asked for", async () => {
      const { blocks } = (await (await fetch(`${origin}/api/lake/manifest.json`)).json()) as { blocks: { file: string; bytes: number }[] };
      const { file, bytes } = blocks[0] ?? expect.fail("no file");
      const whole = Buffer.from(await (await fetch(`${origin}/api/lake/${file}`)).arrayBuffer());
      expect(whole.length).to.equal(bytes);
      const part = await fetch(`${origin}/api/lake/${file}`, { headers: { Range: "bytes=10-19" } });
      expect([part.status, part.headers.get("content-range")]).to.deep.equal([206, `bytes 10-19/${bytes}`]);
      expect(Buffer.from(await part.arrayBuffer())).to.deep.equal(whole.subarray(10, 20));
    });

    it("counts the requests of each client behind it, whatever the client says of itself", async () => {
      // The proxy is 127.0.0.1 to the node, which trusts it; the clients come from other addresses of this machine.
      const remaining = async (localAddress: string, headers: Record<string, string> = {}): Promise<number> => {
        const sent = get(`${origin}/api/node/status`, { localAddress, headers });
        const [reply] = (await once(sent, "response")) as [IncomingMessage];
        reply.resume();
        return Number(reply.headers["x-ratelimit-remaining"]);
      };
      expect(await remaining("127.0.0.2")).to.equal(99);
      expect(await remaining("127.0.0.2")).to.equal(98);
      expect(await remaining("127.0.0.3")).to.equal(99);
      expect(await remaining("127.0.0.2", { "X-Forwarded-For": "198.51.100.7" })).to.equal(97);
    });
  });
}
