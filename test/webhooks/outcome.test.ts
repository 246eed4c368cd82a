import { expect } from "chai";
import fc from "fast-check";
import { webhookDefaults } from "../../src/webhooks/options.js";
import { nextHealth, nextStep, pauseOf, readRetryAfter, waitBefore } from "../../src/webhooks/deliver/outcome.js";

const { schedule, jitter, disableAfter } = webhookDefaults;
const now = Date.UTC(2024, 0, 1);
const failed = { ok: false, status: 500 };
const seconds = (count: number): number => count * 1000;

describe("retry decisions", () => {
  it("wait 5 s, 5 min, 30 min, 2 h, 5 h, 10 h and 10 h, then give up", () => {
    const waits = Array.from({ length: 8 }, (_unused, index) => {
      const next = nextStep(failed, { failures: index + 1, now, random: 0.5 }, { schedule, jitter });
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

  it("end on success, on 410 and at the end of the schedule", () => {
    expect(nextStep({ ok: true, status: 204 }, { failures: 0, now, random: 0 }, { schedule, jitter })).to.deep.equal({ state: "delivered" });
    expect(nextStep({ ok: false, status: 410 }, { failures: 1, now, random: 0 }, { schedule, jitter })).to.deep.equal({ state: "dead" });
    expect(nextStep(failed, { failures: 1, now, random: 0 }, { schedule: [], jitter })).to.deep.equal({ state: "dead" });
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
  const none = { failingSince: null, failingFrom: undefined, warned: undefined, disabledBecause: null, warns: false };

  it("record the first failure by both clocks, and clear it on the first success", () => {
    const first = { ...none, failingSince: times.wall, failingFrom: now };
    expect(nextHealth(healthy, failed, times, disableAfter)).to.deep.equal(first);
    expect(nextHealth({ ...healthy, failingFrom: 5 }, failed, times, disableAfter)).to.deep.equal(first);
    expect(nextHealth(failingFrom(now - 5), failed, times, disableAfter)).to.deep.equal({ ...none, failingSince: 1, failingFrom: now - 5 });
    expect(nextHealth(failingFrom(now - 5), { ok: true, status: 200 }, times, disableAfter)).to.deep.equal(none);
  });

  it("disable a webhook after five days of failures, and at once on 410", () => {
    expect(nextHealth(failingFrom(now - fiveDays + 1), failed, times, disableAfter).disabledBecause).to.equal(null);
    expect(nextHealth(failingFrom(now - fiveDays), failed, times, disableAfter).disabledBecause).to.equal("failing");
    expect(nextHealth(healthy, { ...failed, status: 410 }, times, disableAfter).disabledBecause).to.equal("gone");
  });

  it("warn a day before, once, and never where it takes a day or less", () => {
    const since = failingFrom(now - fiveDays + 24 * 3_600_000);
    expect(nextHealth(since, failed, times, disableAfter)).to.include({ warns: true, warned: true });
    expect(nextHealth({ ...since, warned: true }, failed, times, disableAfter)).to.include({ warns: false, warned: true });
    expect(nextHealth(failingFrom(now - 5), failed, times, disableAfter)).to.include({ warns: false, warned: undefined });
    expect(nextHealth(failingFrom(now - 5), failed, times, 24 * 3_600_000)).to.include({ warns: false });
  });

  it("go on from the wall clock's time in a row of an earlier version", () => {
    expect(nextHealth({ failingSince: now - fiveDays }, failed, times, disableAfter)).to.deep.equal({ ...none, failingSince: now - fiveDays, failingFrom: now - fiveDays, disabledBecause: "failing" });
  });
});
