import { expect } from "chai";
import type { ServerResponse } from "node:http";
import type { BlockData, TransactionData } from "../../types/events.js";
import type { DeliveryState, Webhook } from "../../types/webhooks.js";
import type { WebhookStore } from "../../src/webhooks/rows/store.js";
import type { FullBlock } from "../../src/chain/blocks/block.js";
import { createReceiver, type Received, type Receiver } from "./receiver.js";
import { before, chain, rich, rules, withTransactions } from "./rich-block.js";
import { createScriptedChain, type ScriptedChain } from "./scripted-chain.js";
import { createStage, eventually, type Stage } from "./stage.js";

const page = { offset: 0, limit: 100 };
const day = 86_400_000;

const bodyOf = (height: number): BlockData => ({ ...chain.blocks[height - 1]!, transactions: [], numberOfTransactions: 0 });
const [b, next]: [FullBlock, FullBlock] = [rules.parseBlock(bodyOf(rich)), rules.parseBlock(bodyOf(rich + 1))];
const other: FullBlock = { ...b, block: { ...b.block, id: "1234567890" } };
const [first] = withTransactions.transactions as [FullBlock["transactions"][0]];

/** The two kinds of hosts: Portico keeps the chain, and tells the engine of its changes; or the host does, and emits them. */
const kinds = [
  { keepsChain: true, title: "of Portico's own chain" },
  { keepsChain: false, title: "of a host's own chain" },
] as const;

for (const { keepsChain, title } of kinds) {
  describe(`deliveries of blocks and transactions that were reverted, ${title}`, () => {
    let receiver: Receiver;
    let stage: Stage;
    let scripted: ScriptedChain;
    /** Names of what is answered 500, as `told` gives them. */
    let refused: Set<string>;

    beforeEach(async () => {
      receiver = await createReceiver();
      scripted = createScriptedChain(before, () => stage.clock.now());
      stage = await createStage({ schedule: [day, day, day], deliveredRetention: 365 * day }, keepsChain ? { changes: scripted.changes } : {});
      refused = new Set();
      receiver.answer = (request, response) => {
        response.statusCode = refused.has(nameOf(request)) ? 500 : 200;
        response.end();
      };
    });

    const nameOf = ({ json }: Received): string => `${json.event} ${(json.data as { id: string }).id}`;
    const told = (): string[] => receiver.received.map(nameOf);
    const emitChange = (kind: "applied" | "reverted", { block, transactions }: FullBlock): void => {
      const list = kind === "applied" ? transactions : transactions.toReversed();
      for (const { id } of list) stage.events.emit(`transaction.${kind}`, { id, blockHeight: block.height } satisfies Partial<TransactionData> & { blockHeight: number });
      stage.events.emit(`block.${kind}`, { id: block.id, height: block.height });
    };
    const change = async (kind: "applied" | "reverted", full: FullBlock): Promise<void> => {
      if (!keepsChain) emitChange(kind, full);
      else if (kind === "applied") scripted.apply(full);
      else scripted.revert();
      await stage.engine.settled();
    };
    const hook = (event: string, path = ""): Webhook => stage.engine.create({ event, target: `${receiver.url}${path}` });
    const states = (webhookId: number): DeliveryState[] => stage.engine.deliveries(webhookId, undefined, page).rows.map(({ state }) => state).reverse();
    /** Lets all retries become due, and ends once another block, which comes after them, was delivered. */
    const afterAllRetries = async (applied: Webhook): Promise<void> => {
      stage.clock.advance(30 * day);
      await change("applied", next);
      const isOver = (): boolean => told().includes(`block.applied ${next.block.id}`) && states(applied.id).at(-1) === "delivered";
      await eventually(() => (isOver() ? true : undefined));
    };

    it("a delivery that failed before a reorganisation is never attempted again: the receiver's last word is the chain's", async () => {
      const applied = hook("block.applied");
      hook("block.reverted");
      refused.add(`block.applied ${b.block.id}`);
      await change("applied", b);
      await stage.attempted(applied.id, 1, 1);
      refused.clear();
      await change("reverted", b);
      await change("applied", other);
      await stage.count(applied.id, "delivered", 1);
      expect(stage.engine.delivery(applied.id, 1)).to.deep.include({ state: "superseded", dueAt: null, attemptCount: 1 });
      await afterAllRetries(applied);
      expect(told()).to.deep.equal([`block.applied ${b.block.id}`, `block.reverted ${b.block.id}`, "block.applied 1234567890", `block.applied ${next.block.id}`]);
      expect(states(applied.id)).to.deep.equal(["superseded", "delivered", "delivered"]);
    });

    for (const restarted of ["before the block is reverted", "after it"]) {
      it(`nor across a restart: ${restarted}`, async () => {
        const applied = hook("block.applied");
        refused.add(`block.applied ${b.block.id}`);
        await change("applied", b);
        await stage.attempted(applied.id, 1, 1);
        if (restarted.startsWith("before")) await stage.restart();
        await change("reverted", b);
        if (restarted.startsWith("after")) await stage.restart();
        await afterAllRetries(applied);
        expect(told()).to.deep.equal([`block.applied ${b.block.id}`, `block.applied ${next.block.id}`]);
        expect(states(applied.id)).to.deep.equal(["superseded", "delivered"]);
      });
    }

    it("nor while its webhook is disabled, nor once it is enabled again", async function () {
      // What a host has emitted is found again from the cursor: it is not known to be taken back before that is read, too.
      if (!keepsChain) this.skip();
      const applied = hook("block.applied");
      refused.add(`block.applied ${b.block.id}`);
      await change("applied", b);
      await stage.attempted(applied.id, 1, 1);
      stage.engine.replace(applied.id, { event: "block.applied", target: receiver.url, enabled: false });
      await change("reverted", b);
      stage.engine.replace(applied.id, { event: "block.applied", target: receiver.url });
      await afterAllRetries(applied);
      expect(told()).to.deep.equal([`block.applied ${b.block.id}`, `block.applied ${next.block.id}`]);
    });

    /** Holds the response to the first attempt; the promise gives what sends it. */
    const heldResponse = (): Promise<(status: number) => void> =>
      new Promise((resolve) => {
        const usual = receiver.answer;
        receiver.answer = (_request, response: ServerResponse) => {
          receiver.answer = usual;
          resolve((status) => {
            response.statusCode = status;
            response.end();
          });
        };
      });

    if (keepsChain) {
      const setEnabled = (id: number, enabled: boolean): void => void stage.engine.patch(id, { enabled });

      /** Disables a webhook that was told of the second block, and has not taken the first. */
      const disableBetween = async (): Promise<Webhook> => {
        const both = stage.engine.create({ events: ["block.applied", "block.reverted"], target: receiver.url });
        refused.add(`block.applied ${b.block.id}`);
        await change("applied", b);
        await stage.attempted(both.id, 1, 1);
        await change("applied", next);
        await stage.reaches(both.id, 2, "delivered");
        setEnabled(both.id, false);
        return both;
      };

      it("what a webhook was told beyond what it was not is taken back first, where the chain lost it while the webhook was disabled", async () => {
        const both = await disableBetween();
        await change("reverted", next);
        await change("applied", other);
        refused.clear();
        setEnabled(both.id, true);
        await receiver.until(5);
        expect(told().slice(2)).to.deep.equal([`block.reverted ${next.block.id}`, `block.applied ${b.block.id}`, `block.applied ${other.block.id}`]);
        const [, second, reversal] = receiver.received;
        expect((reversal?.json as { reverts?: string }).reverts, "no record says so any more").to.equal(second?.headers["webhook-id"]);
      });

      it("nor is it lost from sight before the webhook was told again of all", async () => {
        const both = await disableBetween();
        refused.clear();
        // It is told of the first block again, and does not answer: the second waits, of which it was told before.
        const held = heldResponse();
        setEnabled(both.id, true);
        const respond = await held;
        await stage.engine.settled();
        await change("reverted", next);
        await change("applied", other);
        respond(200);
        await receiver.until(5);
        expect(told().slice(2)).to.deep.equal([`block.applied ${b.block.id}`, `block.reverted ${next.block.id}`, `block.applied ${other.block.id}`]);
      });

      it("nor where the webhook is disabled a second time, before it was told again of all", async () => {
        const both = await disableBetween();
        const third: FullBlock = { ...next, block: { ...next.block, id: "2345678901" } };
        // It is told of more, and still does not take the first block.
        setEnabled(both.id, true);
        await change("applied", third);
        await eventually(() => (told().includes(`block.applied ${third.block.id}`) ? true : undefined));
        await eventually(() => (states(both.id).slice(-2).every((state) => state === "delivered") ? true : undefined));
        setEnabled(both.id, false);
        for (const full of [third, next]) await change("reverted", full);
        await change("applied", other);
        refused.clear();
        receiver.received.length = 0;
        setEnabled(both.id, true);
        await receiver.until(4);
        expect(told()).to.deep.equal([`block.reverted ${third.block.id}`, `block.reverted ${next.block.id}`, `block.applied ${b.block.id}`, `block.applied ${other.block.id}`]);
      });

      it("reversals of two branches that are open when it is disabled are told, whatever has become of the cursor", async () => {
        const both = stage.engine.create({ events: ["block.applied", "block.reverted"], target: receiver.url });
        await change("applied", b);
        await receiver.until(1);
        for (const full of [next, other]) {
          refused.add(`block.reverted ${full.block.id}`);
          await change("applied", full);
          await change("reverted", full);
        }
        await eventually(() => (told().includes(`block.reverted ${other.block.id}`) ? true : undefined));
        await eventually(() => (states(both.id).filter((state) => state === "retrying").length === 2 ? true : undefined));
        setEnabled(both.id, false);
        refused.clear();
        receiver.received.length = 0;
        setEnabled(both.id, true);
        await receiver.until(2);
        expect(told().sort()).to.deep.equal([`block.reverted ${next.block.id}`, `block.reverted ${other.block.id}`].sort());
      });

      it("a reversal that is open when its webhook is disabled is told once it is enabled, though the webhook does not ask for what is applied", async () => {
        const reverted = hook("block.reverted");
        refused.add(`block.reverted ${b.block.id}`);
        await change("applied", b);
        await change("reverted", b);
        await stage.attempted(reverted.id, 1, 1);
        setEnabled(reverted.id, false);
        refused.clear();
        setEnabled(reverted.id, true);
        await receiver.until(2);
        expect(told()).to.deep.equal([`block.reverted ${b.block.id}`, `block.reverted ${b.block.id}`]);
        expect(new Set(receiver.received.map(({ headers }) => headers["webhook-id"])).size).to.equal(1);
      });

      it("a block that comes back is told again, if its reversal was taken while that of a higher one was not", async () => {
        const both = stage.engine.create({ events: ["block.applied", "block.reverted"], target: receiver.url });
        refused.add(`block.reverted ${next.block.id}`);
        for (const full of [b, next]) await change("applied", full);
        await receiver.until(2);
        for (const _ of [next, b]) await change("reverted", next);
        await stage.reaches(both.id, 4, "delivered");
        await stage.reaches(both.id, 3, "retrying");
        setEnabled(both.id, false);
        for (const full of [b, next]) await change("applied", full);
        receiver.received.length = 0;
        setEnabled(both.id, true);
        await receiver.until(2);
        expect(told()).to.deep.equal([`block.applied ${b.block.id}`, `block.applied ${next.block.id}`]);
      });

      it("in strict order, blocks that come back before their reversals were told, and are lost while the webhook is disabled, are taken back", async () => {
        const strict = stage.engine.create({ events: ["block.applied", "block.reverted"], target: receiver.url, order: "strict" });
        for (const full of [b, next]) await change("applied", full);
        await receiver.until(2);
        refused.add(`block.reverted ${next.block.id}`).add(`block.applied ${next.block.id}`);
        for (const full of [next, b]) await change("reverted", full);
        await stage.reaches(strict.id, 3, "retrying");
        for (const full of [b, next]) await change("applied", full);
        await stage.reaches(strict.id, 5, "retrying");
        expect(told().slice(2), "of b nobody can have heard that it was reverted").to.deep.equal([`block.reverted ${next.block.id}`, `block.applied ${next.block.id}`]);
        setEnabled(strict.id, false);
        await change("reverted", next);
        await change("applied", other);
        refused.clear();
        receiver.received.length = 0;
        setEnabled(strict.id, true);
        await receiver.until(2);
        expect(told()).to.deep.equal([`block.reverted ${next.block.id}`, `block.applied ${other.block.id}`]);
      });

      it("a reversal of which a part was told is told to its end, or the block again where that is applied again meanwhile", async () => {
        for (const isAppliedAgain of [false, true]) {
          receiver.received.length = 0;
          refused.clear();
          const all = stage.engine.create({ events: ["block.*", "transaction.*"], target: receiver.url, order: "strict" });
          const names = (kind: string): string[] => [`block.${kind} ${withTransactions.block.id}`, ...(kind === "applied" ? withTransactions.transactions : withTransactions.transactions.toReversed()).map(({ id }) => `transaction.${kind} ${id}`)];
          await change("applied", withTransactions);
          await receiver.until(names("applied").length);
          const last = names("reverted").at(-1) as string;
          refused.add(last);
          await change("reverted", withTransactions);
          await eventually(() => (told().at(-1) === last ? true : undefined));
          await eventually(() => (states(all.id).at(-1) === "retrying" ? true : undefined));
          setEnabled(all.id, false);
          refused.clear();
          receiver.received.length = 0;
          if (isAppliedAgain) await change("applied", withTransactions);
          setEnabled(all.id, true);
          await receiver.until(isAppliedAgain ? names("applied").length : 1);
          expect(told()).to.deep.equal(isAppliedAgain ? names("applied") : [last]);
          stage.engine.remove(all.id);
        }
      });
    }

    for (const { status, state } of [
      { status: 500, state: "superseded" },
      { status: 200, state: "delivered" },
    ] as const) {
      it(`nor after an attempt that was under way when the block was reverted, and ends with ${status}; the reversal waits for its end`, async () => {
        const applied = hook("block.applied");
        const reverted = hook("block.reverted");
        const held = heldResponse();
        await change("applied", b);
        const respond = await held;
        await change("reverted", b);
        await change("applied", other);
        expect(states(applied.id), "it is under way").to.deep.equal(["pending", "pending"]);
        expect(states(reverted.id)).to.deep.equal(["pending"]);
        respond(status);
        await stage.reaches(applied.id, 1, state);
        await stage.count(applied.id, "delivered", status === 200 ? 2 : 1);
        await afterAllRetries(applied);
        expect(told()).to.deep.equal([`block.applied ${b.block.id}`, `block.reverted ${b.block.id}`, "block.applied 1234567890", `block.applied ${next.block.id}`]);
        expect(stage.engine.delivery(applied.id, 1)).to.deep.include({ state, attemptCount: 1, dueAt: null });
      });
    }

    it("the reversal waits for a second attempt that is under way, which is outside the order of first attempts", async () => {
      const applied = hook("block.applied");
      const reverted = hook("block.reverted");
      refused.add(`block.applied ${b.block.id}`);
      await change("applied", b);
      await stage.attempted(applied.id, 1, 1);
      const held = heldResponse();
      stage.clock.advance(2 * day);
      const respond = await held;
      await change("reverted", b);
      // What runs in the meantime: a webhook of another target gets all of it.
      const elsewhere = hook("block.applied", "/elsewhere");
      await change("applied", other);
      await stage.count(elsewhere.id, "delivered", 1);
      expect(told()).to.not.include(`block.reverted ${b.block.id}`);
      respond(500);
      await stage.count(reverted.id, "delivered", 1);
      await stage.count(applied.id, "delivered", 1);
      expect(stage.engine.delivery(applied.id, 1)).to.deep.include({ state: "superseded", attemptCount: 2, dueAt: null });
    });

    it("one that was never attempted is dropped", async () => {
      const applied = hook("block.applied");
      const held = heldResponse();
      await change("applied", next);
      const respond = await held;
      await change("applied", b);
      await change("reverted", b);
      respond(200);
      await change("applied", other);
      await stage.count(applied.id, "delivered", 2);
      expect(states(applied.id)).to.deep.equal(["delivered", "dropped", "delivered"]);
      expect(told()).to.not.include(`block.applied ${b.block.id}`);
    });

    it("one that was read ahead, and never attempted, is dropped", async () => {
      const applied = hook("block.applied");
      let held = heldResponse();
      await change("applied", next);
      const respondFirst = await held;
      await change("applied", b);
      await change("applied", other);
      held = heldResponse();
      respondFirst(200);
      // With this, the next one is read.
      const respondSecond = await held;
      await change("reverted", other);
      respondSecond(200);
      await change("applied", other);
      await stage.count(applied.id, "delivered", 3);
      expect(states(applied.id)).to.deep.equal(["delivered", "delivered", "dropped", "delivered"]);
      expect(told().filter((name) => name === `block.applied ${other.block.id}`)).to.have.length(1);
    });

    it("a block that is applied again supersedes its reversal, attempted or not", async () => {
      const applied = hook("block.applied");
      const reverted = hook("block.reverted");
      refused.add(`block.reverted ${b.block.id}`);
      await change("applied", b);
      await stage.count(applied.id, "delivered", 1);
      await change("reverted", b);
      await stage.attempted(reverted.id, 2, 1);
      const held = heldResponse();
      await change("applied", b);
      const respond = await held;
      // This reversal waits while the application is sent.
      await change("reverted", b);
      await change("applied", b);
      respond(200);
      await stage.count(applied.id, "delivered", 3);
      await stage.reaches(reverted.id, 4, "superseded");
      await afterAllRetries(applied);
      expect(told().map((name) => name.split(" ")[0])).to.deep.equal(["applied", "reverted", "applied", "applied", "applied"].map((kind) => `block.${kind}`));
      expect(states(reverted.id)).to.deep.equal(["superseded", "superseded"]);
    });

    it("a block that was applied again, and is reverted before anybody heard of that, is taken back as what was heard of before", async () => {
      const both = stage.engine.create({ events: ["block.applied", "block.reverted"], target: receiver.url });
      await change("applied", b);
      await stage.count(both.id, "delivered", 1);
      const held = heldResponse();
      await change("applied", next);
      const respond = await held;
      // All of this waits while the next block's application is sent; the first reversal is superseded, the second application dropped.
      await change("reverted", next);
      await change("reverted", b);
      await change("applied", b);
      await change("reverted", b);
      respond(200);
      await stage.count(both.id, "delivered", 4);
      expect(told()).to.deep.equal([`block.applied ${b.block.id}`, `block.applied ${next.block.id}`, `block.reverted ${next.block.id}`, `block.reverted ${b.block.id}`]);
      const [first, , , last] = receiver.received as (Received & { json: { reverts?: string } })[];
      expect(last?.json.reverts).to.equal(first?.headers["webhook-id"]);
    });

    it("a block that is applied and reverted again and again is told of each time", async () => {
      const both = stage.engine.create({ events: ["block.*", "transaction.*"], target: receiver.url });
      const expected: string[] = [];
      const all = async (deed: "applied" | "reverted", blocks: readonly FullBlock[]): Promise<void> => {
        for (const full of blocks) {
          await change(deed, full);
          expected.push(`block.${deed} ${full.block.id}`, ...full.transactions.map(({ id }) => `transaction.${deed} ${id}`));
        }
        await stage.count(both.id, "delivered", expected.length);
      };
      /** Blocks above it, and off again: of so many blocks that payloads are remembered of some and not of others. */
      const others = async (branch: string, count: number): Promise<void> => {
        const blocks = Array.from({ length: count }, (_, index) => ({ ...next, block: { ...next.block, id: `${branch}${index}`, height: rich + 1 + index, previousBlock: index === 0 ? withTransactions.block.id : `${branch}${index - 1}` } }));
        await all("applied", blocks);
        await all("reverted", blocks.toReversed());
      };
      for (const [turn, count] of [10, 13, 1].entries()) {
        await all("applied", [withTransactions]);
        await others(`9${turn}00`, count);
        await all("reverted", [withTransactions]);
      }
      expect([...told()].sort()).to.deep.equal(expected.sort());
      expect(new Set(states(both.id))).to.deep.equal(new Set(["delivered"]));
    });

    it("transactions of a reverted block are never attempted again, even where nobody listens to reversals", async () => {
      const applied = hook("transaction.applied");
      const blocks = hook("block.applied", "/blocks");
      refused.add(`transaction.applied ${first.id}`);
      await change("applied", withTransactions);
      await stage.count(applied.id, "retrying", 1);
      await stage.count(applied.id, "delivered", withTransactions.transactions.length - 1);
      await change("reverted", withTransactions);
      await afterAllRetries(blocks);
      expect(states(applied.id)).to.have.members(["superseded", ...withTransactions.transactions.slice(1).map(() => "delivered")]);
      expect(told().filter((name) => name === `transaction.applied ${first.id}`)).to.have.length(1);
    });

    it("a transaction that is applied again, in whatever block, supersedes its reversal", async () => {
      const reverted = hook("transaction.reverted");
      const blocks = hook("block.applied", "/blocks");
      refused.add(`transaction.reverted ${first.id}`);
      await change("applied", withTransactions);
      await change("reverted", withTransactions);
      await stage.count(reverted.id, "retrying", 1);
      await change("applied", { ...other, transactions: [{ ...first, blockId: other.block.id }] });
      expect(stage.engine.deliveries(reverted.id, "superseded", page).total).to.equal(1);
      await afterAllRetries(blocks);
      expect(told().filter((name) => name === `transaction.reverted ${first.id}`)).to.have.length(1);
    });

    it("a transaction whose reversal was superseded, and that was taken back with another block, is told again with the first", async () => {
      const { id } = stage.engine.create({ events: ["block.*", "transaction.*"], target: receiver.url, order: "strict" });
      const again = { ...other, transactions: [{ ...first, blockId: other.block.id }] };
      await change("applied", withTransactions);
      await stage.count(id, "delivered", 1 + withTransactions.transactions.length);
      // In strict order, the reversals of its transactions wait for its own, and are never attempted.
      refused.add(`block.reverted ${b.block.id}`);
      await change("reverted", withTransactions);
      await stage.count(id, "retrying", 1);
      await change("applied", again);
      refused.clear();
      stage.clock.advance(day);
      await eventually(() => (told().includes(`block.applied ${other.block.id}`) ? true : undefined));
      await stage.count(id, "pending", 0);
      await change("reverted", again);
      await stage.count(id, "pending", 0);
      await change("applied", withTransactions);
      await eventually(() => (told().findLast((name) => name.endsWith(first.id)) === `transaction.applied ${first.id}` ? true : undefined));
    });

    if (!keepsChain) it("a webhook that was sent blocks and transactions goes on once it is enabled again, and is sent their reversals", async () => {
      const { id } = stage.engine.create({ events: ["block.*", "transaction.*"], target: receiver.url });
      await stage.engine.settled();
      stage.events.emit("transaction.applied", { id: "one", blockHeight: 5 });
      stage.events.emit("block.applied", { id: "five", height: 5 });
      await stage.count(id, "delivered", 2);
      for (const enabled of [false, true]) stage.engine.patch(id, { enabled });
      stage.events.emit("block.reverted", { id: "five", height: 5 });
      stage.events.emit("transaction.reverted", { id: "one", blockHeight: 5 });
      await stage.count(id, "delivered", 4);
      expect(told().slice(2)).to.deep.equal(["block.reverted five", "transaction.reverted one"]);
    });

    if (!keepsChain) it("the reversal of a transaction is sent if the host's events of transactions name no height, whatever block came between", async () => {
      const { id } = stage.engine.create({ events: ["transaction.applied", "transaction.reverted"], target: receiver.url });
      const blocks = hook("block.applied", "/blocks");
      for (const height of [5, 6]) {
        stage.events.emit("block.applied", { id: `block-${height}`, height });
        if (height === 5) stage.events.emit("transaction.applied", { id: "one" });
        await stage.count(blocks.id, "delivered", height - 4);
        await stage.count(id, "delivered", 1);
      }
      stage.events.emit("transaction.reverted", { id: "one" });
      await stage.count(id, "delivered", 2);
      expect(told().filter((name) => name.endsWith(" one"))).to.deep.equal(["transaction.applied one", "transaction.reverted one"]);
    });

    if (keepsChain) it("a block that was told twice, as a client moved the webhook, is taken back once, whether or not it was delivered the second time", async () => {
      const applied = stage.engine.create({ events: ["block.applied", "block.reverted"], target: receiver.url });
      await change("applied", b);
      await stage.reaches(applied.id, 1, "delivered");
      for (const status of [200, 500]) {
        if (status === 500) refused.add(`block.applied ${b.block.id}`);
        stage.engine.patch(applied.id, { from: b.block.height - 1 });
        await stage.engine.settled();
      }
      await receiver.until(3);
      await change("reverted", b);
      await receiver.until(4);
      await change("applied", other);
      expect((await receiver.until(5)).map(nameOf).slice(3)).to.deep.equal([`block.reverted ${b.block.id}`, `block.applied ${other.block.id}`]);
      const [first, , third, reversal] = receiver.received;
      expect((reversal?.json as { reverts?: string }).reverts).to.equal(first?.headers["webhook-id"]).and.to.equal(third?.headers["webhook-id"]);
    });

    it("recovery passes superseded deliveries over, and none that tells of a reverted block is sent again", async () => {
      const [applied, other] = [hook("block.applied"), hook("block.applied", "/other")];
      refused.add(`block.applied ${b.block.id}`);
      await change("applied", b);
      await stage.attempted(applied.id, 1, 1);
      await change("reverted", b);
      expect(await stage.engine.recover(applied.id, { since: 0, until: stage.clock.now() })).to.equal(0);
      for (const [webhook, id] of [[applied, 1], [other, 2]] as const) expect(() => stage.engine.redeliver(webhook.id, id)).to.throw(/undone/);
    });

    it("a dead delivery of a reverted block stays dead, and recovery passes it over", async () => {
      const applied = hook("block.applied");
      await stage.restart({ schedule: [] });
      refused.add(`block.applied ${b.block.id}`);
      await change("applied", b);
      await stage.reaches(applied.id, 1, "dead");
      await change("reverted", b);
      expect(states(applied.id)).to.deep.equal(["dead"]);
      expect(await stage.engine.recover(applied.id, { since: 0, until: stage.clock.now() })).to.equal(0);
    });
  });
}

describe("a delivery whose outcome is written just when its block is reverted", () => {
  it("is attempted no more: the reversal is the last that its target hears", async () => {
    const receiver = await createReceiver();
    const scripted = createScriptedChain(before, () => stage.clock.now());
    const isRetrying = (store: WebhookStore): boolean => store.countOf(1, "retrying") > 0;
    let isReverted = false;
    /** Whoever has written that the attempt failed learns of it only when the reversal is written, too. */
    const wrapStore = (store: WebhookStore): WebhookStore => ({
      ...store,
      transactionSoon: async (work) => {
        const done = await store.transactionSoon(work);
        if (isReverted || !isRetrying(store)) return done;
        isReverted = true;
        scripted.revert();
        await eventually(() => (store.lastDelivery() > 1 ? true : undefined));
        return done;
      },
    });
    const stage = await createStage({ schedule: [1, 1, 1] }, { changes: scripted.changes, wrapStore });
    const told = (): string[] => receiver.received.map(({ json: { event } }) => event);
    receiver.answer = (_request, response) => {
      response.statusCode = told().length === 1 ? 500 : 200;
      response.end();
    };
    const { id } = stage.engine.create({ events: ["block.*"], target: receiver.url });
    scripted.apply(b);
    await stage.count(id, "delivered", 1);
    stage.clock.advance(day);
    scripted.apply(next);
    await stage.count(id, "delivered", 2);
    expect(told()).to.deep.equal(["block.applied", "block.reverted", "block.applied"]);
    expect(stage.engine.deliveries(id, "superseded", page).total).to.equal(1);
  });
});

describe("a webhook that has room for a part of a block", () => {
  let receiver: Receiver;
  let stage: Stage;
  let scripted: ScriptedChain;

  beforeEach(async () => {
    receiver = await createReceiver();
    scripted = createScriptedChain(before, () => stage.clock.now());
    stage = await createStage({ window: 2 }, { changes: scripted.changes });
  });

  const events = ["block.applied", "block.reverted", "transaction.applied", "transaction.reverted"];
  const told = (): string[] => receiver.received.map(({ json: { event, data } }) => `${event} ${(data as { id: string }).id}`);
  const [one, two] = withTransactions.transactions.map(({ id }) => id) as [string, string];
  /** The target answers once this is called. */
  const hold = (): (() => void) => {
    const waiting: ServerResponse[] = [];
    receiver.answer = (_request, response) => void waiting.push(response);
    return () => {
      receiver.answer = (_request, response) => response.end();
      waiting.splice(0).forEach((response) => response.end());
    };
  };

  it("is sent all of a block that another was told is reverted, and that was there again before it had room to look", async () => {
    receiver.answer = ({ path }, response) => {
      response.statusCode = path === "/full" ? 500 : 200;
      response.end();
    };
    const full = stage.engine.create({ event: "block.applied", target: `${receiver.url}/full` });
    const other = stage.engine.create({ event: "block.applied", target: `${receiver.url}/other` });
    const blocks = [before.at(-1), b, next].map((one) => ({ ...b, block: { ...b.block, id: `${one?.block.id ?? ""}9` } }));
    for (const block of blocks) {
      scripted.apply(block);
      await stage.engine.settled();
    }
    await stage.count(other.id, "delivered", 3);
    await eventually(() => (stage.engine.deliveries(full.id, "retrying", page).total === 2 ? true : undefined));
    for (let n = 0; n < 2; n++) {
      scripted.revert();
      await stage.engine.settled();
    }
    for (const block of blocks.slice(1)) {
      scripted.apply(block);
      await stage.engine.settled();
    }
    await stage.count(other.id, "delivered", 5);
    stage.clock.advance(60_000);
    await eventually(() => (stage.engine.deliveries(full.id, undefined, page).rows.every(({ attemptCount }) => attemptCount === 2) ? true : undefined));
    await stage.engine.settled();
    expect(stage.engine.deliveries(full.id, "retrying", page).total, "attempted again").to.equal(2);
  });

  it("never has more deliveries open than its window, though many match in one block", async () => {
    const answer = hold();
    const { id } = stage.engine.create({ events, target: receiver.url });
    scripted.apply(withTransactions);
    await stage.engine.settled();
    expect(stage.engine.deliveries(id, undefined, page).total).to.equal(2);
    answer();
    await stage.count(id, "delivered", 1 + withTransactions.transactions.length);
  });

  it("is told that it is reverted, though it was final when it was sent the part", async () => {
    const answer = hold();
    stage.engine.create({ events, target: receiver.url });
    await stage.engine.settled();
    const above = 2 * rules.milestones.at(withTransactions.block.height).activeDelegates + 2;
    scripted.apply(withTransactions);
    for (let n = 0; n < above; n++) scripted.apply({ ...b, block: { ...b.block, id: String(7_000_000_000 + n) } });
    await receiver.until(1);
    await stage.engine.settled();
    for (let n = 0; n <= above; n++) scripted.revert();
    await stage.engine.settled();
    answer();
    const isReverted = (id: string): boolean => told().findLast((name) => name.endsWith(` ${id}`))?.includes("reverted") !== false;
    await eventually(() => (isReverted(withTransactions.block.id) && isReverted(one) ? true : undefined));
  });

  it("goes on where the block is reverted before the rest has room; its last word on each transaction is the chain's", async () => {
    const answer = hold();
    const { id } = stage.engine.create({ events, target: receiver.url });
    scripted.apply(withTransactions);
    await receiver.until(1);
    scripted.revert();
    await stage.engine.settled();
    answer();
    scripted.apply(next);
    const isOpen = (): boolean => (["pending", "retrying"] as const).some((state) => stage.engine.deliveries(id, state, page).total > 0);
    await eventually(() => (told().includes(`block.applied ${next.block.id}`) && !isOpen() ? true : undefined));
    const words = new Map<string, string>();
    for (const name of told()) {
      const [event = "", subject = ""] = name.split(" ");
      words.set(subject, event);
    }
    expect(words.get(next.block.id)).to.equal("block.applied");
    expect(words.get(b.block.id)).to.equal("block.reverted");
    for (const { id: subject } of withTransactions.transactions) expect([undefined, "transaction.reverted"]).to.include(words.get(subject));
  });

  it("is told of all of a reversal that has room for a part only, after a restart too", async () => {
    const { id } = stage.engine.create({ events, target: receiver.url });
    scripted.apply({ ...withTransactions, transactions: withTransactions.transactions.slice(0, 2) });
    await stage.count(id, "delivered", 3);
    let answer = hold();
    scripted.revert();
    await stage.engine.settled();
    await receiver.until(4);
    await stage.restart();
    answer();
    answer = hold();
    answer();
    await stage.count(id, "delivered", 6);
    expect([...new Set(told())]).to.deep.equal([
      ...[`block.applied ${b.block.id}`, `transaction.applied ${one}`, `transaction.applied ${two}`],
      ...[`block.reverted ${b.block.id}`, `transaction.reverted ${two}`, `transaction.reverted ${one}`],
    ]);
  });
});
