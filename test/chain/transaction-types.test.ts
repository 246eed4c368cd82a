import { expect } from "chai";
import { createTransactionTypes, paymentsOf, recipientsOf } from "../../src/chain/blocks/transaction-types.js";
import type { Transaction } from "../../types/chain.js";
import type { TransactionType } from "../../types/transaction-type.js";
import { refusalOf } from "./refusal.js";

const transaction = (changes: Partial<Transaction>): Transaction => ({
  id: "a",
  version: 2,
  typeGroup: 1,
  type: 0,
  timestamp: 0,
  senderPublicKey: "03",
  senderId: "A",
  amount: 0n,
  fee: 0n,
  blockId: "1",
  blockHeight: 1,
  sequence: 0,
  ...changes,
});

const fork = (changes: Partial<TransactionType>): TransactionType => ({
  typeGroup: 2,
  type: 0,
  key: "theirs",
  name: "Theirs",
  ...changes,
});

describe("transaction types", () => {
  const types = createTransactionTypes();
  const keysOf = (version: number): string[] =>
    Array.from({ length: 12 }, (_, type) => types.of({ typeGroup: 1, type, version }).key);

  it("have the numbers of their version", () => {
    const shared = ["transfer", "secondSignature", "delegateRegistration", "vote", "multiSignature", "ipfs"];
    expect(keysOf(1)).to.deep.equal([
      ...shared,
      "timelockTransfer",
      "multiPayment",
      "delegateResignation",
      "1/9",
      "1/10",
      "1/11",
    ]);
    expect(keysOf(2)).to.deep.equal([
      ...shared,
      "multiPayment",
      "delegateResignation",
      "htlcLock",
      "htlcClaim",
      "htlcRefund",
      "1/11",
    ]);
  });

  it("in a version later than any row's are those of version 2", () => {
    expect(keysOf(3)).to.deep.equal(keysOf(2));
    const later = createTransactionTypes([fork({ typeGroup: 1, type: 0, versions: [3], key: "later" })]);
    expect([1, 2, 3, 4].map((version) => later.of({ typeGroup: 1, type: 0, version }).key)).to.deep.equal([
      "transfer",
      "transfer",
      "later",
      "transfer",
    ]);
  });

  it("without a row only cost a fee, and are named by their numbers", () => {
    const row = types.of({ typeGroup: 9, type: 4, version: 2 });
    expect(row).to.deep.equal({ typeGroup: 9, type: 4, key: "9/4", name: "9/4" });
    expect(types.of({ typeGroup: 9, type: 4, version: 1 })).to.equal(row);
  });

  it("of a fork are added to the core's", () => {
    const added = createTransactionTypes([fork({}), fork({ typeGroup: 1, type: 5, key: "note" })]);
    expect(added.all.map(({ key }) => key)).to.deep.equal([...types.all.map(({ key }) => key).filter((key) => key !== "ipfs"), "theirs", "note"]);
    expect(added.of({ typeGroup: 2, type: 0, version: 1 }).key).to.equal("theirs");
    expect([1, 2].map((version) => added.of({ typeGroup: 1, type: 5, version }).key)).to.deep.equal(["note", "note"]);
    expect(added.of({ typeGroup: 1, type: 4, version: 2 }).key).to.equal("multiSignature");
    const newest = createTransactionTypes([fork({ typeGroup: 1, type: 5, versions: [2], key: "note" })]);
    expect(newest.all.map(({ key }) => key)).to.include.members(["ipfs", "note"]);
  });
});

describe("the recipients of a transaction", () => {
  const types = createTransactionTypes([fork({ recipients: ({ asset }) => asset?.["to"] as string[] })]);

  it("are its recipient, or nobody", () => {
    expect(recipientsOf(transaction({ recipientId: "B" }), types)).to.deep.equal(["B"]);
    expect(recipientsOf(transaction({ type: 5 }), types)).to.deep.equal([]);
    expect(recipientsOf(transaction({ type: 8, recipientId: "B" }), types)).to.deep.equal(["B"]);
  });

  it("are the sender of a vote that names none, but not in another group", () => {
    expect(recipientsOf(transaction({ type: 3 }), types)).to.deep.equal([transaction({}).senderId]);
    expect(recipientsOf(transaction({ type: 3, recipientId: "B" }), types)).to.deep.equal(["B"]);
    expect(recipientsOf(transaction({ typeGroup: 3, type: 3 }), types)).to.deep.equal([]);
  });

  it("are those of its payments, each once, in both versions", () => {
    const asset = { payments: ["C", "B", "C"].map((recipientId) => ({ recipientId, amount: "1" })) };
    expect(recipientsOf(transaction({ type: 6, asset }), types)).to.deep.equal(["C", "B"]);
    expect(recipientsOf(transaction({ version: 1, type: 7, asset }), types)).to.deep.equal(["C", "B"]);
  });

  it("are those that a fork names, each once", () => {
    expect(recipientsOf(transaction({ typeGroup: 2, asset: { to: ["D", "D", "E"] } }), types)).to.deep.equal(["D", "E"]);
    expect(recipientsOf(transaction({ typeGroup: 2, recipientId: "E", asset: { to: ["D", "E"] } }), types)).to.deep.equal(["E", "D"]);
  });

  it("make the transaction invalid when a fork does not name them as a list of addresses", () => {
    const fail = (): never => {
      throw new Error("no note");
    };
    for (const recipients of [() => undefined, () => "D", () => ["D", ""], () => [7], fail] as unknown as (() => string[])[]) {
      const refusal = refusalOf(() => recipientsOf(transaction({ typeGroup: 2 }), createTransactionTypes([fork({ recipients })])));
      expect(refusal).to.equal(recipients === fail ? "transaction a: no note" : "transaction a: `recipients` of theirs must return a list of addresses");
    }
  });

  it("get the amounts of their payments, to the last digit", () => {
    const payments = [{ recipientId: "B", amount: "12500000000000000001" }];
    expect(paymentsOf(transaction({ type: 6, asset: { payments } }))).to.deep.equal([
      { recipientId: "B", amount: 12_500_000_000_000_000_001n },
    ]);
  });
});
