import { expect } from "chai";
import { Webhook as Verifier } from "standardwebhooks";
import { createReceiver, type Receiver } from "./receiver.js";
import { createStage, type Stage } from "./stage.js";

const minute = 60_000;
const hour = 60 * minute;

describe("the webhook engine", () => {
  let receiver: Receiver;
  let stage: Stage;

  beforeEach(async () => {
    receiver = await createReceiver();
    stage = await createStage();
  });
  afterEach(async () => {
    await stage.close();
    await receiver.close();
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

  it("delivers what the host emits after `settled` had nothing to wait for", async () => {
    const { id } = stage.engine.create({ event: "peer.added", target: receiver.url });
    await stage.engine.settled();
    stage.events.emit("peer.added", { ip: "1.2.3.4" });
    await stage.reaches(id, 1, "delivered");
  });

  describe("confirmations, when the host keeps the chain", () => {
    const ids = (): unknown[] => receiver.received.map(({ json }) => (json.data as { id: string }).id);
    const emit = async (event: string, payload: object): Promise<void> => {
      stage.events.emit(event, payload);
      await stage.engine.settled();
    };

    it("are counted from the next block that the host applies, and cancelled by a revert", async () => {
      stage.engine.create({ event: "transaction.applied", target: receiver.url, confirmations: 2 });
      await emit("transaction.applied", { id: "a" });
      await emit("block.applied", { id: "block 5", height: 5 });
      await emit("transaction.applied", { id: "b" });
      expect(ids()).to.deep.equal([]);
      await emit("block.applied", { id: "block 6", height: 6 });
      await receiver.until(1);
      await emit("block.reverted", { id: "block 6", height: 6 });
      expect(stage.engine.deliveries(1, "dropped", { offset: 0, limit: 9 }).total).to.equal(1);
      await emit("transaction.applied", { id: "c", blockHeight: 6 });
      for (const height of [6, 7, 8]) await emit("block.applied", { id: `block ${height}`, height });
      await receiver.until(2);
      expect(ids()).to.deep.equal(["a", "c"]);
    });

    it("survive a restart", async () => {
      stage.engine.create({ event: "block.applied", target: receiver.url, confirmations: 1 });
      await emit("block.applied", { id: "block 5", height: 5 });
      await stage.restart();
      await emit("block.applied", { id: "block 6", height: 6 });
      await receiver.until(1);
      expect(ids()).to.deep.equal(["block 5"]);
    });

    it("of a block without a height are never counted, and cause no error", async () => {
      stage.engine.create({ event: "block.applied", target: receiver.url, confirmations: 1 });
      stage.engine.create({ event: "block.applied", target: receiver.url });
      await emit("block.applied", { id: "odd" });
      await receiver.until(1);
      expect(ids()).to.deep.equal(["odd"]);
      expect(stage.lines.filter((line) => line.startsWith("error"))).to.deep.equal([]);
    });
  });
});
