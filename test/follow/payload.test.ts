import { expect } from "chai";
import { Utils } from "@arkecosystem/crypto";
import type { Block, Transaction } from "../../types/chain.js";
import { blockPayload, payloadJson, transactionPayload } from "../../src/follow/payload.js";

const parsed = (payload: unknown): unknown => JSON.parse(payloadJson(payload));

describe("payloads", () => {
  it("hold amounts as decimal strings, whatever type the host uses", () => {
    const bignumber = { _isBigNumber: true, toJSON: () => "1.2e+21", toFixed: () => "1200000000000000000000" };
    const payload = {
      native: 12_500_000_000_000_000_001n,
      ark: Utils.BigNumber.make("12500000000000000001"),
      bignumber,
      number: 7,
      text: "8",
      list: [1n, Utils.BigNumber.make(2)],
    };
    expect(parsed(payload)).to.deep.equal({
      native: "12500000000000000001",
      ark: "12500000000000000001",
      bignumber: "1200000000000000000000",
      number: 7,
      text: "8",
      list: ["1", "2"],
    });
  });

  it("hold errors by name and message, and maps, sets and dates as JSON does", () => {
    expect(parsed({ error: new TypeError("no") })).to.deep.equal({ error: { name: "TypeError", message: "no" } });
    expect(parsed({ map: new Map([["a", 1n]]), set: new Set([1, 2n]) })).to.deep.equal({ map: {}, set: {} });
    expect(parsed({ date: new Date(0) })).to.deep.equal({ date: "1970-01-01T00:00:00.000Z" });
  });

  it("leave out circular references, and keep values that merely appear twice", () => {
    const delegate: Record<string, unknown> = { username: "a" };
    delegate["wallet"] = { delegate, list: [delegate, 1] };
    expect(parsed(delegate)).to.deep.equal({ username: "a", wallet: { list: [null, 1] } });
    const shared = { x: 1 };
    expect(parsed({ first: shared, second: [shared, shared] })).to.deep.equal({ first: { x: 1 }, second: [{ x: 1 }, { x: 1 }] });
  });

  for (const nothing of [undefined, null, () => 1, Symbol("x")]) {
    it(`are null for ${String(nothing)}`, () => {
      expect(payloadJson(nothing)).to.equal("null");
    });
  }

  it("never throw", () => {
    const hostile = {
      get broken(): never {
        throw new Error("not today");
      },
    };
    expect(parsed(hostile)).to.deep.equal({ unreadable: "not today" });
    let deep: unknown = 1;
    for (let depth = 0; depth < 20_000; depth++) deep = [deep];
    expect(parsed(deep)).to.have.property("unreadable");
    // No cycle, but far more paths than can be walked.
    let shared: object = {};
    for (let depth = 0; depth < 40; depth++) shared = { left: shared, right: shared };
    expect(parsed(shared)).to.deep.equal({ unreadable: "The payload has more than 250000 values." });
  });

  it("are null for what JSON leaves out", () => {
    for (const nothing of [undefined, () => 1, Symbol("none"), { toJSON: () => undefined }]) expect(payloadJson(nothing)).to.equal("null");
  });

  it("of a committed block are its header, and of a transaction its fields, the sender's address among them", () => {
    const block: Block = {
      id: "1",
      version: 0,
      height: 2,
      timestamp: 8,
      previousBlock: "0",
      numberOfTransactions: 1,
      totalAmount: 12_500_000_000_000_000_001n,
      totalFee: 3n,
      reward: 0n,
      payloadLength: 32,
      payloadHash: "aa",
      generatorPublicKey: "02",
      blockSignature: "30",
    };
    expect(parsed(blockPayload(block))).to.deep.equal({ ...block, totalAmount: "12500000000000000001", totalFee: "3", reward: "0" });
    const transaction: Transaction = {
      id: "t",
      version: 2,
      typeGroup: 1,
      type: 0,
      timestamp: 8,
      nonce: 4n,
      senderPublicKey: "03",
      senderId: "A",
      recipientId: "B",
      amount: 5n,
      fee: 6n,
      blockId: "1",
      blockHeight: 2,
      sequence: 0,
    };
    expect(parsed(transactionPayload(transaction, { recipientsOf: () => ["B"] }))).to.deep.equal({ ...transaction, nonce: "4", amount: "5", fee: "6", addresses: ["A", "B"] });
  });
});
