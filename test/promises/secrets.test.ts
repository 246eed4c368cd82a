import { EventEmitter } from "eventemitter3";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { expect } from "chai";
import type { BlockData } from "../../types/events.js";
import type { ApiPlugin } from "../../types/plugin.js";
import { loadChain } from "../data/read.js";
import { temporaryFolder } from "../fixtures/folder.js";
import { startNode } from "../fixtures/node.js";
import { ask } from "../http/ask.js";
import { createReceiver, type Receiver } from "../webhooks/receiver.js";
import { eventually } from "../webhooks/stage.js";

const { blocks } = loadChain("core3-testnet-a");
const token = "the token that nobody may see";
const headerValue = "what the receiver alone may see";
const tip = 60;

/** Every file below a folder, decompressed where it is gzip. */
const filesIn = (folder: string): { path: string; bytes: Buffer }[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => ({ path, bytes: path.endsWith(".gz") ? gunzipSync(readFileSync(path)) : readFileSync(path) }));

describe("a webhook's secret, and the node's token", () => {
  const [dataDir, lakeDir] = [temporaryFolder(), temporaryFolder()];
  const events = new EventEmitter();
  const chain: BlockData[] = blocks.slice(0, 1);
  /** What was logged, and what is shown to the access log. */
  const lines: string[] = [];
  let plugin: ApiPlugin;
  let receiver: Receiver;
  let port: number;
  /** All that must not be seen, in every form in which it could be. */
  let hidden: string[];
  let id: number;

  const call = (method: string, path: string, body?: unknown, headers: Record<string, string> = { authorization: `Bearer ${token}` }) =>
    ask(port, `/api${path}`, { method, headers: { ...headers, ...(body === undefined ? {} : { "content-type": "application/json" }) }, ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }) });

  const seenIn = (text: string | Buffer): string[] => hidden.filter((one) => text.includes(one));

  const hide = (secret: string): void => {
    const bare = secret.replace(/^whsec_/, "");
    const bytes = Buffer.from(bare, "base64");
    hidden.push(secret, bare, encodeURIComponent(bare), bytes.toString("hex"), bytes.toString("base64url"));
  };

  before(async () => {
    receiver = await createReceiver();
    const log = (message: string): void => void lines.push(message);
    ({ plugin, port } = await startNode({
      events,
      dataDir,
      blocks: chain,
      logger: { debug: log, info: log, warn: log, error: log },
      accessLog: (entry) => void lines.push(JSON.stringify(entry)),
      options: { finality: 5, metrics: true, console: true, webhooks: { tokens: [token], allowTargets: ["127.0.0.0/8"], schedule: [10] }, lake: { dir: lakeDir, blocksPerFile: 10, snapshotEvery: 20 } },
    }));
    hidden = [token, Buffer.from(token).toString("base64")];
    const created = (await call("POST", "/webhooks", { events: ["block.*", "transaction.applied"], target: receiver.url, headers: { "x-receiver-key": headerValue } })).json as { data: { id: number; secret: string } & Record<string, unknown> };
    ({ id } = created.data);
    hide(created.data.secret);
    for (const member of Object.values(created.data)) if (typeof member === "string" && member.startsWith("whsec_")) hide(member);
    if (typeof created.data.token === "string") hide(created.data.token);
    const rotated = (await call("POST", `/webhooks/${id}/rotate`)).json as { data: { secret: string } };
    hide(rotated.data.secret);
    hidden.push(Buffer.from(rotated.data.secret.slice("whsec_".length), "base64").toString("hex"));
    // Some deliveries fail, and are retried.
    receiver.answer = ({ json }, response) => response.writeHead((json.data as { height?: number }).height === 20 ? 500 : 200).end("as it was told");
    for (const block of blocks.slice(1, tip)) {
      chain.push(block);
      events.emit("block.applied", block);
    }
    await plugin.settled();
    events.emit("block.reverted", chain.pop());
    await plugin.settled();
    await receiver.until(30);
    await eventually(() => (readdirSync(lakeDir).includes("manifest.json") && readFileSync(join(lakeDir, "manifest.json"), "utf8").includes(".mdb.gz") ? true : undefined));
  });
  after(() => receiver.close());

  it("are in the webhook's reply when it is made, and are long enough to be found again", () => {
    expect(hidden.length).to.be.greaterThan(6);
    for (const one of hidden) expect(one.length).to.be.greaterThan(20);
    const store = readFileSync(join(dataDir, "webhooks.mdb"));
    expect(seenIn(store), "the webhooks' own file has it").not.to.deep.equal([]);
  });

  it("are in no reply after that: of webhooks, their deliveries and attempts, health, metrics, console, docs, events, changes or errors", async () => {
    const list = (await call("GET", `/webhooks/${id}/deliveries?limit=100`)).json as { data: { id: number }[] };
    const gets = [
      ...["/webhooks", `/webhooks/${id}`, "/webhooks/events", "/webhooks/keys", `/webhooks/${id}/deliveries?limit=100`],
      ...list.data.slice(0, 5).map((delivery) => `/webhooks/${id}/deliveries/${delivery.id}`),
      ...["/health", "/health/ready", "/metrics", "/console", "/docs", "/openapi.json", "/node/configuration", "/node/status", "/blockchain", "/lake/manifest.json"],
      ...["/events/feed?after=genesis&limit=500", "/changes?after=genesis&limit=100", "/nowhere", `/webhooks/${id}x`, "/webhooks?limit=x", `/webhooks/999`],
    ];
    let answered = 0;
    for (const path of gets) {
      const { status, text, headers } = await call("GET", path);
      if (status === 200) answered++;
      expect({ path, seen: seenIn(text + JSON.stringify(headers)) }).to.deep.equal({ path, seen: [] });
    }
    expect(answered).to.be.greaterThan(18);
    const others: [method: string, path: string, body?: unknown][] = [
      ["PATCH", `/webhooks/${id}`, { description: "another" }],
      ["PATCH", `/webhooks/${id}`, { secret: hidden[2] }],
      ["POST", `/webhooks/${id}/ping`],
      ["POST", `/webhooks/${id}/replay`, { from: 5, to: 6 }],
      ["POST", "/webhooks", { event: "block.applied", target: "http://10.0.0.1/" }],
      ["POST", "/webhooks", "{"],
    ];
    for (const [method, path, body] of others) {
      const { text } = await call(method, path, body);
      const echoed = JSON.stringify(body ?? "");
      expect({ path, seen: seenIn(text).filter((one) => !echoed.includes(one)) }).to.deep.equal({ path, seen: [] });
    }
    const refused = await call("GET", "/webhooks", undefined, { authorization: `Bearer ${token}!` });
    expect([refused.status, seenIn(refused.text)]).to.deep.equal([401, []]);
  });

  it("are in no line of the logs, whatever has failed", async () => {
    await call("GET", `/webhooks?token=x`, undefined, { authorization: "wrong" });
    await plugin.settled();
    expect(lines.length).to.be.greaterThan(20);
    expect(seenIn(lines.join("\n"))).to.deep.equal([]);
    expect(lines.join("\n")).not.to.contain(headerValue);
  });

  it("are in no delivery but as its signature", () => {
    for (const { body, headers } of receiver.received) expect(seenIn(body + JSON.stringify(headers))).to.deep.equal([]);
    expect(receiver.received.every(({ headers }) => headers["webhook-signature"] !== undefined)).to.equal(true);
  });

  it("are in no file of the lake, its snapshots included", () => {
    const files = filesIn(lakeDir);
    expect(files.some(({ path }) => path.endsWith(".mdb.gz"))).to.equal(true);
    for (const { path, bytes } of files) expect({ path, seen: seenIn(bytes) }).to.deep.equal({ path, seen: [] });
  });

  it("do not change the digest", async () => {
    const digest = ((await call("GET", "/blockchain")).json as { data: { digest: string } }).data.digest;
    await call("POST", "/webhooks", { event: "block.applied", target: receiver.url });
    expect(((await call("GET", "/blockchain")).json as { data: { digest: string } }).data.digest).to.equal(digest);
  });
});
