import { expect } from "chai";
import { parseBlock, parseBlockHeader } from "../../src/chain/blocks/block.js";
import { atOnce } from "../../src/async/time-slicing.js";
import { addressOf } from "../../src/chain/address.js";
import { actors } from "../../src/conformance/chain/actors.js";
import type { BlockData, TransactionData } from "../../types/events.js";
import { refusalOf } from "./refusal.js";

const { ada, bob } = actors;

const transaction: TransactionData = {
  id: "a".repeat(64),
  version: 2,
  network: 23,
  typeGroup: 1,
  type: 0,
  nonce: "7",
  senderPublicKey: ada.publicKey,
  recipientId: bob.address,
  amount: "12500000000000000001",
  fee: "10000000",
  vendorField: "Grüße",
  signature: "3044",
  expiration: 0,
};

const block: BlockData = {
  id: "17184958558311101492",
  version: 0,
  height: 7,
  timestamp: 8_000,
  previousBlock: "16184958558311101491",
  numberOfTransactions: 1,
  totalAmount: "12500000000000000001",
  totalFee: "10000000",
  reward: "200000000",
  payloadLength: 32,
  payloadHash: "b".repeat(64),
  generatorPublicKey: bob.publicKey,
  blockSignature: "3045",
  transactions: [transaction],
};

const parse = (changes: object) => atOnce(parseBlock({ ...block, ...changes }, (publicKey) => addressOf(publicKey, 23)));

const parseOne = (changes: object) => {
  const [found] = parse({ transactions: [{ ...transaction, ...changes }] }).transactions;
  return found;
};

describe("a block", () => {
  it("is parsed completely, with exact amounts", () => {
    expect(parse({})).to.deep.equal({
      block: {
        id: "17184958558311101492",
        version: 0,
        height: 7,
        timestamp: 8_000,
        previousBlock: "16184958558311101491",
        numberOfTransactions: 1,
        totalAmount: 12_500_000_000_000_000_001n,
        totalFee: 10_000_000n,
        reward: 200_000_000n,
        payloadLength: 32,
        payloadHash: "b".repeat(64),
        generatorPublicKey: bob.publicKey,
        blockSignature: "3045",
      },
      transactions: [
        {
          id: "a".repeat(64),
          version: 2,
          network: 23,
          typeGroup: 1,
          type: 0,
          timestamp: 8_000,
          nonce: 7n,
          senderPublicKey: ada.publicKey,
          senderId: ada.address,
          recipientId: bob.address,
          amount: 12_500_000_000_000_000_001n,
          fee: 10_000_000n,
          vendorField: "Grüße",
          signature: "3044",
          expiration: 0,
          blockId: "17184958558311101492",
          blockHeight: 7,
          sequence: 0,
        },
      ],
    });
  });

  it("has no previous block at height 1, whatever it declares", () => {
    for (const previousBlock of ["0", null, undefined, "17184958558311101492"]) {
      expect(parse({ height: 1, previousBlock }).block.previousBlock).to.equal(null);
    }
  });

  it("may lack a version and a signature", () => {
    const { version: _version, blockSignature: _blockSignature, ...rest } = block;
    expect(parseBlockHeader(rest)).to.include({ version: 0, blockSignature: "" });
  });

  it("may lack the list of transactions if it has none", () => {
    expect(parse({ numberOfTransactions: 0, transactions: undefined }).transactions).to.deep.equal([]);
  });

  it("is refused with the name of the invalid member", () => {
    for (const [changes, message] of [
      [{ height: 0 }, "block 0: height is below 1"],
      [{ height: 1.5 }, "block 1.5: height is 1.5, not a whole number from 0 to 4294967295"],
      [{ height: "7" }, 'block 7: height is "7", not a whole number from 0 to 4294967295'],
      [{ id: "" }, "block 7: id is missing"],
      [{ id: 5 }, "block 7: id is not a string"],
      [{ timestamp: -1 }, "block 7: timestamp is -1, not a whole number from 0 to 4294967295"],
      ...(["version", "timestamp", "payloadLength", "numberOfTransactions"] as const).map((member) => [{ [member]: 2 ** 32 }, `block 7: ${member} is 4294967296, not a whole number from 0 to 4294967295`] as const),
      [{ timestamp: undefined }, "block 7: timestamp is missing"],
      [{ previousBlock: null }, "block 7: previousBlock is missing"],
      [{ version: "0" }, 'block 7: version is "0", not a whole number from 0 to 4294967295'],
      [{ numberOfTransactions: 2 }, "block 7 declares 2 transactions but contains 1"],
      [{ transactions: undefined }, "block 7 declares 1 transactions but has no list `transactions`"],
      [{ transactions: {} }, "block 7: transactions is not a list"],
      [{ totalAmount: "1.5" }, 'block 7: totalAmount: "1.5" is not a whole number'],
      [{ totalFee: undefined }, "block 7: totalFee is missing"],
      [{ reward: 2 ** 53 }, "block 7: reward: 9007199254740992 is a number beyond 2^53, which may have lost digits: large amounts must be strings or bigints"],
      [{ payloadLength: null }, "block 7: payloadLength is missing"],
      [{ payloadHash: undefined }, "block 7: payloadHash is missing"],
      [{ generatorPublicKey: bob.address }, "block 7: generatorPublicKey is not a public key"],
      [{ generatorPublicKey: bob.publicKey.toUpperCase() }, "block 7: generatorPublicKey is not a public key"],
    ] as const) {
      expect(refusalOf(() => parse(changes))).to.equal(message);
    }
    for (const none of [null, undefined, "block", 7]) {
      expect(refusalOf(() => atOnce(parseBlock(none as never, () => "")))).to.equal("a block is not an object");
    }
  });
});

describe("a transaction in a block", () => {
  it("keeps its own time in version 1, without a made-up nonce or network", () => {
    const { nonce: _nonce, network: _network, typeGroup: _typeGroup, version: _version, ...first } = transaction;
    const { transactions } = parse({ transactions: [{ ...first, timestamp: 7_995 }] });
    expect(transactions[0])
      .to.include({ version: 1, typeGroup: 1, timestamp: 7_995 })
      .and.to.not.have.any.keys("nonce", "network");
  });

  it("has its block's time in version 2, whatever it declares", () => {
    expect(parseOne({ timestamp: 7_995 })).to.have.property("timestamp", 8_000);
  });

  it("has its block's time in version 1 if it has none", () => {
    expect(parseOne({ version: 1, timestamp: undefined })).to.have.property("timestamp", 8_000);
    expect(parseOne({ version: 1, timestamp: null })).to.have.property("timestamp", 8_000);
    expect(parseOne({ version: 1, timestamp: 0 })).to.have.property("timestamp", 0);
  });

  it("has a recipient only where it names one, votes included", () => {
    for (const recipientId of [undefined, null, ""]) expect(parseOne({ type: 3, recipientId })).to.not.have.property("recipientId");
    expect(parseOne({ version: 1, type: 3, timestamp: 5, recipientId: ada.address })).to.have.property("recipientId", ada.address);
  });

  it("omits absent members, however the host marks them", () => {
    for (const none of [undefined, null, ""]) {
      const found = parseOne({
        recipientId: none,
        vendorField: none,
        asset: none === "" ? {} : none,
        signature: none,
        secondSignature: none,
        signatures: none === "" ? undefined : none,
        expiration: none,
        nonce: none,
        network: none,
      });
      expect(found).to.have.all.keys(
        "id version typeGroup type timestamp senderPublicKey senderId amount fee blockId blockHeight sequence".split(" "),
      );
    }
  });

  it("may have its second signature under either name", () => {
    expect(parseOne({ signSignature: "99" }))
      .to.include({ secondSignature: "99" })
      .and.to.not.have.property("signSignature");
    expect(parseOne({ secondSignature: "88" })).to.include({ secondSignature: "88" });
  });

  it("has its asset as in the block, with the amounts of payments as decimal text", () => {
    const asset = { votes: [`+${bob.publicKey}`] };
    expect(parseOne({ type: 3, asset })?.asset).to.deep.equal(asset);
    const payments = [
      { amount: 5n, recipientId: "a" },
      { amount: { toString: () => "12500000000000000001" }, recipientId: "b" },
      { amount: "7", recipientId: "c" },
    ];
    expect(parseOne({ type: 6, asset: { payments, note: 1 } })?.asset).to.deep.equal({
      payments: [
        { amount: "5", recipientId: "a" },
        { amount: "12500000000000000001", recipientId: "b" },
        { amount: "7", recipientId: "c" },
      ],
      note: 1,
    });
    expect(payments[0]?.amount).to.equal(5n);
  });

  it("is refused with its block, position, id and the name of the invalid member", () => {
    const at = `block 7, transaction 0 (${"a".repeat(64)})`;
    for (const [changes, message] of [
      [{ type: "0" }, `${at}: type is "0", not a whole number from 0 to 4294967295`],
      [{ typeGroup: -1 }, `${at}: typeGroup is -1, not a whole number from 0 to 4294967295`],
      ...(["type", "typeGroup", "version"] as const).map((member) => [{ [member]: 2 ** 32 }, `${at}: ${member} is 4294967296, not a whole number from 0 to 4294967295`] as const),
      [{ version: 1, timestamp: 2 ** 32 }, `${at}: timestamp is 4294967296, not a whole number from 0 to 4294967295`],
      [{ version: 1.5 }, `${at}: version is 1.5, not a whole number from 0 to 4294967295`],
      [{ senderPublicKey: undefined }, `${at}: senderPublicKey is not a public key`],
      [{ senderPublicKey: `04${"1".repeat(64)}` }, `${at}: senderPublicKey is not a public key`],
      [{ amount: undefined }, `${at}: amount is missing`],
      [{ fee: "ten" }, `${at}: fee: "ten" is not a whole number`],
      [{ nonce: "1.0" }, `${at}: nonce: "1.0" is not a whole number`],
      [{ recipientId: 5 }, `${at}: recipientId is not a string`],
      [{ vendorField: { text: "x" } }, `${at}: vendorField is not a string`],
      [{ asset: "votes" }, `${at}: asset is not an object`],
      [{ asset: [1] }, `${at}: asset is not an object`],
      [
        { asset: { payments: [{ amount: "x", recipientId: "a" }] } },
        `${at}: asset.payments[0].amount: "x" is not a whole number`,
      ],
      [{ signatures: "00" }, `${at}: signatures is not a list`],
      [{ signatures: ["00", 1] }, `${at}: signatures[1] is not a string`],
      [{ expiration: "soon" }, `${at}: expiration is "soon", not a whole number from 0 to 4294967295`],
      [{ version: 1, timestamp: "noon" }, `${at}: timestamp is "noon", not a whole number from 0 to 4294967295`],
    ] as const) {
      expect(refusalOf(() => parseOne(changes))).to.equal(message);
    }
    expect(refusalOf(() => parseOne({ id: "" }))).to.equal("block 7, transaction 0 (): id is missing");
    expect(refusalOf(() => parse({ transactions: [null] }))).to.equal("block 7, transaction 0 (undefined) is not an object");
  });
});
