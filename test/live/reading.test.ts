import { mock } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect } from "chai";
import type { FollowEvent, Group } from "../../src/follow/follow.js";
import { pick } from "../../src/live/selection.js";

const events = Array.from({ length: 60 }, (_, index) => ({ id: String(index), event: index % 3 === 0 ? "block.applied" : "transaction.applied" })) as FollowEvent[];
const group = { events, eventsWithBookings: events } as unknown as Group;

describe("The events that a reader picks of a group", () => {
  const expected = events.filter(({ id, event }) => event === "transaction.applied" && Number(id) % 2 === 0);

  it("are looked for a few milliseconds at a time, however long each takes", async () => {
    let [looked, time] = [0, performance.now()];
    mock.method(performance, "now", () => time);
    const matches = ({ id }: FollowEvent): boolean => {
      time++;
      looked++;
      return Number(id) % 2 === 0;
    };
    let picked: FollowEvent[] | undefined;
    void pick(group, { listens: (event) => event === "transaction.applied", matches }).then((found) => (picked = found));
    let most = looked;
    for (let before = looked; picked === undefined; before = looked) {
      await nextTurn();
      most = Math.max(most, looked - before);
    }
    mock.restoreAll();
    expect(picked).to.deep.equal(expected);
    expect(looked).to.equal(40);
    expect(most).to.be.below(20);
  });

  it("are the same where some matches have to be waited for", async () => {
    const matches = ({ id }: FollowEvent): boolean | Promise<boolean> => (Number(id) % 5 === 0 ? nextTurn(Number(id) % 2 === 0) : Number(id) % 2 === 0);
    expect(await pick(group, { listens: (event) => event === "transaction.applied", matches })).to.deep.equal(expected);
    expect(await pick({ events: [], eventsWithBookings: [] } as unknown as Group, { listens: () => true, matches })).to.deep.equal([]);
    const failing = pick(group, { listens: () => true, matches: () => Promise.reject(new Error("no")) });
    expect(await failing.catch((error: unknown) => (error as Error).message)).to.equal("no");
  });
});
