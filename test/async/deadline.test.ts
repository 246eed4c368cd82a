import { expect } from "chai";
import { deadline, Overdue } from "../../src/async/deadline.js";

const never = new Promise<never>(() => undefined);
const failureOf = (answer: Promise<unknown>): Promise<unknown> => answer.catch((error: unknown) => error);

describe("a deadline", () => {
  it("gives what comes in time, be it a failure", async () => {
    expect(await deadline(Promise.resolve(1), 1_000)).to.equal(1);
    expect(await failureOf(deadline(Promise.reject(new Error("no")), Infinity))).to.have.property("message", "no");
  });

  it("ends a wait when its time is up, or its signal is aborted, before or meanwhile", async () => {
    expect(await failureOf(deadline(never, 1))).to.be.instanceOf(Overdue).with.property("message", "no answer within 0.001 s");
    const reason = new Error("given up");
    const controller = new AbortController();
    const waiting = failureOf(deadline(never, Infinity, controller.signal));
    controller.abort(reason);
    expect(await waiting).to.equal(reason);
    expect(await failureOf(deadline(Promise.reject(new Error("too late")), Infinity, controller.signal))).to.equal(reason);
  });
});
