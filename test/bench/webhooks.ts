/**
 * Figures of the webhook engine: `node --import tsx test/bench/webhooks.ts`, about half a minute. Each stands beside a figure of the
 * same run that it can be held against.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { EventEmitter } from "eventemitter3";
import { Agent } from "undici";
import type { Condition, WebhookOptions } from "../../types/webhooks.js";
import { openEventJournal } from "../../src/store/webhooks/event-journal.js";
import { openWebhookStore } from "../../src/store/webhooks/webhook-store.js";
import { createWebhookEngine, type WebhookEngine } from "../../src/webhooks/engine.js";
import { examples } from "../../src/webhooks/event-examples.js";
import { createMatcher, type Matchable } from "../../src/webhooks/matcher.js";
import { payloadJson } from "../../src/webhooks/payload.js";

const random = (seed: number) => () => (seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648) / 2_147_483_648;
const line = (what: string, figure: string, against = ""): void => console.log(`${what.padEnd(62)} ${figure.padStart(18)}  ${against}`);
const rate = (count: number, milliseconds: number): string => `${Math.round((count / milliseconds) * 1_000).toLocaleString("en")}/s`;

interface Bench {
  events: EventEmitter;
  engine: WebhookEngine;
  close(): Promise<void>;
}

const open = async (options: WebhookOptions = {}): Promise<Bench> => {
  const dataDir = await mkdtemp(join(tmpdir(), "portico-bench-"));
  const environment = openWebhookStore(dataDir);
  const events = new EventEmitter();
  const silent = (): void => undefined;
  const engine = createWebhookEngine(
    { allowTargets: ["127.0.0.1"], ...options },
    {
      store: environment.store,
      openJournal: () => openEventJournal(dataDir),
      events,
      clock: { now: () => Date.now() },
      logger: { debug: silent, info: silent, warn: silent, error: console.error },
      keepsChain: false,
    },
  );
  engine.start();
  const close = async (): Promise<void> => {
    await engine.stop(0);
    await environment.close();
    await rm(dataDir, { recursive: true });
  };
  return { events, engine, close };
};

/** A sink in a thread of its own: counts what it gets, answers 200 at once, or hangs. */
interface Sink {
  port: number;
  /** Resolves when it has got so many since it was asked last. */
  until(count: number): Promise<void>;
  close(): Promise<void>;
}

const sinkCode = `
  const { createServer } = require("node:http");
  const { parentPort, workerData } = require("node:worker_threads");
  let got = 0, wanted = Infinity;
  const look = () => { if (got >= wanted) { got -= wanted; wanted = Infinity; parentPort.postMessage("enough"); } };
  const server = createServer((request, response) => {
    request.resume().on("end", () => { if (workerData.hangs) return; response.end(); got++; look(); });
  }).listen(0, "127.0.0.1", () => parentPort.postMessage(server.address().port));
  parentPort.on("message", (count) => { wanted = count; look(); });
`;

const openSink = async (hangs = false): Promise<Sink> => {
  const worker = new Worker(sinkCode, { eval: true, workerData: { hangs } });
  const message = (): Promise<unknown> => new Promise((resolve) => worker.once("message", resolve));
  const port = (await message()) as number;
  return {
    port,
    until: async (count) => {
      const enough = message();
      worker.postMessage(count);
      await enough;
    },
    close: async () => void (await worker.terminate()),
  };
};

const benchMatching = (): void => {
  const chance = random(1);
  const address = (): string => `A${Math.floor(chance() * 5_000)}`;
  const conditionsOf = (): Condition[] => [
    { key: "recipientId", condition: "eq", value: address() },
    { key: "senderPublicKey", condition: "eq", value: address() },
    { key: "amount", condition: "gt", value: String(BigInt(Math.floor(chance() * 1e15)) * 100_000n) },
  ];
  const scanned = (): Condition[] => [
    { key: "vendorField", condition: "regexp", value: `^order ${Math.floor(chance() * 1e6)}$` },
    { key: "amount", condition: "between", value: { min: "99999999999999999999", max: `1${"0".repeat(21 + Math.floor(chance() * 3))}` } },
    { key: "asset.votes", condition: "contains", value: address() },
  ];
  for (const [what, make] of [
    ["two by eq, one by gt", conditionsOf],
    ["regexp, between, contains: nothing an index helps", scanned],
  ] as const) {
    const webhooks: Matchable[] = Array.from({ length: 1_000 }, (_unused, id) => ({ id, event: "transaction.applied", enabled: true, match: "any", conditions: make() }));
    const matcher = createMatcher(webhooks);
    const payloads = Array.from({ length: 500 }, () => payloadJson({ ...examples.transfer, recipientId: address(), amount: String(Math.floor(chance() * 1e9)) }));
    let [count, matched] = [0, 0];
    const begun = performance.now();
    while (performance.now() - begun < 2_000) {
      for (const json of payloads) matched += matcher.match("transaction.applied", JSON.parse(json)).length;
      count += payloads.length;
    }
    const spent = performance.now() - begun;
    line(`matching against 1,000 webhooks of three conditions (${what})`, rate(count, spent), `${(matched / count).toFixed(1)} matched each; 3,000 conditions each`);
  }
};

const benchDelivery = async (): Promise<void> => {
  const sink = await openSink();
  const total = 10_000;
  const body = `{"timestamp":1,"data":${payloadJson(examples.transfer)},"event":"transaction.forged"}`;
  const url = `http://127.0.0.1:${sink.port}`;

  const bare = async (atOnce: number): Promise<number> => {
    const agent = new Agent({ connections: atOnce });
    let left = total;
    const post = async (): Promise<void> => {
      while (left-- > 0) {
        const answer = await agent.request({ origin: url, path: "/", method: "POST", headers: { "content-type": "application/json" }, body });
        await answer.body.dump();
      }
    };
    const begun = performance.now();
    await Promise.all([...Array.from({ length: atOnce }, post), sink.until(total)]);
    const spent = performance.now() - begun;
    await agent.close();
    return spent;
  };

  const delivering = async (webhooks: number, options: WebhookOptions): Promise<number> => {
    const { events, engine, close } = await open(options);
    for (let index = 0; index < webhooks; index++) engine.create({ event: "transaction.forged", target: `${url}/${index}` });
    const begun = performance.now();
    for (let count = 0; count < total / webhooks; count++) events.emit("transaction.forged", examples.transfer);
    await sink.until(total);
    const spent = performance.now() - begun;
    await close();
    return spent;
  };

  for (const [what, atOnce, webhooks] of [
    ["in order, to one target", 1, 1],
    ["to eight targets at once", 8, 8],
  ] as const) {
    await bare(atOnce);
    const alone = await bare(atOnce);
    const durable = await delivering(webhooks, { concurrencyPerTarget: atOnce });
    line(`deliveries with durability on, ${what}`, rate(total, durable), `the same client posting without Portico: ${rate(total, alone)}, ratio ${(alone / durable).toFixed(2)}`);
  }
  await sink.close();
};

const benchIsolation = async (): Promise<void> => {
  const [sink, ...hanging] = await Promise.all([openSink(), openSink(true), openSink(true)]);
  const measure = async (others: number): Promise<number[]> => {
    const { events, engine, close } = await open();
    engine.create({ event: "peer.added", target: `http://127.0.0.1:${sink.port}/` });
    events.emit("peer.added", {});
    await sink.until(1);
    // Names of their own, so that each is a host of its own.
    for (let index = 0; index < others; index++) {
      engine.create({ event: "peer.added", target: `http://h${index}.localhost:${hanging[index % hanging.length]?.port ?? 0}/` });
    }
    const delays: number[] = [];
    for (let count = 0; count < 300; count++) {
      const begun = performance.now();
      events.emit("peer.added", {});
      await sink.until(1);
      delays.push(performance.now() - begun);
    }
    await close();
    return delays.sort((a, b) => a - b);
  };
  const at = (delays: number[], part: number): string => `${(delays[Math.floor(delays.length * part)] ?? 0).toFixed(1)} ms`;
  const alone = await measure(0);
  const beside = await measure(100);
  line("delay of a healthy target while 100 others hang, median", at(beside, 0.5), `with no others: ${at(alone, 0.5)}`);
  line("the same, 99th percentile", at(beside, 0.99), `with no others: ${at(alone, 0.99)}`);
  await Promise.all([sink, ...hanging].map((one) => one.close()));
};

benchMatching();
await benchDelivery();
await benchIsolation();
