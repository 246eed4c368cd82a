import { mock } from "node:test";
import { setImmediate as nextRound } from "node:timers/promises";
import { expect } from "chai";
import { createLoopShare, runShared } from "../../src/async/loop-share.js";

describe("a share of the event loop", () => {
  /** No time passes but that of work, so that nothing depends on what else the machine does. */
  let time = 0;
  const work = (milliseconds: number): void => void (time += milliseconds);
  beforeEach(() => void mock.method(performance, "now", () => time));
  afterEach(() => mock.restoreAll());

  it("is had at once while there is room in a round", () => {
    const { run } = createLoopShare(1_000);
    expect([run(() => 1), run(() => 2)]).to.deep.equal([1, 2]);
    expect(() => run((): unknown => JSON.parse("{"))).to.throw(SyntaxError);
  });

  it("is no more than its length in a round, however much is asked for, first come, first served", async () => {
    const { run } = createLoopShare(5);
    const done: number[] = [];
    const all = Array.from({ length: 30 }, (_, index) =>
      run(() => {
        work(1);
        done.push(index);
      }),
    );
    let most = done.length;
    for (let before = done.length; done.length < 30; before = done.length) {
      await nextRound();
      most = Math.max(most, done.length - before);
    }
    expect(most).to.equal(5);
    expect(done).to.deep.equal(Array.from({ length: 30 }, (_, index) => index));
    for (const one of all) await one;
  });

  it("is what all work in slices takes together, until the last of it is done", async () => {
    const share = createLoopShare(5);
    let [slices, done] = [0, 0];
    const sliced = function* (length: number): Generator<undefined, number> {
      for (let index = 0; index < length; index++) {
        work(1);
        slices++;
        yield;
      }
      return length;
    };
    const all = [1, 4, 9, 16].map(async (length) => {
      expect(await runShared(sliced(length), share)).to.equal(length);
      done++;
    });
    let most = slices;
    for (let before = slices; done < 4; before = slices) {
      await nextRound();
      most = Math.max(most, slices - before);
    }
    await Promise.all(all);
    expect([slices, most]).to.deep.equal([30, 5]);
  });

  it("lets one piece of work go on in each round, however short it is", async () => {
    const { run, hasRoom } = createLoopShare(0);
    expect(hasRoom()).to.equal(false);
    const done: number[] = [];
    for (let index = 0; index < 3; index++) void run(() => done.push(index));
    for (const soFar of [[0], [0, 1], [0, 1, 2]]) {
      await nextRound();
      expect(done).to.deep.equal(soFar);
    }
  });

  it("tells work on its way whether to pause", async () => {
    const { run, hasRoom } = createLoopShare(5);
    const before = run(hasRoom);
    const after = run(() => {
      work(6);
      return hasRoom();
    });
    expect([before, after]).to.deep.equal([true, false]);
    await nextRound();
    expect(hasRoom()).to.equal(true);
  });

  it("gives what its work throws to whoever asked for it", async () => {
    const { run } = createLoopShare(1);
    void run(() => work(2));
    const refused = Promise.resolve(run(() => JSON.parse("{") as unknown)).then(
      () => "done",
      (error: unknown) => error,
    );
    expect(await refused).to.be.instanceOf(SyntaxError);
    expect(await run(() => "the next")).to.equal("the next");
  });
});
