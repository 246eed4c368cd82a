import { expect } from "chai";
import fc from "fast-check";
import { webhookDefaults } from "../../src/options/options.js";
import { afterAttempt, attemptRecord, endOf, isLongOver, nextHealth, nextStep, pauseAfter, pauseOf, type Step, readRetryAfter, restOf, type Result, waitBefore } from "../../src/webhooks/deliver/outcome.js";
import type { DeliveryRow } from "../../src/webhooks/rows/rows.js";

const { schedule, disableAfter } = webhookDefaults;
const jitter = 0.2;
const now = Date.UTC(2024, 0, 1);
const failed = { ok: false, status: 500 };
const seconds = (count: number): number => count * 1000;

describe("retry decisions", () => {
  it("wait 5 s, 5 min, 30 min, 2 h, 5 h, 10 h and 10 h, then give up", () => {
    const waits = Array.from({ length: 8 }, (_unused, index) => {
      const next = nextStep(failed, { failures: index, now, random: 0.5 }, { schedule, jitter });
      return next.state === "retrying" ? (next.dueAt - now) / 1000 : next.state;
    });
    expect(waits).to.deep.equal([5, 300, 1_800, 7_200, 18_000, 36_000, 36_000, "dead"]);
  });

  it("vary by at most 20 %", () => {
    expect(waitBefore(seconds(100), jitter, 0)).to.equal(seconds(80));
    expect(waitBefore(seconds(100), jitter, 1)).to.equal(seconds(120));
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, noNaN: true }), (random) => {
        expect(waitBefore(seconds(100), jitter, random)).to.be.within(seconds(80), seconds(120));
      }),
    );
  });

  for (const [status, asked, before, expected] of [
    [429, undefined, 0, 10],
    [429, undefined, 10, 20],
    [429, undefined, 3_000, 3_600],
    [429, "400", 10, 400],
    [429, "0", 10, 0],
    [429, "100000", 0, 3_600],
    [429, new Date(now + seconds(450)).toUTCString(), 0, 450],
    [429, new Date(now - seconds(450)).toUTCString(), 0, 0],
    [429, "soon", 0, 10],
    [429, "-5", 0, 10],
    [429, "1.5", 0, 10],
    [503, "400", 0, 400],
    [503, undefined, 0, undefined],
    [500, "400", 0, undefined],
    [200, "400", 0, undefined],
  ] as const) {
    it(`pause a target ${expected === undefined ? "not at all" : `for ${expected} s`} after ${status} with Retry-After ${String(asked)}, the pause before being ${before} s`, () => {
      const pause = pauseOf({ status, retryAfter: asked, date: undefined }, now, seconds(before));
      expect(pause).to.equal(expected === undefined ? undefined : seconds(expected));
    });
  }

  it("take a date in Retry-After by the target's own clock, where it tells that", () => {
    const [retryAfter, date] = [now + seconds(450), now].map((time) => new Date(time - seconds(7_200)).toUTCString());
    for (const wall of [now, now - seconds(3_600), now + seconds(86_400)]) expect(pauseOf({ status: 503, retryAfter, date }, wall, 0)).to.equal(seconds(450));
  });

  for (const [title, status, retryAfter, paused, expected] of [
    ["begin with an answer that asks for one", 429, "30", [0, 0], { asked: 30, pause: 30 }],
    ["begin again with the next", 429, undefined, [10, 0], { asked: 20, pause: 20 }],
    ["end with any other answer after them", 200, undefined, [10, 0], { pause: null }],
    ["are none where none was before", 500, undefined, [0, 0], {}],
    ["go on though what was sent before is answered otherwise", 200, undefined, [10, 4], {}],
    ["do not become longer where several answers ask for one without a time", 429, undefined, [10, 4], { asked: 4 }],
    ["last as long as the last answer says", 503, "2", [10, 4], { asked: 2, pause: 2 }],
    ["begin while nothing is sent for another reason", 429, undefined, [0, 1], { asked: 10, pause: 10 }],
  ] as const) {
    it(`have pauses that ${title}`, () => {
      const [length, rest] = paused.map(seconds) as [number, number];
      const after = pauseAfter({ status, retryAfter, date: undefined }, now, { length, rest });
      expect(after).to.deep.equal(Object.fromEntries(Object.entries(expected).map(([name, value]) => [name, value === null ? null : seconds(value)])));
    });
  }

  it("end on success, on 410 and at the end of the schedule", () => {
    expect(nextStep({ ok: true, status: 204 }, { failures: 0, now, random: 0 }, { schedule, jitter })).to.deep.equal({ state: "delivered" });
    expect(nextStep({ ok: false, status: 410 }, { failures: 1, now, random: 0 }, { schedule, jitter })).to.deep.equal({ state: "dead" });
    expect(nextStep(failed, { failures: 1, now, random: 0 }, { schedule: [], jitter })).to.deep.equal({ state: "dead" });
  });

  it("read Retry-After as seconds and as a date in the HTTP forms", () => {
    expect(readRetryAfter("Mon, 01 Jan 2024 00:01:00 GMT", now)).to.equal(60_000);
    expect(readRetryAfter("Monday, 01-Jan-24 00:01:00 GMT", now)).to.equal(60_000);
    expect(readRetryAfter(" 60 ", now)).to.equal(60_000);
    expect(readRetryAfter("9999999999", now)).to.equal(9_999_999_999_000);
    expect([undefined, "", "10000000000", "-1", "+5", "1e3", "2030"].map((header) => readRetryAfter(header, now))).to.deep.equal([undefined, undefined, undefined, undefined, undefined, undefined, 2_030_000]);
    expect(readRetryAfter("Sun, 31 Dec 2023 00:00:00 GMT", now)).to.equal(0);
  });
});

describe("retry decisions where a target asks for pauses", () => {
  const rules = { schedule, jitter: 0 };
  const whole = schedule.reduce((sum, wait) => sum + wait, 0);
  const busy = (asked: number): Result => ({ ok: false, status: 429, asked });

  /** Has a delivery answered so until it is given up. Returns the times of its attempts. */
  const attemptsUntilDead = (answer: (attempt: number) => Result): number[] => {
    const times: number[] = [];
    let [place, at]: [Step, number] = [{ failures: 0 }, 0];
    for (;;) {
      times.push(at);
      const result = answer(times.length);
      const next = nextStep(result, { ...place, now: at, random: 0.5 }, rules);
      if (next.state !== "retrying") return times;
      const { dueAt, ...after } = next;
      // The target has the pause.
      [place, at] = [after, Math.max(dueAt, at + (result.asked ?? 0))];
    }
  };
  const lastOf = (times: readonly number[]): number => times.at(-1) ?? 0;

  it("are due when the pause ends, which the target has, and stay in a step until its time has passed", () => {
    const first = nextStep(busy(seconds(10)), { failures: 0, now, random: 0.9 }, { schedule, jitter });
    expect(first).to.deep.equal({ state: "retrying", failures: 1, stepSince: now, dueAt: now });
    const step = { failures: 4, stepSince: now };
    const [inTime, over] = [7_199, 7_200].map((passed) => nextStep(busy(seconds(10)), { ...step, now: now + seconds(passed), random: 0.9 }, { schedule, jitter }));
    expect(inTime).to.deep.equal({ state: "retrying", failures: 4, stepSince: now, dueAt: now + seconds(7_199) });
    expect(over).to.deep.equal({ state: "retrying", failures: 5, stepSince: now + seconds(7_200), dueAt: now + seconds(7_200) });
  });

  it("go on to the next step where the delivery has waited by its schedule", () => {
    expect(nextStep(busy(seconds(10)), { failures: 3, now, random: 0 }, rules)).to.deep.equal({ state: "retrying", failures: 4, stepSince: now, dueAt: now });
  });

  for (const asked of [10, 300, 3_600]) {
    it(`give up after as long as where every attempt fails, with pauses of ${asked} s, and wait for no longer than was asked`, () => {
      const times = attemptsUntilDead(() => busy(seconds(asked)));
      expect(lastOf(times)).to.be.within(whole, whole + schedule.length * seconds(asked));
      expect(times.slice(1).every((at, index) => at - (times[index] ?? 0) === seconds(asked))).to.equal(true);
    });
  }

  it("end a step when its time has passed where an attempt in it fails otherwise", () => {
    const step = { failures: 4, stepSince: now };
    const next = nextStep(failed, { ...step, now: now + seconds(7_000), random: 0 }, { schedule, jitter });
    expect(next).to.deep.equal({ state: "retrying", failures: 4, dueAt: now + seconds(7_000) + seconds(200 * (1 - jitter)) });
    expect(nextStep(failed, { ...step, now: now + seconds(7_200), random: 0.5 }, rules)).to.deep.equal({ state: "retrying", failures: 5, dueAt: now + seconds(7_200 + 18_000) });
  });

  it("keep a target that asks for no time from being sent to without end: a second, then as long again as the step has lasted", () => {
    const times = attemptsUntilDead(() => busy(0));
    expect(times.slice(0, 8)).to.deep.equal([0, 1, 2, 4, 8, 9, 10, 12].map(seconds));
    expect(times.length).to.be.below(100);
    expect(lastOf(times)).to.be.within(whole, 2 * whole);
  });

  it("give up neither sooner nor much later, whatever the answers are", () => {
    const answer = fc.oneof(fc.constant(failed), fc.integer({ min: 0, max: 3_600 }).map((asked) => busy(seconds(asked))));
    fc.assert(
      fc.property(fc.array(answer, { minLength: 1, maxLength: 40 }), (answers) => {
        const times = attemptsUntilDead((attempt) => answers[attempt % answers.length] ?? failed);
        expect(lastOf(times)).to.be.within(whole, 2 * whole + schedule.length * seconds(3_600));
      }),
    );
  });

  it("end on success, on 410, at the end of the schedule, and where there is none", () => {
    expect(nextStep({ ok: true, status: 204 }, { failures: 2, stepSince: now, now, random: 0 }, rules)).to.deep.equal({ state: "delivered" });
    expect(nextStep({ ok: false, status: 410 }, { failures: 2, stepSince: now, now, random: 0 }, rules)).to.deep.equal({ state: "dead" });
    expect(nextStep(busy(seconds(10)), { failures: 7, stepSince: now - seconds(36_000), now, random: 0 }, rules)).to.deep.equal({ state: "dead" });
    expect(nextStep(busy(seconds(10)), { failures: 0, now, random: 0 }, { ...rules, schedule: [] })).to.deep.equal({ state: "dead" });
  });
});

describe("health decisions", () => {
  const fiveDays = 5 * 24 * 3_600_000;
  /** The wall clock is a day behind. */
  const times = { passed: now, wall: now - 24 * 3_600_000 };
  const none = { failing: undefined, disabledBecause: null, warns: false };
  const since = (from: number, isAnnounced = false) => ({ since: 1, from, isAnnounced });
  const afterFailure = (from: number, isAnnounced = false, after = disableAfter) => nextHealth(since(from, isAnnounced), failed, times, after);

  it("record the first failure by both clocks, and clear it on the first success", () => {
    expect(nextHealth(undefined, failed, times, disableAfter)).to.deep.equal({ ...none, failing: { since: times.wall, from: now, isAnnounced: false } });
    expect(afterFailure(now - 5)).to.deep.equal({ ...none, failing: since(now - 5) });
    expect(nextHealth(since(now - 5), { ok: true, status: 200 }, times, disableAfter)).to.deep.equal(none);
  });

  it("disable a webhook after five days of failures, and at once on 410", () => {
    expect(afterFailure(now - fiveDays + 1).disabledBecause).to.equal(null);
    expect(afterFailure(now - fiveDays).disabledBecause).to.equal("failing");
    expect(nextHealth(undefined, { ...failed, status: 410 }, times, disableAfter).disabledBecause).to.equal("gone");
  });

  it("warn a day before, once, and never where it takes a day or less", () => {
    const begun = now - fiveDays + 24 * 3_600_000;
    expect(afterFailure(begun)).to.deep.equal({ ...none, failing: since(begun, true), warns: true });
    expect(afterFailure(begun, true)).to.deep.equal({ ...none, failing: since(begun, true) });
    expect(afterFailure(now - 5).warns).to.equal(false);
    expect(afterFailure(now - 5, false, 24 * 3_600_000).warns).to.equal(false);
  });
});

describe("pauses of a target", () => {
  const pause = { length: seconds(60), wall: now, monotonic: 1_000 };
  const hour = seconds(3_600);

  it("are counted by the monotonic clock, whatever the wall clock says", () => {
    for (const wall of [now, now - 10 * hour, now + 10 * hour]) {
      expect([1_000, 31_000, 61_000, 90_000].map((monotonic) => restOf(pause, { wall, monotonic }))).to.deep.equal([60_000, 30_000, 0, 0]);
    }
  });

  it("are counted by the wall clock, forwards or back, where the monotonic one has begun anew", () => {
    expect([now, now + seconds(20), now - seconds(20), now + hour, now - hour].map((wall) => restOf(pause, { wall, monotonic: 999 }))).to.deep.equal([60_000, 40_000, 40_000, 0, 0]);
  });

  it("are shown by what the wall clock says when they end, the same until that is set; null once they have ended", () => {
    const at = (monotonic: number, lead = 0) => ({ wall: now + monotonic - 1_000 + lead, monotonic });
    expect([at(1_000), at(31_000, 700), at(31_000, -700)].map((readings) => endOf(pause, readings))).to.deep.equal([60, 60, 60].map((length) => now + seconds(length)));
    expect([at(31_000, hour), at(31_000, -hour)].map((readings) => endOf(pause, readings))).to.deep.equal([now + seconds(60) + hour, now + seconds(60) - hour]);
    expect([endOf(pause, at(61_000)), endOf(undefined, at(0))]).to.deep.equal([null, null]);
    expect(endOf(pause, { wall: now + seconds(20), monotonic: 5 })).to.equal(now + seconds(60));
  });

  it("are forgotten an hour after their end, not before", () => {
    expect([61_000 + hour - 1, 61_000 + hour, 61_000 + hour + 1].map((monotonic) => isLongOver(pause, { wall: now, monotonic }))).to.deep.equal([false, false, true]);
    expect([60_000 + hour, 60_000 + hour + 1].map((later) => isLongOver(pause, { wall: now + later, monotonic: 0 }))).to.deep.equal([false, true]);
  });
});

describe("a delivery after an attempt", () => {
  const rules = { schedule: [seconds(5), seconds(300)], jitter: 0 };
  const at = { passed: now, dueTime: now + 7, wall: now - 9 };
  const chance = { now: at, random: 0.5, isLast: false, batch: undefined };
  const fresh: DeliveryRow = { id: 1, webhookId: 2, messageId: 3, key: "k", event: "block.applied", at: now, state: "pending", dueAt: null, finishedAt: null, failures: 0, attemptCount: 0, attempts: [] };
  const answered = (status: number, body = "no") => attemptRecord(now, 12.6, { status, body, retryAfter: undefined, date: undefined, failure: status < 300 ? null : { stage: "status", error: "why" } });
  const succeeded = { ok: true, status: 204 };

  it("has what became of the attempt: when it began, whole milliseconds, the status, and where and why it failed", () => {
    expect(answered(500)).to.deep.equal({ at: now, duration: 13, status: 500, stage: "status", error: "why", body: "no" });
    expect(answered(204, "")).to.deep.equal({ at: now, duration: 13, status: 204, stage: null, error: null, body: "" });
  });

  it("is delivered", () => {
    const after = afterAttempt({ ...fresh, failures: 1, dueAt: 5, state: "retrying" }, answered(204), succeeded, chance, rules);
    expect(after).to.deep.equal({ ...fresh, state: "delivered", finishedAt: now, failures: 1, attemptCount: 1, attempts: [answered(204)] });
  });

  it("is due again by its schedule, and dead after it", () => {
    const first = afterAttempt(fresh, answered(500), failed, chance, rules);
    expect(first).to.deep.include({ state: "retrying", dueAt: now + 7 + seconds(5), finishedAt: null, failures: 1, attemptCount: 1 });
    const second = afterAttempt(first, answered(502), failed, chance, rules);
    expect(second).to.deep.include({ state: "retrying", dueAt: now + 7 + seconds(300), failures: 2, attemptCount: 2 });
    expect(afterAttempt(second, answered(503), failed, chance, rules)).to.deep.include({ state: "dead", dueAt: null, finishedAt: now, failures: 3, attemptCount: 3 });
  });

  it("keeps when its step began for as long as its target says when it is to be asked", () => {
    const busy = { ok: false, status: 429, asked: seconds(10) };
    const first = afterAttempt(fresh, answered(429), busy, chance, rules);
    expect(first).to.deep.include({ state: "retrying", dueAt: now + 7, failures: 1, stepSince: now + 7, attemptCount: 1 });
    const later = { ...chance, now: { ...at, dueTime: now + 2_007 } };
    expect(afterAttempt(first, answered(429), busy, later, rules)).to.deep.include({ state: "retrying", dueAt: now + 2_007, failures: 1, stepSince: now + 7, attemptCount: 2 });
    expect(afterAttempt(first, answered(500), failed, later, rules)).to.deep.include({ state: "retrying", dueAt: now + 7 + seconds(5), failures: 1 }).and.not.to.have.property("stepSince");
    for (const [result, more] of [[succeeded, {}], [failed, { isLast: true }], [{ ok: false, status: 410 }, {}]] as const) {
      expect(afterAttempt(first, answered(500), result, { ...later, ...more }, rules)).not.to.have.property("stepSince");
    }
  });

  it("is superseded where a failure is the last that its target hears, but delivered if it was not one", () => {
    expect(afterAttempt(fresh, answered(500), failed, { ...chance, isLast: true }, rules)).to.deep.include({ state: "superseded", dueAt: null, finishedAt: now, failures: 1 });
    expect(afterAttempt(fresh, answered(204), succeeded, { ...chance, isLast: true }, rules)).to.deep.include({ state: "delivered", failures: 0 });
  });

  it("of a ping is never tried again", () => {
    expect(afterAttempt({ ...fresh, event: "ping" }, answered(500), failed, chance, rules)).to.deep.include({ state: "dead", dueAt: null, finishedAt: now });
  });

  it("stays in its batch only while that is tried again", () => {
    const inBatch = { ...fresh, batch: "before" };
    expect(afterAttempt(fresh, answered(500), failed, { ...chance, batch: "b" }, rules)).to.have.property("batch", "b");
    expect(afterAttempt(inBatch, answered(500), failed, { ...chance, batch: "b" }, rules)).to.have.property("batch", "b");
    expect(afterAttempt(inBatch, answered(500), failed, chance, rules)).not.to.have.property("batch");
    expect(afterAttempt(inBatch, answered(204), succeeded, { ...chance, batch: "b" }, rules)).not.to.have.property("batch");
    expect(afterAttempt(fresh, answered(204), succeeded, { ...chance, batch: "b" }, rules)).not.to.have.property("batch");
  });

  it("keeps its last 20 attempts, and the body of the last answer alone", () => {
    let row = fresh;
    for (let count = 1; count <= 25; count++) row = afterAttempt(row, answered(500, `body ${count}`), failed, chance, { ...rules, schedule: Array.from({ length: 30 }, () => count) });
    expect(row.attemptCount).to.equal(25);
    expect(row.attempts.map(({ body }) => body)).to.deep.equal([...Array.from({ length: 19 }, () => ""), "body 25"]);
  });
});
