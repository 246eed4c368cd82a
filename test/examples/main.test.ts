import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { gunzipSync } from "node:zlib";
import { expect } from "chai";
import type { BlockData } from "../../types/events.js";
import { helpText } from "../../examples/standalone/options.js";
import { startUnreaped } from "../unreaped.js";
import { chainFile } from "../data/read.js";
import { temporaryFolder } from "../fixtures/folder.js";
import { root, run as start, runHost, urlIn } from "../fixtures/process.js";
import { programOf } from "../fixtures/programs.js";

const [command = "", ...commandArguments] = (JSON.parse(readFileSync(new URL("package.json", root), "utf8")) as { scripts: { start: string } }).scripts.start.split(" ");

/** Runs what `npm start -- ...` runs, as a separate process: compiled beforehand, but where the command itself is tested. */
describe("npm start", () => {
  const folder = temporaryFolder();
  /** What the node in the folder has told of its chain. */
  let told: number;
  const pretty = { PORTICO_LOG_FORMAT: "pretty" };
  const run = (...args: string[]) => runHost(args, pretty);
  const node = (...args: string[]) => run("--data-dir", join(folder, "data"), "--port", "0", ...args);
  const lastIn = (lines: readonly string[]): number => Number(/^block (\d+)/.exec(lines.filter((line) => line.startsWith("block ")).at(-1) ?? "")?.[1]);

  /** MB of its own that a process has in memory: not those of files, such as its store. */
  const memoryOf = (pid: number | undefined): number => Number(/^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;

  /** Until a process has less than so many MB: an idle one looks every 5 s, one on a busy machine when it has been idle for so long. */
  const untilBelow = async (pid: number | undefined, most: number): Promise<void> => {
    const end = performance.now() + 120_000;
    while (memoryOf(pid) > most) {
      if (performance.now() > end) throw new Error(`it still has ${memoryOf(pid)} MB, not ${most}`);
      await delay(100);
    }
  };

  it("begins below 250 MB with a chain that it has read, and lets go of what a burst has taken when it is idle", async function () {
    if (!existsSync("/proc/self/status")) return this.skip();
    const chain = join(folder, "chain.ndjson");
    const network = join(folder, "network");
    writeFileSync(chain, chainFile("core3-custom-c"));
    mkdirSync(network);
    const files = new URL("test/data/core3-custom-c/network/", root);
    for (const name of readdirSync(files)) writeFileSync(join(network, name.replace(/\.gz$/, "")), gunzipSync(readFileSync(new URL(name, files))));
    const importing = run("--data-dir", join(folder, "imported"), "--port", "0", "--network", network, "--no-forge", "--import", chain);
    const { pid } = importing.child;
    const url = urlIn(await importing.line(/^Portico serves the network/));
    await untilBelow(pid, 250);
    const before = memoryOf(pid);
    const addresses = Array.from({ length: 14_000 }, (_, index) => `${"0".repeat(60)}${index}`);
    const feed = (input: object): Promise<unknown> =>
      fetch(`${url}/events/feed`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ after: "genesis", ...input }) }).then((reply) => reply.text());
    await Promise.all(Array.from({ length: 20 }, () => feed({ limit: 1_000 })));
    await Promise.all(Array.from({ length: 20 }, () => feed({ conditions: [{ key: "senderPublicKey", condition: "in", value: addresses }] })));
    await untilBelow(pid, before + 100);
    importing.kill("SIGTERM");
    expect(await importing.ended).to.equal(0);
  });

  const heightIn = (line: string): number => Number(/^ {2}height +(\d+)$/.exec(line)?.[1]);

  it("serves, prints its address, forges and stops cleanly on Ctrl-C", async () => {
    const first = start(command, [...commandArguments, "--data-dir", join(folder, "data"), "--port", "0", "--forge-interval", "20"], { environment: pretty });
    const url = urlIn(await first.line(/^Portico serves the network local at /));
    expect(url).to.match(/^http:\/\/127\.0\.0\.1:\d+\/api$/);
    await first.line(/^block 8 {2}\d+ {2}by \w+ {2}\d+ transactions? {2}\d+ ms$/);
    const reply = (await (await fetch(`${url}/node/status`)).json()) as { data: { now: number; synced: boolean } };
    expect(reply.data.synced).to.equal(true);
    expect(reply.data.now).to.be.at.least(7);
    // Every URL that it suggests.
    for (const line of first.lines.filter((text) => text.startsWith("  http"))) expect((await fetch(line.trim())).status, line).to.equal(200);
    first.kill("SIGINT");
    expect(await first.ended).to.equal(0);
    expect(first.lines.slice(-2)).to.deep.equal(["The node is stopping and finishes open work. Another signal ends the process at once.", "The node has stopped."]);
    told = lastIn(first.lines);
  });

  it("goes on at the next start", async () => {
    const next = node("--forge-interval", "1");
    expect(await next.line(/^ {2}height /)).to.equal(`  height    ${told}`);
    expect(await next.line(/^block /)).to.match(new RegExp(`^block ${told + 1} `));
    await next.line(new RegExp(`^block ${told + 5} `));
    next.kill("SIGKILL");
    expect(await next.ended).to.equal(null);
    told = lastIn(next.lines);
  });

  it("has lost no block that it reported when it starts again, although the parent of the node that was killed has not reaped it yet (state Z), whose locks are left", async () => {
    const unreaped = process.platform === "linux" ? await startUnreaped([programOf("examples/standalone/main.ts"), "--data-dir", join(folder, "data"), "--port", "0", "--log-format", "pretty", "--forge-interval", "1"], { cwd: root }) : undefined;
    try {
      if (unreaped !== undefined) {
        const height = heightIn(await unreaped.line(/^ {2}height /));
        expect(height).to.be.at.least(told);
        await unreaped.line(new RegExp(`^block ${height + 3} `));
        await unreaped.kill();
        told = lastIn(unreaped.lines);
        expect(readFileSync(join(folder, "data", "chain.mdb-writer"), "utf8")).to.equal(String(unreaped.pid));
        expect(readFileSync(join(folder, "data", "node.pid"), "utf8")).to.match(new RegExp(`^${unreaped.pid} \\d+$`));
      }
      const after = node("--forge-interval", "20");
      const last = heightIn(await after.line(/^ {2}height /));
      expect(last).to.be.at.least(told);
      const url = urlIn(await after.line(/^Portico serves/));
      await after.line(new RegExp(`^block ${last + 1} `));
      const { data } = (await (await fetch(`${url}/blocks?limit=100`)).json()) as { data: { id: string; height: number }[] };
      const served = data.map(({ id }) => id).reverse().slice(1);
      expect(served.length).to.be.at.least(last - 1);
      after.kill("SIGTERM");
      expect(await after.ended).to.equal(0);
      expect(after.lines.filter((line) => /wait/i.test(line))).to.deep.equal([]);
      const forged = readFileSync(join(folder, "data", "forged.ndjson"), "utf8").trimEnd().split("\n").map((line) => (JSON.parse(line) as BlockData).id);
      expect(forged.slice(0, served.length)).to.deep.equal(served);
      expect(forged.length).to.be.at.least(lastIn(after.lines) - 1);
    } finally {
      await unreaped?.clear();
    }
  });

  it("prints its help", async () => {
    const help = run("--help");
    expect(await help.ended).to.equal(0);
    expect(help.lines.join("\n")).to.equal(helpText());
  });

  it("answers a mistyped option with one sentence and exit code 2", async () => {
    const mistyped = run("--prot", "1");
    expect(await mistyped.ended).to.equal(2);
    expect(mistyped.lines).to.have.length(1);
    expect(mistyped.lines[0]).to.match(/^There is no option --prot; did you mean "--port"\? The options are .+\.$/);
  });

  it("ends at once, with a clear error, if its data folder cannot be made: --data-dir /proc/foo spun for ever and ignored SIGTERM", async function () {
    if (process.platform !== "linux") this.skip();
    const started = run("--port", "0", "--data-dir", "/proc/foo/below");
    expect(await started.ended).to.equal(1);
    expect(started.lines).to.deep.equal(["The data folder /proc/foo/below cannot be written: ENOENT: no such file or directory, mkdir '/proc/foo'."]);
  });

  it("answers a failure to start with one sentence and exit code 1", async () => {
    const import_ = node("--import", join(folder, "missing.ndjson"));
    expect(await import_.ended).to.equal(1);
    expect(import_.lines).to.deep.equal([`${join(folder, "missing.ndjson")} cannot be read: there is no such file.`]);
  });
});
