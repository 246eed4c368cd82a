import { mock } from "node:test";
import { expect } from "chai";
import { EventEmitter } from "eventemitter3";
import { createAging, systemClock } from "../../src/async/clock.js";
import { createChainRules } from "../../src/chain/rules.js";
import { createProblems } from "../../src/operate/problems.js";
import { directly, putOrphan, trimOrphans } from "../../src/store/follow/orphans.js";
import { createLmdbChain } from "../../src/store/lmdb-chain.js";
import { transact } from "../../src/store/lmdb/safe/transact.js";
import { createStore, type StoreChangesView } from "../../src/store/state/store.js";
import type { BlockData } from "../../types/events.js";
import { loadChain } from "../data/read.js";
import { temporaryFolder } from "../fixtures/folder.js";
import { silentLogger } from "../silent.js";
import { createManualClock } from "../webhooks/manual-clock.js";
import { eventually } from "../webhooks/stage.js";
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

  it("is forgotten with all others of its age at one look, however many there are", async () => {
    const { network, blocks } = loadChain("core3-testnet-a");
    const dataDir = temporaryFolder();
    const rules = createChainRules(network);
    const store = createStore({ dataDir, undoBlocks: 10 }, { rules });
    const full = rules.parseBlock(blocks[1] as BlockData);
    const ids = Array.from({ length: 450 }, (_, number) => String(number + 1));
    transact(store.environment, () => ids.forEach((id) => putOrphan(directly(store.environment), { ...full, block: { ...full.block, id } }, 0)));
    await store.stop();
    const needs = { rules, source: undefined, events: new EventEmitter(), logger: silentLogger, clock: systemClock, onProgress: undefined, problems: createProblems(silentLogger) };
    mock.timers.enable({ apis: ["setInterval"] });
    const node = createLmdbChain({ dataDir, undoBlocks: 10, followOrphans: 1_000 }, needs);
    try {
      await node.start();
      const left = (): number => {
        const view = node.changes.view() as StoreChangesView;
        const found = ids.filter((id) => view.orphan(id) !== undefined);
        view.release();
        return found.length;
      };
      expect(left()).to.equal(450);
      mock.timers.tick(60_000);
      await eventually(() => (left() === 0 ? true : undefined));
    } finally {
      mock.timers.reset();
      await node.stop();
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
