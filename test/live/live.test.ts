import { type AddressInfo, connect } from "node:net";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { EventEmitter } from "eventemitter3";
import { EventSource } from "eventsource";
import { Client, request } from "undici";
import { createApiPlugin } from "../../src/plugin/plugin.js";
import type { BlockData } from "../../types/events.js";
import type { AccessLogEntry } from "../../types/node-context.js";
import type { ApiPlugin } from "../../types/plugin.js";
import { copyOfStored } from "../fixtures/stored-chain.js";
import { silentLogger } from "../silent.js";
import { at, branch, chain } from "../store/branches.js";
import { temporaryFolder } from "../fixtures/folder.js";

interface Event {
  id: string;
  event: string;
  timestamp: number;
  data: unknown;
  cursor: string;
  block: { height: number; id: string } | null;
}

interface Page {
  data: Event[];
  meta: { cursor: string; tip: string; more: boolean };
}

const start = 40;
const cursorOf = ({ height, id }: Pick<BlockData, "height" | "id">): string => `${height}-${id}`;

/** A host that applies and reverts blocks of a real chain, and a node that follows it. */
class Host {
  readonly events = new EventEmitter();
  readonly blocks = chain.blocks.slice(0, start);
  readonly dataDir = temporaryFolder();
  /** Emits each request by its route and method when it has been answered. */
  readonly answers = new EventEmitter();
  now = 1_700_000_000_000;
  plugin!: ApiPlugin;
  origin!: string;

  async begin(options: object = {}): Promise<void> {
    this.plugin = createApiPlugin({
      network: chain.network,
      events: this.events,
      dataDir: this.dataDir,
      blocks: { read: (from, limit) => this.blocks.slice(from - 1, from - 1 + limit) },
      logger: silentLogger,
      clock: { now: () => this.now },
      accessLog: (entry) => void this.answers.emit(`${entry.route} ${entry.method}`, entry),
      options: { rateLimit: false, webhooks: false, ...options },
    });
    const server = await this.plugin.listen(0);
    this.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  async apply(block: BlockData): Promise<void> {
    this.blocks.push(block);
    this.events.emit("block.applied", block);
    await this.plugin.settled();
  }

  async revert(): Promise<void> {
    const block = this.blocks.pop();
    this.events.emit("block.reverted", block);
    await this.plugin.settled();
  }

  async get(path: string): Promise<{ status: number; body: Page & Record<string, unknown>; text: string }> {
    const { statusCode, body } = await request(`${this.origin}/api${path}`);
    const text = await body.text();
    return { status: statusCode, text, body: (text.startsWith('{"kind') ? undefined : JSON.parse(text)) as Page & Record<string, unknown> };
  }

  async end(): Promise<void> {
    await this.plugin.stop();
  }
}

/** Collects what an EventSource gets. */
class Collector {
  readonly events: Event[] = [];
  readonly ids: string[] = [];
  readonly source: EventSource;
  private waiting: (() => void)[] = [];

  constructor(url: string, names: readonly string[]) {
    this.source = new EventSource(url);
    for (const name of names) {
      this.source.addEventListener(name, (message) => {
        this.events.push(JSON.parse(message.data as string) as Event);
        this.ids.push(message.lastEventId);
        this.waiting.splice(0).forEach((wake) => wake());
      });
    }
  }

  async opened(): Promise<void> {
    if (this.source.readyState === 1) return;
    await new Promise<void>((resolve) => this.source.addEventListener("open", () => resolve(), { once: true }));
  }

  async has(count: number): Promise<void> {
    while (this.events.length < count) await new Promise<void>((resolve) => this.waiting.push(resolve));
  }
}

describe("The event stream, the feed and the changes", () => {
  let host: Host;

  beforeEach(async () => {
    host = new Host();
    await copyOfStored("core3-testnet-a", host.dataDir, start);
    await host.begin();
  });
  afterEach(() => host.end());

  it("tell an EventSource of blocks, of a fork, and of the host's events, in order", async () => {
    const collector = new Collector(`${host.origin}/api/events?event=block.*,peer.added`, ["block.applied", "block.reverted", "peer.added"]);
    await collector.opened();
    await host.apply(at(start + 1));
    await collector.has(1);
    host.events.emit("peer.added", { ip: "10.0.0.1" });
    await host.plugin.settled();
    const [other] = branch(start, start + 1);
    await host.revert();
    await host.apply(other!);
    await collector.has(4);
    collector.source.close();
    expect(collector.events.map(({ event, block }) => [event, block?.id ?? null])).to.deep.equal([
      ["block.applied", at(start + 1).id],
      ["peer.added", null],
      ["block.reverted", at(start + 1).id],
      ["block.applied", other!.id],
    ]);
    expect(collector.events[1]?.data).to.deep.equal({ ip: "10.0.0.1" });
    expect(collector.events.map(({ timestamp }) => timestamp)).to.deep.equal([host.now, host.now, host.now, host.now]);
    // The identifier of each message is the cursor after its group.
    expect(collector.ids).to.deep.equal(collector.events.map(({ cursor }) => cursor));
    expect(collector.ids[3]).to.match(new RegExp(`^${cursorOf(other!)}~[0-9a-f]{8}\\.1$`));
  });

  it("go on where Last-Event-ID says, through a restart of the node", async () => {
    await host.apply(at(start + 1));
    await host.plugin.stop();
    await host.begin();
    await host.apply(at(start + 2));
    const client = new Client(host.origin);
    const { body, headers, statusCode } = await client.request({ path: "/api/events?event=block.applied&after=tip", method: "GET", headers: { "last-event-id": cursorOf(at(start)) } });
    expect(statusCode).to.equal(200);
    expect(headers["content-type"]).to.match(/^text\/event-stream/);
    expect(headers["content-encoding"]).to.equal(undefined);
    let text = "";
    for await (const chunk of body) {
      text += String(chunk);
      if (text.includes(`id: ${cursorOf(at(start + 2))}\n\n`)) break;
    }
    await client.destroy();
    const applied = [...text.matchAll(/^event: block\.applied$/gm)];
    expect(applied).to.have.length(2);
    expect(text).to.contain(`id: ${cursorOf(at(start + 1))}\n\n`);
  });

  it("page through the chain by the feed, whole groups at a time", async () => {
    const seen: Event[] = [];
    let cursor = "genesis";
    for (let more = true; more; ) {
      const { body } = await host.get(`/events/feed?after=${cursor}&limit=20`);
      seen.push(...body.data);
      cursor = body.meta.cursor;
      more = body.meta.more;
      expect(body.meta.tip).to.equal(cursorOf(at(start)));
    }
    expect(cursor).to.equal(cursorOf(at(start)));
    expect(seen.filter(({ event }) => event === "block.applied").map(({ block }) => block?.height)).to.deep.equal(Array.from({ length: start }, (_, i) => i + 1));
    const transactions = chain.blocks.slice(0, start).flatMap(({ transactions: list = [] }) => list.map(({ id }) => id));
    expect(seen.filter(({ event }) => event === "transaction.applied").map(({ data }) => (data as { id: string }).id)).to.deep.equal(transactions);
    expect(new Set(seen.map(({ id }) => id)).size).to.equal(seen.length);
    // Within a group, the cursor is that before it.
    const first = seen.filter(({ block }) => block?.height === 1);
    expect(first.slice(0, -1).every((event) => event.cursor === "genesis")).to.equal(true);
    expect(first.at(-1)?.cursor).to.equal(cursorOf(at(1)));
    expect(first.slice(-2).map(({ event }) => event)).to.deep.equal(["round.applied", "round.created"]);
    const round = await host.get("/rounds/1/delegates");
    const rows = round.body.data as unknown as { votes: number }[];
    // Amounts are text in events.
    expect(first.at(-1)?.data).to.deep.equal(rows.map((row) => ({ ...row, votes: String(row.votes) })));
    expect(first.at(-2)?.data).to.equal(null);
  });

  it("wait for events, and keep confirmations", async () => {
    const waiting = host.get("/events/feed?event=block.*&wait=30");
    const behind = await host.get(`/events/feed?event=block.applied&after=${start - 3}&confirmations=2`);
    expect(behind.body.data.map(({ block }) => block?.height)).to.deep.equal([start - 2]);
    expect(behind.body.meta.tip).to.equal(cursorOf(at(start - 2)));
    const final = await host.get("/events/feed?event=block.applied&after=genesis&confirmations=final");
    expect(final.body.data.map(({ block }) => block?.height)).to.deep.equal([1]);
    await host.apply(at(start + 1));
    expect((await waiting).body.data.map(({ block }) => block?.height)).to.deep.equal([start + 1]);
  });

  it("are answered with the height of when they are, not of when they were asked", async () => {
    const after = cursorOf(at(start));
    const feeds = [{ confirmations: 0 }, { confirmations: 1 }].flatMap(({ confirmations }) => [
      request(`${host.origin}/api/events/feed?event=block.*&wait=30&after=${confirmations === 0 ? after : cursorOf(at(start - 1))}&confirmations=${confirmations}`),
      request(`${host.origin}/api/events/feed`, { method: "POST", body: JSON.stringify({ event: "block.*", wait: 30, after: confirmations === 0 ? after : cursorOf(at(start - 1)), confirmations }) }),
    ]);
    // Answered once the others wait.
    expect((await request(`${host.origin}/api/events/feed`)).headers["x-block-height"]).to.equal(String(start));
    await host.apply(at(start + 1));
    const answers = await Promise.all(feeds.map(async (reply) => ({ height: (await reply).headers["x-block-height"], tip: ((await (await reply).body.json()) as Page).meta.tip })));
    const height = String(start + 1);
    expect(answers).to.deep.equal([...[1, 2].map(() => ({ height, tip: cursorOf(at(start + 1)) })), ...[1, 2].map(() => ({ height, tip: after }))]);
  });

  it("send large events while they write them, with the same text as in small pages", async () => {
    const sizes = [50_000, 3, 70_000];
    for (let number = 0; number < 60; number++) {
      host.events.emit("peer.added", { id: `peer ${number}`, odd: [-0.5, 1e21, "\u2028", '"', "\0", 2n ** 70n], text: "é".repeat(sizes[number % sizes.length] ?? 0) });
    }
    await host.plugin.settled();
    const pagesOf = async (limit: number) => {
      const pages: { text: string; isChunked: boolean; isLarge: boolean }[] = [];
      for (let [cursor, more] = [String(start), true]; more; ) {
        const { headers, body } = await request(`${host.origin}/api/events/feed?after=${cursor}&event=peer.added&limit=${limit}`);
        const text = await body.text();
        pages.push({ text, isChunked: headers["transfer-encoding"] === "chunked", isLarge: text.length >= 524_288 });
        [cursor, more] = [(JSON.parse(text) as Page).meta.cursor, (JSON.parse(text) as Page).meta.more];
      }
      return pages;
    };
    const rowsIn = (pages: readonly { text: string }[]): string => pages.map(({ text }) => text.slice('{"data":['.length, text.lastIndexOf('],"meta"'))).filter((rows) => rows !== "").join(",");
    const [small, large] = [await pagesOf(3), await pagesOf(1_000)];
    expect(rowsIn(large) === rowsIn(small)).to.equal(true);
    expect((JSON.parse(`[${rowsIn(large)}]`) as Event[]).map(({ data }) => (data as { id: string }).id)).to.deep.equal(Array.from({ length: 60 }, (_, number) => `peer ${number}`));
    expect([...small, ...large].filter(({ isChunked, isLarge }) => isChunked !== isLarge)).to.deep.equal([]);
    expect([small.some(({ isLarge }) => isLarge), large.some(({ isLarge }) => isLarge)]).to.deep.equal([false, true]);
  });

  it("take `limit` and `wait` up to their bounds, and say which it is beyond them", async () => {
    const refusedBy = async (path: string, body?: object): Promise<unknown[]> => {
      const reply = await request(`${host.origin}/api${path}`, body === undefined ? {} : { method: "POST", body: JSON.stringify(body) });
      const { message, code, validation } = (await reply.body.json()) as { message: string; code: string; validation?: { keys: string[] } };
      return [reply.statusCode, code, validation?.keys, message];
    };
    const bounds = [
      { member: "limit", wrong: [0, -1], rule: ">= 1", paths: ["/events/feed", "/changes"] },
      { member: "limit", wrong: [1_001, 4_294_967_297], rule: "<= 1000", paths: ["/events/feed"] },
      { member: "wait", wrong: [-1], rule: ">= 0", paths: ["/events/feed"] },
      { member: "wait", wrong: [61, 60_000], rule: "<= 60", paths: ["/events/feed"] },
      { member: "limit", wrong: [1.5], rule: "integer", paths: ["/events/feed", "/changes"] },
      { member: "wait", wrong: [0.5], rule: "integer", paths: ["/events/feed"] },
    ];
    for (const { member, wrong, rule, paths } of bounds) {
      const expected = [400, "BAD_REQUEST", [member], `"${member}" must be ${rule}`];
      for (const value of wrong) {
        for (const path of paths) expect(await refusedBy(`${path}?${member}=${value}`), `${path} ${value}`).to.deep.equal(expected);
        if (paths.includes("/events/feed")) expect(await refusedBy("/events/feed", { [member]: value }), `POST ${value}`).to.deep.equal(expected);
      }
    }
    expect(await refusedBy("/changes?wait=1")).to.deep.equal([400, "BAD_REQUEST", ["wait"], '"wait" is not allowed; allowed: after, limit, follow, times']);
    // At the bounds. It waits for no time where there are events already.
    const [{ body: one }, { body: most }] = [await host.get("/events/feed?after=genesis&limit=1&wait=60"), await host.get("/events/feed?after=genesis&limit=1000&wait=60")];
    expect(one.data.map(({ block }) => block?.height), "the group of the first event, whole").to.deep.equal(one.data.map(() => 1));
    expect([one.data.length > 1, one.meta.cursor, one.meta.more]).to.deep.equal([true, cursorOf(at(1)), true]);
    expect(most.data.slice(0, one.data.length)).to.deep.equal(one.data);
    expect((await host.get("/events/feed?wait=0")).body).to.deep.include({ data: [] });
    const lines = async (limit: number): Promise<number> => (await host.get(`/changes?after=genesis&limit=${limit}`)).text.trimEnd().split("\n").length;
    expect([await lines(1), await lines(start), await lines(Number.MAX_SAFE_INTEGER)]).to.deep.equal([1, start, start]);
  });

  it("take 100,000 values in a condition, and not one more", async () => {
    const { body } = await host.get("/events/feed?after=genesis&event=transaction.applied&limit=1");
    const { id } = body.data[0]!.data as { id: string };
    const ask = async (value: string[]) => (await request(`${host.origin}/api/events/feed`, { method: "POST", body: JSON.stringify({ after: "genesis", conditions: [{ key: "id", condition: "in", value }] }) })).body.json();
    const values = [...Array.from({ length: 99_999 }, (_, index) => `none ${index}`), id];
    expect(((await ask(values)) as Page).data.map(({ data }) => (data as { id: string }).id)).to.deep.equal([id]);
    expect(await ask([...values, "one more"])).to.deep.include({ statusCode: 400, message: '"conditions.0.value" must be a list of at most 100000 numbers and strings' });
  });

  it("are no part of the first generation, where their paths are unknown", async () => {
    const unknown = { success: false, statusCode: 404, error: "Not Found", message: "Not Found" };
    for (const path of ["/events?after=genesis", "/events/feed?after=genesis", "/changes?after=genesis"]) {
      const [byPath, byHeader] = [await request(`${host.origin}/api/v1${path}`), await request(`${host.origin}/api${path}`, { headers: { "api-version": "1" } })];
      for (const reply of [byPath, byHeader]) expect([reply.statusCode, await reply.body.json()], path).to.deep.equal([404, unknown]);
    }
    // What is no GET there is no better known.
    const posted = await request(`${host.origin}/api/v1/events/feed`, { method: "POST", body: "{}" });
    expect([posted.statusCode, await posted.body.json()]).to.deep.equal([404, unknown]);
  });

  it("pick events by conditions", async () => {
    const all = await host.get("/events/feed?after=genesis&event=transaction.applied&limit=1000");
    const { id } = all.body.data[3]!.data as { id: string };
    const conditions = encodeURIComponent(JSON.stringify([{ key: "id", condition: "eq", value: id }]));
    const { body } = await host.get(`/events/feed?after=genesis&event=transaction.*&conditions=${conditions}`);
    expect(body.data.map(({ data }) => (data as { id: string }).id)).to.deep.equal([id]);
    const posted = await request(`${host.origin}/api/events/feed`, { method: "POST", body: JSON.stringify({ after: "genesis", event: ["transaction.applied"], conditions: [{ key: "id", condition: "eq", value: id }], limit: 5 }) });
    expect(((await posted.body.json()) as Page).data).to.deep.equal(body.data);
  });

  it("give whole blocks exactly as chain files have them", async () => {
    const { text } = await host.get(`/changes?after=${start - 20}`);
    const lines = text.trimEnd().split("\n");
    expect(lines).to.have.length(20);
    for (const [i, line] of lines.entries()) {
      const block = at(start - 19 + i);
      const { digest, ...change } = JSON.parse(line) as { digest: string };
      expect(change).to.deep.equal({ kind: "applied", block, cursor: cursorOf(block) });
      expect(digest).to.match(/^[0-9a-f]{64}$/);
    }
    expect((await host.get(`/changes?after=${start - 20}&limit=2`)).text.trimEnd().split("\n")).to.deep.equal(lines.slice(0, 2));
  });

  it("name a recipient only where the transaction does, so that a vote is no payment to its sender", async () => {
    const { body } = await host.get("/events/feed?after=1&event=transaction.applied&limit=1000");
    const named = new Map(chain.blocks.flatMap(({ transactions = [] }) => transactions.map(({ id, recipientId }) => [id, recipientId])));
    const told = body.data.map(({ data }) => data as { id: string; type: number; recipientId?: string });
    expect(told.filter(({ type }) => type === 3)).to.not.have.length(0);
    for (const { id, recipientId } of told) expect(recipientId, id).to.equal(named.get(id));
  });

  it("tell of a fork that a reader has not seen, and refuse a cursor that nobody knows", async () => {
    await host.apply(at(start + 1));
    await host.apply(at(start + 2));
    await host.revert();
    await host.revert();
    const [other] = branch(start, start + 1);
    await host.apply(other!);
    const { text } = await host.get(`/changes?after=${cursorOf(at(start + 2))}`);
    const told = text.trimEnd().split("\n").map((line) => JSON.parse(line) as { kind: string; block: { id: string }; cursor: string });
    expect(told.map(({ kind, block, cursor }) => [kind, block.id, cursor])).to.deep.equal([
      ["reverted", at(start + 2).id, cursorOf(at(start + 1))],
      ["reverted", at(start + 1).id, cursorOf(at(start))],
      ["applied", other!.id, cursorOf(other!)],
    ]);
    const gone = await host.get("/events/feed?after=12-1");
    expect(gone.status).to.equal(410);
    expect(gone.body).to.deep.include({ statusCode: 410, error: "Gone", code: "CURSOR_UNKNOWN", oldest: { height: 1, id: at(1).id }, tip: { height: start + 1, id: other!.id } });
    expect((await host.get(`/events/feed?after=12-1,${cursorOf(at(start))}&event=block.*`)).body.data).to.have.length(1);
    const many = Array.from({ length: 33 }, () => cursorOf(at(start))).join();
    for (const wrong of ["9999", "x", "", "12-", many]) expect((await host.get(`/events/feed?after=${wrong}`)).status, wrong).to.equal(400);
    expect((await host.get("/events?event=nothing.at.all")).status).to.equal(400);
  });

  it("hold no more long conditions at a time than 64 Mi characters, however many requests wait; short ones are answered", async () => {
    const [tip, next] = [cursorOf(at(start)), at(start + 1)];
    /** Half of the characters that a request's lists may have. */
    const long = Array.from({ length: 40 }, (_, index) => `${index}`.padStart(100_000, "x"));
    const ask = async (more: object): Promise<{ status: number; after: unknown; page: Page & { code?: string; message?: string } }> => {
      const reply = await request(`${host.origin}/api/events/feed`, { method: "POST", body: JSON.stringify({ event: ["block.applied"], conditions: [{ key: "id", condition: "in", value: [...long, next.id] }], ...more }) });
      return { status: reply.statusCode, after: reply.headers["retry-after"], page: (await reply.body.json()) as Page };
    };
    const answers: Awaited<ReturnType<typeof ask>>[] = [];
    const all: Promise<unknown>[] = [];
    const refused = () => answers.find(({ page }) => page.code === "STREAMS_FULL");
    while (refused() === undefined) {
      all.push(ask({ after: tip, wait: 60 }).then((answer) => answers.push(answer)));
      await ask({ conditions: [] });
    }
    expect([refused()?.status, refused()?.after, refused()?.page.message]).to.deep.equal([503, "10", "Too many requests with long conditions are running."]);
    expect((await ask({ conditions: [{ key: "id", condition: "eq", value: "none" }] })).status).to.equal(200);
    // What is on its way yet is refused, too.
    while (answers.length < all.length - 16) await ask({ conditions: [] });
    await host.apply(next);
    await Promise.all(all);
    const taken = answers.filter(({ status }) => status === 200);
    expect(taken.map(({ page }) => page.data.length)).to.deep.equal(Array.from({ length: 16 }, () => 1));
    expect((await ask({ after: "genesis" })).page.data).to.have.length(1);
  });

  it("end a request that waits when its client leaves; one that only ends its side is answered", async () => {
    const port = Number(new URL(host.origin).port);
    const body = JSON.stringify({ event: ["block.applied"], wait: 60, conditions: [{ key: "id", condition: "in", value: ["none", "nothing"] }] });
    const socket = connect(port, "127.0.0.1").on("error", () => undefined);
    socket.write(`POST /api/events/feed HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    // One that came after it is answered once it waits.
    expect((await host.get("/events/feed")).body.data).to.deep.equal([]);
    const answered = new Promise<AccessLogEntry>((resolve) => host.answers.once("/events/feed POST", resolve));
    socket.destroy();
    expect((await answered).status).to.equal(200);
    const half = connect(port, "127.0.0.1");
    half.end("GET /api/events/feed?wait=60 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    expect(await text(half)).to.match(/^HTTP\/1.1 200 [^]*"more":false/);
  });

  it("are refused where as many streams are open as the node allows", async () => {
    await host.plugin.stop();
    await host.begin({ maxStreams: 1 });
    const client = new Client(host.origin);
    const open = await client.request({ path: "/api/events", method: "GET" });
    expect(open.statusCode).to.equal(200);
    const refused = await host.get("/events");
    expect([refused.status, refused.body.code]).to.deep.equal([503, "STREAMS_FULL"]);
    const head = await request(`${host.origin}/api/events`, { method: "HEAD" });
    expect([head.statusCode, head.headers["retry-after"], await head.body.text()]).to.deep.equal([503, "10", ""]);
    await client.destroy();
  });
});
