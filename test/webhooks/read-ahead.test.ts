import { setImmediate as nextTurn } from "node:timers/promises";
import { expect } from "chai";
import type { WebhookStore } from "../../src/webhooks/rows/store.js";
import type { Sender } from "../../src/webhooks/send/http-sender.js";
import { letGo } from "../../src/webhooks/read/ledger.js";
import { createReceiver, type Receiver } from "./receiver.js";
import { createStage, eventually, type Stage } from "./stage.js";

interface Sent {
  n: number;
  answer(): void;
}

const delivered = { status: 200, retryAfter: undefined, date: undefined, body: "", failure: null };

describe("a dispatcher that has read deliveries ahead", () => {
  const draft = { event: "block.forged" };
  let receiver: Receiver;
  let stage: Stage;

  beforeEach(async () => {
    receiver = await createReceiver();
  });

  /** Webhook 1 gets three deliveries. The first is answered, the second sent, and the third read ahead. */
  const sendTwo = async (): Promise<{ sent: Sent[]; request(n: number): Promise<Sent> }> => {
    const sent: Sent[] = [];
    const send: Sender["send"] = ({ body }) => new Promise((resolve) => sent.push({ n: (JSON.parse(body) as { data: { n: number } }).data.n, answer: () => resolve(delivered) }));
    stage = await createStage({}, { sender: { send, close: () => Promise.resolve() } });
    stage.engine.create({ ...draft, target: receiver.url });
    for (const n of [1, 2, 3]) stage.events.emit("block.forged", { n });
    const request = (n: number): Promise<Sent> => eventually(() => sent.find((one) => one.n === n));
    (await request(1)).answer();
    await request(2);
    await stage.engine.settled();
    return { sent, request };
  };

  it("sends what has just been written without looking for it, after what others have written before it", async () => {
    let looks = 0;
    const wrapStore = (store: WebhookStore): WebhookStore => ({
      ...store,
      deliveryIds: (...given) => {
        looks++;
        return store.deliveryIds(...given);
      },
    });
    stage = await createStage({}, { wrapStore });
    const { id } = stage.engine.create({ ...draft, target: receiver.url });
    const { store } = stage.environment;
    const emit = async (n: number): Promise<void> => {
      stage.events.emit("block.forged", { n });
      await receiver.until(n);
    };
    await emit(1);
    await stage.count(id, "delivered", 1);
    const before = looks;
    for (let n = 2; n < 30; n++) await emit(n);
    expect(looks - before, "looks").to.equal(0);
    for (let n = 30; n < 59; n += 2) {
      store.transaction(() => {
        store.announceWork();
        store.append({ at: 1, json: `{"n":${n}}` }, [{ webhookId: id, event: "block.forged", key: `msg_${n}` }]);
      });
      await emit(n + 1);
    }
    expect(receiver.received.map(({ json }) => (json.data as { n: number }).n)).to.deep.equal(Array.from({ length: 59 }, (_, index) => index + 1));
    expect(looks - before).to.be.above(0);
  });

  it("sends nothing that was read ahead of a webhook that another process disables", async () => {
    const { sent, request } = await sendTwo();
    const { store } = stage.environment;
    const second = await request(2);
    store.transaction(() => {
      letGo({ store, time: { passed: () => 0 }, attempts: { isUnderWay: () => true, hasArrived: () => false, overtake: () => undefined } }, 1);
      store.putWebhook({ ...(store.webhook(1) ?? expect.fail()), enabled: false });
    });
    const now = performance.now.bind(performance);
    // It looks for such changes every 10 ms.
    performance.now = () => now() + 20;
    try {
      second.answer();
      await stage.engine.settled();
    } finally {
      Reflect.deleteProperty(performance, "now");
    }
    expect(sent.map(({ n }) => n)).to.deep.equal([1, 2]);
  });

  it("does not look at its store after it has stopped, though outcomes were written last", async () => {
    let looks = 0;
    const wrapStore = (store: WebhookStore): WebhookStore => ({
      ...store,
      registerRevision: () => {
        looks++;
        return store.registerRevision();
      },
    });
    let answer = (): void => undefined;
    const send: Sender["send"] = () => new Promise((resolve) => (answer = () => resolve(delivered)));
    stage = await createStage({}, { sender: { send, close: () => Promise.resolve() }, wrapStore });
    const { id } = stage.engine.create({ ...draft, target: receiver.url });
    stage.events.emit("block.forged", { n: 1 });
    await stage.engine.settled();
    answer();
    // The outcome waits for others, until the end.
    await nextTurn();
    const now = performance.now.bind(performance);
    // As if it had not looked for long.
    performance.now = () => now() + 20;
    try {
      await stage.engine.stop();
      looks = 0;
      for (let turn = 0; turn < 10; turn++) await nextTurn();
    } finally {
      Reflect.deleteProperty(performance, "now");
    }
    expect(stage.environment.store.deliveries(id, undefined, { offset: 0, limit: 10 }).rows.map(({ state }) => state)).to.deep.equal(["delivered"]);
    expect(looks).to.equal(0);
  });

  it("sends nothing that was read ahead of a webhook that is disabled, whatever ends in the same turn", async () => {
    const { sent, request } = await sendTwo();
    const second = await request(2);
    stage.engine.replace(1, { ...draft, target: receiver.url, enabled: false });
    second.answer();
    await stage.engine.settled();
    expect(sent.map(({ n }) => n)).to.deep.equal([1, 2]);
    // What was not written as delivered by then is sent again.
    stage.engine.replace(1, { ...draft, target: receiver.url });
    for (let at = 2; !sent.some(({ n }) => n === 3); at++) (await eventually(() => sent[at])).answer();
  });
});
