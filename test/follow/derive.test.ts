import { expect } from "chai";
import { createChainRules } from "../../src/chain/rules.js";
import type { FullBlock } from "../../src/chain/blocks/block.js";
import { appliedChange, type DerivedChange, revertedChange } from "../../src/follow/derive.js";
import type { RoundDelegate, Transaction } from "../../types/chain.js";
import { loadChain } from "../data/read.js";

const chain = loadChain("core3-custom-c");
const rules = createChainRules(chain.network);
const blocks = chain.blocks.map(rules.parseBlock);

/** Of a kind of transaction, the first block that has one. */
const blockWith = (key: string, fits: (transaction: Transaction) => boolean = () => true): FullBlock => {
  const found = blocks.find(({ block, transactions }) => block.height > 1 && transactions.some((one) => one.typeGroup === 1 && rules.types.of(one).key === key && fits(one)));
  if (found === undefined) throw new Error(`the chain has no ${key}`);
  return found;
};

const told = ({ events }: DerivedChange): [event: string, subject: unknown][] => events.map(({ event, data }) => [event, (data as { id?: string } | null)?.id ?? data]);

describe("the events of a change", () => {
  it("are those of the block, of each transaction and of what it causes, in this order", () => {
    const causes: Record<string, string> = { delegateRegistration: "delegate.registered", delegateResignation: "delegate.resigned" };
    for (const key of ["delegateRegistration", "delegateResignation", "vote", "transfer"]) {
      const full = blockWith(key);
      const change = appliedChange(full, undefined, rules);
      const expected: [string, unknown][] = [["block.applied", full.block.id]];
      for (const transaction of full.transactions) {
        const kind = transaction.typeGroup === 1 ? rules.types.of(transaction).key : "";
        const payload = change.events.find(({ event, data }) => event === "transaction.applied" && (data as { id: string }).id === transaction.id)?.data;
        expected.push(["transaction.applied", transaction.id]);
        if (causes[kind] !== undefined) expected.push([causes[kind], transaction.id]);
        const votes = kind === "vote" ? (transaction.asset?.votes as string[]) : [];
        for (const vote of votes) expected.push([vote.startsWith("+") ? "wallet.vote" : "wallet.unvote", { delegate: vote, transaction: payload }]);
      }
      expect(told(change)).to.deep.equal(expected);
    }
    expect(told(appliedChange(blockWith("vote", ({ asset }) => (asset?.votes as string[])[0]?.startsWith("-") === true), undefined, rules)).map(([event]) => event)).to.include("wallet.unvote");
  });

  it("of a transaction of another group, or with what is no vote in the place of one, are its own alone", () => {
    const { block, transactions } = blockWith("vote");
    const vote = transactions.find((one) => rules.types.of(one).key === "vote") as Transaction;
    const eventsWith = (changed: Partial<Transaction>): string[] => appliedChange({ block, transactions: [{ ...vote, ...changed }] }, undefined, rules).events.map(({ event }) => event);
    expect(eventsWith({})).to.have.length(3);
    for (const changed of [{ typeGroup: 7_777 }, { asset: { votes: [5, null] } }, { asset: {} }]) expect(eventsWith(changed)).to.deep.equal(["block.applied", "transaction.applied"]);
  });

  it("end with the round that ends and the one that begins, where the block ends one", () => {
    const full = blockWith("transfer");
    const round = [{ publicKey: "02".repeat(33), votes: 5n, rank: 1 }] as unknown as RoundDelegate[];
    const { events } = appliedChange(full, round, rules);
    expect(events.slice(-2).map(({ event }) => event)).to.deep.equal(["round.applied", "round.created"]);
    expect(events.at(-2)?.data).to.equal(null);
    expect(events.at(-2)?.json).to.equal("null");
    expect(events.at(-1)?.data).to.be.an("array").with.length(1);
  });

  it("of a reversal are the block's, then the transactions', from the last to the first", () => {
    const full = blocks.find(({ transactions }) => transactions.length > 2) as FullBlock;
    const change = revertedChange({ ...full, revertedAt: 5_000 }, rules);
    expect(told(change)).to.deep.equal([["block.reverted", full.block.id], ...full.transactions.toReversed().map(({ id }) => ["transaction.reverted", id])]);
    expect(change.events.every(({ at }) => at === 5_000)).to.equal(true);
  });

  it("are numbered in their block, by how often it had been applied before, and have its time, or that at which it was applied", () => {
    const full = blockWith("transfer");
    const { id, height } = full.block;
    const first = appliedChange(full, undefined, rules);
    const again = appliedChange({ ...full, times: 2, appliedAt: 7_000 }, undefined, rules);
    expect(first.events.slice(0, 2).map((event) => event.id)).to.deep.equal([`${id}.applied.0`, `${id}.applied.1`]);
    expect(again.events.slice(0, 2).map((event) => event.id)).to.deep.equal([`${id}.applied.0.2`, `${id}.applied.1.2`]);
    expect(first.events.map(({ at }) => at)).to.include(rules.epoch.toMilliseconds(full.block.timestamp));
    expect(again.events[0]).to.deep.include({ at: 7_000, block: { height, id } });
    expect(first.events[0]?.json).to.equal(JSON.stringify(first.events[0]?.data));
    expect(first.events, "made once").to.equal(first.events);
    expect(first.events[0]?.data).to.equal(first.events[0]?.data);
  });
});
