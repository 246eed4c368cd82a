import { expect } from "chai";
import fc from "fast-check";
import { blockCodec, transactionCodec } from "../../src/store/layout/codec.js";
import { numberKey } from "../../src/store/layout/keys.js";
import { createReadSession } from "../../src/store/lmdb/read-session.js";
import { readBlock, readTransaction } from "../../src/store/records/records.js";
import type { Block, Transaction } from "../../types/chain.js";
import { loadChain } from "../data/read.js";
import { closeTemporaryStores, openTemporaryStore } from "./temporary-store.js";

const hex = (digits: number): fc.Arbitrary<string> => fc.uint8Array({ minLength: digits / 2, maxLength: digits / 2 }).map((bytes) => Buffer.from(bytes).toString("hex"));
/** Ids as in the first networks, ids in capitals, ids of other lengths, and empty ids. */
const odd = fc.oneof(fc.constantFrom("", "0", "17184958558311101492", "AB".repeat(32), "ab".repeat(33), "abc", "x".repeat(64)), fc.string());
const text = (digits: number): fc.Arbitrary<string> => fc.oneof({ weight: 6, arbitrary: hex(digits) }, { weight: 1, arbitrary: odd });
const amount = fc.bigInt({ min: 0n, max: 2n ** 64n });
const number = fc.nat();

const block: fc.Arbitrary<Block> = fc.record({
  id: text(64),
  version: number,
  height: number,
  timestamp: number,
  previousBlock: fc.option(text(64)),
  numberOfTransactions: number,
  totalAmount: amount,
  totalFee: amount,
  reward: amount,
  payloadLength: number,
  payloadHash: text(64),
  generatorPublicKey: text(66),
  blockSignature: text(140),
});

const transaction: fc.Arbitrary<Transaction> = fc.record(
  {
    id: text(64),
    version: number,
    typeGroup: number,
    type: number,
    timestamp: number,
    senderPublicKey: text(66),
    senderId: fc.string(),
    amount,
    fee: amount,
    blockId: text(64),
    blockHeight: number,
    sequence: number,
    recipientId: fc.string(),
    signature: fc.oneof(text(128), text(144)),
    nonce: amount,
    network: number,
    expiration: number,
    vendorField: fc.string(),
    asset: fc.dictionary(fc.string(), fc.string()),
    secondSignature: text(144),
    signatures: fc.array(hex(130)),
  },
  {
    requiredKeys: ["id", "version", "typeGroup", "type", "timestamp", "senderPublicKey", "senderId", "amount", "fee", "blockId", "blockHeight", "sequence"],
  },
);

describe("stored records", () => {
  afterEach(closeTemporaryStores);

  it("stay as they were read when others are read after them, even the bytes that a fork's assets may hold", () => {
    const { environment } = openTemporaryStore(loadChain("core3-testnet-a").network).store;
    const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values);
    const transactions = fc
      .sample(transaction, 50)
      .map((one, i): Transaction => ({ ...one, asset: { digest: bytes(i, i, i, i), list: [{ inner: bytes(i, i) }], text: `${i}` } }));
    const blocks = fc.sample(block, 50);
    transactions.forEach((one, i) => environment.db.transactions.putSync(numberKey(i), transactionCodec.pack(one)));
    blocks.forEach((one, i) => environment.db.blocks.putSync(numberKey(i), blockCodec.pack(one)));
    const reading = createReadSession(environment);
    expect(transactions.map((_, i) => readTransaction(reading, i))).to.deep.equal(transactions);
    expect(blocks.map((_, i) => readBlock(reading, i))).to.deep.equal(blocks);
  });

  it("return every block unchanged, whatever its ids look like", () => {
    fc.assert(fc.property(block, (given) => void expect(blockCodec.unpack(blockCodec.pack(given))).to.deep.equal(given)), { numRuns: 500 });
  });

  it("return every transaction unchanged, with absent members still absent", () => {
    fc.assert(fc.property(transaction, (given) => void expect(transactionCodec.unpack(transactionCodec.pack(given))).to.deep.equal(given)), { numRuns: 500 });
  });

  it("hold hexadecimal text as bytes", () => {
    const [given] = fc.sample(block, 1);
    const plain = { ...given, id: "ab".repeat(32), previousBlock: "cd".repeat(32), payloadHash: "ef".repeat(32), generatorPublicKey: "02".repeat(33), blockSignature: "30".repeat(70) };
    expect(blockCodec.pack(plain as Block)[0]).to.have.length(32 * 3 + 33 + 70);
  });
});
