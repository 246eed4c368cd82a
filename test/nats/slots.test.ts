import { setImmediate as nextTurn } from "node:timers/promises";
import { expect } from "chai";
import { createSlots } from "../../src/nats/slots.js";

/** Work that ends when it is told to, and counts who waits for it. */
class Work extends Promise<void> {
  static waiting = 0;
  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }
  override then<A, B>(onFulfilled?: ((value: void) => A | PromiseLike<A>) | null, onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<A | B> {
    Work.waiting++;
    return super.then(onFulfilled, onRejected);
  }
}

describe("slots for work", () => {
  it("are as many as there may be, and free when their work ends, also by a failure", async () => {
    const failures: unknown[] = [];
    const slots = createSlots(2, (error) => failures.push(error));
    const ends: ((error?: Error) => void)[] = [];
    const begin = (): void => void slots.begin(new Promise<void>((resolve, reject) => ends.push((error) => (error === undefined ? resolve() : reject(error)))));
    begin();
    await slots.room();
    begin();
    let hasRoom = false;
    const waiting = slots.room().then(() => (hasRoom = true));
    await nextTurn();
    expect(hasRoom).to.equal(false);
    const failure = new Error("no");
    ends[0]?.(failure);
    await waiting;
    expect(failures).to.deep.equal([failure]);
    ends[1]?.();
    await slots.ended();
    await slots.room();
  });

  it("leave nothing with work that lasts for long, however much ends beside it", async () => {
    Work.waiting = 0;
    const slots = createSlots(10, () => undefined);
    const ends: (() => void)[] = [];
    for (let index = 0; index < 9; index++) void slots.begin(new Work((resolve) => ends.push(resolve)));
    for (let index = 0; index < 1_000; index++) {
      void slots.begin(nextTurn());
      await slots.room();
    }
    expect(Work.waiting).to.equal(9);
    ends.forEach((end) => end());
    await slots.ended();
  });
});
