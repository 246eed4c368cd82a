import { EventEmitter } from "eventemitter3";
import { expect } from "chai";
import type { BlockData } from "../../types/events.js";
import type { ApiPlugin } from "../../types/plugin.js";
import type { PorticoOptions } from "../../types/options.js";
import type { Webhooks } from "../../types/webhooks.js";
import { createChainRules } from "../../src/chain/rules.js";
import { loadChain } from "../data/read.js";
import { temporaryFolder } from "../fixtures/folder.js";
import { createNode } from "../fixtures/node.js";
import { copyOf } from "../fixtures/run.js";
import { createReceiver, type Received, type Receiver } from "./receiver.js";
import { createLogger, eventually, localTargets } from "./stage.js";

const chain = loadChain("core3-testnet-a");
const at = (height: number): BlockData => chain.blocks[height - 1]!;
const headerOf = ({ transactions: _, ...header }: BlockData): Omit<BlockData, "transactions"> => header;
/** The height of a block with two or more transactions. */
const rich = chain.blocks.find(({ height, numberOfTransactions }) => height > 10 && numberOfTransactions > 1)!.height;
const page = { offset: 0, limit: 100 };

describe("webhooks for the chain", () => {
  let dataDir: string;
  let lines: string[];
  let receiver: Receiver;
  let events: EventEmitter;
  let plugin: ApiPlugin;
  /** The blocks in the host's own database. */
  let known: BlockData[];

  const open = async (folder = dataDir, more: PorticoOptions = {}): Promise<Webhooks> => {
    plugin = createNode({
      events,
      dataDir: folder,
      blocks: { read: (from, limit) => known.filter(({ height }) => height >= from).slice(0, limit) },
      logger: createLogger(lines),
      options: { webhooks: { tokens: ["any-token-will-do"], allowTargets: localTargets }, ...more },
    });
    await plugin.start();
    return plugin.webhooks!;
  };
  /** As a real host does: the block is in its database, and the event carries only the header. */
  const apply = (height: number, extra: object = {}): void => {
    known = chain.blocks.slice(0, height);
    events.emit("block.applied", { ...headerOf(at(height)), ...extra });
  };
  const revert = (height: number): void => {
    known = chain.blocks.slice(0, height - 1);
    events.emit("block.reverted", headerOf(at(height)));
  };
  const hook = (event: string, more: object = {}) => plugin.webhooks!.create({ event, target: receiver.url, ...more });
  const heights = (received: readonly Received[]): [string, unknown][] =>
    received.map(({ json }) => [json.event, (json.data as BlockData).height]);
  /** Waits until everything recorded has arrived and nothing is pending. */
  const quiet = async (count: number): Promise<Received[]> => {
    await plugin.settled();
    await receiver.until(count);
    await eventually(() => {
      const { rows } = plugin.webhooks!.list(page);
      const waiting = rows.reduce((sum, { id }) => sum + plugin.webhooks!.deliveries(id, "pending", page).total, 0);
      return waiting === 0 ? true : undefined;
    });
    expect(receiver.received).to.have.length(count);
    return receiver.received;
  };

  beforeEach(async () => {
    dataDir = temporaryFolder();
    lines = [];
    events = new EventEmitter();
    receiver = await createReceiver();
    known = chain.blocks.slice(0, rich - 1);
    // The first blocks are written once.
    await copyOf("webhooks-chain", dataDir, async (folder) => {
      await open(folder);
      await plugin.settled();
      await plugin.stop();
    });
    await open();
  });

  it("fire once for a block, when it is committed, with a payload made from the chain", async () => {
    hook("block.applied");
    hook("block.forged");
    apply(rich, { forkMember: { amount: 5n } });
    await plugin.settled();
    events.emit("block.applied", headerOf(at(rich)));
    const received = await quiet(1);
    expect(received[0]?.json).to.deep.include({ event: "block.applied", data: { ...headerOf(at(rich)) } });
    expect(received[0]?.json.data).to.not.have.property("forkMember");
  });

  /** The node's height at the time the receiver gets a delivery. */
  const heightWhenTold = (): Promise<number> =>
    new Promise((resolve) => {
      receiver.answer = (_request, response) => {
        response.end();
        resolve(plugin.health().height);
      };
    });

  it("fire only once the block can be read", async () => {
    hook("block.applied");
    const height = heightWhenTold();
    apply(rich);
    expect(await height).to.equal(rich);
  });

  it("fire for an event only once the blocks emitted before it can be read", async () => {
    hook("transaction.forged");
    const height = heightWhenTold();
    for (let next = rich; next < rich + 4; next++) apply(next);
    events.emit("transaction.forged", { id: at(rich).id });
    expect(await height).to.equal(rich + 3);
  });

  it("fire for each transaction of a block, in order, whether or not the host emits it", async () => {
    hook("transaction.applied");
    const transactions = at(rich).transactions!;
    const [first] = transactions;
    events.emit("transaction.applied", { ...first, note: "from the host" });
    apply(rich);
    const received = await quiet(transactions.length);
    expect(received.map(({ json }) => (json.data as { id: string }).id)).to.deep.equal(transactions.map(({ id }) => id));
    expect(received[0]?.json.data).to.include({ id: first?.id, sequence: 0 }).and.not.have.property("note");
    expect((received[0]?.json.data as { addresses: string[] }).addresses).to.have.length.above(1);
    const second = received[1]?.json.data as Record<string, unknown>;
    expect(second).to.include({ blockId: at(rich).id, blockHeight: rich, sequence: 1, amount: transactions[1]?.amount, fee: transactions[1]?.fee });
  });

  it("fire in a block's order at each target, once for each webhook, where more webhooks want it than are written together", async () => {
    const count = 6;
    const conditions = [{ key: "sequence", condition: "lt", value: count }];
    // 105 of one target, and 15 that have their own.
    for (let n = 0; n < 105; n++) {
      hook("transaction.applied", { target: `${receiver.url}/shared`, conditions });
      if (n % 7 === 0) hook("transaction.applied", { target: `${receiver.url}/${n}`, conditions });
    }
    apply(rich);
    const received = await quiet(120 * count);
    expect(new Set(received.map(({ headers }) => headers["webhook-id"])).size).to.equal(120 * count);
    const sequences = new Map<string, number[]>();
    for (const { path, json } of received) sequences.set(path, [...(sequences.get(path) ?? []), (json.data as { sequence: number }).sequence]);
    const inOrder = Array.from({ length: count }, (_, sequence) => sequence);
    expect(sequences.get("/shared")).to.deep.equal(inOrder.flatMap((sequence) => Array<number>(105).fill(sequence)));
    sequences.delete("/shared");
    expect([...sequences.values()]).to.deep.equal(Array.from({ length: 15 }, () => inOrder));
  });

  it("are told by the address of a transaction, be the event the chain's or the host's", async () => {
    const transaction = at(rich).transactions![0]!;
    const value = createChainRules(chain.network).addressOf(transaction.senderPublicKey);
    hook("block.applied", { events: ["transaction.*"], conditions: ["addresses.*", "*.addresses.*"].map((key) => ({ key, condition: "eq", value })) });
    events.emit("transaction.pool.added", [transaction]);
    events.emit("transaction.forged", transaction);
    await receiver.until(2);
    apply(rich);
    const { length } = at(rich).transactions!.filter(({ senderPublicKey }) => senderPublicKey === transaction.senderPublicKey);
    const received = await quiet(2 + length);
    expect(received.map(({ json }) => json.event)).to.deep.equal(["transaction.pool.added", "transaction.forged", ...Array.from({ length }, () => "transaction.applied")]);
  });

  it("compare amounts exactly", async () => {
    const amount = BigInt(String(at(rich).totalAmount));
    const when = (path: string, condition: string, value: bigint) =>
      hook("block.applied", { target: `${receiver.url}${path}`, conditions: [{ key: "totalAmount", condition, value: String(value) }] });
    when("/more-than-one-less", "gt", amount - 1n);
    when("/more-than-that", "gt", amount);
    when("/equal", "eq", amount);
    when("/equal-to-one-less", "eq", amount - 1n);
    when("/less-than-one-more", "lt", amount + 1n);
    const number = Number(at(rich).reward);
    hook("block.applied", { target: `${receiver.url}/equal-number`, conditions: [{ key: "reward", condition: "eq", value: number }] });
    hook("block.applied", { target: `${receiver.url}/other-number`, conditions: [{ key: "reward", condition: "eq", value: number + 1 }] });
    apply(rich);
    const received = await quiet(4);
    expect(received.map(({ path }) => path)).to.have.members(["/more-than-one-less", "/equal", "/less-than-one-more", "/equal-number"]);
  });

  it("do not fire for the blocks of the initial sync, but do for those missed while the process was down", async () => {
    hook("block.applied");
    await plugin.stop();
    known = chain.blocks.slice(0, rich + 2);
    await open();
    const received = await quiet(3);
    expect(heights(received)).to.deep.equal([rich, rich + 1, rich + 2].map((height) => ["block.applied", height]));
    expect(received[0]?.json.data).to.deep.equal(headerOf(at(rich)));
  });

  it("report a reverted block and its transactions after what was applied, in order", async () => {
    for (const event of ["block.reverted", "transaction.reverted", "block.applied", "transaction.applied"]) hook(event);
    const ids = at(rich).transactions!.map(({ id }) => id);
    apply(rich);
    await quiet(ids.length + 1);
    revert(rich);
    await quiet(2 * (ids.length + 1));
    apply(rich);
    const received = await quiet(3 * (ids.length + 1));
    const told = received.map(({ json }) => [json.event, (json.data as { id: string }).id]);
    const applied = [["block.applied", at(rich).id], ...ids.map((id) => ["transaction.applied", id])];
    const reverted = [["block.reverted", at(rich).id], ...ids.toReversed().map((id) => ["transaction.reverted", id])];
    expect(told).to.deep.equal([...applied, ...reverted, ...applied]);
  });

  it("report a fork that the host never emitted", async () => {
    hook("block.applied");
    hook("block.reverted");
    apply(rich);
    await quiet(1);
    // The host switched branches while Portico was down.
    await plugin.stop();
    const other: BlockData = { ...at(rich), id: "1234567890", numberOfTransactions: 0, transactions: [], totalAmount: "0", totalFee: "0" };
    known = [...chain.blocks.slice(0, rich - 1), other];
    await open();
    const received = await quiet(3);
    expect(received.map(({ json }) => [json.event, (json.data as { id: string }).id])).to.deep.equal([
      ["block.applied", at(rich).id],
      ["block.reverted", at(rich).id],
      ["block.applied", "1234567890"],
    ]);
  });

  it("report that a block is reverted though it had been final before they were told of it", async () => {
    await plugin.stop();
    await open(dataDir, { finality: 0 });
    plugin.webhooks!.create({ events: ["block.applied", "block.reverted"], target: receiver.url });
    apply(rich);
    await quiet(1);
    revert(rich);
    expect((await quiet(2)).map(({ json }) => [json.event, (json.data as { id: string }).id])).to.deep.equal([["block.applied", at(rich).id], ["block.reverted", at(rich).id]]);
  });

  describe("with confirmations", () => {
    it("stay so many blocks behind the tip", async () => {
      const blocks = hook("block.applied", { confirmations: 2 });
      const transactions = hook("transaction.applied", { confirmations: 2, conditions: [{ key: "sequence", condition: "eq", value: 0 }] });
      apply(rich);
      await plugin.settled();
      apply(rich + 1);
      await plugin.settled();
      // The newest block that had two confirmations when it was created is two below the tip of then.
      await receiver.until(2);
      expect(plugin.webhooks!.deliveries(blocks.id, undefined, page).total).to.equal(2);
      expect(plugin.webhooks!.get(blocks.id).behind).to.equal(2);
      const before = receiver.received.filter(({ json }) => json.event === "transaction.applied").length;
      apply(rich + 2);
      const told = (await quiet(4 + before)).slice(-2).map(({ json }) => [json.event, (json.data as BlockData).id]);
      expect(told).to.deep.equal([
        ["block.applied", at(rich).id],
        ["transaction.applied", at(rich).transactions?.[0]?.id],
      ]);
      await eventually(() => (plugin.webhooks!.deliveries(transactions.id, "delivered", page).total > 0 ? true : undefined));
    });

    it("never see a block that is reverted before", async () => {
      const { id } = hook("block.applied", { confirmations: 2 });
      apply(rich);
      apply(rich + 1);
      await plugin.settled();
      revert(rich + 1);
      await plugin.settled();
      revert(rich);
      await plugin.settled();
      expect(plugin.webhooks!.deliveries(id, undefined, page).total).to.equal(2);
      for (let height = rich; height <= rich + 3; height++) apply(height);
      const received = (await quiet(4)).slice(2);
      expect(heights(received)).to.deep.equal([
        ["block.applied", rich],
        ["block.applied", rich + 1],
      ]);
    });
  });
});
