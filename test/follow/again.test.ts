import { expect } from "chai";
import type { Cursor } from "../../src/follow/cursor.js";
import type { KeptBlock } from "../../types/chain-adapter.js";
import type { FullBlock } from "../../src/chain/blocks/block.js";
import { blockData, Node, rules } from "./schedule.js";
import { temporaryFolder } from "../fixtures/folder.js";

describe("A block that goes and comes again between two reads", () => {
  let node: Node;
  let parent: Cursor;
  let block: FullBlock;

  beforeEach(async () => {
    node = new Node(temporaryFolder(), "again");
    await node.begin();
    const tip = node.chain.at(-1)!.block;
    parent = await node.follow.tip({ hostEvents: false });
    block = rules.parseBlock(blockData("again", tip.height + 1, tip.id, []));
  });
  afterEach(() => node.store.stop());

  const told = async (from: Cursor): Promise<[string, number][]> => {
    const { groups } = await node.follow.after(from, { hostEvents: false, limit: 100 });
    return groups.flatMap(({ events }) => events.map(({ id, at }): [string, number] => [id, at]));
  };
  const asKept = (): [string, number][] => {
    const view = node.store.changesView()!;
    const [kept] = view.blocks(2, 1) as readonly KeptBlock[];
    view.release?.();
    return [[`${block.block.id}.applied.0.1`, kept!.appliedAt!]];
  };

  it("is told of as applied another time, also where nobody saw it go", async () => {
    await node.store.apply([block], 0, 1_000);
    expect(await told(parent)).to.deep.equal([[`${block.block.id}.applied.0`, 1_000]]);
    await node.store.revert();
    await node.store.apply([block], 0, 2_000);
    expect(await told(parent)).to.deep.equal([[`${block.block.id}.applied.0.1`, 2_000]]);
    expect(await told(parent)).to.deep.equal(asKept());
  });

  it("is told of as reverted another time, also where nobody saw it come again", async () => {
    await node.store.apply([block], 0, 1_000);
    const on = await node.follow.tip({ hostEvents: false });
    await node.store.revert();
    const [[first, firstTime]] = (await told(on)) as [[string, number]];
    expect(first).to.equal(`${block.block.id}.reverted.0`);
    await node.store.apply([block], 0, 2_000);
    await node.store.revert();
    const [[again, time]] = (await told(on)) as [[string, number]];
    expect(again).to.equal(`${block.block.id}.reverted.0.1`);
    expect(time).to.be.greaterThan(firstTime);
  });
});
