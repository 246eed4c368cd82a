import { readFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { mock } from "node:test";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { serve } from "@hono/node-server";
import { expect } from "chai";
import express from "express";
import fastify from "fastify";
import { Hono } from "hono";
import Koa from "koa";
import { createReceiver, Gone, type Inbox, Later, memoryInbox, type PostgresClient, postgresInbox, type ReceiverOptions, type SqliteHandle, sqliteInbox } from "../../src/receiver/index.js";
import type { BlockData } from "../../types/events.js";
import { atEndOfTest } from "../at-end.js";
import { loadChain } from "../data/read.js";
import { type MovingNode, startMovingNode } from "../e2e/moving-node.js";
import { token, webhookOptions } from "../e2e/reader-options.js";
import { openSqlite } from "../fixtures/sqlite.js";
import { until } from "../fixtures/until.js";
import { poolOf, type Query, queryOfClient, queryOfHandle } from "../fixtures/databases.js";
import { createPostgresDatabase } from "../fixtures/lasting-databases.js";
import { hasPostgres } from "../fixtures/postgres.js";
import { onlyWhere } from "../fixtures/installed.js";

const { network, blocks } = loadChain("core3-testnet-a");
const authorized = { authorization: token, "content-type": "application/json" };
const schedule = Array.from({ length: 2_000 }, () => 20);

const startNode = (): Promise<MovingNode> => startMovingNode(network, blocks[0] as BlockData, { webhooks: { ...webhookOptions, schedule }, rateLimit: false });

interface Shown {
  id: number;
  secret: string;
  enabled: boolean;
  pausedUntil: string | null;
}

const ask = async (node: MovingNode, method: string, path: string, body?: object): Promise<Shown> => {
  const reply = await node.get(path, { method, headers: authorized, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  expect(reply.status, reply.text).to.be.oneOf([200, 201, 202]);
  return (reply.json as { data: Shown }).data;
};

const createWebhook = (node: MovingNode, target: string, rest: object = {}): Promise<Shown> =>
  ask(node, "POST", "/webhooks", { events: ["block.*", "transaction.*"], target, from: "genesis", order: "strict", ...rest });

/** A server for a listener. Its webhook's secret is known only after it has an address. */
const listen = async (listener: RequestListener): Promise<string> => {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  atEndOfTest(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

/** A receiver at a server of `node:http` that is a webhook's target, with the webhook. */
const startReceiver = async <Tx>(node: MovingNode, options: ReceiverOptions<Tx>, rest: object = {}): Promise<Shown> => {
  let receiver = createReceiver({ secrets: ["00".repeat(32)], on: {} });
  const url = await listen((request, response) => receiver.listener(request, response));
  const webhook = await createWebhook(node, url, { ...rest, enabled: false });
  receiver = createReceiver({ secrets: [webhook.secret], ...options });
  await ask(node, "PATCH", `/webhooks/${webhook.id}`, { enabled: true, from: "genesis" });
  return webhook;
};

/** The subjects that a chain's blocks tell of. */
const subjectsOf = (chain: readonly BlockData[]): string[] => chain.flatMap(({ id, transactions = [] }) => [id, ...transactions.map((one) => one.id)]).sort();

/** Handlers that keep what is on the chain. */
const createLedger = () => {
  const onChain = new Set<string>();
  const faults: string[] = [];
  const idOf = (data: unknown): string => (data as { id: string }).id;
  return {
    onChain,
    faults,
    on: Object.fromEntries(
      ["block.applied", "transaction.applied"].map((name) => [
        name,
        ({ data }: { data: unknown }) => {
          if (onChain.has(idOf(data))) faults.push(`${name} ${idOf(data)} twice`);
          onChain.add(idOf(data));
        },
      ]),
    ),
    reverted: ({ event, data }: { event: string; data: unknown }) => {
      if (!onChain.delete(idOf(data))) faults.push(`${event} ${idOf(data)} of what is not there`);
    },
  };
};

/** The first blocks of a chain, some of which are left and come back. */
const moveOn = async (node: MovingNode, upTo: number): Promise<void> => {
  await node.apply(...blocks.slice(1, upTo - 2));
  for (let left = 0; left < 4; left++) await node.revert();
  await node.apply(...blocks.slice(upTo - 6, upTo));
};

describe("a receiver", () => {
  const { now, vectors } = JSON.parse(readFileSync(new URL("vectors.json", import.meta.url), "utf8")) as {
    now: number;
    vectors: { name: string; secrets: string[]; keys: string[]; headers: Record<string, string>; body: string; status: number }[];
  };

  for (const { name, secrets, keys, headers, body, status } of vectors) {
    it(`answers ${status} to a request with a signature: ${name}`, async () => {
      mock.timers.enable({ apis: ["Date"], now: now * 1_000 });
      try {
        let handled = 0;
        const receiver = createReceiver({ secrets, keys, on: { "block.applied": () => void handled++ } });
        const reply = await receiver.fetch(new Request("http://127.0.0.1/hook", { method: "POST", headers, body }));
        expect([reply.status, handled], await reply.text()).to.deep.equal([status, status === 204 ? 1 : 0]);
      } finally {
        mock.timers.reset();
      }
    });
  }

  it("is not made of secrets or keys that are none, or without", () => {
    for (const options of [{}, { secrets: ["secret"] }, { keys: ["whpk_AAAA"] }, { secrets: [] }]) {
      expect(() => createReceiver({ ...options, on: {} })).to.throw(TypeError);
    }
  });

  it("takes POST alone, and no body above 32 MiB", async () => {
    const receiver = createReceiver({ secrets: ["00".repeat(32)], on: {} });
    const get = await receiver.fetch(new Request("http://127.0.0.1/hook"));
    expect([get.status, get.headers.get("allow")]).to.deep.equal([405, "POST"]);
    const large = new Request("http://127.0.0.1/hook", { method: "POST", body: Buffer.alloc(32 * 2 ** 20 + 1) });
    expect((await receiver.fetch(large)).status).to.equal(413);
  });

  it("hears a node's chain at every kind of server, each event once: by itself, in batches, signed with the node's key", async () => {
    const node = await startNode();
    type Receiver = ReturnType<typeof createReceiver>;
    const kinds: Record<string, (receiver: () => Receiver) => Promise<string>> = {
      "node:http": (receiver) => listen((request, response) => receiver().listener(request, response)),
      Express: (receiver) => listen(express().post("/", (request, response) => receiver().listener(request, response))),
      Koa: (receiver) => {
        const app = new Koa().use((ctx) => {
          ctx.respond = false;
          receiver().listener(ctx.req, ctx.res);
        });
        return listen((request, response) => void app.callback()(request, response));
      },
      Fastify: async (receiver) => {
        const app = fastify();
        app.removeAllContentTypeParsers();
        app.addContentTypeParser("*", (_request, _payload, done) => done(null));
        app.post("/", (request, reply) => {
          reply.hijack();
          receiver().listener(request.raw, reply.raw);
        });
        atEndOfTest(() => app.close());
        return app.listen({ port: 0, host: "127.0.0.1" });
      },
      Hono: async (receiver) => {
        const app = new Hono().post("/", (context) => receiver().fetch(context.req.raw));
        const server = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" });
        await once(server, "listening");
        atEndOfTest(() => void server.close());
        return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      },
    };
    const started = [];
    for (const [index, [name, start]] of Object.entries(kinds).entries()) {
      const ledger = createLedger();
      let receiver = createReceiver({ secrets: ["00".repeat(32)], on: {} });
      const target = await start(() => receiver);
      const rest = index % 2 === 0 ? {} : { batch: { size: 5, wait: 0 } };
      const byKey = index > 2 ? { signature: "v1a" } : {};
      const { id, secret } = await createWebhook(node, target, { ...rest, ...byKey, enabled: false });
      receiver = createReceiver({ ...ledger, ...(index > 2 ? { keys: `http://127.0.0.1:${node.port}` } : { secrets: [secret] }) });
      await ask(node, "PATCH", `/webhooks/${id}`, { enabled: true, from: "genesis" });
      started.push({ name, id, ledger });
    }
    await moveOn(node, 16);
    const expected = subjectsOf(blocks.slice(0, 16));
    for (const { name, id, ledger } of started) {
      await until(name, () => ledger.onChain.size === expected.length);
      await ask(node, "POST", `/webhooks/${id}/ping`);
      await until(`${name}: the ping`, async () => JSON.stringify((await node.get(`/webhooks/${id}/deliveries?limit=1`, { headers: authorized })).json).includes('"event":"ping","state":"delivered"'));
      expect([name, [...ledger.onChain].sort(), ledger.faults]).to.deep.equal([name, expected, []]);
    }
  });

  it("has a delivery sent again whose handler threw; those before it in its batch stay handled", async () => {
    const node = await startNode();
    const [handled, errors]: [string[], unknown[]] = [[], []];
    let fails = 3;
    const onBlock = ({ data }: { data: unknown }): void => {
      const { height } = data as { height: number };
      if (height === 4 && fails-- > 0) throw new Error("the disk is full");
      handled.push(String(height));
    };
    await startReceiver(node, { on: { "block.applied": onBlock }, onError: (error) => errors.push(error) }, { events: ["block.applied"], batch: { size: 8, wait: 0 } });
    await node.apply(...blocks.slice(1, 8));
    await until("all blocks", () => handled.length === 8);
    expect(handled).to.deep.equal(["1", "2", "3", "4", "5", "6", "7", "8"]);
    expect(errors.map(String)).to.deep.equal(Array.from({ length: 3 }, () => "Error: the disk is full"));
  });

  it("pauses its target where a handler throws Later, and disables the webhook where it throws Gone", async () => {
    const node = await startNode();
    const ending = { "block.applied": () => Promise.reject(new Gone("this service has ended")) };
    const { id } = await startReceiver(node, { on: ending }, { events: ["block.applied"] });
    await until("disabled", async () => !(await ask(node, "GET", `/webhooks/${id}`)).enabled);
    const later = { "block.applied": () => Promise.reject(new Later(600)) };
    const paused = await startReceiver(node, { on: later }, { events: ["block.applied"] });
    await until("paused", async () => (await ask(node, "GET", `/webhooks/${paused.id}`)).pausedUntil !== null);
  });

  it("says where its listener belongs if the body was read before", async () => {
    const errors: unknown[] = [];
    const receiver = createReceiver({ secrets: ["00".repeat(32)], on: {}, onError: (error) => errors.push(error) });
    const url = await listen(express().use(express.json()).post("/", (request, response) => receiver.listener(request, response)));
    const reply = await fetch(url, { method: "POST", body: "{}", headers: { "content-type": "application/json" } });
    expect(reply.status).to.equal(500);
    expect(String(errors[0])).to.include("before any body parser");
  });
});

interface InboxUnderTest {
  inbox: Inbox<unknown>;
  /** Another process's inbox at the same database. */
  other: Inbox<unknown>;
  write(tx: unknown, text: string): Promise<void>;
  rows(): Promise<string[]>;
}

const startMemory = (): InboxUnderTest => {
  const rows: string[] = [];
  const inbox = memoryInbox();
  return { inbox, other: inbox, write: (_tx, text) => Promise.resolve(void rows.push(text)), rows: () => Promise.resolve(rows) };
};

const written = (query: Query, queryOf: (tx: unknown) => Query): Pick<InboxUnderTest, "write" | "rows"> => ({
  write: async (tx, text) => void (await queryOf(tx)("INSERT INTO paid VALUES (?)", text)),
  rows: async () => (await query("SELECT text FROM paid")).map(({ text }) => String(text)),
});

const startSqlite = (): InboxUnderTest => {
  const db = openSqlite();
  db.exec("CREATE TABLE paid (text TEXT)");
  const inbox = sqliteInbox(db, { table: "handled" });
  return { inbox, other: inbox, ...written(queryOfHandle(db), (tx) => queryOfHandle(tx as SqliteHandle)) };
};

const startInPostgres = async (): Promise<InboxUnderTest> => {
  const { pool, place } = await createPostgresDatabase();
  const another = poolOf(place);
  atEndOfTest(() => another.end());
  await pool.query("CREATE TABLE paid (text text)");
  return { inbox: postgresInbox(pool), other: postgresInbox(another), ...written(queryOfClient(pool), (tx) => queryOfClient(tx as PostgresClient)) };
};

for (const [name, start] of Object.entries({ memory: startMemory, SQLite: startSqlite, PostgreSQL: startInPostgres })) {
  describe(`an inbox in ${name}`, () => {
    if (name === "PostgreSQL") onlyWhere(hasPostgres, "PostgreSQL is not installed: the inbox is not tested in it");

    it("handles each id once, also where it comes twice at once: the second waits for the first", async () => {
      const { inbox, other, write, rows } = await start();
      const order: string[] = [];
      let finish: () => void = () => undefined;
      const waiting = new Promise<void>((resolve) => (finish = resolve));
      let began: () => void = () => undefined;
      const hasBegun = new Promise<void>((resolve) => (began = resolve));
      const first = inbox.once("a", async (tx) => {
        began();
        await waiting;
        await write(tx, "a");
        order.push("handled");
      });
      await hasBegun;
      const second = other.once("a", (tx) => write(tx, "again")).then(() => void order.push("second"));
      finish();
      await Promise.all([first, second]);
      await inbox.once("a", (tx) => write(tx, "later"));
      expect([order, await rows()]).to.deep.equal([["handled", "second"], ["a"]]);
    });

    it("handles an id again whose handler failed, of which nothing is left", async () => {
      const { inbox, other, write, rows } = await start();
      const failing = async (tx: unknown): Promise<void> => {
        if (name !== "memory") await write(tx, "half");
        throw new Error("no");
      };
      const failed = inbox.once("a", failing).catch(String);
      const after = other.once("a", (tx) => write(tx, "whole"));
      expect(await failed).to.equal("Error: no");
      await after;
      expect(await rows()).to.deep.equal(["whole"]);
    });
  });
}
