import type { ServerResponse } from "node:http";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect } from "chai";
import type { DeliveryRow } from "../../src/webhooks/rows/rows.js";
import type { WebhookStore } from "../../src/webhooks/rows/store.js";
import type { Delivery, DeliveryState } from "../../types/webhooks.js";
import { createProblems } from "../../src/operate/problems.js";
import { createWebhookEngine } from "../../src/webhooks/engine.js";
import { createReceiver, type Received, type Receiver } from "./receiver.js";
import { quietLogger } from "../../src/options/checks.js";
import { createLogger, createStage, eventually, localTargets, type Stage } from "./stage.js";
import { patience } from "../../src/webhooks/deliver/queues.js";
import { until } from "../fixtures/until.js";

const day = 24 * 3_600_000;
const everything = { offset: 0, limit: 1_000 };

const numbers = (received: readonly Received[]): number[] => received.map(({ json }) => (json.data as { n: number }).n);
const upTo = (count: number): number[] => Array.from({ length: count }, (_unused, index) => index + 1);

describe("delivery", () => {
  let receiver: Receiver;
  let stage: Stage;

  const open = async (...given: Parameters<typeof createStage>): Promise<void> => {
    receiver = await createReceiver();
    stage = await createStage(...given);
  };
  const hook = (path = "/", event = "peer.added") => stage.engine.create({ event, target: `${receiver.url}${path}` });
  const emit = (count: number, from = 1): void => {
    for (let n = from; n < from + count; n++) stage.events.emit("peer.added", { n });
  };
  /**
   * Waits until as many requests are open as the limit allows, then answers, every few turns, what has arrived, until `count` are answered;
   * there must never be more. On a busy machine, requests that are open for long give their places to others, up to four times the limit:
   * then only those are sure to count that were sent since the last answers, a moment ago.
   */
  const answerAll = async (responses: ServerResponse[], count: number, limit: number): Promise<void> => {
    let since = performance.now();
    await receiver.until(limit);
    for (let answered = 0; answered < count; ) {
      await receiver.until(answered + 1);
      for (let turns = 0; turns < 10; turns++) await new Promise((resolve) => setImmediate(resolve));
      expect(responses.length).to.be.at.most(performance.now() - since < patience ? limit : 4 * limit);
      answered += responses.length;
      since = performance.now();
      for (const response of responses.splice(0)) response.end();
    }
  };

  describe("order", () => {
    it("is that of events, with first attempts made one after another", async () => {
      await open();
      hook();
      let [open_, most] = [0, 0];
      receiver.answer = (_request, response) => {
        most = Math.max(most, ++open_);
        setImmediate(() => {
          open_--;
          response.end();
        });
      };
      emit(200);
      expect(numbers(await receiver.until(200))).to.deep.equal(upTo(200));
      expect(most).to.equal(1);
    });

    it("is kept across all webhooks of one target", async () => {
      await open();
      hook("/", "peer.added");
      hook("/", "peer.removed");
      hook("/", "block.forged");
      const events = ["peer.removed", "block.forged", "peer.added"];
      for (let n = 0; n < 60; n++) stage.events.emit(events[n % 3] ?? "", { n });
      expect(numbers(await receiver.until(60))).to.deep.equal(Array.from({ length: 60 }, (_unused, n) => n));
    });

    it("is kept for later events when a first attempt fails", async () => {
      await open();
      const { id } = hook();
      receiver.answer = ({ json }, response) => response.writeHead((json.data as { n: number }).n === 2 && receiver.received.length < 5 ? 500 : 200).end();
      emit(4);
      await stage.count(id, "delivered", 3);
      expect(numbers(receiver.received)).to.deep.equal([1, 2, 3, 4]);
      stage.clock.advance(5_000);
      await stage.count(id, "delivered", 4);
      expect(numbers(receiver.received)).to.deep.equal([1, 2, 3, 4, 2]);
    });

    it("is kept after a restart, including events emitted since", async () => {
      await open();
      const { id } = hook();
      receiver.answer = () => undefined;
      emit(10);
      await stage.engine.settled();
      expect(stage.engine.deliveries(id, "pending", everything).total).to.equal(10);
      await receiver.until(1);
      receiver.answer = (_request, response) => response.end();
      await stage.restart();
      emit(10, 11);
      expect(numbers(await receiver.until(21))).to.deep.equal([1, ...upTo(20)]);
    });

    it("is kept, also where nothing may overtake, while outcomes wait to be written: what is lost of them is sent again, in the same order and under the same names", async () => {
      let hold: Promise<void> | undefined;
      let fail = (): void => undefined;
      const wrapStore = (store: WebhookStore): WebhookStore => ({
        ...store,
        transactionSoon: async (work) => {
          await hold;
          return store.transactionSoon(work);
        },
      });
      await open({}, { wrapStore });
      const { id } = stage.engine.create({ event: "peer.added", target: receiver.url, order: "strict" });
      let first: ServerResponse | undefined;
      receiver.answer = (_request, response) => {
        if (first === undefined) first = response;
        else response.end();
      };
      emit(10);
      await stage.engine.settled();
      await receiver.until(1);
      hold = new Promise((_resolve, reject) => (fail = () => reject(new Error("killed"))));
      hold.catch(() => undefined);
      first?.end();
      expect(numbers(await receiver.until(10))).to.deep.equal(upTo(10));
      expect(stage.engine.deliveries(id, "delivered", everything).total, "written").to.equal(0);
      fail();
      await stage.restart({}, () => {
        hold = undefined;
        return Promise.resolve();
      });
      await stage.count(id, "delivered", 10);
      expect(numbers(receiver.received)).to.deep.equal([...upTo(10), ...upTo(10)]);
      const names = receiver.received.map(({ headers }) => headers["webhook-id"]);
      expect(names.slice(10)).to.deep.equal(names.slice(0, 10));
    });

    it("costs few transactions: the outcomes of many deliveries are written together", async () => {
      let transactions = 0;
      const wrapStore = (store: WebhookStore): WebhookStore => ({
        ...store,
        transactionSoon: (work) => {
          transactions++;
          return store.transactionSoon(work);
        },
      });
      await open({}, { wrapStore });
      const { id } = hook();
      let first: ServerResponse | undefined;
      receiver.answer = (_request, response) => {
        if (first === undefined) first = response;
        else response.end();
      };
      emit(200);
      await stage.engine.settled();
      await receiver.until(1);
      transactions = 0;
      first?.end();
      await stage.count(id, "delivered", 200);
      expect(transactions).to.be.below(100);
    });

  });

  describe("isolation", () => {
    it("keeps a healthy target from being delayed by targets that hang", async () => {
      await open({}, { concurrency: 8 });
      const hanging = await Promise.all(Array.from({ length: 12 }, createReceiver));
      for (const one of hanging) one.answer = () => undefined;
      // Delivers once first, so that the engine knows this target is quick.
      const { id } = hook("/healthy");
      emit(1);
      await stage.count(id, "delivered", 1);
      for (const { url } of hanging) stage.engine.create({ event: "peer.added", target: url });
      emit(50, 2);
      expect(numbers(await receiver.until(51))).to.deep.equal(upTo(51));
      // What hangs gives its place to others, and may be tried, too.
      await Promise.all(hanging.map((one) => one.until(1)));
      await Promise.all(hanging.map((one) => one.close()));
    });

    it("never has more requests open to one host than the option allows", async () => {
      await open({ concurrencyPerTarget: 2 });
      for (let n = 0; n < 10; n++) hook(`/${n}`);
      const responses: ServerResponse[] = [];
      receiver.answer = (_request, response) => void responses.push(response);
      emit(10);
      await answerAll(responses, 100, 2);
      for (let n = 0; n < 10; n++) {
        expect(numbers(receiver.received.filter(({ path }) => path === `/${n}`))).to.deep.equal(upTo(10));
      }
    });

    it("never has more requests open in all than there may be", async () => {
      await open({ concurrencyPerTarget: 100 }, { concurrency: 3 });
      for (let n = 0; n < 10; n++) hook(`/${n}`);
      const responses: ServerResponse[] = [];
      receiver.answer = (_request, response) => void responses.push(response);
      emit(6);
      await answerAll(responses, 60, 3);
    });

    it("lets retries and first attempts of one target take turns", async () => {
      await open({ concurrencyPerTarget: 1, schedule: [1_000, 1_000] });
      const { id } = hook();
      receiver.answer = (_request, response) => response.writeHead(500).end();
      emit(3);
      await stage.count(id, "retrying", 3);
      receiver.answer = (_request, response) => response.end();
      emit(20, 4);
      stage.clock.advance(1_000);
      await stage.count(id, "delivered", 23);
      const sent = numbers(receiver.received.slice(3));
      expect(sent.filter((n) => n > 3)).to.deep.equal(upTo(23).slice(3));
      // The three retries did not wait until the queue was empty.
      expect(sent.indexOf(3)).to.be.below(12);
    });
  });

  it("holds only a few ids of a queue in memory, however long it is", async () => {
    await open();
    const { id } = hook();
    receiver.answer = () => undefined;
    const { store } = stage.environment;
    const recipients = Array.from({ length: 100 }, () => ({ webhookId: id, event: "peer.added", key: "msg" }));
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    collect();
    const before = process.memoryUsage().heapUsed;
    for (let count = 0; count < 100; count++) store.transaction(() => Array.from({ length: 10 }, () => store.append({ at: 1, json: "{}" }, recipients)).length);
    await stage.restart();
    await receiver.until(1);
    receiver.answer = (_request, response) => response.end();
    expect(stage.engine.deliveries(id, "pending", everything).total).to.equal(100_000);
    // The rows themselves would take several times as much. What is just being done takes some, too, for a moment.
    await until("five megabytes at most", () => {
      collect();
      return process.memoryUsage().heapUsed - before < 5_000_000;
    });
  });

  describe("failures", () => {
    it("with status 410 disable the webhook, which goes on where it was once it is enabled", async () => {
      await open();
      receiver.answer = (_request, response) => response.writeHead(410).end();
      const { id } = hook("/secret?key=1");
      emit(3);
      await eventually(() => (stage.engine.get(id).enabled ? undefined : true));
      expect(stage.engine.get(id)).to.include({ enabled: false, disabledBecause: "gone", failingSince: stage.clock.now() });
      expect(receiver.received).to.have.length(1);
      // What was answered so and what waits are found again from the cursor.
      for (const state of ["pending", "retrying", "dead"] as const) expect(stage.engine.deliveries(id, state, everything).total).to.equal(0);
      const told = await eventually(() => stage.lines.find((line) => line.includes("disabled")));
      expect(told).to.equal(`warn webhook 1 to ${receiver.url} is disabled: the target answered 410`);
      expect(stage.lines.join("\n")).not.to.include("secret");
      // Re-enabled by hand: no delivery is lost.
      receiver.answer = (_request, response) => response.end();
      stage.engine.replace(id, { event: "peer.added", target: receiver.url });
      expect(stage.engine.get(id)).to.include({ enabled: true, disabledBecause: null, failingSince: null });
      const all = await receiver.until(4);
      expect(numbers(all)).to.deep.equal([1, 1, 2, 3]);
      expect(new Set(all.map(({ headers }) => headers["webhook-id"])).size, "under the same name").to.equal(3);
    });

    it("with status 410 of a retry disable the webhook, which goes back to that once it is enabled, and not to one that is sent again", async () => {
      await open({ schedule: [1_000, 1_000] });
      const statuses = new Map([[1, 500]]);
      receiver.answer = ({ json }, response) => void response.writeHead(statuses.get((json.data as { n: number }).n) ?? 200).end();
      const { id } = hook();
      emit(2);
      await stage.attempted(id, 1, 1);
      await stage.reaches(id, 2, "delivered");
      const gone = (): Promise<true> => eventually(() => (stage.engine.get(id).enabled ? undefined : true));
      statuses.set(1, 410);
      stage.clock.advance(1_000);
      await gone();
      statuses.delete(1);
      stage.engine.patch(id, { enabled: true });
      emit(1, 3);
      await stage.reaches(id, 5, "delivered");
      statuses.set(3, 410);
      stage.engine.redeliver(id, 5);
      await gone();
      statuses.delete(3);
      stage.engine.patch(id, { enabled: true });
      emit(1, 4);
      expect(numbers(await receiver.until(8))).to.deep.equal([1, 2, 1, 1, 2, 3, 3, 4]);
    });

    it("keep their records where a client moves the webhook, which forgets only what was open", async () => {
      await open({ schedule: [] });
      receiver.answer = ({ json }, response) => void ((json.data as { n: number }).n === 3 || response.writeHead((json.data as { n: number }).n === 1 ? 500 : 200).end());
      const { id } = hook();
      emit(3);
      await stage.reaches(id, 1, "dead");
      await stage.reaches(id, 2, "delivered");
      await receiver.until(3);
      stage.engine.patch(id, { from: "tip" });
      // In the background, records would be removed.
      stage.clock.advance(1_000);
      expect(stage.engine.deliveries(id, undefined, everything).rows.map(({ id: delivery, state }) => [delivery, state])).to.deep.equal([[2, "delivered"], [1, "dead"]]);
    });

    it("or a client that disables the webhook while its next events are about to be written leave nothing of them", async () => {
      let beforeWriting: (() => void) | undefined;
      const wrapStore = (store: WebhookStore): WebhookStore => ({
        ...store,
        transactionSoon: (work) => {
          beforeWriting?.();
          beforeWriting = undefined;
          return store.transactionSoon(work);
        },
      });
      await open({}, { wrapStore });
      const { id } = hook();
      await stage.engine.settled();
      beforeWriting = () => stage.engine.patch(id, { enabled: false });
      emit(2);
      await stage.engine.settled();
      expect(beforeWriting, "matched, and written later").to.equal(undefined);
      expect(stage.engine.deliveries(id, undefined, everything).total).to.equal(0);
      stage.engine.patch(id, { enabled: true });
      expect(numbers(await receiver.until(2))).to.deep.equal([1, 2]);
      expect(stage.engine.deliveries(id, undefined, everything).total).to.equal(2);
    });

    for (const status of [410, 429, 503]) it(`of a webhook's former target do not count against its new one (${status})`, async () => {
      await open();
      const responses: ServerResponse[] = [];
      receiver.answer = (_request, response) => void responses.push(response);
      const { id } = hook("/before");
      emit(1);
      await receiver.until(1);
      receiver.answer = (_request, response) => response.end();
      stage.engine.replace(id, { event: "peer.added", target: `${receiver.url}/after` });
      for (const response of responses) response.writeHead(status, { "retry-after": "8" }).end();
      const { state, dueAt } = await stage.attempted(id, 1, 1);
      expect({ state, dueAt }).to.deep.equal({ state: "retrying", dueAt: stage.clock.now() + 5_000 });
      expect(stage.engine.get(id)).to.include({ enabled: true, disabledBecause: null, failingSince: null });
      stage.clock.advance(5_000);
      await stage.reaches(id, 1, "delivered");
      expect(receiver.received.map(({ path }) => path)).to.deep.equal(["/before", "/after"]);
    });

    it("disable a webhook when every attempt has failed for five days", async () => {
      await open();
      receiver.answer = (_request, response) => response.writeHead(500).end();
      const { id } = hook();
      emit(1);
      await stage.attempted(id, 1, 1);
      const since = stage.clock.now();
      stage.clock.advance(5 * day - 1);
      await stage.attempted(id, 1, 2);
      expect(stage.engine.get(id)).to.include({ enabled: true, failingSince: since });
      stage.clock.advance(1);
      emit(1, 2);
      await eventually(() => (stage.engine.get(id).enabled ? undefined : true));
      expect(stage.engine.get(id)).to.include({ enabled: false, failingSince: since, disabledBecause: "failing" });
      const told = await eventually(() => stage.lines.find((line) => line.includes("disabled")));
      expect(told).to.equal(`warn webhook 1 to ${receiver.url} is disabled: every attempt since ${new Date(since).toISOString()} failed`);
    });

    it("are logged when they begin and when they end, and each attempt at debug", async () => {
      await open();
      receiver.answer = (_request, response) => response.writeHead(500).end();
      const { id } = hook("/secret");
      const since = stage.clock.now();
      emit(1);
      await stage.attempted(id, 1, 1);
      stage.clock.advance(5_000);
      await stage.attempted(id, 1, 2);
      receiver.answer = (_request, response) => response.end();
      stage.clock.advance(4 * day);
      await stage.reaches(id, 1, "delivered");
      await eventually(() => stage.lines.find((line) => line.includes("no longer")));
      const lines = stage.lines.filter((line) => line.includes("webhook 1 ")).map((line) => line.replace(/after \d+ ms/, "after … ms").replace(receiver.url, "http://target"));
      expect(lines).to.deep.equal([
        "debug webhook 1 delivery 1 (peer.added) attempt 1 to http://target: status: The target answered 500. after … ms, retrying",
        "warn webhook 1 to http://target fails: status: The target answered 500.",
        "debug webhook 1 delivery 1 (peer.added) attempt 2 to http://target: status: The target answered 500. after … ms, retrying",
        "debug webhook 1 delivery 1 (peer.added) attempt 3 to http://target: 200 after … ms, delivered",
        `warn webhook 1 to http://target no longer fails, as it did since ${new Date(since).toISOString()}`,
      ]);
    });

    it("are cleared by one success", async () => {
      await open();
      receiver.answer = (_request, response) => response.writeHead(500).end();
      const { id } = hook();
      emit(1);
      await stage.attempted(id, 1, 1);
      receiver.answer = (_request, response) => response.end();
      stage.clock.advance(4 * day);
      await stage.reaches(id, 1, "delivered");
      expect(stage.engine.get(id)).to.include({ enabled: true, failingSince: null });
    });

    it("pause the target, not the delivery, for as long as Retry-After asks", async () => {
      await open();
      receiver.answer = (_request, response) => response.writeHead(429, { "retry-after": "8" }).end();
      const { id } = hook();
      emit(2);
      const delivery = await stage.attempted(id, 1, 1);
      expect(delivery.dueAt).to.equal(stage.clock.now() + 8_000);
      receiver.answer = (_request, response) => response.end();
      stage.clock.advance(7_999);
      await new Promise((resolve) => setImmediate(resolve));
      expect(receiver.received).to.have.length(1);
      stage.clock.advance(1);
      await stage.count(id, "delivered", 2);
      expect(receiver.received).to.have.length(3);
    });

    it("are recorded with their stage, and logged without the target's path", async () => {
      await open();
      await receiver.close();
      const { id } = stage.engine.create({ event: "peer.added", target: `${receiver.url}/secret` });
      emit(1);
      const { attempts } = await stage.attempted(id, 1, 1);
      expect(attempts[0]).to.include({ status: null, stage: "connect", body: "" });
      const line = await eventually(() => stage.lines.find((one) => one.includes("attempt")));
      expect(line).to.match(/^debug webhook 1 delivery 1 \(peer\.added\) attempt 1 to http:\/\/127\.0\.0\.1:\d+: connect: connect ECONNREFUSED .* after \d+ ms, retrying$/);
      receiver = await createReceiver();
    });

    it("happen at the address stage when a name resolves to a special address", async () => {
      await open({}, { resolve: () => Promise.resolve(["10.0.0.1"]) });
      const { id } = stage.engine.create({ event: "peer.added", target: "http://rebound.example/" });
      emit(1);
      const { attempts } = await stage.attempted(id, 1, 1);
      expect(attempts[0]).to.include({ stage: "address", error: "rebound.example is a special address, which the option webhooks.allowTargets does not list" });
    });
  });

  describe("records", () => {
    const states = (id: number): Record<string, number> =>
      Object.fromEntries((["pending", "retrying", "delivered", "dead"] as DeliveryState[]).map((state) => [state, stage.engine.deliveries(id, state, everything).total]));

    it("are listed newest first, by state, with exact totals on every page", async () => {
      await open({ schedule: [1_000] });
      const { id } = hook();
      receiver.answer = ({ json }, response) => response.writeHead((json.data as { n: number }).n % 3 === 0 ? 500 : 200).end();
      emit(30);
      await stage.count(id, "delivered", 20);
      await stage.count(id, "retrying", 10);
      expect(states(id)).to.deep.equal({ pending: 0, retrying: 10, delivered: 20, dead: 0 });
      stage.clock.advance(1_000);
      await stage.count(id, "dead", 10);
      expect(states(id)).to.deep.equal({ pending: 0, retrying: 0, delivered: 20, dead: 10 });

      const seen: number[] = [];
      for (let offset = 0; offset < 30; offset += 7) {
        const { rows, total } = stage.engine.deliveries(id, undefined, { offset, limit: 7 });
        expect(total).to.equal(30);
        seen.push(...rows.map((row) => row.id));
      }
      expect(seen).to.deep.equal(upTo(30).reverse());
      const dead = stage.engine.deliveries(id, "dead", { offset: 2, limit: 3 });
      expect(dead).to.have.property("total", 10);
      expect(dead.rows.map((row) => row.id)).to.deep.equal([24, 21, 18]);
      expect(dead.rows.every(({ attempts }) => attempts.length === 2)).to.equal(true);
      expect(stage.engine.delivery(id, 24).payload).to.deep.equal({ n: 24 });
    });

    it("can be redelivered while the result of the last attempt is still being committed", async () => {
      await open({ schedule: [day] });
      const { id } = hook();
      receiver.answer = (_request, response) => response.writeHead(500).end();
      emit(1);
      await stage.attempted(id, 1, 1);
      receiver.answer = () => undefined;
      const { store } = stage.environment;
      let asked: Promise<Delivery> | undefined;
      await store.transactionSoon(() => {
        const row = store.delivery(id, 1) as DeliveryRow;
        store.changeDelivery(row, { ...row, state: "dead", dueAt: null, finishedAt: stage.clock.now(), attemptCount: 2 });
        // Not committed yet.
        asked = Promise.resolve().then(() => stage.engine.redeliver(id, 1));
      });
      expect(await asked).to.include({ state: "retrying", attemptCount: 2 });
      expect(states(id)).to.deep.equal({ pending: 0, retrying: 1, delivered: 0, dead: 0 });
      expect(store.retries(id, 10)).to.deep.equal([{ id: 1, dueAt: stage.clock.now() }]);
      expect(stage.engine.delivery(id, 1)).to.include({ state: "retrying", attemptCount: 2 });
    });

    it("can be recovered for a period if they were not delivered", async () => {
      await open({ schedule: [day] });
      const { id } = hook();
      receiver.answer = (_request, response) => response.writeHead(500).end();
      const times: number[] = [];
      for (let n = 1; n <= 6; n++) {
        times.push(stage.clock.now());
        emit(1, n);
        await stage.attempted(id, n, 1);
        stage.clock.advance(1_000);
      }
      stage.clock.advance(day - 4_000);
      await stage.count(id, "dead", 3);
      await stage.count(id, "retrying", 3);
      receiver.answer = (_request, response) => response.end();
      const sent = receiver.received.length;
      // The second and third are dead; the fourth and fifth wait for their next attempt.
      expect(await stage.engine.recover(id, { since: times[1] ?? 0, until: times[4] ?? 0 })).to.equal(4);
      // The sixth is made due by the target, which answers again.
      await stage.count(id, "delivered", 5);
      expect(numbers(receiver.received.slice(sent)).sort()).to.deep.equal([2, 3, 4, 5, 6]);
      expect(states(id)).to.deep.equal({ pending: 0, retrying: 0, delivered: 5, dead: 1 });
    });

    it("are kept for two days when delivered and for ninety when dead", async () => {
      await open({ schedule: [] });
      const { id } = hook();
      receiver.answer = ({ json }, response) => response.writeHead((json.data as { n: number }).n === 1 ? 500 : 200).end();
      emit(3);
      await stage.count(id, "dead", 1);
      await stage.count(id, "delivered", 2);
      stage.clock.advance(2 * day);
      expect(states(id)).to.deep.include({ delivered: 2, dead: 1 });
      stage.clock.advance(1_000);
      expect(states(id)).to.deep.include({ delivered: 0, dead: 1 });
      expect(stage.environment.store.message(1)).to.not.equal(undefined);
      expect(stage.environment.store.message(2)).to.equal(undefined);
      stage.clock.advance(88 * day);
      expect(states(id)).to.deep.include({ dead: 0 });
      expect(stage.environment.store.message(1)).to.equal(undefined);
    });

    it("keep the last twenty attempts, and the body of the last answer", async () => {
      await open({ schedule: [] });
      const { id } = hook();
      receiver.answer = (_request, response) => response.writeHead(500 + receiver.received.length).end("last");
      emit(1);
      await stage.reaches(id, 1, "dead");
      for (let count = 2; count <= 25; count++) {
        stage.engine.redeliver(id, 1);
        await stage.attempted(id, 1, count);
      }
      const { attempts, attemptCount } = stage.engine.delivery(id, 1);
      expect(attemptCount).to.equal(25);
      expect(attempts.map(({ status }) => Number(status) - 500)).to.deep.equal(upTo(25).slice(5));
      expect(attempts.map(({ body }) => body)).to.deep.equal([...Array<string>(19).fill(""), "last"]);
    });
  });

  describe("when the engine stops", () => {
    it("waits for the open request, and leaves the rest for the next start", async () => {
      await open();
      const { id } = hook();
      const responses: ServerResponse[] = [];
      receiver.answer = (_request, response) => void responses.push(response);
      emit(5);
      await receiver.until(1);
      const stopped = stage.engine.stop(10_000);
      responses[0]?.end();
      await stopped;
      expect(receiver.received).to.have.length(1);
      expect(stage.engine.deliveries(id, "delivered", everything).rows.map((row) => row.id)).to.deep.equal([1]);
      expect(stage.events.eventNames()).to.deep.equal([]);
      receiver.answer = (_request, response) => response.end();
      await stage.restart();
      expect(numbers(await receiver.until(5))).to.deep.equal(upTo(5));
    });

    it("abandons a request that does not end, without counting the attempt, and sends it again later", async () => {
      await open();
      const { id } = hook();
      receiver.answer = () => undefined;
      emit(1);
      await receiver.until(1);
      receiver.answer = (_request, response) => response.end();
      await stage.restart();
      const delivery = await stage.reaches(id, 1, "delivered");
      expect(delivery.attemptCount).to.equal(1);
      expect(receiver.received).to.have.length(2);
      expect(receiver.received[0]?.headers["webhook-id"]).to.equal(receiver.received[1]?.headers["webhook-id"]);
    });
  });

  it("never throws into the host's emitter, and keeps other listeners working", async () => {
    await open();
    const { id } = hook();
    const hostile = {
      get broken(): never {
        throw new Error("hostile");
      },
    };
    let after = 0;
    stage.events.on("peer.added", () => after++);
    stage.events.emit("peer.added", hostile);
    expect(after).to.equal(1);
    await stage.reaches(id, 1, "delivered");
    expect(receiver.received[0]?.json.data).to.deep.equal({ unreadable: "hostile" });
  });

  it("goes on at the next look after the store could not be read", async () => {
    let fails: string | undefined;
    const wrapStore = (store: WebhookStore): WebhookStore =>
      new Proxy(store, {
        get: (_store, name: keyof WebhookStore) => {
          if (fails !== name) return store[name];
          fails = undefined;
          throw new Error("too many readers");
        },
      });
    await open({}, { wrapStore });
    fails = "webhook";
    const { id } = hook();
    /** Looks are a second apart, from whenever the one that fails has ended. */
    const isDelivered = (n: number): Promise<true> =>
      eventually(() => {
        stage.clock.advance(1_000);
        return stage.engine.deliveries(id, "delivered", { offset: 0, limit: 10 }).rows.some((delivery) => delivery.id === n) ? true : undefined;
      });
    emit(1);
    await isDelivered(1);
    for (const [n, name] of ["deliveryIds", "retries", "workRevision"].entries()) {
      // Otherwise it knows what waits, and what is due.
      stage.environment.store.transaction(() => stage.environment.store.announceWork());
      fails = name;
      emit(1, n + 2);
      // What others have written is looked for once in 10 ms, or else at the next look.
      await eventually(() => {
        stage.clock.advance(1_000);
        return fails === undefined ? true : undefined;
      });
      await isDelivered(n + 2);
    }
    expect(numbers(receiver.received)).to.deep.equal([1, 2, 3, 4]);
    const errors = stage.lines.filter((line) => line.startsWith("error"));
    expect(errors).to.deep.equal(Array(4).fill("error webhooks: the store cannot be used: too many readers"));
  });

  it("looks for work at one time, however often webhooks change", async () => {
    await open();
    const before = stage.clock.timers();
    for (let n = 0; n < 10; n++) stage.engine.remove(hook().id);
    expect(stage.clock.timers()).to.equal(before);
  });

  it("records each attempt once, and goes on, even if the host's logger throws", async () => {
    const fail = (): never => {
      throw new Error("the transport is closed");
    };
    await open({}, { logger: quietLogger({ debug: fail, info: fail, warn: fail, error: fail }) });
    const { id } = hook();
    receiver.answer = (_request, response) => response.writeHead(receiver.received.length === 1 ? 500 : 200).end();
    emit(2);
    await stage.reaches(id, 2, "delivered");
    expect(stage.engine.delivery(id, 1)).to.include({ state: "retrying", attemptCount: 1, dueAt: stage.clock.now() + 5_000 });
    stage.clock.advance(5_000);
    expect((await stage.reaches(id, 1, "delivered")).attemptCount).to.equal(2);
  });

  it("is done by one of several processes on a store, for what the others register and request", async () => {
    await open();
    const other = createWebhookEngine(
      { allowTargets: localTargets, deliver: false },
      { store: stage.environment.store, follow: stage.follow, clock: stage.clock, after: stage.clock.after, logger: createLogger([]), problems: createProblems(createLogger([])), keepsChain: false },
    );
    other.start();
    const { id } = other.create({ event: "peer.added", target: receiver.url });
    emit(1);
    stage.clock.advance(1_000);
    await receiver.until(1);
    await stage.reaches(id, 1, "delivered");
    other.redeliver(id, 1);
    stage.clock.advance(1_000);
    await receiver.until(2);
    other.ping(id);
    stage.clock.advance(1_000);
    await receiver.until(3);
    other.remove(id);
    emit(1, 2);
    expect(stage.engine.list({ offset: 0, limit: 1 }).total).to.equal(0);
    await other.stop(0);
  });
});
