import { expect } from "chai";
import { createChainRules } from "../../src/chain/rules.js";
import { type Asking, drive } from "../../src/async/maybe-promise.js";
import { createRecentChanges } from "../../src/follow/derive.js";
import type { ChangesView } from "../../types/chain-adapter.js";
import { loadChain } from "../data/read.js";

const chain = loadChain("core3-custom-c");
const rules = createChainRules(chain.network);
const [full, later] = chain.blocks.slice(1, 3).map(rules.parseBlock);

/** A state in which the block is on the chain for the second time, and was taken off once before. */
const viewOf = (more: Partial<ChangesView>): ChangesView => ({
  tip: { height: 2, id: "" } as ChangesView["tip"],
  idAt: () => undefined,
  blocks: (from, limit) => (from === full?.block.height && limit === 1 ? [{ ...full, times: 1 }] : []),
  orphan: (id) => (id === full?.block.id ? { ...full, times: 0, revertedAt: 5 } : undefined),
  round: () => undefined,
  ...more,
});

const given = <T>(asking: Asking<T>): Promise<T> => Promise.resolve(drive(asking));

describe("the last changes, kept for all readers", () => {
  if (full === undefined || later === undefined) throw new Error("the chain has no blocks");
  const { block } = full;

  it("are found by kind and block, as they were put", async () => {
    const recent = createRecentChanges(rules);
    const [applied, reverted] = [recent.putApplied({ ...full, times: 1 }, undefined), recent.putReverted({ ...full, times: 0, revertedAt: 5 })];
    const view = viewOf({});
    expect(await given(recent.find(view, "applied", block))).to.equal(applied);
    expect(await given(recent.find(view, "reverted", block))).to.equal(reverted);
    expect(await given(recent.find(view, "applied", later.block))).to.equal(undefined);
  });

  it("are others than those of a block that was taken off the chain and put on it again since", async () => {
    const recent = createRecentChanges(rules);
    recent.putApplied({ ...full, times: 0 }, undefined);
    recent.putReverted({ ...full, times: 3, revertedAt: 5 });
    for (const kind of ["applied", "reverted"] as const) expect(await given(recent.find(viewOf({}), kind, block)), kind).to.equal(undefined);
  });

  it("are those of a block that came once, where the view does not say how often, or does not have it any more", async () => {
    const recent = createRecentChanges(rules);
    const [applied, reverted] = [recent.putApplied(full, undefined), recent.putReverted({ ...full, revertedAt: 5 })];
    const view = viewOf({ blocks: () => [full], orphan: () => undefined });
    expect([await given(recent.find(view, "applied", block)), await given(recent.find(view, "reverted", block))]).to.deep.equal([applied, reverted]);
    expect(await given(recent.find(viewOf({ blocks: () => [] }), "applied", block))).to.equal(applied);
  });

  it("are told apart by `timesOf` alone, where the view has it", async () => {
    const recent = createRecentChanges(rules);
    const applied = recent.putApplied({ ...full, times: 7 }, undefined);
    const asked: unknown[] = [];
    const view = viewOf({ timesOf: (kind, { height, id }) => (asked.push([kind, height, id]), Promise.resolve(7)), blocks: () => expect.fail("asked for the whole block") });
    expect(await given(recent.find(view, "applied", block))).to.equal(applied);
    expect(asked).to.deep.equal([["applied", block.height, block.id]]);
    expect(await given(recent.find(viewOf({ timesOf: () => 6 }), "applied", block))).to.equal(undefined);
  });
});
