import { setImmediate as nextTurn } from "node:timers/promises";
import { expect } from "chai";
import type { WebhookStore } from "../../src/webhooks/rows/store.js";
import { cursorText } from "../../src/follow/index.js";
import { createStage, eventually } from "./stage.js";

const many = 300;

describe("Very many webhooks", () => {
  it("have their places written some at a time, and all when the node stops", async () => {
    const count = 1_200;
    const written: number[] = [];
    const counting = <T>(work: () => T): (() => T) => () => {
      written.push(0);
      return work();
    };
    const wrapStore = (store: WebhookStore): WebhookStore => ({
      ...store,
      transaction: (work) => store.transaction(counting(work)),
      transactionSoon: (work) => store.transactionSoon(counting(work)),
      putProgress: (id, progress) => {
        written.push((written.pop() ?? 0) + 1);
        store.putProgress(id, progress);
      },
    });
    const stage = await createStage({ maxWebhooks: count }, { wrapStore });
    const draft = { event: "peer.added", target: "http://127.0.0.1:1/", conditions: [{ key: "ip", condition: "eq" as const, value: "1" }] };
    stage.environment.store.transaction(() => {
      for (let index = 0; index < count; index++) stage.engine.create(draft);
    });
    await stage.engine.settled();
    const cursors = (): Set<unknown> => new Set(Array.from({ length: count }, (_unused, index) => stage.environment.store.progress(index + 1).cursor));
    const move = async (): Promise<string> => {
      stage.events.emit("peer.added", { ip: "none" });
      await stage.engine.settled();
      written.length = 0;
      return cursorText(await stage.follow.tip());
    };
    const moved = await move();
    stage.clock.advance(1_000);
    await eventually(() => (cursors().size === 1 && cursors().has(moved) ? true : undefined));
    expect(written.filter((one) => one > 0)).to.deep.equal([500, 500, 200]);
    await move();
    stage.engine.patch(1_200, { description: "moved" });
    expect(written.filter((one) => one > 0), "only that one").to.deep.equal([2]);
    await stage.engine.stop(0);
    expect(cursors().size).to.equal(1);
    await stage.close();
  });

  it("are looked at once where many were made in one turn, and the store is not asked for each with every event", async () => {
    const asked = { work: 0, register: 0 };
    const wrapStore = (store: WebhookStore): WebhookStore => ({
      ...store,
      workRevision: () => {
        asked.work++;
        return store.workRevision();
      },
      registerRevision: () => {
        asked.register++;
        return store.registerRevision();
      },
    });
    const stage = await createStage({}, { wrapStore });
    for (let index = 0; index < many; index++) stage.engine.create({ event: "peer.added", target: `http://127.0.0.1:1/${index}`, conditions: [{ key: "ip", condition: "eq", value: String(index) }] });
    asked.work = 0;
    await nextTurn();
    await nextTurn();
    expect(asked.work, "looks of the dispatcher").to.be.within(1, 10);
    await stage.engine.settled();
    asked.register = 0;
    stage.events.emit("peer.added", { ip: "none" });
    await stage.engine.settled();
    expect(asked.register).to.be.below(many / 2);
    stage.events.emit("peer.added", { ip: "7" });
    await stage.engine.settled();
    expect(asked.register).to.be.below(many);
    expect(stage.engine.deliveries(8, undefined, { offset: 0, limit: 1 }).total).to.equal(1);
  });
});
