import { expect } from "chai";
import fc from "fast-check";
import type { KeptTime } from "../../src/webhooks/rows/rows.js";
import type { Webhook } from "../../types/webhooks.js";
import type { WebhookOptions } from "../../types/webhook-options.js";
import { createTimekeeper, createTimeReader, type Timekeeper } from "../../src/webhooks/timekeeper.js";
import { createManualClock } from "./manual-clock.js";
import { createReceiver, type Receiver } from "./receiver.js";
import { createStage, eventually, type Stage, type StageNeeds } from "./stage.js";

const [second, hour, day] = [1_000, 3_600_000, 86_400_000];
const page = { offset: 0, limit: 100 };

describe("the time of webhooks", () => {
  const steps = fc.array(
    fc.oneof(
      fc.record({ kind: fc.constant("run" as const), length: fc.integer({ min: 1, max: 40 * day }) }),
      fc.record({ kind: fc.constant("set" as const), length: fc.integer({ min: -40 * day, max: 40 * day }) }),
      fc.record({ kind: fc.constantFrom("restart" as const, "crash" as const, "machine" as const), length: fc.nat({ max: 40 * day }) }),
    ),
    { maxLength: 20 },
  );

  it("passes as it does while a process runs, and over its end by no more than is certain and no less than may be", () => {
    fc.assert(
      fc.property(steps, (taken) => {
        const clock = createManualClock();
        let record: KeptTime | undefined;
        const store = { time: () => record, keepTime: (time: KeptTime) => (record = time) };
        let time: Timekeeper = createTimekeeper(store, clock);
        time.keep();
        // How much has passed, to the hand that moves the clock.
        let truth = clock.now();
        for (const { kind, length } of taken) {
          const before = { passed: time.passed(), dueTime: time.dueTime() };
          if (kind === "set") clock.set(length);
          else clock.advance(length);
          truth += kind === "set" ? 0 : length;
          if (kind === "run") expect([time.passed() - before.passed, time.dueTime() - before.dueTime]).to.deep.equal([length, length]);
          if (kind === "set") expect([time.passed(), time.dueTime()]).to.deep.equal([before.passed, before.dueTime]);
          if (kind === "run" || (kind === "set" && time.isStale())) time.keep();
          if (kind === "restart" || kind === "crash" || kind === "machine") {
            if (kind === "machine") clock.startMachine();
            time = createTimekeeper(store, clock);
            time.keep();
            expect(time.passed() - before.passed).to.be.within(0, length);
            if (kind !== "machine") expect(time.dueTime() - before.dueTime).to.be.at.least(length);
          }
          expect(time.passed()).to.be.at.most(truth);
          expect(time.dueTime()).to.be.at.least(time.passed());
        }
      }),
      { numRuns: 500 },
    );
  });

  it("does not jump where the store is moved to a machine that has run for longer", () => {
    const clock = createManualClock();
    let record: KeptTime | undefined;
    const store = { time: () => record, keepTime: (time: KeptTime) => (record = time) };
    createTimekeeper(store, clock).keep();
    const elsewhere = { now: () => clock.now() + 60 * second, monotonic: () => 400 * day };
    expect(createTimekeeper(store, elsewhere).passed()).to.equal(clock.now() + 60 * second);
  });

  it("is shown as the wall clock's, the same with every reading", () => {
    const clock = createManualClock();
    let uneven = 0;
    const unsteady = { now: clock.now, monotonic: () => clock.monotonic() + (uneven = 1 - uneven) / 2 };
    const time = createTimekeeper({ time: () => undefined, keepTime: () => undefined }, unsteady);
    const due = time.dueTime() + hour;
    const shown = time.wallOfDue(due);
    expect(shown).to.be.closeTo(clock.now() + hour, 1);
    clock.advance(10 * second);
    expect([time.wallOfDue(due), time.wallOfDue(due)]).to.deep.equal([shown, shown]);
    clock.set(-day);
    expect(time.wallOfDue(due)).to.be.closeTo(shown - day, 1);
  });

  it("is that which was kept last, for a process that does not deliver", () => {
    const clock = createManualClock();
    const at = clock.now();
    const record = { passed: at - 3 * day, schedule: at - day, wall: at, monotonic: 0 };
    const time = createTimeReader({ time: () => record }, clock);
    clock.set(30 * day);
    expect([time.passed(), time.dueTime()]).to.deep.equal([at - 3 * day, at - day]);
    expect(time.wallOfDue(at)).to.equal(at + day);
    expect(createTimeReader({ time: () => undefined }, clock).dueTime()).to.equal(clock.now());
  });
});

/** What may happen to the wall clock, while no time passes. */
const jumps = [
  { title: "is set forward by 30 days", by: 30 * day },
  { title: "is set back by an hour", by: -hour },
  { title: "is set back by 30 days", by: -30 * day },
];
const whens = [
  { title: "while the node runs", restart: false, anew: false },
  { title: "over a restart of the node", restart: true, anew: false },
  { title: "over a start of the machine", restart: true, anew: true },
];

for (const { title, by } of jumps) {
  for (const { title: when, restart, anew } of whens) {
    describe(`webhooks of a node whose wall clock ${title} ${when}`, () => {
      let receiver: Receiver;
      let stage: Stage;

      beforeEach(async () => {
        receiver = await createReceiver();
        receiver.answer = (_request, response) => response.writeHead(500).end();
      });
      const openStage = async (options: WebhookOptions = {}, needs: StageNeeds = {}): Promise<Webhook> => {
        stage = await createStage(options, needs);
        return stage.engine.create({ event: "peer.added", target: receiver.url });
      };
      const jump = async (): Promise<void> => {
        if (restart) {
          await stage.restart({}, () => {
            stage.clock.set(by);
            if (anew) stage.clock.startMachine();
            return Promise.resolve();
          });
        } else stage.clock.set(by);
      };
      const emit = (n: number): void => void stage.events.emit("peer.added", { n });

      it("are not disabled sooner", async () => {
        const { id } = await openStage({ disableAfter: 5 * day, schedule: [second, 4 * day, 2 * day] });
        const begun = stage.clock.now();
        emit(1);
        await stage.attempted(id, 1, 1);
        await jump();
        stage.clock.advance(second);
        await stage.attempted(id, 1, 2);
        expect(stage.engine.get(id)).to.deep.include({ enabled: true, disabledBecause: null });
        stage.clock.advance(4 * day);
        await stage.attempted(id, 1, 3);
        expect(stage.engine.get(id).enabled).to.equal(true);
        stage.clock.advance(2 * day);
        await stage.reaches(id, 1, "dead");
        expect(stage.engine.get(id)).to.deep.include({ enabled: false, disabledBecause: "failing", failingSince: begun });
      });

      it("do not lose their history sooner", async () => {
        const { id } = await openStage({ deliveredRetention: 7 * day, deadRetention: 7 * day, schedule: [] });
        emit(1);
        await stage.reaches(id, 1, "dead");
        receiver.answer = (_request, response) => response.end();
        emit(2);
        await stage.reaches(id, 2, "delivered");
        await jump();
        stage.clock.advance(6 * day);
        expect(stage.engine.deliveries(id, undefined, page).total).to.equal(2);
        stage.clock.advance(day + second);
        expect(stage.engine.deliveries(id, undefined, page).total).to.equal(0);
      });

      it("are retried no later, and the time shown is the wall clock's", async () => {
        const { id } = await openStage({ schedule: [hour, hour] });
        emit(1);
        await stage.attempted(id, 1, 1);
        await jump();
        if (!restart || by < 0) expect((await stage.reaches(id, 1, "retrying")).dueAt).to.equal(stage.clock.now() + hour);
        stage.clock.advance(hour);
        const { dueAt } = await stage.attempted(id, 1, 2);
        expect(dueAt).to.be.at.most(stage.clock.now() + hour);
        stage.clock.advance(hour);
        await stage.reaches(id, 1, "dead");
      });

      it("sign with an old secret for as long as before", async () => {
        const { id } = await openStage();
        stage.engine.rotate(id);
        await jump();
        receiver.answer = (_request, response) => response.end();
        emit(1);
        await stage.reaches(id, 1, "delivered");
        stage.clock.advance(day + second);
        emit(2);
        await stage.reaches(id, 2, "delivered");
        expect(receiver.received.map(({ headers }) => String(headers["webhook-signature"]).split(" ").length)).to.deep.equal([2, 1]);
      });
    });
  }
}

describe("elapsed time of webhooks over restarts", () => {
  let receiver: Receiver;
  let stage: Stage;
  let lost: boolean;

  const openStage = async (options: WebhookOptions): Promise<Webhook> => {
    lost = false;
    // A process that is killed does not keep the time at its end.
    const wrapStore: StageNeeds["wrapStore"] = (store) => ({ ...store, keepTime: (time) => (lost ? undefined : store.keepTime(time)) });
    stage = await createStage(options, { wrapStore });
    return stage.engine.create({ event: "peer.added", target: receiver.url });
  };
  beforeEach(async () => {
    receiver = await createReceiver();
    receiver.answer = (_request, response) => response.writeHead(500).end();
  });

  it("adds up, though the machine is started anew each day and its wall clock set back", async () => {
    const { id } = await openStage({ disableAfter: 5 * day, schedule: Array.from({ length: 9 }, () => day - hour) });
    stage.events.emit("peer.added", {});
    await stage.attempted(id, 1, 1);
    for (let attempts = 2; attempts <= 6; attempts++) {
      stage.clock.advance(day);
      // Once it is disabled, nothing is kept of what it had to deliver.
      if (attempts < 6) await stage.attempted(id, 1, attempts);
      else await eventually(() => (stage.engine.get(id).enabled ? undefined : true));
      expect(receiver.received).to.have.length(attempts);
      expect(stage.engine.get(id).enabled).to.equal(attempts < 6);
      await stage.restart({}, () => {
        stage.clock.set(-day);
        stage.clock.startMachine();
        return Promise.resolve();
      });
    }
  });

  it("counts the time of a node that was down where both clocks say so", async () => {
    const { id } = await openStage({ disableAfter: 5 * day, schedule: [hour, hour] });
    stage.events.emit("peer.added", {});
    await stage.attempted(id, 1, 1);
    await stage.restart({}, () => Promise.resolve(stage.clock.advance(6 * day)));
    await eventually(() => (stage.engine.get(id).enabled ? undefined : true));
    expect(receiver.received).to.have.length(2);
    expect(stage.engine.get(id)).to.deep.include({ enabled: false, disabledBecause: "failing" });
  });

  it("makes retries due that became so while the machine was off", async () => {
    const { id } = await openStage({ schedule: [10 * hour] });
    stage.events.emit("peer.added", {});
    await stage.attempted(id, 1, 1);
    await stage.restart({}, () => {
      stage.clock.advance(10 * hour);
      stage.clock.startMachine();
      return Promise.resolve();
    });
    await stage.reaches(id, 1, "dead");
  });

  it("loses less than a minute with a machine that fails, even if its wall clock is set back meanwhile", async () => {
    const { id } = await openStage({ schedule: [hour] });
    for (let minutes = 0; minutes < 10; minutes++) {
      stage.clock.advance(60 * second);
      // The store is told soon after.
      await stage.environment.store.transactionSoon(() => undefined);
    }
    lost = true;
    stage.events.emit("peer.added", {});
    await stage.attempted(id, 1, 1);
    stage.clock.advance(29 * second);
    await stage.restart({}, () => {
      lost = false;
      stage.clock.set(-hour);
      stage.clock.startMachine();
      return Promise.resolve();
    });
    stage.clock.advance(hour);
    await stage.reaches(id, 1, "dead");
  });

});
