import type { ServerResponse } from "node:http";
import { expect } from "chai";
import { PorticoError } from "../../src/errors.js";
import { createProblems } from "../../src/operate/problems.js";
import { createWebhookEngine, type WebhookEngine } from "../../src/webhooks/engine.js";
import type { Webhook } from "../../types/webhooks.js";
import { createReceiver, type Receiver } from "./receiver.js";
import { createLogger, createStage, eventually, localTargets, type Stage } from "./stage.js";

const [second, minute, hour, day] = [1_000, 60_000, 3_600_000, 86_400_000];

describe("the pause of a target that answered 429, or 503 with Retry-After", () => {
  let receiver: Receiver;
  let stage: Stage;

  beforeEach(async () => {
    receiver = await createReceiver();
    stage = await createStage({ schedule: [5 * second, 5 * second, 5 * second, 5 * second] });
    // The machine has run for a while.
    stage.clock.advance(day);
  });

  const hook = (path = ""): Webhook => stage.engine.create({ event: "peer.added", target: `${receiver.url}${path}` });
  const emit = (): void => void stage.events.emit("peer.added", {});
  const askFor = (seconds: string | undefined, status = 429): void => {
    receiver.answer = (_request, response) => response.writeHead(status, seconds === undefined ? {} : { "retry-after": seconds }).end();
  };
  const accept = (): void => {
    receiver.answer = (_request, response) => response.end();
  };
  /** While the node is off, so much time passes. */
  const restart = (off: number, meanwhile: () => void = () => undefined): Promise<void> =>
    stage.restart({}, () => {
      stage.clock.advance(off);
      meanwhile();
      return Promise.resolve();
    });
  /** Sends so many at once. */
  const sendTogether = async (count: number): Promise<{ id: number; responses: ServerResponse[] }> => {
    const responses: ServerResponse[] = [];
    const { id } = stage.engine.create({ event: "peer.added", target: receiver.url, order: "none" });
    receiver.answer = (_request, response) => void responses.push(response);
    for (let n = 0; n < count; n++) emit();
    await receiver.until(count);
    return { id, responses };
  };
  /** Has the first attempt answered so. */
  const pause = async (seconds: string | undefined, status?: number): Promise<Webhook> => {
    const webhook = hook();
    askFor(seconds, status);
    emit();
    await stage.attempted(webhook.id, 1, 1);
    return webhook;
  };

  for (const [title, by] of [["", 0], [", though the wall clock is set forward by 30 days meanwhile", 30 * day], [", though the wall clock is set back by an hour meanwhile", -hour], [", though the wall clock is set back by 30 days meanwhile", -30 * day]] as const) {
    for (const status of [429, 503]) {
      it(`goes on over a restart of the node, and ends in time (${status})${title}`, async () => {
        const { id } = await pause("3600", status);
        accept();
        await restart(20 * minute, () => stage.clock.set(by));
        // A second restart neither begins it again nor ends it.
        await restart(20 * minute);
        const end = stage.clock.now() + 20 * minute;
        stage.clock.advance(20 * minute - 1);
        stage.clock.advance(1);
        const { attempts } = await stage.reaches(id, 1, "delivered");
        expect(attempts.map(({ at }) => at).slice(1)).to.deep.equal([end]);
      });
    }
  }

  it("is over where the machine was off for longer", async () => {
    const { id } = await pause("3600");
    accept();
    await restart(2 * hour, () => stage.clock.startMachine());
    const { attempts } = await stage.reaches(id, 1, "delivered");
    expect(attempts[1]?.at).to.equal(stage.clock.now());
  });

  it("goes on where the machine is started anew, for no longer than it was to be", async () => {
    const { id } = await pause("3600");
    accept();
    await restart(10 * minute, () => stage.clock.startMachine());
    const end = stage.clock.now() + 50 * minute;
    stage.clock.advance(50 * minute - 1);
    stage.clock.advance(1);
    const { attempts } = await stage.reaches(id, 1, "delivered");
    expect(attempts[1]?.at).to.equal(end);
  });

  it("doubles with each answer that gives no time, over a restart, too", async () => {
    const { id } = await pause(undefined);
    for (const [count, length] of [[2, 10], [3, 20], [4, 40]] as const) {
      const end = stage.clock.now() + length * second;
      stage.clock.advance(length * second - 1);
      await stage.restart();
      stage.clock.advance(1);
      const { attempts } = await stage.attempted(id, 1, count);
      expect(attempts.at(-1)?.at).to.equal(end);
    }
  });

  it("goes on where its webhook is disabled and enabled again, and holds for one that is created later", async () => {
    const { id } = await pause("600");
    accept();
    stage.engine.patch(id, { enabled: false });
    stage.engine.patch(id, { enabled: true });
    const other = hook();
    const end = stage.clock.now() + 600 * second;
    emit();
    await stage.count(other.id, "pending", 1);
    stage.clock.advance(600 * second - 1);
    stage.clock.advance(1);
    for (const webhookId of [id, other.id]) {
      await stage.count(webhookId, "delivered", 1);
      const [delivery] = stage.engine.deliveries(webhookId, "delivered", { offset: 0, limit: 1 }).rows;
      expect(delivery?.attempts.at(-1)?.at).to.equal(end);
    }
  });

  describe("and its retries", () => {
    const draft = () => ({ event: "peer.added", target: receiver.url });
    const timesOf = (webhookId: number, id: number): number[] => stage.engine.delivery(webhookId, id).attempts.map(({ at }) => at);
    /** Restarts the node with another schedule. */
    const schedule = (...seconds: number[]): Promise<void> => stage.restart({ schedule: seconds.map((one) => one * second) });
    /** Has a delivery tried again after so many pauses. */
    const retry = async (webhookId: number, id: number, length: number, counts: readonly number[]): Promise<void> => {
      for (const count of counts) {
        stage.clock.advance(length);
        await stage.attempted(webhookId, id, count);
      }
    };

    it("are made when it ends, though the schedule says later, over a restart, too: in strict order, nothing behind waits for longer", async () => {
      await schedule(5, 300);
      const { id } = stage.engine.create({ ...draft(), order: "strict" });
      askFor("10");
      emit();
      emit();
      const { dueAt } = await stage.attempted(id, 1, 1);
      const begun = stage.clock.now();
      expect(dueAt).to.equal(begun + 10 * second);
      await retry(id, 1, 10 * second, [2, 3, 4]);
      expect(stage.engine.delivery(id, 1)).to.include({ state: "retrying", dueAt: begun + 40 * second });
      expect(stage.engine.get(id).failingSince).to.equal(begun);
      accept();
      await stage.restart({ schedule: [5 * second, 300 * second] });
      stage.clock.advance(10 * second);
      await stage.count(id, "delivered", 2);
      expect(timesOf(id, 1)).to.deep.equal([0, 10, 20, 30, 40].map((seconds) => begun + seconds * second));
      expect(timesOf(id, 2)).to.deep.equal([begun + 40 * second]);
    });

    it("are given up when the schedule's time has passed", async () => {
      await schedule(5, 30);
      const { id } = await pause("10");
      await retry(id, 1, 10 * second, [2, 3, 4]);
      expect(stage.engine.delivery(id, 1).state).to.equal("retrying");
      await retry(id, 1, 10 * second, [5]);
      expect(stage.engine.delivery(id, 1)).to.include({ state: "dead", dueAt: null, attemptCount: 5 });
    });

    it("are made by the schedule where an attempt fails otherwise", async () => {
      await schedule(5, 300, 1_800);
      const { id } = await pause("10");
      await retry(id, 1, 10 * second, [2]);
      const step = stage.clock.now();
      await retry(id, 1, 10 * second, [3]);
      receiver.answer = (_request, response) => response.writeHead(500).end();
      await retry(id, 1, 10 * second, [4]);
      expect(stage.engine.delivery(id, 1).dueAt).to.equal(step + 300 * second);
      stage.clock.advance(step + 300 * second - stage.clock.now());
      expect((await stage.attempted(id, 1, 5)).dueAt).to.equal(stage.clock.now() + 1_800 * second);
    });

    it("have the whole schedule before them where a client has the delivery sent again, when the pause ends", async () => {
      await schedule(5, 30);
      const { id } = await pause("10");
      await retry(id, 1, 10 * second, [2, 3, 4]);
      const end = stage.clock.now() + 10 * second;
      expect(stage.engine.redeliver(id, 1)).to.include({ state: "retrying", dueAt: end });
      expect(stage.environment.store.delivery(id, 1)).to.include({ failures: 0 }).and.not.to.have.property("stepSince");
      await retry(id, 1, 10 * second, [5, 6, 7, 8]);
      expect(stage.engine.delivery(id, 1)).to.include({ state: "retrying" });
      await retry(id, 1, 10 * second, [9]);
      expect(stage.engine.delivery(id, 1)).to.include({ state: "dead" });
    });

    it("are sent in the batch that was answered so, under its id", async () => {
      await schedule(5, 300);
      // Sent as soon as both are there: without a wait, the first may be handed over alone.
      const { id } = stage.engine.create({ ...draft(), batch: { size: 2, wait: 60_000 } });
      askFor("10");
      emit();
      emit();
      for (const delivery of [1, 2]) await stage.attempted(id, delivery, 1);
      for (const count of [2, 3]) {
        stage.clock.advance(10 * second);
        for (const delivery of [1, 2]) await stage.attempted(id, delivery, count);
      }
      accept();
      stage.clock.advance(10 * second);
      await stage.count(id, "delivered", 2);
      expect(receiver.received).to.have.length(4);
      expect(new Set(receiver.received.map(({ headers }) => headers["webhook-id"])).size).to.equal(1);
    });

    it("go to another target at once where the webhook gets one", async () => {
      const { id } = await pause("600");
      receiver.answer = ({ path }, response) => response.writeHead(path === "/new" ? 200 : 500).end();
      const now = stage.clock.now();
      expect(stage.engine.delivery(id, 1).dueAt).to.equal(now + 600 * second);
      stage.engine.patch(id, { target: `${receiver.url}/new` });
      await stage.reaches(id, 1, "delivered");
      expect(timesOf(id, 1)).to.deep.equal([now, now]);
    });

    it("wait for a second, then for longer, where it is over at once", async () => {
      await schedule(5, 300);
      const { id } = await pause("0");
      const begun = stage.clock.now();
      for (const [count, wait] of [[2, 1], [3, 1], [4, 2], [5, 4], [6, 1]] as const) {
        expect(stage.engine.delivery(id, 1).dueAt).to.equal(stage.clock.now() + wait * second);
        stage.clock.advance(wait * second - 1);
        stage.clock.advance(1);
        await stage.attempted(id, 1, count);
      }
      expect(timesOf(id, 1)).to.deep.equal([0, 1, 2, 4, 8, 9].map((seconds) => begun + seconds * second));
    });
  });

  describe("with several requests under way", () => {
    it("is as long as after one answer that gives no time, though all are answered so", async () => {
      const { id, responses } = await sendTogether(4);
      for (const response of responses) response.writeHead(429).end();
      for (const delivery of [1, 2, 3, 4]) await stage.attempted(id, delivery, 1);
      expect(stage.environment.store.pause(receiver.url)?.length).to.equal(10 * second);
      accept();
      const end = stage.clock.now() + 10 * second;
      stage.clock.advance(10 * second - 1);
      stage.clock.advance(1);
      await stage.count(id, "delivered", 4);
      for (const delivery of [1, 2, 3, 4]) expect(stage.engine.delivery(id, delivery).attempts.at(-1)?.at).to.equal(end);
    });

    it("is not ended by the answer to a request that was sent before it", async () => {
      const { id, responses: [first, other] } = await sendTogether(2);
      first?.writeHead(429).end();
      await stage.count(id, "retrying", 1);
      other?.end();
      await stage.count(id, "delivered", 1);
      expect(stage.environment.store.pause(receiver.url)?.length).to.equal(10 * second);
    });
  });

  describe("as clients see it", () => {
    const untilOf = (...webhooks: Webhook[]): (number | null)[] => webhooks.map(({ id }) => stage.engine.get(id).pausedUntil);
    /** Of the same store, in the place of another process: it sends nothing. */
    const openOther = (): WebhookEngine =>
      createWebhookEngine(
        { allowTargets: localTargets, deliver: false },
        { store: stage.environment.store, follow: stage.follow, clock: stage.clock, after: stage.clock.after, logger: createLogger([]), problems: createProblems(createLogger([])), keepsChain: false },
      );

    it("is shown with all webhooks of the target until it ends, by the wall clock, over a restart, too", async () => {
      const webhook = await pause("600");
      const until = stage.clock.now() + 600 * second;
      const [same, other] = [hook(), hook("/other")];
      expect([same.pausedUntil, ...untilOf(webhook, same, other)]).to.deep.equal([until, until, until, null]);
      stage.clock.advance(60 * second);
      expect(stage.engine.list({ offset: 0, limit: 9 }).rows.map(({ pausedUntil }) => pausedUntil)).to.deep.equal([until, until, null]);
      stage.clock.set(hour);
      expect(untilOf(webhook)).to.deep.equal([until + hour]);
      await restart(60 * second);
      expect(untilOf(webhook)).to.deep.equal([until + hour]);
      accept();
      stage.clock.advance(480 * second - 1);
      expect(untilOf(webhook)).to.deep.equal([until + hour]);
      stage.clock.advance(1);
      expect(untilOf(webhook)).to.deep.equal([null]);
    });

    it("is ended at once for all webhooks of the target, for what was answered so and what waits", async () => {
      const { id } = await pause("600");
      const other = hook();
      accept();
      emit();
      await stage.count(other.id, "pending", 1);
      const { epoch } = stage.environment.store.progress(other.id);
      expect(stage.engine.patch(other.id, { pausedUntil: null })).to.include({ id: other.id, pausedUntil: null });
      await stage.count(id, "delivered", 2);
      await stage.count(other.id, "delivered", 1);
      expect(untilOf(other)).to.deep.equal([null]);
      expect(stage.environment.store.progress(other.id).epoch).to.equal(epoch);
    });

    it("is ended by a client of another process, too, which sees it", async () => {
      const { id } = await pause("600");
      accept();
      const other = openOther();
      const until = stage.clock.now() + 600 * second;
      expect(other.get(id).pausedUntil).to.equal(until);
      expect(other.delivery(id, 1).dueAt).to.equal(until);
      other.patch(id, { pausedUntil: null });
      stage.clock.advance(second);
      const { attempts } = await stage.reaches(id, 1, "delivered");
      expect(attempts[1]?.at).to.equal(stage.clock.now());
      await other.stop(0);
    });

    it("is ended through a webhook that is disabled, with other changes, and is short again the next time", async () => {
      const { id } = await pause(undefined);
      const other = hook();
      stage.engine.patch(other.id, { enabled: false });
      stage.clock.advance(10 * second);
      await stage.attempted(id, 1, 2);
      expect(untilOf(other)).to.deep.equal([stage.clock.now() + 20 * second]);
      expect(stage.engine.patch(other.id, { pausedUntil: null, description: "away" })).to.include({ pausedUntil: null, description: "away", enabled: false });
      await stage.attempted(id, 1, 3);
      expect(untilOf(other)).to.deep.equal([stage.clock.now() + 10 * second]);
    });

    /** Opens a stage on a store that can be held: it puts off what need not be written at once. `hold` resolves when the outcome of one more attempt is to be written. */
    const openHeld = async (): Promise<{ hold(): Promise<unknown>; release(): void }> => {
      await stage.close();
      const held: (() => void)[] = [];
      let [isHeld, ended] = [false, 0];
      stage = await createStage(
        { schedule: [hour] },
        {
          onOutcome: () => void ended++,
          wrapStore: (store) => ({
            ...store,
            transactionSoon: async (work, options) => {
              if (isHeld) await new Promise<void>((resolve) => held.push(resolve));
              return store.transactionSoon(work, options);
            },
          }),
        },
      );
      return {
        hold: () => {
          const before = ended;
          isHeld = true;
          return eventually(() => (ended > before ? held.at(-1) : undefined));
        },
        release: () => {
          isHeld = false;
          held.forEach((write) => write());
        },
      };
    };

    it("is ended though the outcome of a request that was sent before it is being written", async () => {
      const { hold, release } = await openHeld();
      const { id, responses: [first, other] } = await sendTogether(2);
      first?.writeHead(429, { "retry-after": "600" }).end();
      await stage.count(id, "retrying", 1);
      const holding = hold();
      other?.writeHead(500).end();
      await holding;
      accept();
      stage.engine.patch(id, { pausedUntil: null });
      // The other attempt is being recorded when this is noticed.
      stage.clock.advance(second);
      release();
      await stage.count(id, "delivered", 1);
      expect(stage.engine.deliveries(id, "retrying", { offset: 0, limit: 1 }).total).to.equal(1);
    });

    it("is not ended by other work that comes while it is being written itself", async () => {
      const { hold, release } = await openHeld();
      const { id, responses: [first] } = await sendTogether(1);
      const holding = hold();
      first?.writeHead(429, { "retry-after": "600" }).end();
      await holding;
      accept();
      const end = stage.clock.now() + 600 * second;
      stage.engine.ping(id);
      stage.clock.advance(second);
      release();
      await stage.count(id, "retrying", 1);
      expect(untilOf(stage.engine.get(id))).to.deep.equal([end]);
      // All that may be sent is sent with this.
      await stage.reaches(id, stage.engine.ping(id).id, "delivered");
      stage.clock.advance(599 * second - 1);
      stage.clock.advance(1);
      const { attempts } = await stage.reaches(id, 1, "delivered");
      expect(attempts[1]?.at).to.equal(end);
    });

    it("is not ended by a ping that is answered", async () => {
      const { id } = await pause("600");
      accept();
      const until = stage.clock.now() + 600 * second;
      await stage.reaches(id, stage.engine.ping(id).id, "delivered");
      await stage.restart();
      expect(stage.engine.get(id).pausedUntil).to.equal(until);
      expect(receiver.received).to.have.length(2);
    });

    it("is not begun by clients, and stays where a webhook is replaced by what it is shown as", async () => {
      const { id } = await pause("600");
      const webhook = stage.engine.get(id);
      for (const value of [webhook.pausedUntil, 0, "", false]) {
        expect(() => stage.engine.patch(id, { pausedUntil: value as never })).to.throw(PorticoError, '"pausedUntil" must be null, which ends the pause').and.to.include({ status: 400 });
      }
      stage.engine.replace(id, webhook);
      stage.engine.patch(id, { description: "the same" });
      expect(stage.engine.create(webhook).pausedUntil).to.equal(webhook.pausedUntil);
      expect(stage.engine.get(id).pausedUntil).to.equal(webhook.pausedUntil);
    });
  });

  it("is kept no longer than until the target answers otherwise", async () => {
    const { id } = await pause("600");
    expect(stage.environment.store.pause(receiver.url)?.length).to.equal(600 * second);
    accept();
    stage.clock.advance(600 * second);
    await stage.reaches(id, 1, "delivered");
    expect(stage.environment.store.pause(receiver.url)).to.equal(undefined);
  });

  it("is forgotten an hour after its end where the target is never asked again", async () => {
    const { id } = await pause("600");
    stage.engine.remove(id);
    stage.clock.advance(600 * second + hour);
    await stage.restart();
    expect(stage.environment.store.pause(receiver.url)?.length).to.equal(600 * second);
    await restart(minute);
    await stage.restart();
    expect(stage.environment.store.pause(receiver.url)).to.equal(undefined);
  });
});
