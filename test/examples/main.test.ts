import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import type { BlockData } from "../../types/events.js";
import { helpText } from "../../examples/standalone/options.js";
import { startUnreaped } from "../unreaped.js";
import { root, urlIn, watch } from "../hosts/example-process.js";
import { programOf } from "../fixtures/programs.js";

const [command = "", ...commandArguments] = (JSON.parse(readFileSync(new URL("package.json", root), "utf8")) as { scripts: { start: string } }).scripts.start.split(" ");

/** Runs what `npm start -- ...` runs, as a separate process: compiled beforehand, but where the command itself is tested. */
describe("npm start", function () {
  this.timeout(120_000);

  let folder: string;
  let processes: ChildProcess[];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "portico-main-"));
    processes = [];
  });
  afterEach(async () => {
    for (const child of processes.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null)) {
      child.kill("SIGKILL");
      await once(child, "exit");
    }
    rmSync(folder, { recursive: true });
  });

  const start = (command: string, args: readonly string[]) => {
    const child = spawn(command, args, { cwd: root, env: { ...process.env, PORTICO_LOG_FORMAT: "pretty" }, stdio: ["ignore", "pipe", "pipe"] });
    processes.push(child);
    return watch(child);
  };
  const run = (...args: string[]) => start(process.execPath, [programOf("examples/standalone/main.ts"), ...args]);
  const node = (...args: string[]) => run("--data-dir", join(folder, "data"), "--port", "0", ...args);
  const heightIn = (line: string): number => Number(/^block (\d+)/.exec(line)?.[1]);

  it("serves, prints its address, forges, stops cleanly on Ctrl-C, and goes on at the next start", async () => {
    const first = start(command, [...commandArguments, "--data-dir", join(folder, "data"), "--port", "0", "--forge-interval", "20"]);
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
    expect(first.lines.at(-1)).to.equal("The node has stopped.");
    const last = heightIn(first.lines.filter((line) => line.startsWith("block ")).at(-1) ?? "");

    const second = node("--forge-interval", "20");
    expect(await second.line(/^ {2}height /)).to.equal(`  height    ${last}`);
    expect(heightIn(await second.line(/^block /))).to.equal(last + 1);
    second.kill("SIGTERM");
    expect(await second.ended).to.equal(0);
  });

  it("loses no block that it reported when it is killed", async () => {
    let told = 1;
    for (const blocks of [5, 3, 7]) {
      const killed = node("--forge-interval", "1");
      const height = Number((await killed.line(/^ {2}height /)).slice(12));
      expect(height).to.be.at.least(told);
      await killed.line(new RegExp(`^block ${height + blocks} `));
      killed.kill("SIGKILL");
      expect(await killed.ended).to.equal(null);
      told = heightIn(killed.lines.filter((line) => line.startsWith("block ")).at(-1) ?? "");
    }
    const after = node("--no-forge");
    const url = urlIn(await after.line(/^Portico serves/));
    const forged = readFileSync(join(folder, "data", "forged.ndjson"), "utf8").split("\n").filter((line) => line.endsWith("}"));
    const last = JSON.parse(forged.at(-1) ?? "") as BlockData;
    expect(last.height).to.be.at.least(told);
    const { data } = (await (await fetch(`${url}/blocks?limit=100`)).json()) as { data: { id: string; height: number }[] };
    expect(data.map(({ id }) => id).reverse().slice(1)).to.deep.equal(forged.map((line) => (JSON.parse(line) as BlockData).id));
    after.kill("SIGINT");
    expect(await after.ended).to.equal(0);
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

  it("starts again although the parent of the node that was killed has not reaped it yet (state Z), whose locks are left", async function () {
    if (process.platform !== "linux") this.skip();
    const killed = await startUnreaped([programOf("examples/standalone/main.ts"), "--data-dir", join(folder, "data"), "--port", "0", "--log-format", "pretty"], { cwd: root });
    try {
      await killed.line(/^block 2/);
      await killed.kill();
      expect(readFileSync(join(folder, "data", "chain.mdb-writer"), "utf8")).to.equal(String(killed.pid));
      expect(readFileSync(join(folder, "data", "node.pid"), "utf8")).to.match(new RegExp(`^${killed.pid} \\d+$`));
      const after = node();
      await after.line(/^block \d+/);
      after.kill("SIGINT");
      expect(await after.ended).to.equal(0);
      expect(after.lines.filter((line) => /wait/i.test(line))).to.deep.equal([]);
    } finally {
      await killed.clear();
    }
  });

  it("ends at once, with a clear error, if its data folder cannot be made: --data-dir /proc/foo spun for ever and ignored SIGTERM", async function () {
    if (process.platform !== "linux") this.skip();
    for (const dataDir of ["/proc/foo", "/proc/foo/below"]) {
      const started = run("--port", "0", "--data-dir", dataDir);
      expect(await started.ended).to.equal(1);
      expect(started.lines).to.deep.equal([`The data folder ${dataDir} cannot be written: ENOENT: no such file or directory, mkdir '/proc/foo'.`]);
    }
  });

  it("answers a failure to start with one sentence and exit code 1", async () => {
    const import_ = node("--import", join(folder, "missing.ndjson"));
    expect(await import_.ended).to.equal(1);
    expect(import_.lines).to.deep.equal([`${join(folder, "missing.ndjson")} cannot be read: there is no such file.`]);
  });
});
