import { stat } from "node:fs";
import { expect } from "chai";
import type { WebhookStore } from "../../src/webhooks/rows/store.js";
import type { WebhookDraft } from "../../types/webhooks.js";
import { createReceiver, type Receiver } from "./receiver.js";
import { createHttpSender, type Sender } from "../../src/webhooks/send/http-sender.js";
import { createResolver, createTargetGuard } from "../../src/webhooks/send/target-guard.js";
import { createStage, eventually, localTargets, type Stage, type StageNeeds } from "./stage.js";

/** Deliveries are handed to the dispatcher when the promise of their transaction resolves. LMDB has committed them before: what happens in between? */
describe("deliveries that are committed, but not yet handed over", () => {
  let receiver: Receiver;
  let stage: Stage;
  /** Called once, after a transaction has written deliveries, in the phase of the event loop in which requests arrive. */
  let meanwhile: (() => void) | undefined;
  /** What the promise of the next transaction that writes deliveries is rejected with. */
  let failure: Error | undefined;

  const wrapStore = (store: WebhookStore): WebhookStore => ({
    ...store,
    transactionSoon: async (work, options) => {
      const { result, isWritten } = await store.transactionSoon(() => {
        const before = store.lastDelivery();
        const done = work();
        const isWritten = store.lastDelivery() > before;
        const act = meanwhile;
        if (isWritten && act !== undefined) {
          meanwhile = undefined;
          stat(".", act);
        }
        return { result: done, isWritten };
      }, options);
      const error = isWritten ? failure : undefined;
      if (error === undefined) return result;
      failure = undefined;
      throw error;
    },
  });
  const open = async (needs: StageNeeds = {}): Promise<void> => {
    receiver = await createReceiver();
    stage = await createStage({}, { wrapStore, ...needs });
  };
  const hook = (more: Partial<WebhookDraft> = {}) => stage.engine.create({ event: "block.forged", target: receiver.url, ...more });
  const emit = (n: number): void => void stage.events.emit("block.forged", { n });
  const numbers = (): number[] => receiver.received.map(({ json }) => (json.data as { n: number }).n);

  it("are not sent if a client takes the webhook elsewhere, and are counted right", async () => {
    const begun = new Set<number>();
    const http = createHttpSender({ timeout: 15_000, responseLimit: 16_384 }, { guard: createTargetGuard(localTargets), resolve: createResolver() });
    const send: Sender["send"] = (outgoing) => {
      const { body } = outgoing;
      begun.add((JSON.parse(body) as { data: { n: number } }).data.n);
      return http.send(outgoing);
    };
    await open({ sender: { send, close: http.close } });
    const { id } = hook();
    const { store } = stage.environment;
    const forgotten = new Set<number>();
    for (let n = 1; n <= 60; n++) {
      const taken = new Promise<void>((resolve) => {
        meanwhile = () => {
          const waits = store.countOf(id, "pending") > 0 && !begun.has(n);
          stage.engine.patch(id, { from: "tip" });
          if (waits && store.countOf(id, "pending") === 0) forgotten.add(n);
          resolve();
        };
      });
      emit(n);
      await taken;
      await stage.engine.settled();
    }
    emit(61);
    await eventually(() => (numbers().includes(61) ? true : undefined));
    await eventually(() => (store.countOf(id, "pending") === 0 ? true : undefined));
    expect(forgotten.size).to.be.above(0);
    expect(numbers().filter((n) => forgotten.has(n))).to.deep.equal([]);
  });

  it("are sent in the order of events, though another webhook of the target looks into the store", async () => {
    await open();
    for (let count = 0; count < 2; count++) hook();
    for (let n = 1; n <= 60; n++) {
      meanwhile = () => stage.engine.replace(2, { event: "block.forged", target: receiver.url });
      emit(n);
      await receiver.until(2 * n);
    }
    // Which of the two comes first may differ: after a change, a webhook may be told of an event in a transaction of its own.
    const deliveries = [1, 2].flatMap((id) => stage.engine.deliveries(id, undefined, { offset: 0, limit: 100 }).rows).sort((a, b) => a.id - b.id);
    expect(receiver.received.map(({ headers }) => headers["webhook-id"])).to.deep.equal(deliveries.map(({ messageId }) => messageId));
  });

  it("are sent, though the promise of their transaction rejects", async () => {
    await open();
    hook();
    emit(1);
    await receiver.until(1);
    failure = new Error("the commit failed");
    emit(2);
    await receiver.until(2);
    stage.clock.advance(1_000);
    emit(3);
    await receiver.until(3);
    expect(numbers()).to.deep.equal([1, 2, 3]);
    expect(stage.lines.filter((line) => line.startsWith("error"))).to.deep.equal(["error webhooks are stalled: the chain cannot be read for webhooks: the commit failed"]);
  });

  it("are tried again after a second where they cannot be written, also of a webhook whose pattern takes long, and sent once", async () => {
    let tries = 0;
    let fails = true;
    await open({
      wrapStore: (store) => ({
        ...store,
        transactionSoon: (work, options) => {
          if (options?.isLong !== true || !fails) return store.transactionSoon(work, options);
          tries++;
          return Promise.reject(new Error("no room"));
        },
      }),
    });
    const condition = { key: "text", condition: "regexp", value: "a+b$" } as const;
    hook({ conditions: [condition] });
    await stage.engine.settled();
    stage.events.emit("block.forged", { n: 1, text: `${"a".repeat(60_000)}b` });
    await eventually(() => stage.lines.find((line) => line.startsWith("error")));
    // Meanwhile it could be tried several times.
    for (let times = 0; times < 5; times++) await stage.engine.dryRun({ event: "block.forged", conditions: [condition], payload: { text: "a".repeat(60_000) } });
    expect(tries).to.equal(1);
    for (let time = 2; time <= 3; time++) {
      stage.clock.advance(1_000);
      await stage.engine.settled();
    }
    fails = false;
    stage.clock.advance(1_000);
    await receiver.until(1);
    await stage.engine.settled();
    expect(numbers()).to.deep.equal([1]);
    expect(stage.lines.filter((line) => line.includes("webhooks")).map((line) => line.replace(/, after .*/, ""))).to.deep.equal([
      "error webhooks are stalled: the chain cannot be read for webhooks: no room",
      "info webhooks work again",
    ]);
  });

  it("are sent, though who is told of outcomes fails", async () => {
    await open({
      onOutcome: (outcome) => {
        if (outcome === "superseded") throw new Error("cannot count");
      },
    });
    receiver.answer = ({ path }, response) => response.writeHead(path === "/one" ? 500 : 200).end();
    hook({ event: undefined, events: ["block.applied", "block.reverted"], target: `${receiver.url}/one` });
    hook({ event: "block.reverted", target: `${receiver.url}/two` });
    stage.events.emit("block.applied", { id: "17", height: 5 });
    await stage.attempted(1, 1, 1);
    stage.events.emit("block.reverted", { id: "17", height: 5 });
    // Reading is tried again after a second.
    await eventually(() => {
      stage.clock.advance(1_000);
      return receiver.received.find(({ path }) => path === "/two");
    });
  });
});
