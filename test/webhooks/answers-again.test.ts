import { expect } from "chai";
import { createReceiver, type Receiver } from "./receiver.js";
import { createStage, eventually, type Stage } from "./stage.js";

const [hour, many] = [3_600_000, 30];
const page = { offset: 0, limit: 100 };

describe("a target that answers again", () => {
  let receiver: Receiver;
  let stage: Stage;
  /** Numbers that are refused, whatever else is taken. */
  let poison: Set<number>;
  let isDown: boolean;

  beforeEach(async () => {
    receiver = await createReceiver();
    stage = await createStage({ schedule: [10 * hour, 10 * hour], concurrencyPerTarget: 8 });
    [poison, isDown] = [new Set(), true];
    receiver.answer = ({ json }, response) => void response.writeHead(isDown || poison.has((json.data as { n: number }).n) ? 503 : 200).end();
  });

  const emit = (from: number, to: number): void => {
    for (let n = from; n <= to; n++) stage.events.emit("peer.added", { n });
  };
  const numbers = (): number[] => receiver.received.filter(({ json }) => json.event !== "ping").map(({ json }) => (json.data as { n: number }).n);
  const total = (id: number, state: "retrying" | "delivered"): number => stage.engine.deliveries(id, state, page).total;

  for (const [what, answer] of [
    ["a delivery succeeds", () => emit(many + 1, many + 1)],
    ["a ping does", (id: number) => void stage.engine.ping(id)],
  ] as const) {
    it(`is sent at once what failed while it was down, after restarts, too, when ${what}`, async () => {
      const { id } = stage.engine.create({ event: "peer.added", target: receiver.url });
      emit(1, many);
      await stage.count(id, "retrying", many);
      stage.clock.advance(3 * hour);
      await stage.restart();
      isDown = false;
      answer(id);
      await eventually(() => (total(id, "retrying") === 0 ? true : undefined));
      expect(new Set(numbers().slice(many)).size).to.be.at.least(many);
    });
  }

  it("is sent it in order where that is strict", async () => {
    const { id } = stage.engine.create({ event: "peer.added", target: receiver.url, order: "strict" });
    emit(1, many);
    await stage.count(id, "retrying", 1);
    stage.clock.advance(3 * hour);
    isDown = false;
    stage.engine.ping(id);
    // With the ping.
    await stage.count(id, "delivered", many + 1);
    expect(numbers().slice(1)).to.deep.equal(Array.from({ length: many }, (_, index) => index + 1));
  });

  it("takes one attempt more of what fails by itself, which keeps its schedule", async () => {
    const { id } = stage.engine.create({ event: "peer.added", target: receiver.url });
    isDown = false;
    poison.add(1);
    emit(1, 1);
    const { dueAt } = await stage.attempted(id, 1, 1);
    for (let n = 2; n < 6; n++) {
      stage.clock.advance(60_000);
      emit(n, n);
      await stage.reaches(id, n, "delivered");
      await stage.engine.settled();
    }
    const after = await stage.attempted(id, 1, 2);
    expect(after).to.deep.include({ state: "retrying", dueAt, attemptCount: 2 });
  });

  it("is sent again as one batch what failed as one, also after an early attempt in the last step", async () => {
    const { id } = stage.engine.create({ event: "peer.added", target: receiver.url, batch: { size: 3, wait: 60_000 } });
    emit(1, 3);
    await stage.count(id, "retrying", 3);
    stage.clock.advance(10 * hour);
    for (const n of [1, 2, 3]) await stage.attempted(id, n, 2);
    let isPingTaken = true;
    receiver.answer = ({ json }, response) => void response.writeHead(json.event === "ping" && isPingTaken ? 200 : 503).end();
    stage.clock.advance(hour);
    stage.engine.ping(id);
    const early = await Promise.all([1, 2, 3].map((n) => stage.attempted(id, n, 3)));
    expect(early.map(({ state }) => state)).to.deep.equal(["retrying", "retrying", "retrying"]);
    isPingTaken = false;
    receiver.answer = (_received, response) => void response.end();
    const before = receiver.received.length;
    stage.clock.advance(10 * hour);
    await stage.count(id, "delivered", 4);
    expect(receiver.received.slice(before).map(({ json }) => (json as unknown as { events: unknown[] }).events.length)).to.deep.equal([3]);
  });
});
