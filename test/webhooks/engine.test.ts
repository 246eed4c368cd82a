import { expect } from "chai";
import { PorticoError } from "../../src/errors.js";
import { Webhook as Verifier } from "standardwebhooks";
import type { WebhookStore } from "../../src/webhooks/rows/store.js";
import { createChainRules } from "../../src/chain/rules.js";
import { createProblems } from "../../src/operate/problems.js";
import { createWebhookEngine } from "../../src/webhooks/engine.js";
import type { After } from "../../src/async/clock.js";
import { loadChain } from "../data/read.js";
import { createReceiver, type Receiver } from "./receiver.js";
import { createScriptedChain } from "./scripted-chain.js";
import { createLogger, createStage, type Stage } from "./stage.js";

const minute = 60_000;
const hour = 60 * minute;

describe("the webhook engine", () => {
  let receiver: Receiver;
  let stage: Stage;

  beforeEach(async () => {
    receiver = await createReceiver();
    stage = await createStage();
  });

  it("sends an event to a target, signed so that the official library accepts it", async () => {
    const { id, token, secret } = stage.engine.create({ event: "block.forged", target: `${receiver.url}/hook?key=1` });
    const happened = stage.clock.now();
    stage.events.emit("block.forged", { height: 7, totalAmount: 12_500_000_000_000_000_001n });
    const [request] = await receiver.until(1);

    expect(request?.path).to.equal("/hook?key=1");
    const [node = ""] = (JSON.parse(request?.body ?? "{}") as { id: string }).id.split(".");
    expect(request?.body).to.equal(
      `{"timestamp":${happened},"data":{"height":7,"totalAmount":"12500000000000000001"},"event":"block.forged","id":"${node}.1","cursor":"~${node}.1","block":null}`,
    );
    expect(request?.headers["content-type"]).to.equal("application/json");
    expect(request?.headers["authorization"]).to.equal(token.slice(0, 32));
    // As deployed receivers do: they kept the last 32 characters.
    expect(`${request?.headers["authorization"] ?? ""}${token.slice(32)}`).to.equal(token);
    expect(token).to.match(/^[0-9a-f]{64}$/);

    const delivery = await stage.reaches(id, 1, "delivered");
    expect(request?.headers["webhook-id"]).to.equal(delivery.messageId);
    expect(delivery.messageId).to.match(/^msg_1_[0-9a-f]{32}$/);
    expect(delivery.attempts).to.have.length(1);
    expect(delivery.attempts[0]).to.include({ at: happened, status: 200, stage: null, error: null });
    expect(request?.headers["webhook-timestamp"]).to.equal(String(Math.floor(happened / 1000)));
    const seconds = Number(request?.headers["webhook-timestamp"]);
    const signed = new Verifier(secret).sign(delivery.messageId, new Date(seconds * 1000), request?.body ?? "");
    expect(request?.headers["webhook-signature"]).to.equal(signed);
  });

  it("retries on its schedule, then keeps the delivery as dead, and delivers it on request", async () => {
    receiver.answer = (_request, response) => response.writeHead(500).end("out of order");
    const { id } = stage.engine.create({ event: "peer.added", target: receiver.url });
    stage.events.emit("peer.added", { ip: "1.2.3.4" });
    const waits = [5_000, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 10 * hour];
    for (const [index, wait] of waits.entries()) {
      const delivery = await stage.attempted(id, 1, index + 1);
      expect(delivery.state).to.equal("retrying");
      expect(delivery.dueAt).to.equal(stage.clock.now() + wait);
      stage.clock.advance(wait - 1);
      expect(receiver.received).to.have.length(index + 1);
      stage.clock.advance(1);
    }
    const dead = await stage.reaches(id, 1, "dead");
    expect(dead.attempts.map(({ status, body }) => ({ status, body }))).to.deep.equal(
      Array.from({ length: 8 }, (_unused, index) => ({ status: 500, body: index === 7 ? "out of order" : "" })),
    );
    expect(new Set(receiver.received.map(({ headers }) => headers["webhook-id"]))).to.have.length(1);
    expect(new Set(receiver.received.map(({ body }) => body))).to.have.length(1);

    receiver.answer = (_request, response) => response.end();
    stage.engine.redeliver(id, 1);
    const delivered = await stage.reaches(id, 1, "delivered");
    expect(delivered.attemptCount).to.equal(9);
    expect(receiver.received.at(-1)?.headers["webhook-id"]).to.equal(receiver.received[0]?.headers["webhook-id"]);
  });

  it("goes on with retries after a restart between attempts", async () => {
    receiver.answer = (_request, response) => response.writeHead(503).end();
    const { id } = stage.engine.create({ event: "peer.added", target: receiver.url });
    stage.events.emit("peer.added", { ip: "1.2.3.4" });
    await stage.reaches(id, 1, "retrying");
    await stage.restart();
    receiver.answer = (_request, response) => response.end();
    stage.clock.advance(5_000);
    const delivery = await stage.reaches(id, 1, "delivered");
    expect(delivery.attempts.map(({ status }) => status)).to.deep.equal([503, 200]);
  });

  it("leaves nothing behind where it cannot be started, as its host's chain cannot be watched", async () => {
    const waiting = new Set<() => void>();
    const after: After = (milliseconds, work) => {
      const cancel = stage.clock.after(milliseconds, () => {
        waiting.delete(cancel);
        work();
      });
      waiting.add(cancel);
      return () => {
        waiting.delete(cancel);
        cancel();
      };
    };
    const watch = (): never => {
      throw new Error("its database is away");
    };
    const other = createWebhookEngine({}, { store: stage.environment.store, follow: { ...stage.follow, watch }, clock: stage.clock, after, logger: createLogger([]), problems: createProblems(createLogger([])), keepsChain: false });
    expect(() => other.start()).to.throw("its database is away");
    await other.stop();
    expect([...waiting]).to.deep.equal([]);
  });

  it("delivers what the host emits after `settled` had nothing to wait for", async () => {
    const { id } = stage.engine.create({ event: "peer.added", target: receiver.url });
    await stage.engine.settled();
    stage.events.emit("peer.added", { ip: "1.2.3.4" });
    await stage.reaches(id, 1, "delivered");
  });

  it("tells later, in order and once, what it could not record when it happened", async () => {
    const chain = loadChain("core3-testnet-a");
    const full = chain.blocks.slice(0, 6).map((block) => createChainRules(chain.network).parseBlock(block));
    const scripted = createScriptedChain(full.slice(0, 3), () => 0);
    let fails = false;
    const wrapStore = (store: WebhookStore): WebhookStore => ({
      ...store,
      append: (...given) => {
        if (fails) throw new Error("out of disk");
        return store.append(...given);
      },
    });
    const failing = await createStage({}, { changes: scripted.changes, wrapStore });
    for (const event of ["block.applied", "peer.added"]) failing.engine.create({ event, target: receiver.url });
    await failing.engine.settled();
    fails = true;
    for (const block of full.slice(3, 5)) scripted.apply(block);
    failing.events.emit("peer.added", { ip: "1.2.3.4" });
    await failing.engine.settled();
    expect(failing.lines.filter((line) => line.startsWith("error")).join("\n")).to.include("out of disk");
    expect(receiver.received).to.have.length(0);
    fails = false;
    for (const block of full.slice(5)) scripted.apply(block);
    failing.clock.advance(1_000);
    await failing.engine.settled();
    await failing.count(1, "delivered", 3);
    await failing.count(2, "delivered", 1);
    const of = (event: string): unknown[] => receiver.received.filter(({ json }) => json.event === event).map(({ json }) => json.data);
    expect(of("block.applied").map((data) => (data as { height: number }).height)).to.deep.equal([4, 5, 6]);
    expect(of("peer.added")).to.deep.equal([{ ip: "1.2.3.4" }]);
    await failing.close();
  });

  it("takes no confirmations where the host keeps the chain and offers no changes of it", () => {
    const draft = { event: "block.applied", target: receiver.url };
    expect(() => stage.engine.create({ ...draft, confirmations: 1 })).to.throw(PorticoError).with.property("code", "NOT_SUPPORTED");
    const { id } = stage.engine.create({ ...draft, confirmations: 0 });
    expect(() => stage.engine.patch(id, { confirmations: "final" })).to.throw(PorticoError, "its host's chain offers no changes");
  });
});
