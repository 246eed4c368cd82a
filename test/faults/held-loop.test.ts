/** What each request takes of the event loop at one time, in milliseconds of processor time: the dearest of every route, and what was found to hold it. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect } from "chai";
import { isLong, spread } from "../fixtures/long.js";
import { ask } from "../http/ask.js";
import { type FloodedNode, startFloodedNode } from "./flooded-node.js";

interface Parameter {
  name: string;
  in: string;
}

interface Document {
  paths: Record<string, Record<string, { parameters?: (Parameter & { $ref?: string })[]; responses: Record<string, { content?: Record<string, unknown> }> }>>;
  components: { parameters?: Record<string, Parameter> };
}

interface Question {
  method: string;
  path: string;
  body?: string | Buffer;
  headers?: Record<string, string>;
  /** What reading it is compared with: as flood-node.ts has it. */
  like?: "numbers" | "addresses";
}

const most = 25;
const transactions = isLong ? 20_000 : 3_000;

describe("the event loop", () => {
  let node: FloodedNode;
  let port: number;
  const heldNow = async (line: "held" | "memory" = "held"): Promise<number> => (await node.look(line)).held;

  /** What a request may take. Where reading its body alone, and writing it, takes most of that, which is the least that one can hold the loop for: more. Machines that others use are slow at times. */
  const limitNow = async (like: Question["like"] = "numbers"): Promise<number> => Math.max(most, ((await node.look(like)).reading ?? 0) * 2);

  before(async () => {
    node = await startFloodedNode(transactions);
    ({ port } = node.told);
  });

  it("answers every search, though another program has kept the processor from the node", async () => {
    const search = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ fee: { from: 1 }, amount: { from: 1, to: 95_000 }, type: 0 }) };
    node.child.kill("SIGSTOP");
    const answers = Array.from({ length: 12 }, (_, page) => ask(port, `/api/transactions/search?orderBy=amount:desc&page=${page + 1}`, search));
    spawnSync(process.execPath, ["-e", "for (const end = Date.now() + 500; Date.now() < end;);"]);
    node.child.kill("SIGCONT");
    expect((await Promise.all(answers)).map(({ status }) => status)).to.deep.equal(answers.map(() => 200));
  });

  /** The least of some tries, where one takes too long: what they all take is the request's own, not a collection of garbage or a compilation. */
  const heldBy = async ({ method, path, body, headers, like }: Question): Promise<{ held: number; status: number; isShort: boolean }> => {
    let [least, status, isShort] = [Infinity, 0, false];
    for (let tries = 0; tries < 6 && !isShort; tries++) {
      // The node collects all garbage for that: what other questions have left is not this one's.
      if (tries > 0) await heldNow("memory");
      ({ status } = await ask(port, `/api${path}`, { method, headers: { ...headers, ...(body === undefined ? {} : { "content-type": "application/json" }) }, ...(body === undefined ? {} : { body }) }));
      const held = await heldNow();
      least = Math.min(least, held);
      isShort = held <= most || held <= (await limitNow(like));
    }
    return { held: least, status, isShort };
  };

  const expectShort = async (questions: Record<string, Question>, statuses?: readonly number[]): Promise<void> => {
    const found: Record<string, Awaited<ReturnType<typeof heldBy>>> = {};
    await heldNow();
    for (const [name, question] of spread(Object.entries(questions), 16)) found[name] = await heldBy(question);
    if (isLong) console.log(Object.entries(found).sort(([, one], [, other]) => other.held - one.held).slice(0, 12).map(([name, { held, status }]) => `${name}: ${held.toFixed(1)} ms, ${status}`).join("\n"));
    expect(Object.entries(found).filter(([, { isShort }]) => !isShort)).to.deep.equal([]);
    if (statuses !== undefined) expect(Object.values(found).map(({ status }) => status)).to.deep.equal(statuses);
  };

  it(`is held for at most ${most} ms by the fullest page of any route, from the end, by its dearest order and at an earlier height`, async () => {
    const { paths, components } = (await ask(port, "/api/openapi.json")).json as Document;
    const questions: Record<string, Question> = {};
    const [block] = ((await ask(port, "/api/blocks?limit=1")).json as { data: { id: string; height: number; generator: { address: string } }[] }).data;
    const [wallet] = ((await ask(port, "/api/wallets?limit=1")).json as { data: { address: string }[] }).data;
    for (const [path, { get }] of Object.entries(paths)) {
      const types = Object.keys(get?.responses["200"]?.content ?? {});
      if (get === undefined || types.includes("text/event-stream")) continue;
      const parameters = (get.parameters ?? []).map((one) => (one.$ref === undefined ? one : components.parameters?.[one.$ref.split("/").at(-1) ?? ""] ?? one));
      const has = (name: string): boolean => parameters.some((one) => one.in === "query" && one.name === name);
      const filled = path.replace(/^\/api/, "").replace(/\{\w+\}/g, path.includes("/blocks/") ? String(block?.height) : path.includes("/rounds/") ? "1" : (wallet?.address ?? ""));
      const rows = path.includes("/events/feed") || path.includes("/changes") ? 1_000 : 100;
      const query = [has("limit") ? `limit=${rows}` : "", has("after") ? "after=genesis" : ""].filter((part) => part !== "");
      const questionOf = (...more: string[]): Question => ({ method: "GET", path: `${filled}?${[...query, ...more].join("&")}` });
      questions[path] = questionOf();
      if (has("page")) questions[`${path}, far away`] = questionOf("page=25");
      if (has("at")) questions[`${path}, earlier`] = questionOf("at=4");
      if (has("orderBy")) questions[`${path}, ordered`] = questionOf("orderBy=amount:asc");
    }
    expect(Object.keys(questions).length).to.be.above(60);
    await expectShort(questions);
  });

  it(`is held for at most ${most} ms by any body that a search or the pool may be sent, compressed or not`, async () => {
    const room = 16_000;
    const filled = (make: (part: string) => string, part: string): string => make(part.repeat(Math.floor(room / part.length)).replace(/,$/, ""));
    const bodies: Record<string, string> = {
      "numbers that lose digits": filled((list) => `{"addresses":[${list}]}`, "1e22,"),
      addresses: filled((list) => `{"addresses":[${list}]}`, '"AMHq2EnWv7t1HdJMuvvtSshVp5iG6Udm4f",'),
      "a text": filled((text) => `{"vendorField":"${text}"}`, "number 1"),
      "a text of wildcards": filled((text) => `{"vendorField":"${text}"}`, "%"),
      "unknown members": `{${Array.from({ length: 1_000 }, (_, index) => `"name${index}":${index}`).join(",")}}`,
      "one name again and again": filled((members) => `{${members}}`, '"id":1,'),
      depth: `{"id":${"[".repeat(room / 2)}${"]".repeat(room / 2)}}`,
      "objects in one another": `{"id":${'{"a":'.repeat(2_600)}1${"}".repeat(2_600)}}`,
      "a long number": `{"amount":{"from":${"9".repeat(room)}}}`,
      "white space": `{${" ".repeat(room)}}`,
      "lists of nothing": filled((list) => `{"addresses":[${list}]}`, "[],"),
      escapes: filled((text) => `{"id":"${text}"}`, "\\u0041"),
      ranges: `{"fee":{"from":1},"amount":{"from":2,"to":95000},"type":0}`,
    };
    const questions: Record<string, Question> = {};
    for (const [what, body] of Object.entries(bodies)) {
      for (const resource of ["transactions", "blocks", "wallets", "delegates", "locks"]) {
        const path = `/${resource}/search?limit=100`;
        if (isLong || resource === "transactions" || what === "addresses") questions[`${resource}, ${what}`] = { method: "POST", path, body };
      }
    }
    const megabyte = `{"addresses":[${"1e22,".repeat(200_000)}1]}`;
    const whole = (part: string, length: number): string => `{"transactions":[${`${part},`.repeat(Math.floor(length / (part.length + 1))).slice(0, -1)}]}`;
    questions["a megabyte in a kilobyte"] = { method: "POST", path: "/transactions/search", body: gzipSync(megabyte), headers: { "content-encoding": "gzip" } };
    questions["a megabyte"] = { method: "POST", path: "/transactions/search", body: megabyte };
    for (const [what, part] of Object.entries({ numbers: "1e22", texts: '""', nothing: "{}", transactions: JSON.stringify({ id: "a".repeat(64), amount: 1, fee: 1, asset: { x: [1, 2, 3] } }) })) {
      questions[`a megabyte for the pool, of ${what}`] = { method: "POST", path: "/transactions", body: whole(part, 2 ** 20 - 20) };
      questions[`a megabyte for the pool, of ${what}, in a kilobyte`] = { method: "POST", path: "/transactions", body: gzipSync(whole(part, 2 ** 20 - 20)), headers: { "content-encoding": "gzip" } };
    }
    questions["a megabyte for the pool, of names"] = { method: "POST", path: "/transactions", body: `{"transactions":[{${Array.from({ length: 90_000 }, (_, index) => `"${index.toString(36)}":1`).join(",")}}]}` };
    await expectShort(questions);
  });

  it(`is held for at most ${most} ms by the dry run of conditions whose patterns cost most, and by webhooks that ask for 100,000 addresses`, async () => {
    const headers = { authorization: readFileSync(join(node.folder, "webhook-token"), "utf8").trim() };
    const pattern = { key: "a", condition: "regexp", value: "[ab]*a[ab]{990}[cd]" };
    // In no order, in which a pattern that counts finds the most states.
    const mixed = Array.from({ length: 60_000 }, (_, index) => ((index * index * 7_919) % 31 < 15 ? "a" : "b")).join("");
    const dryRun = { event: "transaction.applied", match: "any", conditions: Array.from({ length: 10 }, () => pattern), payload: { a: mixed } };
    const addresses = Array.from({ length: 100_000 }, (_, index) => `A${String(index).padStart(33, "0")}`);
    const webhook = { event: "transaction.applied", target: "https://receiver.example/", conditions: [{ key: "addresses.*", condition: "in", value: addresses }] };
    const send = (method: string, path: string, value: unknown): Question => ({ method, path, headers, body: JSON.stringify(value), like: "addresses" });
    const questions: Record<string, Question> = {
      "a dry run": send("POST", "/webhooks/dry-run", dryRun),
      "a webhook": send("POST", "/webhooks", webhook),
      "the webhook as it is": { method: "GET", path: "/webhooks/1", headers, like: "addresses" as const },
      "a change of it": send("PATCH", "/webhooks/1", { conditions: [{ key: "addresses.*", condition: "in", value: addresses.toReversed() }] }),
      "another in its place": send("PUT", "/webhooks/1", webhook),
      "what metrics say of it": { method: "GET", path: "/metrics" },
    };
    await expectShort(questions, [200, 201, 200, 200, 200, 200]);
  });
});
