import { expect } from "chai";
import fc from "fast-check";
import { webhookDefaults } from "../../src/webhooks/options.js";
import { nextHealth, nextStep, readRetryAfter, waitBefore } from "../../src/webhooks/deliver/retry.js";

const { schedule, jitter, disableAfter } = webhookDefaults;
const now = Date.UTC(2024, 0, 1);
const failed = { ok: false, status: 500, retryAfter: undefined };
const seconds = (count: number): number => count * 1000;

describe("retry decisions", () => {
  it("wait 5 s, 5 min, 30 min, 2 h, 5 h, 10 h and 10 h, then give up", () => {
    const waits = Array.from({ length: 8 }, (_unused, index) => {
      const next = nextStep(failed, { failures: index + 1, now, wall: now, random: 0.5 }, { schedule, jitter });
      return next.state === "retrying" ? (next.dueAt - now) / 1000 : next.state;
    });
    expect(waits).to.deep.equal([5, 300, 1_800, 7_200, 18_000, 36_000, 36_000, "dead"]);
  });

  it("vary by at most 20 %, unless Retry-After asks for up to twice the wait", () => {
    expect(waitBefore(seconds(100), jitter, 0, undefined)).to.equal(seconds(80));
    expect(waitBefore(seconds(100), jitter, 1, undefined)).to.equal(seconds(120));
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, noNaN: true }), fc.option(fc.nat(), { nil: undefined }), (random, retryAfter) => {
        const wait = waitBefore(seconds(100), jitter, random, retryAfter);
        expect(wait).to.be.within(seconds(80), seconds(200));
        if (retryAfter !== undefined) expect(wait).to.be.at.least(Math.min(retryAfter, seconds(200)));
      }),
    );
  });

  for (const [asked, expected] of [
    [undefined, 300],
    ["10", 300],
    ["400", 400],
    ["600", 600],
    ["100000", 600],
    [new Date(now + seconds(450)).toUTCString(), 450],
    [new Date(now - seconds(450)).toUTCString(), 300],
    ["soon", 300],
    ["-5", 300],
    ["1.5", 300],
    ["", 300],
  ] as const) {
    it(`wait ${expected} s when 300 s are scheduled and Retry-After is ${String(asked)}`, () => {
      const next = nextStep({ ...failed, status: 429, retryAfter: asked }, { failures: 2, now, wall: now, random: 0.5 }, { schedule, jitter });
      expect(next).to.deep.equal({ state: "retrying", dueAt: now + seconds(expected) });
    });
  }

  it("take a date in Retry-After by the target's own clock, where it tells that", () => {
    const [retryAfter, date] = [now + seconds(450), now].map((time) => new Date(time - seconds(7_200)).toUTCString());
    for (const wall of [now, now - seconds(3_600), now + seconds(86_400)]) {
      const next = nextStep({ ...failed, status: 503, retryAfter, date }, { failures: 2, now, wall, random: 0.5 }, { schedule, jitter });
      expect(next).to.deep.equal({ state: "retrying", dueAt: now + seconds(450) });
    }
  });

  it("end on success, on 410 and at the end of the schedule", () => {
    expect(nextStep({ ok: true, status: 204, retryAfter: undefined }, { failures: 0, now, wall: now, random: 0 }, { schedule, jitter })).to.deep.equal({ state: "delivered" });
    expect(nextStep({ ok: false, status: 410, retryAfter: "5" }, { failures: 1, now, wall: now, random: 0 }, { schedule, jitter })).to.deep.equal({ state: "dead" });
    expect(nextStep(failed, { failures: 1, now, wall: now, random: 0 }, { schedule: [], jitter })).to.deep.equal({ state: "dead" });
  });

  it("read Retry-After as seconds and as a date in the HTTP forms", () => {
    expect(readRetryAfter("Mon, 01 Jan 2024 00:01:00 GMT", now)).to.equal(60_000);
    expect(readRetryAfter("Monday, 01-Jan-24 00:01:00 GMT", now)).to.equal(60_000);
    expect(readRetryAfter(" 60 ", now)).to.equal(60_000);
  });
});

describe("health decisions", () => {
  const fiveDays = 5 * 24 * 3_600_000;
  /** The wall clock is a day behind. */
  const times = { passed: now, wall: now - 24 * 3_600_000 };
  const healthy = { failingSince: null };
  const failingFrom = (from: number) => ({ failingSince: 1, failingFrom: from });
  const none = { failingSince: null, failingFrom: undefined, disabledBecause: null };

  it("record the first failure by both clocks, and clear it on the first success", () => {
    const first = { failingSince: times.wall, failingFrom: now, disabledBecause: null };
    expect(nextHealth(healthy, failed, times, disableAfter)).to.deep.equal(first);
    expect(nextHealth({ ...healthy, failingFrom: 5 }, failed, times, disableAfter)).to.deep.equal(first);
    expect(nextHealth(failingFrom(now - 5), failed, times, disableAfter)).to.deep.equal({ failingSince: 1, failingFrom: now - 5, disabledBecause: null });
    expect(nextHealth(failingFrom(now - 5), { ok: true, status: 200, retryAfter: undefined }, times, disableAfter)).to.deep.equal(none);
  });

  it("disable a webhook after five days of failures, and at once on 410", () => {
    expect(nextHealth(failingFrom(now - fiveDays + 1), failed, times, disableAfter).disabledBecause).to.equal(null);
    expect(nextHealth(failingFrom(now - fiveDays), failed, times, disableAfter).disabledBecause).to.equal("failing");
    expect(nextHealth(healthy, { ...failed, status: 410 }, times, disableAfter).disabledBecause).to.equal("gone");
  });

  it("go on from the wall clock's time in a row of an earlier version", () => {
    expect(nextHealth({ failingSince: now - fiveDays }, failed, times, disableAfter)).to.deep.equal({ failingSince: now - fiveDays, failingFrom: now - fiveDays, disabledBecause: "failing" });
  });
});
