import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import type { BlockData } from "../../types/events.js";
import { token, webhookOptions } from "../e2e/reader-options.js";
import { startMovingNode } from "../e2e/moving-node.js";
import { temporaryFolder } from "../fixtures/folder.js";
import { onlyWhere } from "../fixtures/installed.js";
import { createPostgresDatabase } from "../fixtures/lasting-databases.js";
import { hasPostgres } from "../fixtures/postgres.js";
import { root, run, type StartedProcess } from "../fixtures/process.js";
import { programsFolder } from "../fixtures/programs.js";
import { until } from "../fixtures/until.js";
import { freePort } from "../free-port.js";
import { loadChain } from "../data/read.js";
import { readDocument } from "./tables.js";

const { network, blocks } = loadChain("core3-custom-c");

/** A document's blocks of JavaScript, or of TypeScript that is JavaScript, too. */
const codeOf = (document: string): string[] => [...readDocument(document).matchAll(/\n```[jt]s\n([\s\S]*?)```/g)].map(([, code = ""]) => code);

/** A folder in which the packages are installed that the documents' code imports. */
const projectFolder = (): string => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(programsFolder(), join(folder, "node_modules", "portico"));
  for (const name of ["koa", "eventemitter3", "pg"]) symlinkSync(fileURLToPath(new URL(`node_modules/${name}`, root)), join(folder, "node_modules", name));
  return folder;
};

interface Ports {
  node?: number;
  target?: number;
}

/** Runs a block as a file, with other ports than those that it names. */
const runCode = (code: string, { node, target }: Ports = {}, environment: NodeJS.ProcessEnv = {}, folder = projectFolder()): StartedProcess => {
  writeFileSync(join(folder, "program.mjs"), code.replaceAll(":4003", `:${String(node)}`).replaceAll("4100", String(target)));
  return run(process.execPath, ["program.mjs"], { environment, cwd: folder });
};

const startNode = () => startMovingNode(network, blocks[0] as BlockData, { finality: 5, webhooks: webhookOptions, rateLimit: false });

const inPostgres = async (...statements: string[]) => {
  const {
    place: [, PGPORT, PGUSER, PGDATABASE],
    pool,
  } = await createPostgresDatabase();
  for (const statement of statements) await pool.query(statement);
  const count = async (table: string): Promise<number> => Number((await pool.query<{ count: string }>(`SELECT count(*) FROM ${table}`)).rows[0]?.count);
  return { connection: { PGHOST: "127.0.0.1", PGPORT, PGUSER, PGDATABASE }, count };
};

describe("the README's code", () => {
  const [host = "", client = "", notifier = ""] = codeOf("README.md");

  it("is three programs: a host of at most twenty-five lines, and others of at most fifteen", () => {
    expect(codeOf("README.md").map((code) => code.trimEnd().split("\n").length <= (code === host ? 25 : 15))).to.deep.equal([true, true, true]);
  });

  it("is a host that serves, and stops on a signal", async () => {
    const folder = projectFolder();
    writeFileSync(join(folder, "network.json"), JSON.stringify({ data: network }));
    const program = runCode(host, {}, { PORT: "0" }, folder);
    const port = /port: (\d+)/.exec(await program.line(/port: \d+/))?.[1];
    const reply = await fetch(`http://127.0.0.1:${String(port)}/api/blocks/last`);
    expect(((await reply.json()) as { data: { height: number } }).data.height).to.equal(1);
    program.kill("SIGTERM");
    expect(await program.ended).to.equal(0);
  });

  it("lists wallets, and what a delegate owes its voters", async () => {
    const node = await startNode();
    await node.apply(...blocks.slice(1, 120));
    const program = runCode(client, { node: node.port });
    expect(await program.ended, program.lines.join("\n")).to.equal(0);
    expect(program.lines.filter((line) => /^\w{34} \d+n$/.test(line)).length).to.be.above(100);
    expect(program.lines.at(-1)).to.match(/^\w{34} \d+\.\d{8}$/);
  });

  it("notifies of payments that are final", async () => {
    const node = await startNode();
    const program = runCode(notifier, { node: node.port, target: await freePort() }, { WEBHOOK_TOKEN: token });
    await until("the webhook", async () => ((await node.get("/webhooks", { headers: { authorization: token } })).json as { data: unknown[] }).data.length === 1);
    await node.apply(...blocks.slice(1, 120));
    await until("a payment", () => program.lines.length > 0);
    expect(program.lines[0]).to.match(/^\w{34} got \d+ by \w+ \w+$/);
  });
});

describe("the manuals' code", () => {
  it("of the client reads, lists and follows", async () => {
    const node = await startNode();
    await node.apply(...blocks.slice(1, 60));
    const program = runCode(codeOf("src/client/README.md")[0] ?? "", { node: node.port });
    await program.line(/^\d+\.\d{8}$/);
    await program.line(/^booking\.applied \w{34} (?:\d+n|null)$/);
  });

  it("of the follower fills its table", async function () {
    onlyWhere(hasPostgres, "PostgreSQL is not installed: the follower's manual is not tried");
    const { connection, count } = await inPostgres("CREATE TABLE payments (id text PRIMARY KEY, recipient text, amount numeric)");
    const node = await startNode();
    await node.apply(...blocks.slice(1, 60));
    const program = runCode(codeOf("src/follower/README.md")[0] ?? "", { node: node.port }, connection);
    const wanted = blocks.slice(0, 60).flatMap(({ transactions = [] }) => transactions).filter(({ type }) => type === 0).length;
    await until("the rows", async () => (await count("payments")) === wanted);
    program.kill("SIGTERM");
    expect(await program.ended).to.equal(0);
  });

  it("of the receiver keeps payments", async function () {
    onlyWhere(hasPostgres, "PostgreSQL is not installed: the receiver's manual is not tried");
    const { connection, count } = await inPostgres("CREATE TABLE paid (address text, id text, amount numeric, PRIMARY KEY (address, id))");
    const node = await startNode();
    const target = await freePort();
    const body = JSON.stringify({ events: ["booking.*"], from: "genesis", target: `http://127.0.0.1:${target}` });
    const made = await node.get("/webhooks", { method: "POST", headers: { authorization: token, "content-type": "application/json" }, body });
    runCode(codeOf("src/receiver/README.md")[0] ?? "", { target }, { ...connection, WEBHOOK_SECRET: (made.json as { data: { secret: string } }).data.secret });
    await until("the rows", async () => (await count("paid")) > 0);
  });

  it("of hosts serves, and lets other processes read", async () => {
    const [host = "", reader = ""] = codeOf("types/README.md");
    const folder = projectFolder();
    const nodeFile = `import { EventEmitter } from "eventemitter3";
      export const [network, events, pool] = [${JSON.stringify(network)}, new EventEmitter(), { list: () => [] }];
      export const blocks = { read: (from) => (from === 1 ? [network.genesisBlock] : []) };`;
    writeFileSync(join(folder, "my-node.mjs"), nodeFile);
    const [port, readerPort] = [await freePort(), await freePort()];
    const withPorts = (code: string): string => code.replace("my-node.js", "my-node.mjs").replace("listen(4003)", `listen(${port})`).replace("listen(4005)", `listen(${readerPort})`);
    for (const [code, its] of [[host, port], [reader, readerPort]] as const) {
      runCode(withPorts(code), {}, {}, folder);
      const url = `http://127.0.0.1:${its}/api/node/status`;
      await until(url, async () => (await fetch(url).catch(() => undefined))?.status === 200);
    }
  });
});
