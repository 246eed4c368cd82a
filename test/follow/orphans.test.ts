import { expect } from "chai";
import { createAging } from "../../src/async/clock.js";
import { trimOrphans } from "../../src/store/follow/orphans.js";
import { temporaryFolder } from "../fixtures/folder.js";
import { createManualClock } from "../webhooks/manual-clock.js";
import { Node, randomFrom } from "./schedule.js";

/** All that there is, however long reading it takes. */
const read = { hostEvents: false, limit: 100 };

describe("A cursor whose block was taken off the chain", () => {
  it("is read from for as long as it is kept, then refused", async () => {
    const node = new Node(temporaryFolder(), "orphans");
    await node.begin();
    try {
      const random = randomFrom(1);
      for (let blocks = 0; blocks < 3; blocks++) await node.apply(random);
      const { cursor } = await node.follow.after(await node.follow.locate("genesis"), read);
      await node.revert(2);
      const told = async (): Promise<(string | undefined)[]> => (await node.follow.after(cursor, read)).groups.map(({ change }) => change?.kind);
      expect(await told()).to.deep.equal(["reverted", "reverted"]);
      const revertedAt = (await node.follow.after(cursor, read)).groups[0]?.change?.at ?? 0;
      /** As the node does now and then; what it has in memory goes with a restart. */
      const trim = async (before: number): Promise<void> => {
        trimOrphans(node.store.environment, before);
        await node.restart();
      };
      await trim(revertedAt);
      expect(await told()).to.deep.equal(["reverted", "reverted"]);
      await trim(revertedAt + 1);
      const refused = await told().catch((error: unknown) => error);
      expect(refused).to.include({ code: "CURSOR_UNKNOWN" });
    } finally {
      await node.store.stop();
    }
  });

  it("grows old by the time that passes, not by a clock that is set forward", () => {
    const clock = createManualClock();
    const [now, begun] = [createAging(clock), clock.now()];
    const month = 30 * 86_400_000;
    clock.set(month);
    expect(now()).to.equal(begun);
    clock.advance(month);
    expect(now()).to.equal(begun + month);
    clock.set(-2 * month);
    expect(now()).to.equal(begun);
  });
});
