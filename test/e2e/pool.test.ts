import { expect } from "chai";
import type { TransactionData } from "../../types/events.js";
import type { PoolResult } from "../../types/node-context.js";
import { dataOf } from "./data-of.js";
import { figuresOf, timestampOf, type TransactionRow } from "./figures.js";
import { type Interface, parsed, serveChain } from "./interface.js";
import { expectNotFound, expectRefused } from "./refusals.js";

const { transactionRows } = figuresOf("core3-testnet-a");
const forged = transactionRows.at(-1) as TransactionRow;

const idOf = (digit: string): string => digit.repeat(64);

const unconfirmed = (digit: string, rest: Partial<TransactionData> = {}): TransactionData => ({
  id: idOf(digit),
  version: 2,
  network: 23,
  typeGroup: 1,
  type: 0,
  nonce: "3",
  senderPublicKey: forged.senderPublicKey,
  recipientId: "AHXtmB84sTZ9Zd35h9Y1vfFvPE2Xzqj8ri",
  amount: "12500000000000000001",
  fee: 10_000_000n,
  expiration: 0,
  signature: "ab",
  ...rest,
});

const waiting: TransactionData[] = [
  unconfirmed("c", { vendorField: "hello" }),
  unconfirmed("a", { version: 1, nonce: undefined, timestamp: 100, signSignature: "cd", expiration: undefined }),
  unconfirmed("b", { type: 3, recipientId: undefined, asset: { votes: [`+${forged.senderPublicKey}`] }, signature: undefined, signatures: ["00ab"] }),
  unconfirmed("e", { type: 2, recipientId: undefined, asset: { delegate: { username: "someone" } } }),
];

const common = { typeGroup: 1, amount: 12_500_000_000_000_000_001n, fee: 10_000_000, sender: forged.sender, senderPublicKey: forged.senderPublicKey, confirmations: 0 };
const ofVersion2 = { ...common, version: 2, signSignature: null, nonce: "3", expiration: 0 };
const recipient = "AHXtmB84sTZ9Zd35h9Y1vfFvPE2Xzqj8ri";

const presented = [
  { ...ofVersion2, id: idOf("c"), type: 0, recipient, signature: "ab", vendorField: "hello" },
  { ...common, id: idOf("a"), version: 1, type: 0, recipient, signature: "ab", signSignature: "cd", timestamp: timestampOf(100) },
  { ...ofVersion2, id: idOf("b"), type: 3, recipient: forged.sender, signatures: ["00ab"], asset: { votes: [`+${forged.senderPublicKey}`] } },
  { ...ofVersion2, id: idOf("e"), type: 2, recipient: forged.sender, signature: "ab", asset: { delegate: { username: "someone" } } },
];

const refusal = { type: "ERR_LOW_FEE", message: "The fee is too low." };

describe("unconfirmed transactions, second generation", () => {
  let served: Interface;
  let submitted: TransactionData[][];
  const submit = (transactions: TransactionData[]): PoolResult => {
    submitted.push(transactions);
    const [first, ...others] = transactions.map(({ id }) => id);
    return {
      accept: others,
      broadcast: others,
      excess: [],
      invalid: first === undefined ? [] : [first],
      errors: first === undefined ? undefined : { [first]: [refusal] },
    };
  };
  before(async () => (served = await serveChain("core3-testnet-a", { pool: { list: () => waiting, submit } })));
  beforeEach(() => {
    submitted = [];
  });

  it("are listed whole, in the pool's own order", async () => {
    expect(dataOf(await served.get("/transactions/unconfirmed"))).to.deep.equal(parsed(presented));
  });

  it("are returned in pages", async () => {
    const { body } = await served.get("/transactions/unconfirmed?limit=2&page=2");
    expect(body).to.deep.include({ data: parsed(presented.slice(2)) });
    expect(body).to.have.nested.property("meta.totalCount", 4);
    expect(body).to.have.nested.property("meta.next", null);
  });

  it("are shown by id, apart from confirmed ones", async () => {
    for (const each of presented) expect(dataOf(await served.get(`/transactions/unconfirmed/${each.id}`))).to.deep.equal(parsed(each));
    for (const id of [forged.id, idOf("d"), "none"]) expectNotFound(await served.get(`/transactions/unconfirmed/${id}`), "Transaction not found");
    expectNotFound(await served.get(`/transactions/${idOf("c")}`), "Transaction not found");
  });

  it("are passed to the pool with all their digits, and the pool's answer is returned", async () => {
    const transactions = [unconfirmed("1", { amount: 12_500_000_000_000_000_001n }), unconfirmed("2")];
    const { status, body } = await served.post("/transactions", { transactions });
    expect(status).to.equal(200);
    expect(body).to.deep.equal({
      data: { accept: [idOf("2")], broadcast: [idOf("2")], excess: [], invalid: [idOf("1")] },
      errors: { [idOf("1")]: [refusal] },
    });
    expect(submitted).to.deep.equal([[parsed(transactions[0]), parsed(transactions[1])]]);
  });

  it("are reported invalid if already forged, while the others go to the pool", async () => {
    const alreadyForged = { [forged.id]: [{ type: "ERR_FORGED", message: "Already forged." }] };
    const { block: _block, sequence: _sequence, ...data } = forged;
    const both = await served.post("/transactions", { transactions: [unconfirmed("1"), data, unconfirmed("2")] });
    expect(both.body).to.deep.equal({
      data: { accept: [idOf("2")], broadcast: [idOf("2")], excess: [], invalid: [forged.id, idOf("1")] },
      errors: { ...alreadyForged, [idOf("1")]: [refusal] },
    });
    expect(submitted[0]?.map(({ id }) => id)).to.deep.equal([idOf("1"), idOf("2")]);

    const alone = await served.post("/transactions", { transactions: [data] });
    expect(alone.status).to.equal(200);
    expect(alone.body).to.deep.equal({ data: { accept: [], broadcast: [], excess: [], invalid: [forged.id] }, errors: alreadyForged });
    expect(submitted).to.have.lengthOf(1);
  });

  it("are accepted up to forty at a time", async () => {
    const many = (count: number) => ({ transactions: Array.from({ length: count }, (_, index) => unconfirmed("1", { id: String(index).padStart(64, "0") })) });
    expect((await served.post("/transactions", many(40))).status).to.equal(200);
    const { status, body } = await served.post("/transactions", many(41));
    expect(status).to.equal(422);
    expect(body).to.deep.equal({
      statusCode: 422,
      error: "Unprocessable Entity",
      message: '"transactions" must not have more than 40 items',
      code: "UNPROCESSABLE",
      validation: { source: "payload", keys: ["transactions"] },
    });
    expect(submitted).to.have.lengthOf(1);
  });

  const unprocessable: [body: unknown, message: string][] = [
    [{}, '"transactions" must be a list'],
    [{ transactions: "all" }, '"transactions" must be a list'],
    [{ transactions: {} }, '"transactions" must be a list'],
    [{ transactions: [] }, '"transactions" must not have fewer than 1 items'],
    [{ transactions: [unconfirmed("1"), null] }, '"transactions.1" must be a transaction with its id'],
    [{ transactions: [{ id: 5 }] }, '"transactions.0" must be a transaction with its id'],
  ];
  for (const [body, message] of unprocessable) {
    it(`are refused as ${JSON.stringify(parsed(body)).slice(0, 30)}`, async () => {
      const answer = await served.post("/transactions", body);
      expect(answer.status).to.equal(422);
      expect(answer.body).to.have.property("message", message);
      expect(submitted).to.deep.equal([]);
    });
  }

  it("must be sent in an object that has no other members", async () => {
    expectRefused(await served.post("/transactions", []), "payload", "value", "must be object");
    expectRefused(await served.post("/transactions", { transactions: [], fast: true }), "payload", "fast", "is not allowed");
  });
});

describe("unconfirmed transactions of a host that", () => {
  it("has no pool are an empty list, and none are accepted", async () => {
    const served = await serveChain("core3-testnet-a");
    expect(dataOf(await served.get("/transactions/unconfirmed"))).to.deep.equal([]);
    expectNotFound(await served.get(`/transactions/unconfirmed/${idOf("c")}`), "Transaction not found");
    const { status, body } = await served.post("/transactions", { transactions: [unconfirmed("1")] });
    expect(status).to.equal(501);
    expect(body).to.deep.equal({ statusCode: 501, error: "Not Implemented", message: "This node does not accept transactions.", code: "NOT_SUPPORTED" });
  });

  it("looks them up itself are found by its own look-up", async () => {
    const get = (id: string) => Promise.resolve(id === idOf("9") ? unconfirmed("9") : undefined);
    const served = await serveChain("core3-testnet-a", { pool: { list: () => Promise.resolve(waiting), get } });
    expect(dataOf(await served.get(`/transactions/unconfirmed/${idOf("9")}`))).to.have.property("id", idOf("9"));
    expectNotFound(await served.get(`/transactions/unconfirmed/${idOf("c")}`), "Transaction not found");
    expect((await served.post("/transactions", { transactions: [unconfirmed("1")] })).status).to.equal(501);
  });
});
