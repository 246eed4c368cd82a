import { expect } from "chai";
import type { WebhookOptions } from "../../types/webhook-options.js";
import type { Delivery, DeliveryState } from "../../types/webhooks.js";
import type { FullBlock } from "../../src/chain/blocks/block.js";
import type { WebhookStore } from "../../src/webhooks/rows/store.js";
import { createReceiver, type Received, type Receiver } from "./receiver.js";
import { before, rich, rules, withTransactions } from "./rich-block.js";
import { createScriptedChain, type ScriptedChain } from "./scripted-chain.js";
import { createStage, eventually, type Stage } from "./stage.js";

const page = { offset: 0, limit: 100 };
const day = 86_400_000;

const [t1, t2] = withTransactions.transactions as [FullBlock["transactions"][0], FullBlock["transactions"][0]];
const blockOf = (id: string, ...transactions: FullBlock["transactions"]): FullBlock => ({ block: { ...withTransactions.block, id }, transactions });
const [b, next, other] = [blockOf("1000000001"), blockOf("1000000002"), blockOf("1000000003")];
const blockEvents = ["block.applied", "block.reverted"];
const allEvents = [...blockEvents, "transaction.applied", "transaction.reverted"];

describe("the last that a webhook is told", () => {
  let receiver: Receiver;
  let stage: Stage;
  let scripted: ScriptedChain;
  /** Blocks off the chain that it does not keep. */
  let forgotten: Set<string>;
  /** Names of what is answered 500. */
  let refused: Set<string>;
  /** Names of what was answered 200. */
  let accepted: string[];

  const nameOf = ({ json }: Received): string => `${json.event} ${(json.data as { id: string }).id}`;

  const begin = async (options: WebhookOptions = {}, needs: Parameters<typeof createStage>[1] = {}): Promise<void> => {
    receiver = await createReceiver();
    scripted = createScriptedChain(before, () => stage.clock.now());
    const { watch, view } = scripted.changes;
    const forgetful = (): ReturnType<typeof view> => {
      const seen = view();
      return seen === undefined || "then" in seen ? seen : { ...seen, orphan: (id) => (forgotten.has(id) ? undefined : seen.orphan(id)) };
    };
    stage = await createStage({ schedule: [day, day, day, day], disableAfter: 365 * day, deliveredRetention: 365 * day, ...options }, { changes: { watch, view: forgetful }, ...needs });
    [forgotten, refused, accepted] = [new Set(), new Set(), []];
    receiver.answer = (request, response) => {
      response.statusCode = refused.has(nameOf(request)) ? 500 : 200;
      if (response.statusCode === 200) accepted.push(nameOf(request));
      response.end();
    };
  };

  const lastWord = (subject: string): string | undefined => accepted.findLast((name) => name.endsWith(` ${subject}`))?.split(" ", 1)[0];
  const inState = (webhookId: number, state: DeliveryState): number => stage.engine.deliveries(webhookId, state, page).total;

  /** Until all has been tried that is due, and there is nothing more to read. */
  const quiet = async (webhookId: number): Promise<void> => {
    const all = (): Delivery[] => stage.engine.deliveries(webhookId, undefined, page).rows;
    const isDue = ({ state, dueAt }: Delivery): boolean => state === "pending" || (dueAt !== null && dueAt <= stage.clock.now());
    let known: number;
    do {
      await eventually(() => (all().some(isDue) ? undefined : true));
      known = all().length;
      await stage.engine.settled();
    } while (all().length > known);
  };
  const apply = async (full: FullBlock, webhookId: number): Promise<void> => {
    scripted.apply(full);
    await quiet(webhookId);
  };
  const revert = async (webhookId: number): Promise<void> => {
    scripted.revert();
    await quiet(webhookId);
  };
  /** Its target takes everything. */
  const recover = async (webhookId: number): Promise<void> => {
    refused.clear();
    await quiet(webhookId);
    while (inState(webhookId, "retrying") > 0) {
      stage.clock.advance(2 * day);
      await quiet(webhookId);
    }
  };
  const disableWhile = async (webhookId: number, work: () => void): Promise<void> => {
    stage.engine.patch(webhookId, { enabled: false });
    work();
    refused.clear();
    stage.engine.patch(webhookId, { enabled: true });
    await recover(webhookId);
  };

  it("of a transaction that two branches have is not that it is reverted, though the rest of a reversal is told after it was enabled again", async () => {
    await begin();
    const { id } = stage.engine.create({ events: allEvents, target: receiver.url });
    await apply(blockOf("2000000001", t1, t2), id);
    refused.add(`transaction.reverted ${t2.id}`);
    await revert(id);
    await apply(blockOf("2000000002", t1), id);
    expect(lastWord(t1.id)).to.equal("transaction.applied");
    await disableWhile(id, () => undefined);
    expect([t1, t2].map((one) => lastWord(one.id))).to.deep.equal(["transaction.applied", "transaction.reverted"]);
  });

  it("is what the chain says, at once, where nobody knows the block of its cursor any more", async () => {
    await begin();
    const { id } = stage.engine.create({ events: blockEvents, target: receiver.url });
    await apply(b, id);
    stage.engine.patch(id, { enabled: false });
    scripted.revert();
    scripted.apply(other);
    forgotten.add(b.block.id);
    stage.engine.patch(id, { enabled: true });
    // Without asking: that would have it look again.
    await eventually(() => lastWord(other.block.id));
    expect(stage.lines.join("\n")).to.include("continues from");
  });

  for (const order of ["strict", "first"] as const) {
    it(`is what the chain says, though an old delivery was sent again, and failed, as the webhook was disabled (${order})`, async () => {
      await begin();
      const { id } = stage.engine.create({ events: blockEvents, target: receiver.url, order });
      for (const full of [b, next]) await apply(full, id);
      refused.add(`block.applied ${b.block.id}`);
      stage.engine.redeliver(id, 1);
      await eventually(() => (inState(id, "retrying") === 1 && stage.engine.delivery(id, 1).attemptCount === 2 ? true : undefined));
      await disableWhile(id, scripted.revert);
      expect(lastWord(next.block.id)).to.equal("block.reverted");
    });

    it(`is what the chain says, though a replay was under way as the webhook was disabled (${order})`, async () => {
      await begin();
      const { id } = stage.engine.create({ events: blockEvents, target: receiver.url, order });
      for (const full of [b, next]) await apply(full, id);
      refused.add(`block.applied ${before[3]!.block.id}`);
      stage.engine.replay(id, { from: 3, to: 5 });
      await eventually(() => (inState(id, "retrying") === 1 ? true : undefined));
      await disableWhile(id, scripted.revert);
      expect(lastWord(next.block.id)).to.equal("block.reverted");
    });
  }

  it("is that a transaction is reverted, though its block was there again for a moment while there was no room to say so", async () => {
    await begin({ window: 4 });
    const others = ["2222222222", "3333333333", "4444444444"].map((name) => blockOf(name));
    const { id } = stage.engine.create({ events: allEvents, target: receiver.url });
    const x = blockOf("1111111111", t1);
    await apply(x, id);
    refused.add(`transaction.reverted ${t1.id}`);
    await revert(id);
    for (const { block } of others) refused.add(`block.applied ${block.id}`).add(`block.reverted ${block.id}`);
    for (const full of others) await apply(full, id);
    for (const _ of others) await revert(id);
    await apply(x, id);
    await revert(id);
    await apply(other, id);
    await recover(id);
    expect(lastWord(t1.id)).to.equal("transaction.reverted");
  });

  it("is that a block is reverted, though it was there again for a moment, and more was open than there is room for", async () => {
    await begin({ window: 2 });
    const { id } = stage.engine.create({ events: blockEvents, target: receiver.url });
    const earlier = ["4000000001", "4000000002"].map((name) => blockOf(name));
    for (const full of [...earlier, b]) await apply(full, id);
    refused.add(`block.reverted ${b.block.id}`);
    await revert(id);
    for (const [place, { block }] of earlier.entries()) {
      refused.add(`block.applied ${block.id}`);
      stage.engine.redeliver(id, place + 1);
    }
    await eventually(() => (inState(id, "retrying") === 3 ? true : undefined));
    await apply(b, id);
    await revert(id);
    await apply(other, id);
    await recover(id);
    expect([b, other].map(({ block }) => lastWord(block.id))).to.deep.equal(["block.reverted", "block.applied"]);
  });

  it("is told by a replay of which the chain does not keep the block it is at, and the webhook stays where it is", async () => {
    await begin();
    const { id } = stage.engine.create({ events: blockEvents, target: receiver.url });
    await apply(b, id);
    const { store } = stage.environment;
    const { cursor } = store.progress(id);
    store.transaction(() => store.putProgress(id, { ...store.progress(id), replays: [{ id: 1, cursor: "3-1234567890", to: 5 }] }));
    stage.engine.patch(id, { description: "It is read again." });
    await quiet(id);
    await eventually(() => (accepted.length === 3 ? true : undefined));
    await quiet(id);
    expect(accepted.slice(1)).to.deep.equal(before.slice(3, 5).map(({ block }) => `block.applied ${block.id}`));
    expect(store.progress(id).cursor).to.equal(cursor);
  });

  describe("asked for by a client", () => {
    const refuse = (name: string): void => void refused.add(name);
    const retries = async (webhookId: number): Promise<void> => void (await eventually(() => (inState(webhookId, "retrying") === 1 ? true : undefined)));
    const failsAgain = async (webhookId: number): Promise<void> =>
      void (await eventually(() => (stage.engine.deliveries(webhookId, "retrying", page).rows.some(({ dueAt }) => dueAt !== null && dueAt > stage.clock.now()) ? true : undefined)));
    /** Ways to ask, each for something that fails again. */
    const asking: Record<string, (webhookId: number, order: "strict" | "first" | "none") => Promise<void>> = {
      "a delivery that had arrived": async (id) => {
        for (const full of [b, next]) await apply(full, id);
        refuse(`block.applied ${b.block.id}`);
        stage.engine.redeliver(id, 1);
      },
      "one that was given up": async (id) => {
        refuse(`block.applied ${b.block.id}`);
        scripted.apply(b);
        await retries(id);
        stage.clock.advance(2 * day);
        await eventually(() => (inState(id, "dead") === 1 ? true : undefined));
        await apply(next, id);
        expect(await stage.engine.recover(id, { since: 0, until: Infinity })).to.equal(1);
      },
      "a replay": async (id, order) => {
        for (const full of [b, next]) await apply(full, id);
        refuse(`block.applied ${before[3]!.block.id}`);
        stage.engine.replay(id, { from: 3, to: 5 });
        await eventually(() => (accepted.includes(`block.applied ${before[order === "strict" ? 2 : 4]!.block.id}`) ? true : undefined));
      },
    };

    for (const [what, ask] of Object.entries(asking)) {
      for (const order of ["strict", "first", "none"] as const) {
        it(`is not gone back to by a webhook that is disabled: ${what} (${order})`, async () => {
          await begin({ schedule: [day] });
          const { id } = stage.engine.create({ events: blockEvents, target: receiver.url, order });
          await ask(id, order);
          await failsAgain(id);
          const sent = accepted.length;
          await disableWhile(id, () => scripted.apply(other));
          expect(accepted.slice(sent)).to.deep.equal([`block.applied ${other.block.id}`]);
        });
      }
    }
  });

  it("is kept where it had been given up, and a client asks for it again, though its webhook is disabled meanwhile", async () => {
    await begin({ schedule: [day] });
    const { id } = stage.engine.create({ events: blockEvents, target: receiver.url, order: "none" });
    await apply(other, id);
    for (const { block } of [b, next]) refused.add(`block.applied ${block.id}`);
    for (const full of [b, next]) scripted.apply(full);
    await eventually(() => (inState(id, "retrying") === 2 ? true : undefined));
    stage.clock.advance(2 * day);
    await eventually(() => (inState(id, "dead") === 2 ? true : undefined));
    await quiet(id);
    expect(await stage.engine.recover(id, { since: 0, until: Infinity })).to.equal(2);
    await eventually(() => (stage.engine.deliveries(id, "retrying", page).rows.filter(({ dueAt }) => dueAt !== null && dueAt > stage.clock.now()).length === 2 ? true : undefined));
    stage.engine.redeliver(id, 1);
    stage.engine.patch(id, { enabled: false });
    expect([inState(id, "dead"), inState(id, "delivered")]).to.deep.equal([2, 1]);
    refused.clear();
    stage.engine.patch(id, { enabled: true });
    await quiet(id);
    const sent = accepted.length;
    expect(await stage.engine.recover(id, { since: 0, until: Infinity })).to.equal(2);
    await eventually(() => (inState(id, "delivered") === 3 ? true : undefined));
    expect(accepted.slice(sent).sort()).to.deep.equal([b, next].map(({ block }) => `block.applied ${block.id}`));
  });

  it("is not that a block is reverted of which it never heard: in strict order, what a client asked for held that up until the webhook was disabled", async () => {
    await begin();
    const { id } = stage.engine.create({ events: blockEvents, target: receiver.url, order: "strict" });
    await apply(b, id);
    refused.add(`block.applied ${b.block.id}`);
    stage.engine.redeliver(id, 1);
    await eventually(() => (stage.engine.delivery(id, 1).attemptCount === 2 ? true : undefined));
    scripted.apply(next);
    await stage.engine.settled();
    await disableWhile(id, scripted.revert);
    expect(accepted).to.deep.equal([`block.applied ${b.block.id}`]);
    await apply(other, id);
    expect(accepted.slice(1)).to.deep.equal([`block.applied ${other.block.id}`]);
  });

  it("is kept where a client asks again for what had been given up, and the attempt fails after its webhook was disabled", async () => {
    await begin({ schedule: [day] });
    const { id } = stage.engine.create({ events: blockEvents, target: receiver.url });
    refused.add(`block.applied ${b.block.id}`);
    scripted.apply(b);
    await eventually(() => (inState(id, "retrying") === 1 ? true : undefined));
    stage.clock.advance(2 * day);
    await eventually(() => (inState(id, "dead") === 1 ? true : undefined));
    const came = new Promise<() => void>((resolve) => (receiver.answer = (_request, response) => resolve(() => response.writeHead(500).end())));
    stage.engine.redeliver(id, 1);
    const answer = await came;
    stage.engine.patch(id, { enabled: false });
    answer();
    receiver.answer = (_request, response) => void response.end();
    // Outcomes are written in the order in which they come.
    const after = stage.engine.create({ events: blockEvents, target: receiver.url });
    scripted.apply(next);
    await eventually(() => (inState(after.id, "delivered") === 1 ? true : undefined));
    expect([inState(id, "dead"), inState(id, "retrying")]).to.deep.equal([1, 0]);
  });

  it("of a transaction is that it is reverted, though the block with which it was told is final, and that of another branch, not yet told, is reverted", async () => {
    await begin();
    const { id } = stage.engine.create({ events: allEvents, target: receiver.url, order: "strict" });
    const [told, top, again] = [blockOf("3000000001", t1), blockOf("3000000002"), blockOf("3000000003", t1)];
    const empty = (count: number, from: number): FullBlock[] => Array.from({ length: count }, (_, index) => blockOf(String(from + index)));
    for (const full of [told, top]) await apply(full, id);
    expect(lastWord(t1.id)).to.equal("transaction.applied");
    const move = async (work: () => void): Promise<void> => {
      work();
      await stage.engine.settled();
    };
    // In strict order, everything after it waits for this reversal.
    refused.add(`block.reverted ${top.block.id}`);
    for (const _ of [told, top]) await move(scripted.revert);
    // Ten blocks stand between the two blocks of the transaction: the lower is final, the upper is not.
    const final = rules.milestones.at(rich).activeDelegates * 2;
    const above = empty(final - 8, 5_000_000_000);
    for (const full of [...empty(10, 4_000_000_000), again, ...above]) await move(() => scripted.apply(full));
    for (const _ of [again, ...above]) await move(scripted.revert);
    refused.clear();
    stage.clock.advance(2 * day);
    await quiet(id);
    expect(lastWord(t1.id)).to.equal("transaction.reverted");
  });

  /** Each event takes so long that it is written in a transaction of its own. */
  const wrapStore = (store: WebhookStore): WebhookStore => ({
    ...store,
    append: (...args) => {
      for (const begun = performance.now(); performance.now() - begun < 3; );
      return store.append(...args);
    },
  });
  const above = (from: number): FullBlock[] =>
    Array.from({ length: 2 * rules.milestones.at(rich).activeDelegates + 3 }, (_, n) => blockOf(String(from + n)));

  it("is that a block is applied, though it is final by the time at which the webhook comes to it", async () => {
    await begin({}, { wrapStore });
    const { id } = stage.engine.create({ events: blockEvents, target: receiver.url });
    const all = [b, next, other];
    for (const full of all) await apply(full, id);
    refused.add(`block.reverted ${next.block.id}`);
    for (const _ of all) scripted.revert();
    await quiet(id);
    for (const full of [...all, ...above(6_000_000_000)]) scripted.apply(full);
    await quiet(id);
    refused.clear();
    stage.clock.advance(2 * day);
    await quiet(id);
    expect(lastWord(next.block.id)).to.equal("block.applied");
  });

  it("is that a transaction is applied, though it comes in a higher block, which is final by the time at which the webhook comes to it", async () => {
    await begin({}, { wrapStore });
    const { id } = stage.engine.create({ events: allEvents, target: receiver.url });
    await apply(blockOf("3000000001", t1), id);
    refused.add(`transaction.reverted ${t1.id}`);
    scripted.revert();
    await quiet(id);
    for (const full of [b, next, other, blockOf("3000000002", t1), ...above(6_000_000_000)]) scripted.apply(full);
    await quiet(id);
    refused.clear();
    stage.clock.advance(2 * day);
    await quiet(id);
    expect(lastWord(t1.id)).to.equal("transaction.applied");
  });

  for (const events of [["block.applied"], blockEvents]) {
    it(`comes, though the chain keeps a block that it has lost, and not that one's parent (${events.join(", ")})`, async () => {
      await begin();
      const { id } = stage.engine.create({ events, target: receiver.url });
      refused.add(`block.applied ${b.block.id}`);
      for (const full of [b, next]) await apply(full, id);
      await disableWhile(id, () => {
        for (const _ of [b, next]) scripted.revert();
        scripted.apply(other);
        forgotten.add(b.block.id);
      });
      expect(lastWord(other.block.id)).to.equal("block.applied");
    });
  }

  it("comes in strict order, though an older delivery is sent again, and fails, while another is to be tried again", async () => {
    await begin();
    const { id } = stage.engine.create({ events: blockEvents, target: receiver.url, order: "strict" });
    await apply(b, id);
    refused.add(`block.applied ${b.block.id}`).add(`block.applied ${next.block.id}`);
    await apply(next, id);
    stage.clock.advance(day / 2);
    stage.engine.redeliver(id, 1);
    await eventually(() => (stage.engine.delivery(id, 1).attemptCount === 2 ? true : undefined));
    refused.clear();
    for (let n = 0; n < 2; n++) {
      stage.clock.advance(2 * day);
      await eventually(() => (stage.engine.delivery(id, n + 1).state === "delivered" ? true : undefined));
    }
  });
});
