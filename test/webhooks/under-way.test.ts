import type { ServerResponse } from "node:http";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect } from "chai";
import type { WebhookStore } from "../../src/webhooks/rows/store.js";
import type { DeliveryState } from "../../types/webhooks.js";
import { createReceiver, type Receiver } from "./receiver.js";
import { before, withTransactions } from "./rich-block.js";
import { createScriptedChain } from "./scripted-chain.js";
import { createStage, eventually, type Stage } from "./stage.js";

describe("while an attempt is under way", () => {
  let receiver: Receiver;
  let stage: Stage;
  let waiting: ServerResponse[];

  const open = async (...given: Parameters<typeof createStage>): Promise<void> => {
    stage = await createStage(...given);
  };
  beforeEach(async () => {
    receiver = await createReceiver();
    waiting = [];
    receiver.answer = ({ path }, response) => void (path === "/hangs" ? waiting.push(response) : response.end());
  });

  it("its webhook may get another target, where the next is sent once it has ended, also in strict order", async () => {
    await open();
    const { id } = stage.engine.create({ event: "peer.added", target: `${receiver.url}/hangs`, order: "strict" });
    for (const n of [1, 2, 3]) stage.events.emit("peer.added", { n });
    await receiver.until(1);
    await stage.engine.settled();
    stage.engine.patch(id, { target: `${receiver.url}/new` });
    // Is asked for the next, which has to wait.
    for (let turns = 0; turns < 20; turns++) await nextTurn();
    expect(receiver.received).to.have.length(1);
    waiting.splice(0).forEach((response) => response.end());
    await stage.count(id, "delivered", 3);
    expect(receiver.received.map(({ path, json }) => `${path} ${(json.data as { n: number }).n}`)).to.deep.equal(["/hangs 1", "/new 2", "/new 3"]);
  });

  it("and the chain takes the next one back, that is not sent, though nobody was told yet that this is written", async () => {
    const gate: { closed?: Promise<void> } = {};
    // Long ones are those that take back. Others go on in the same turn of the event loop.
    const wrapStore = (store: WebhookStore): WebhookStore => ({
      ...store,
      transactionSoon: async (work, options) => {
        const result = await store.transactionSoon(work, options);
        if (options?.isLong === true) await gate.closed;
        return result;
      },
    });
    const scripted = createScriptedChain(before, () => stage.clock.now());
    await open({}, { changes: scripted.changes, wrapStore });
    receiver.answer = (_request, response) => void waiting.push(response);
    const { id } = stage.engine.create({ events: ["block.applied", "block.reverted"], target: receiver.url, order: "strict" });
    await stage.engine.settled();
    for (const name of ["a", "b"]) scripted.apply({ block: { ...withTransactions.block, id: name }, transactions: [] });
    await receiver.until(1);
    await stage.engine.settled();
    let letGo = (): void => undefined;
    gate.closed = new Promise((resolve) => (letGo = resolve));
    scripted.revert();
    await stage.count(id, "dropped", 1);
    receiver.answer = (_request, response) => response.end();
    waiting.splice(0).forEach((response) => response.end());
    await stage.count(id, "delivered", 1);
    letGo();
    await stage.engine.settled();
    scripted.apply({ block: { ...withTransactions.block, id: "c" }, transactions: [] });
    await stage.count(id, "delivered", 2);
    expect(receiver.received.map(({ json }) => `${json.event} ${(json.data as { id: string }).id}`)).to.deep.equal(["block.applied a", "block.applied c"]);
  });

  it("an incomplete batch that has waited for long enough, and is held up by that, is not asked for over and over", async () => {
    let looks = 0;
    const wrapStore = (store: WebhookStore): WebhookStore => ({ ...store, workRevision: () => (looks++, store.workRevision()) });
    await open({ concurrencyPerTarget: 4 }, { wrapStore });
    stage.engine.create({ event: "peer.added", target: `${receiver.url}/hangs` });
    const batch = stage.engine.create({ event: "peer.removed", target: `${receiver.url}/hangs`, batch: { size: 2, wait: 500 } });
    stage.events.emit("peer.removed", { n: 1 });
    await stage.engine.settled();
    stage.events.emit("peer.added", { n: 2 });
    await receiver.until(1);
    const before = looks;
    for (let n = 0; n < 100; n++) stage.clock.advance(10);
    // One look a second, and one when the batch has waited for long enough.
    expect(looks - before).to.be.at.most(2);
    receiver.answer = (_request, response) => response.end();
    waiting.splice(0).forEach((response) => response.end());
    await stage.count(batch.id, "delivered", 1);
  });

  for (const kind of ["a first attempt", "a retry"] as const) {
    it(`${kind} whose event cannot be read is made a second later, and nothing overtakes it`, async () => {
      let failures = 0;
      const wrapStore = (store: WebhookStore): WebhookStore => ({
        ...store,
        message: (id) => {
          if (failures-- > 0) throw new Error("too many readers");
          return store.message(id);
        },
      });
      await open({ schedule: [5_000] }, { wrapStore });
      const { id } = stage.engine.create({ event: "peer.added", target: receiver.url, order: "strict" });
      receiver.answer = (_request, response) => void (kind === "a retry" ? response.writeHead(500).end() : undefined);
      for (const n of [1, 2, 3]) stage.events.emit("peer.added", { n });
      await receiver.until(1);
      await stage.engine.settled();
      if (kind === "a retry") await stage.attempted(id, 1, 1);
      receiver.answer = (_request, response) => response.end();
      // What is kept in memory of events is gone with the engine.
      await stage.restart({}, () => {
        failures = 3;
        return Promise.resolve();
      });
      if (kind === "a retry") stage.clock.advance(5_000);
      for (const left of [2, 1, 0]) {
        await eventually(() => (failures === left ? true : undefined));
        for (let turns = 0; turns < 20; turns++) await nextTurn();
        expect(failures).to.equal(left);
        stage.clock.advance(1_000);
      }
      await stage.count(id, "delivered", 3);
      expect(receiver.received.slice(1).map(({ json }) => (json.data as { n: number }).n)).to.deep.equal([1, 2, 3]);
      expect(stage.lines.filter((line) => line.startsWith("error"))).to.deep.equal(Array(3).fill("error webhooks: a delivery of webhook 1 could not be sent: too many readers"));
    });
  }

  it("its delivery may be removed: it stays removed, and none is counted", async () => {
    await open({ schedule: [5_000] });
    const { store } = stage.environment;
    const { id } = stage.engine.create({ event: "peer.added", target: receiver.url });
    stage.events.emit("peer.added", { n: 1 });
    await stage.reaches(id, 1, "delivered");
    receiver.answer = (_request, response) => response.writeHead(500).end();
    stage.engine.redeliver(id, 1);
    await stage.attempted(id, 1, 2);
    receiver.answer = (_request, response) => void waiting.push(response);
    stage.clock.advance(5_000);
    await receiver.until(3);
    store.transaction(() => store.removeDelivery(store.delivery(id, 1) ?? expect.fail()));
    waiting.splice(0).forEach((response) => response.end());
    // Comes after it in the order of outcomes.
    receiver.answer = (_request, response) => response.end();
    stage.events.emit("peer.added", { n: 2 });
    await stage.reaches(id, 2, "delivered");
    await stage.restart();
    expect(["retrying", "delivered"].map((state) => stage.environment.store.countOf(id, state as DeliveryState))).to.deep.equal([0, 1]);
    expect(stage.engine.deliveries(id, undefined, { offset: 0, limit: 10 }).rows.map((row) => row.id)).to.deep.equal([2]);
  });

  it("whoever counts attempts may throw: what was delivered is not sent again", async () => {
    const onOutcome = (): never => {
      throw new Error("not today");
    };
    await open({}, { onOutcome });
    const { id } = stage.engine.create({ event: "peer.added", target: receiver.url });
    for (const n of [1, 2]) stage.events.emit("peer.added", { n });
    await stage.count(id, "delivered", 2);
    expect(receiver.received).to.have.length(2);
    expect(stage.lines.filter((line) => line.startsWith("error"))).to.deep.equal(Array(2).fill("error webhooks: an attempt could not be counted: not today"));
  });
});
