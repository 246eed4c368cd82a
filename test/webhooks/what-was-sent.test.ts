import type { ServerResponse } from "node:http";
import { expect } from "chai";
import type { FullBlock } from "../../src/chain/blocks/block.js";
import { openWebhookStore } from "../../src/webhooks/rows/store.js";
import type { DeliveryState } from "../../types/webhooks.js";
import type { WebhookOptions } from "../../types/webhook-options.js";
import { createReceiver, type Received, type Receiver } from "./receiver.js";
import { before, withTransactions } from "./rich-block.js";
import { createScriptedChain, type ScriptedChain } from "./scripted-chain.js";
import { createStage, eventually, type Stage } from "./stage.js";

const page = { offset: 0, limit: 1_000 };
const [hour, day] = [3_600_000, 86_400_000];
const blockOf = (id: string): FullBlock => ({ block: { ...withTransactions.block, id }, transactions: [] });
const both = ["block.applied", "block.reverted"];
const later = Array.from({ length: 130 }, (_, n) => String(8_000 + n));

describe("what a receiver was sent, or may have been, is taken back once the chain has lost it", () => {
  let receiver: Receiver;
  let stage: Stage;
  let scripted: ScriptedChain;
  /** Names of what is answered 500, of what is not answered, and of what was answered 200. */
  let [refused, unanswered, accepted]: [Set<string>, Set<string>, string[]] = [new Set(), new Set(), []];
  let open: ServerResponse[];

  /** Of one event, or of each of a batch. */
  const namesOf = ({ json }: Received): string[] =>
    ("events" in json ? (json.events as Received["json"][]) : [json]).map(({ event, data }) => `${event} ${String((data as { id?: string }).id)}`);
  const begin = async (keepsChain: boolean, options: WebhookOptions = {}): Promise<void> => {
    [refused, unanswered, accepted, open] = [new Set(), new Set(), [], []];
    receiver = await createReceiver();
    receiver.answer = (request, response) => {
      const names = namesOf(request);
      if (names.some((name) => unanswered.has(name))) return void open.push(response);
      response.statusCode = names.some((name) => refused.has(name)) ? 500 : 200;
      if (response.statusCode === 200) accepted.push(...names);
      response.end();
    };
    scripted = createScriptedChain(before, () => stage.clock.now());
    const lasting = { schedule: [day, 5 * day, day, day], disableAfter: 365 * day, deliveredRetention: 365 * day };
    stage = await createStage({ ...lasting, ...options }, keepsChain ? { changes: scripted.changes } : {});
  };

  const until = (isSo: () => boolean): Promise<true> => eventually(() => (isSo() ? true : undefined));
  const total = (id: number, state: DeliveryState): number => stage.engine.deliveries(id, state, page).total;
  const isAccepted = (name: string) => (): boolean => accepted.includes(name);
  const reversals = (): string[] => accepted.filter((name) => name.startsWith("block.reverted"));
  const apply = async (...ids: string[]): Promise<void> => {
    for (const id of ids) {
      scripted.apply(blockOf(id));
      await stage.engine.settled();
    }
  };
  const revert = async (blocks: number): Promise<void> => {
    for (let left = blocks; left > 0; left--) {
      scripted.revert();
      await stage.engine.settled();
    }
  };
  /** What a process leaves that was killed. */
  const leaveMark = async (): Promise<void> => {
    const { store, close } = openWebhookStore(stage.dataDir);
    store.transaction(() => store.noteRunning(true));
    await close();
  };
  const pause = async (target: string): Promise<void> => {
    const { store, close } = openWebhookStore(stage.dataDir);
    store.transaction(() => store.putPause(target, { length: hour, wall: stage.clock.now(), monotonic: stage.clock.monotonic() }));
    await close();
  };

  it("though several blocks were lost while its webhook was disabled, and are below the last final one by then", async () => {
    await begin(true);
    const { id } = stage.engine.create({ events: both, target: receiver.url });
    refused.add("block.applied 7001");
    await apply("7001", "7002", "7003");
    await until(() => accepted.length === 2 && total(id, "retrying") === 1);
    stage.engine.patch(id, { enabled: false });
    await revert(2);
    await apply(...later);
    refused.clear();
    stage.engine.patch(id, { enabled: true });
    await until(isAccepted("block.applied 8129"));
    expect(reversals()).to.deep.equal(["block.reverted 7003", "block.reverted 7002"]);
  });

  it("though several reversals are open as its webhook is disabled, and their heights are final by then", async () => {
    await begin(true);
    const { id } = stage.engine.create({ events: both, target: receiver.url });
    await apply("7001", "7002");
    await until(() => accepted.length === 2);
    refused.add("block.reverted 7001").add("block.reverted 7002");
    await revert(2);
    await until(() => total(id, "retrying") === 2);
    await apply(...later);
    await until(isAccepted("block.applied 8129"));
    refused.clear();
    stage.engine.patch(id, { enabled: false });
    stage.engine.patch(id, { enabled: true });
    await until(() => reversals().length === 2);
    expect(reversals()).to.deep.equal(["block.reverted 7002", "block.reverted 7001"]);
  });

  for (const isKilled of [true, false]) {
    it(`though nothing is recorded of it: the process ${isKilled ? "was killed, and the next one stopped" : "stopped while an attempt was under way"}`, async () => {
      await begin(true);
      const { target } = stage.engine.create({ events: both, target: receiver.url });
      unanswered.add("block.applied 7001");
      await apply("7001");
      await until(() => open.length === 1);
      await stage.restart({}, async () => {
        if (isKilled) await leaveMark();
        await pause(target);
      });
      unanswered.clear();
      if (isKilled) await stage.restart();
      await revert(1);
      await apply("7009");
      stage.clock.advance(hour + 1_000);
      await until(isAccepted("block.applied 7009"));
      expect(reversals()).to.deep.equal(["block.reverted 7001"]);
    });
  }

  it("though its delivery is no longer kept, as the chain stood still for longer than that", async () => {
    await begin(true, { deliveredRetention: 2 * day });
    const { id } = stage.engine.create({ events: both, target: receiver.url });
    await apply("7001");
    await until(() => total(id, "delivered") === 1);
    await until(() => {
      stage.clock.advance(day);
      return total(id, "delivered") === 0;
    });
    await revert(1);
    await apply("7009");
    await until(isAccepted("block.applied 7009"));
    expect(reversals()).to.deep.equal(["block.reverted 7001"]);
  });

  it("and what is still open of a block that had been final is not sent after that", async () => {
    await begin(true);
    const { id } = stage.engine.create({ events: both, target: receiver.url });
    refused.add("block.applied 7001");
    await apply("7001", ...later);
    await until(isAccepted("block.applied 8129"));
    await revert(later.length + 1);
    await apply("7009");
    refused.clear();
    await until(isAccepted("block.applied 7009"));
    expect(total(id, "retrying")).to.equal(0);
    expect(accepted).not.to.include("block.applied 7001");
  });

  it("and a block that had been final is not sent again where it comes back before anybody heard of its reversal", async () => {
    await begin(true);
    const { id } = stage.engine.create({ events: both, target: receiver.url, order: "strict" });
    await apply("7001", ...later);
    await until(isAccepted("block.applied 8129"));
    // In strict order, the other reversals wait for the first.
    refused.add("block.reverted 8129");
    await revert(later.length + 1);
    await until(() => total(id, "retrying") === 1);
    await apply("7001", "7009");
    refused.clear();
    stage.clock.advance(2 * day);
    await until(isAccepted("block.applied 7009"));
    expect(accepted.filter((name) => name.endsWith(" 7001"))).to.deep.equal(["block.applied 7001"]);
  });

  it("once the attempt under way has ended, though its webhook was disabled and enabled meanwhile", async () => {
    await begin(true);
    const { id } = stage.engine.create({ events: both, target: receiver.url });
    unanswered.add("block.applied 7001");
    await apply("7001");
    await until(() => open.length === 1);
    stage.engine.patch(id, { enabled: false });
    await stage.engine.settled();
    await revert(1);
    await apply("7009");
    stage.engine.patch(id, { enabled: true });
    await until(() => total(id, "pending") === 2);
    const other = stage.engine.create({ event: "block.applied", target: `${receiver.url}/other` });
    await apply("7010");
    await until(() => total(other.id, "delivered") === 1);
    expect(receiver.received.flatMap(namesOf)).to.deep.equal(["block.applied 7001", "block.applied 7010"]);
    open.forEach((response) => response.end());
    await until(isAccepted("block.applied 7009"));
    expect(reversals()).to.deep.equal(["block.reverted 7001"]);
  });

  describe("where a host offers no changes of its chain", () => {
    const transactions = ["transaction.applied", "transaction.reverted"];

    it("though its reversal is open as its webhook is disabled, and the chain has gone on far", async () => {
      await begin(false);
      const { id } = stage.engine.create({ events: both, target: receiver.url });
      await stage.engine.settled();
      stage.events.emit("block.applied", { id: "a", height: 5 });
      await until(isAccepted("block.applied a"));
      refused.add("block.reverted a");
      stage.events.emit("block.reverted", { id: "a", height: 5 });
      await until(() => total(id, "retrying") === 1);
      stage.events.emit("block.applied", { id: "b", height: 300 });
      await until(isAccepted("block.applied b"));
      refused.clear();
      stage.engine.patch(id, { enabled: false });
      stage.engine.patch(id, { enabled: true });
      await until(isAccepted("block.reverted a"));
    });

    it("once, though its webhook was disabled and the process started again: nothing is sent after its reversal", async () => {
      await begin(false);
      const { id } = stage.engine.create({ events: transactions, target: receiver.url });
      const blocks = stage.engine.create({ event: "block.applied", target: `${receiver.url}/blocks` });
      await stage.engine.settled();
      refused.add("transaction.applied one");
      stage.events.emit("block.applied", { id: "b10", height: 10 });
      await until(() => total(blocks.id, "delivered") === 1);
      stage.events.emit("transaction.applied", { id: "one" });
      await until(() => total(id, "retrying") === 1);
      stage.engine.patch(id, { enabled: false });
      await stage.restart();
      stage.engine.patch(id, { enabled: true });
      await until(() => total(id, "retrying") === 1);
      stage.events.emit("block.applied", { id: "b11", height: 11 });
      await until(() => total(blocks.id, "delivered") === 2);
      stage.events.emit("transaction.reverted", { id: "one" });
      refused.clear();
      await until(isAccepted("transaction.reverted one"));
      expect(total(id, "superseded")).to.equal(1);
      expect(total(id, "retrying")).to.equal(0);
    });

    it("whatever heights the events of blocks between name", async () => {
      await begin(false);
      const { id } = stage.engine.create({ events: transactions, target: receiver.url });
      await stage.restart();
      stage.events.emit("transaction.applied", { id: "one" });
      await until(() => total(id, "delivered") === 1);
      stage.events.emit("block.applied", { id: "b300", height: 300 });
      await stage.engine.settled();
      stage.events.emit("transaction.applied", { id: "two" });
      await until(() => total(id, "delivered") === 2);
      for (const name of ["two", "one"]) stage.events.emit("transaction.reverted", { id: name });
      await until(isAccepted("transaction.reverted two"));
      await until(isAccepted("transaction.reverted one"));
    });
  });

  it("and a retry that is left of it holds up no other", async () => {
    await begin(true);
    const { id } = stage.engine.create({ event: "block.applied", target: receiver.url });
    refused.add("block.applied 7001").add("block.applied 7002");
    await apply("7001", "7002");
    await until(() => total(id, "retrying") === 2);
    unanswered.add("block.applied 7002");
    stage.clock.advance(1.5 * day);
    await until(() => open.length === 1 && stage.engine.delivery(id, 1).attemptCount === 2);
    await revert(1);
    await stage.restart({}, leaveMark);
    unanswered.clear();
    refused.clear();
    await until(() => total(id, "superseded") === 1);
    await until(() => {
      stage.clock.advance(day);
      return accepted.includes("block.applied 7001");
    });
  });

  it("and the rest of its batch is tried again without it", async () => {
    await begin(true);
    const { id } = stage.engine.create({ event: "block.applied", target: receiver.url, batch: { size: 2, wait: 60_000 } });
    refused.add("block.applied 7001");
    await apply("7001", "7002");
    await until(() => total(id, "retrying") === 2);
    refused.clear();
    unanswered.add("block.applied 7002");
    stage.clock.advance(1.5 * day);
    await until(() => open.length === 1);
    await revert(1);
    await stage.restart({}, leaveMark);
    unanswered.clear();
    await until(() => {
      stage.clock.advance(day);
      return accepted.length > 0;
    });
    expect(accepted).to.deep.equal(["block.applied 7001"]);
    await until(() => total(id, "superseded") === 1);
  });

  it("and what is open stays open, where a webhook is imported under the number of one that was just removed", async () => {
    await begin(false);
    const { id } = stage.engine.create({ event: "block.applied", target: receiver.url });
    await stage.engine.settled();
    refused.add("block.applied b");
    for (const block of ["a", "b"]) stage.events.emit("block.applied", { id: block, height: 5 });
    await until(() => total(id, "delivered") === 1 && total(id, "retrying") === 1);
    const text = stage.engine.export();
    stage.engine.remove(id);
    stage.engine.import(text);
    // What was delivered for the one before is removed in the background.
    await until(() => {
      stage.clock.advance(1_000);
      return total(id, "delivered") === 0;
    });
    await until(() => total(id, "retrying") === 1);
    refused.clear();
    stage.clock.advance(2 * day);
    await until(isAccepted("block.applied b"));
  });

  it("but what a host declares has no opposite, whatever its name ends in", async () => {
    await begin(false, { events: ["swap.applied", "swap.reverted"] });
    stage.engine.create({ events: ["swap.*"], target: receiver.url });
    await stage.engine.settled();
    stage.events.emit("swap.applied", { id: "s" });
    stage.events.emit("swap.reverted", { id: "s" });
    await until(() => accepted.length === 2);
    expect(accepted).to.deep.equal(["swap.applied s", "swap.reverted s"]);
  });

  it("and such an event, redelivered, has none after it sent again once its webhook is disabled and enabled", async () => {
    await begin(false, { events: ["swap.reverted"] });
    const { id } = stage.engine.create({ events: ["swap.*"], target: receiver.url });
    await stage.engine.settled();
    for (const swap of ["s", "t"]) stage.events.emit("swap.reverted", { id: swap });
    await until(() => total(id, "delivered") === 2);
    refused.add("swap.reverted s");
    stage.engine.redeliver(id, 1);
    await until(() => total(id, "retrying") === 1);
    stage.engine.patch(id, { enabled: false });
    stage.engine.patch(id, { enabled: true });
    stage.events.emit("swap.reverted", { id: "u" });
    await until(isAccepted("swap.reverted u"));
    await stage.engine.settled();
    expect(accepted).to.deep.equal(["swap.reverted s", "swap.reverted t", "swap.reverted u"]);
  });

  it("and events about webhooks stay open as the cursor of theirs is moved", async () => {
    await begin(true);
    const listening = stage.engine.create({ event: "webhook.disabled", target: receiver.url });
    const other = stage.engine.create({ event: "block.applied", target: `${receiver.url}/other` });
    refused.add("webhook.disabled undefined");
    stage.engine.patch(other.id, { enabled: false });
    await until(() => total(listening.id, "retrying") === 1);
    stage.engine.patch(listening.id, { from: "tip" });
    refused.clear();
    stage.clock.advance(2 * day);
    await until(() => accepted.length === 1);
  });
});
