import type { ChainChanges, ChangesView } from "../../../types/chain-adapter.js";
import type { BlockData } from "../../../types/events.js";
import { locksEndedBy } from "../../chain/locks.js";
import { roundOf } from "../../chain/rounds.js";
import { createChainRules } from "../../chain/rules.js";
import { same } from "../comparing.js";
import { type CaseDefinition, type ConformanceSubject, type Fixture, readingOf, Skipped } from "../target.js";

const changesOf = ({ adapter }: ConformanceSubject): ChainChanges => {
  if (adapter.changes === undefined) throw new Skipped("the adapter has no `changes`");
  return adapter.changes;
};

const viewing = async <T>(subject: ConformanceSubject, read: (view: ChangesView) => Promise<T>): Promise<T> => {
  const view = await changesOf(subject).view();
  if (view === undefined) throw new Error("the adapter has applied blocks but `changes` gives no view");
  try {
    return await read(view);
  } finally {
    view.release?.();
  }
};

/** As many blocks as the chain has, in as many reads as that takes. */
const givesBlocks = async (fixture: Fixture): Promise<void> => {
  const { chain } = fixture;
  const rules = createChainRules(chain.network);
  const expected = chain.blocks.map(rules.parseBlock);
  await viewing(await fixture.open(chain.blocks), async (view) => {
    same(view.tip.id, chain.blocks.at(-1)?.id, "id of the tip");
    for (let from = 1; from <= expected.length; ) {
      const found = await view.blocks(from, 7);
      if (found.length === 0 || found.length > 7) throw new Error(`blocks(${from}, 7) gives ${found.length} blocks`);
      for (const { block, transactions } of found) {
        const whole = expected[from - 1];
        same(block, whole?.block, `block ${from}`);
        same(transactions, whole?.transactions, `transactions of block ${from}`);
        same(await view.idAt(from), block.id, `idAt(${from})`);
        from++;
      }
    }
    same((await view.blocks(expected.length + 1, 7)).length, 0, "number of blocks above the tip");
    same(await view.idAt(0), undefined, "idAt(0)");
    same(await view.idAt(expected.length + 1), undefined, "idAt above the tip");
    same(await view.orphan(chain.blocks[3]?.id ?? ""), undefined, "orphan of a block that was never reverted");
  });
};

interface Moves {
  subject: ConformanceSubject;
  apply: NonNullable<ConformanceSubject["apply"]>;
  revert: NonNullable<ConformanceSubject["revert"]>;
}

const movable = (subject: ConformanceSubject): Moves => {
  const { apply, revert } = subject;
  if (apply === undefined || revert === undefined) throw new Skipped("the target has no `apply` or no `revert`");
  return { subject, apply: apply.bind(subject), revert: revert.bind(subject) };
};

const keepsOrphans = async (fixture: Fixture): Promise<void> => {
  const { chain } = fixture;
  const rules = createChainRules(chain.network);
  const [tip, next] = chain.blocks.slice(10, 12) as [BlockData, BlockData];
  const { subject, apply, revert } = movable(await fixture.open(chain.blocks.slice(0, 11)));
  let told = 0;
  const leave = changesOf(subject).watch(() => told++);
  await apply(next);
  const afterApply = told;
  if (afterApply === 0) throw new Error("`watch` tells nothing of a block that was applied");
  await revert(next);
  if (told === afterApply) throw new Error("`watch` tells nothing of a block that was reverted");
  leave();
  await viewing(subject, async (view) => {
    same(view.tip.id, tip.id, "id of the tip after the reversal");
    const orphan = await view.orphan(next.id);
    const whole = rules.parseBlock(next);
    same(orphan?.block, whole.block, "the block that was reverted");
    same(orphan?.transactions, whole.transactions, "the transactions of the block that was reverted");
    same(orphan?.times ?? 0, 0, "how often the block had been applied before");
    same((await view.timesOf?.("reverted", next)) ?? 0, 0, "timesOf of the block that was reverted");
    if (!((orphan?.revertedAt ?? 0) > 0)) throw new Error("`revertedAt` of the block that was reverted is not a time");
  });
  const before = told;
  await apply(next);
  same(told, before, "calls of a watcher that has left");
  await viewing(subject, async (view) => {
    const [again] = await view.blocks(next.height, 1);
    same(again?.times, 1, "how often a block had been applied before that is applied again");
    same((await view.timesOf?.("applied", next)) ?? 1, 1, "timesOf of a block that is applied again");
  });
  await revert(next);
  await viewing(subject, async (view) => {
    same((await view.orphan(next.id))?.times, 1, "how often a block had been applied before that is reverted again");
    same((await view.timesOf?.("reverted", next)) ?? 1, 1, "timesOf of a block that is reverted again");
  });
};

/** A reader asks several things of one state, between which a host's store may move on. */
const keepsViews = async (fixture: Fixture): Promise<void> => {
  const { chain } = fixture;
  const [below, tip, next] = chain.blocks.slice(9, 12) as [BlockData, BlockData, BlockData];
  const { subject, apply, revert } = movable(await fixture.open(chain.blocks.slice(0, 11)));
  await viewing(subject, async (view) => {
    const still = async (when: string): Promise<void> => {
      same(view.tip.id, tip.id, `the tip of an open view, ${when}`);
      same(await view.idAt(tip.height), tip.id, `idAt the tip of an open view, ${when}`);
      same(await view.idAt(next.height), undefined, `idAt above the tip of an open view, ${when}`);
      same((await view.blocks(below.height, 7)).map(({ block }) => block.id).join(), `${below.id},${tip.id}`, `blocks of an open view, ${when}`);
      same(await view.orphan(tip.id), undefined, `orphan of the tip of an open view, ${when}`);
    };
    await apply(next);
    await still("after a block was applied");
    await revert(next);
    await revert(tip);
    await still("after its tip was reverted");
  });
};

/** A claim or refund says which lock it ends, not what it was worth, nor whom it is paid to. */
const givesLocks = async (fixture: Fixture): Promise<void> => {
  await fixture.needs("locks");
  const { chain } = fixture;
  const rules = createChainRules(chain.network);
  const all = chain.blocks.flatMap((block) => rules.parseBlock(block).transactions);
  const expected = (block: BlockData) => locksEndedBy(rules.parseBlock(block).transactions, (id) => all.find((one) => one.id === id));
  const last = chain.blocks.findLastIndex((block) => expected(block).length > 0);
  const first = chain.blocks.findIndex((block) =>
    block.transactions?.some(({ id }) => expected(chain.blocks[last] as BlockData).some(({ lockId }) => lockId === id)),
  );
  const { subject, revert } = movable(await fixture.open(chain.blocks.slice(0, last + 1)));
  await viewing(subject, async (view) => {
    for (const block of chain.blocks.slice(0, last + 1)) {
      const [found] = await view.blocks(block.height, 1);
      same(found?.locks ?? [], expected(block), `locks that block ${block.height} ends`);
    }
  });
  // Down to below the block that opened the last of them.
  for (const block of chain.blocks.slice(first, last + 1).reverse()) await revert(block);
  await viewing(subject, async (view) => {
    const block = chain.blocks[last] as BlockData;
    same((await view.orphan(block.id))?.locks ?? [], expected(block), "locks that a block ended which was reverted");
  });
};

const givesRounds = async (fixture: Fixture): Promise<void> => {
  await fixture.needs("rounds");
  const { chain } = fixture;
  const { milestones } = createChainRules(chain.network);
  const subject = await fixture.open(chain.blocks);
  const { round: current } = roundOf(chain.blocks.length, milestones);
  await viewing(subject, async (view) => {
    await readingOf(subject, async (snapshot) => {
      for (const round of [1, current, current + 2]) same(await view.round(round), await snapshot.round(round), `round ${round}`);
    });
  });
};

/** For adapters that offer `changes`; for others, they are skipped. */
export const followingCases: readonly CaseDefinition[] = [
  { name: "following: the chain's blocks are given with their transactions, in order", run: givesBlocks },
  { name: "following: a block that is reverted is kept, and watchers are told", run: keepsOrphans },
  { name: "following: an open view does not change", run: keepsViews },
  { name: "following: a block comes with the locks that it ends, also once it is reverted", run: givesLocks },
  { name: "following: rounds are those of a snapshot", run: givesRounds },
];
