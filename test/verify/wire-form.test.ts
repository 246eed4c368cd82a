import { Blocks, Crypto, type Interfaces, Managers, Transactions, Utils } from "@arkecosystem/crypto";
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import { expect } from "chai";
import fc from "fast-check";
import { presetNames, presetNetwork } from "../../examples/standalone/chain/crypto.js";
import type { BlockData, Network, TransactionData, TransactionForm } from "../../src/index.js";
import { addressOf } from "../../src/chain/address.js";
import { toBase58 } from "../../src/chain/base58.js";
import { blockIdOf, createMilestones, isSignedBy, payloadHashOf, readHeader, readTransaction, serializeHeader, serializeTransaction, transactionIdOf, type WireRules } from "../../src/verify/index.js";
import { loadChain, loadCore2Chain } from "../data/read.js";
import { count, endAfter } from "../fixtures/long.js";
import { magistrateTypes } from "./magistrate.js";

const chains: Record<string, { network: Network; blocks: BlockData[] } | undefined> = {
  "core3-testnet-a": loadChain("core3-testnet-a"),
  "core3-custom-c": loadChain("core3-custom-c"),
  "core2-testnet": loadCore2Chain(),
};

const formOf = ({ typeGroup, type }: TransactionData): TransactionForm | undefined => magistrateTypes.find((row) => row.typeGroup === typeGroup && row.type === type)?.form;
const rulesOf = ({ network, exceptions }: Network): WireRules => ({ network, exceptions });
const written = (transaction: TransactionData, rules: WireRules): string => bytesToHex(serializeTransaction(transaction, rules, formOf(transaction)) ?? new Uint8Array());

const configure = (network: Network, height: number): void => {
  Managers.configManager.setConfig(structuredClone(network) as unknown as Interfaces.NetworkConfig);
  Managers.configManager.setHeight(height);
};

const big = (amount: unknown): Utils.BigNumber => Utils.BigNumber.make(String(amount));

/** As the package holds a transaction: it writes into what it is given. */
const held = (transaction: TransactionData): Interfaces.ITransactionData => {
  const copy = structuredClone(transaction) as unknown as Interfaces.ITransactionData;
  for (const payment of copy.asset?.payments ?? []) payment.amount = big(payment.amount);
  return { ...copy, amount: big(copy.amount), fee: big(copy.fee), ...(copy.nonce === undefined ? {} : { nonce: big(copy.nonce) }) };
};

const byThePackage = (transaction: TransactionData): string => Transactions.Serializer.getBytes(held(transaction), { acceptLegacyVersion: true, disableVersionCheck: true }).toString("hex");
const headerByThePackage = (block: BlockData): string => Blocks.Serializer.serialize({ ...block, transactions: undefined } as unknown as Interfaces.IBlockData, false).toString("hex");

for (const [name, chain] of Object.entries(chains)) {
  describe(`the bytes of ${name}`, function () {
    this.timeout(120_000);
    if (chain === undefined) {
      it.skip("are not here");
      return;
    }
    const { network, blocks } = chain;
    const milestones = createMilestones(network.milestones);
    const transactions = blocks.flatMap((block) => block.transactions ?? []);

    it("give the id of every transaction", () => {
      const wrong = transactions.filter((transaction) => transactionIdOf(hexToBytes(written(transaction, rulesOf(network))), network.exceptions) !== transaction.id);
      expect(wrong.map(({ id }) => id)).to.deep.equal([]);
    });

    it("give id, signature and payload hash of every block but genesis, which is signed", () => {
      const wrong = blocks.filter((block) => {
        const [header, signature] = [serializeHeader(block, milestones), hexToBytes(block.blockSignature ?? "")];
        const isOwn = block.height === 1 || blockIdOf(header, signature, block.height, milestones) === block.id;
        const isPaid = block.height === 1 || payloadHashOf((block.transactions ?? []).map(({ id }) => id)) === block.payloadHash;
        return !isOwn || !isPaid || !isSignedBy(block.generatorPublicKey, header, signature);
      });
      expect(wrong.map(({ height }) => height)).to.deep.equal([]);
    });

    it("are those that ARK Core's own package writes, of every header and every transaction of a core type", () => {
      configure(network, 1);
      for (const block of blocks) expect(bytesToHex(serializeHeader(block, milestones))).to.equal(headerByThePackage(block));
      const core = transactions.filter(({ typeGroup = 1 }) => typeGroup === 1);
      expect(core.length).to.be.greaterThan(100);
      for (const transaction of core) expect(written(transaction, rulesOf(network)), transaction.id).to.equal(byThePackage(transaction));
    });

    it("say who was paid what, in version 2", () => {
      for (const transaction of transactions.filter(({ version = 1 }) => version === 2)) {
        const { typeGroup = 1, type, fee, nonce, senderPublicKey, vendorField, recipientId = "", amount: paid, asset } = transaction;
        const { payments = typeGroup === 1 && (type === 0 || type === 8) ? [{ recipientId, amount: paid }] : [] }: { payments?: { recipientId: string; amount: unknown }[] } = asset ?? {};
        const read = readTransaction(written(transaction, rulesOf(network)));
        const whole = { version: 2, network: network.network.pubKeyHash, typeGroup, type, nonce: BigInt(String(nonce)), senderPublicKey, fee: BigInt(String(fee)), ...(vendorField === undefined ? {} : { vendorField }) };
        expect(read).to.deep.equal({ ...whole, payments: payments.map((payment) => ({ recipientId: payment.recipientId, amount: BigInt(String(payment.amount)) })) });
      }
    });

    it("are read again as they were written", () => {
      for (const { id: _id, blockSignature: _signature, transactions: _transactions, ...block } of blocks) {
        const header = serializeHeader(block, milestones);
        const { totalAmount, totalFee, reward, ...read } = readHeader(header, block.height, milestones);
        expect({ ...read, totalAmount: String(totalAmount), totalFee: String(totalFee), reward: String(reward) }).to.deep.equal({ ...block, previousBlock: block.previousBlock ?? "0" });
      }
    });
  });
}

const hex = (bytes: number) => fc.uint8Array({ minLength: bytes, maxLength: bytes }).map(bytesToHex);
const key = hex(32).map((x) => `02${x}`);
const address = key.map((publicKey) => addressOf(publicKey, 23));
const amount = fc.bigInt(0n, 2n ** 63n - 1n).map(String);
const text = (most: number) => fc.string({ unit: "grapheme", maxLength: most }).filter((value) => value !== "" && value.isWellFormed() && Buffer.byteLength(value) <= most);
const votes = fc.array(fc.tuple(fc.constantFrom("+", "-"), key).map((parts) => parts.join("")), { minLength: 1, maxLength: 2 });
const until = fc.nat(2 ** 32 - 1);

/** Assets and other members of the core's types, by number, in version 2. */
const secondParts: Record<number, fc.Arbitrary<object>> = {
  0: fc.record({ recipientId: address, amount, expiration: until, vendorField: text(255) }, { requiredKeys: ["recipientId"] }),
  1: fc.record({ asset: fc.record({ signature: fc.record({ publicKey: key }) }) }),
  2: fc.record({ asset: fc.record({ delegate: fc.record({ username: text(20) }) }) }),
  3: fc.record({ asset: fc.record({ votes }) }),
  4: fc.record({ asset: fc.record({ multiSignature: fc.record({ min: fc.integer({ min: 1, max: 16 }), publicKeys: fc.array(key, { minLength: 1, maxLength: 16 }) }) }) }),
  5: fc.record({ asset: fc.record({ ipfs: hex(32).map((digest) => toBase58(hexToBytes(`1220${digest}`))) }) }),
  6: fc.record({ vendorField: text(255), asset: fc.record({ payments: fc.array(fc.record({ amount, recipientId: address }), { minLength: 1, maxLength: 40 }) }) }, { requiredKeys: ["asset"] }),
  7: fc.constant({}),
  8: fc.record(
    { recipientId: address, amount, vendorField: text(255), asset: fc.record({ lock: fc.record({ secretHash: hex(32), expiration: fc.record({ type: fc.integer({ min: 1, max: 2 }), value: until }) }) }) },
    { requiredKeys: ["recipientId", "amount", "asset"] },
  ),
  9: fc.record({ asset: fc.record({ claim: fc.record({ lockTransactionId: hex(32), unlockSecret: hex(32) }) }) }),
  10: fc.record({ asset: fc.record({ refund: fc.record({ lockTransactionId: hex(32) }) }) }),
};

const legacy = fc.record({ min: fc.nat(16), lifetime: fc.nat(72), keysgroup: fc.array(key.map((publicKey) => `+${publicKey}`), { minLength: 1, maxLength: 16 }) });

/** The same in version 1, which has vendor field and recipient in every type, and no asset in others. */
const firstParts: Record<number, fc.Arbitrary<object>> = {
  ...Object.fromEntries([0, 5, 6, 7, 8].map((type) => [type, fc.constant({})])),
  1: secondParts[1] ?? fc.constant({}),
  2: secondParts[2] ?? fc.constant({}),
  3: secondParts[3] ?? fc.constant({}),
  4: fc.record({ asset: fc.record({ multiSignatureLegacy: legacy }) }),
};

const typed = (parts: Record<number, fc.Arbitrary<object>>): fc.Arbitrary<object> =>
  fc.oneof(...Object.entries(parts).map(([type, rest]) => rest.map((members) => ({ type: Number(type), ...members }))));

const second = fc
  .tuple(
    fc.record({ version: fc.constant(2), network: fc.constant(23), typeGroup: fc.constant(1), id: hex(32), nonce: amount, senderPublicKey: key, fee: amount, amount: fc.constant("0") }),
    fc.record({ signature: hex(64), secondSignature: hex(64), signatures: fc.array(hex(65), { minLength: 1, maxLength: 16 }) }, { requiredKeys: [] }),
    typed(secondParts),
  )
  .map((parts) => Object.assign({}, ...parts) as TransactionData);

const first = fc
  .tuple(
    fc.record({ version: fc.constant(1), network: fc.constant(23), id: hex(32), timestamp: until, senderPublicKey: key, fee: amount, amount }),
    fc.record({ recipientId: address, vendorField: text(255), signature: hex(70), secondSignature: hex(71) }, { requiredKeys: ["signature"] }),
    typed(firstParts),
  )
  .map((parts) => Object.assign({}, ...parts) as TransactionData);

const block = (hashes: boolean) =>
  fc.record({
    version: until,
    timestamp: until,
    height: fc.integer({ min: 2, max: 2 ** 32 - 1 }),
    previousBlock: hashes ? hex(32) : fc.bigInt(0n, 2n ** 64n - 1n).map(String),
    numberOfTransactions: until,
    ...{ totalAmount: amount, totalFee: amount, reward: amount },
    payloadLength: until,
    payloadHash: hex(32),
    generatorPublicKey: key,
    blockSignature: hex(70),
  });

describe("random bytes", function () {
  this.timeout(120_000);
  const network = presetNetwork("testnet");
  const fixed = { id: "1".repeat(64), type: 1, version: 1, network: 23, timestamp: 7, senderPublicKey: `02${"a".repeat(64)}`, amount: "0", fee: "5", asset: { signature: { publicKey: `03${"b".repeat(64)}` } }, signature: "ab" };

  for (const [version, transactions] of Object.entries({ 1: first, 2: second })) {
    it(`of transactions of version ${version} are those that ARK Core's own package writes`, () => {
      configure(network, 1);
      fc.assert(
        fc.property(transactions, (transaction) => {
          expect(written(transaction, rulesOf(network))).to.equal(byThePackage(transaction));
        }),
        { numRuns: count(120, 10_000), plugins: endAfter(30_000) } as fc.Parameters<[TransactionData]>,
      );
    });
  }

  for (const hashes of [false, true]) {
    it(`of headers, and ids, are those that ARK Core's own package gives, where ids are ${hashes ? "hashes" : "numbers"}`, () => {
      const own = { ...network, milestones: [{ ...network.milestones[0], block: { idFullSha256: hashes } }] as Network["milestones"] };
      const milestones = createMilestones(own.milestones);
      configure(own, 1);
      fc.assert(
        fc.property(block(hashes), (made) => {
          const header = serializeHeader(made, milestones);
          expect(bytesToHex(header)).to.equal(headerByThePackage({ id: "", ...made }));
          const id = Blocks.Block.getId({ ...made } as unknown as Interfaces.IBlockData);
          expect(blockIdOf(header, hexToBytes(made.blockSignature), made.height, milestones)).to.equal(id);
        }),
        { numRuns: count(80, 10_000) },
      );
    });
  }

  it("of a transaction in the table of corrected ids have the sender as recipient, and the corrected id", () => {
    const hash = Crypto.HashAlgorithms.sha256(Buffer.from(written(fixed, { network: network.network, exceptions: { transactionIdFixTable: { x: fixed.id } } }), "hex")).toString("hex");
    const own = { ...network, exceptions: { transactionIdFixTable: { [hash]: fixed.id } } };
    configure(own, 1);
    const bytes = written(fixed, rulesOf(own));
    expect(bytes).to.equal(byThePackage(fixed));
    expect(bytes).to.not.equal(written(fixed, rulesOf(network)));
    expect(transactionIdOf(hexToBytes(bytes), own.exceptions)).to.equal(fixed.id);
  });

  it("of genesis give the id of every transaction, and its signature, in each network that the package knows", () => {
    for (const name of presetNames) {
      const preset = presetNetwork(name);
      const { transactions = [], ...genesis } = preset.genesisBlock;
      const wrong = transactions.filter((transaction) => transactionIdOf(hexToBytes(written(transaction, rulesOf(preset)))) !== transaction.id);
      expect(wrong, name).to.deep.equal([]);
      expect(isSignedBy(genesis.generatorPublicKey, serializeHeader(genesis, createMilestones(preset.milestones)), hexToBytes(genesis.blockSignature ?? "")), name).to.equal(true);
    }
  });

  it("of a type that has no form are none, and an incomplete asset is refused", () => {
    expect(serializeTransaction({ ...fixed, version: 2, type: 11 }, rulesOf(network))).to.equal(undefined);
    expect(serializeTransaction({ ...fixed, version: 2, typeGroup: 2 }, rulesOf(network))).to.equal(undefined);
    expect(() => readTransaction(written(fixed, rulesOf(network)))).to.throw(RangeError, "not of version 2");
    const transfer = written({ ...fixed, version: 2, type: 0, recipientId: "AHXtmB84sTZ9Zd35h9Y1vfFvPE2Xzqj8ri", signature: "" }, rulesOf(network));
    expect(() => readTransaction(transfer.slice(0, -2))).to.throw(RangeError, "ends within a payment");
    expect(() => serializeTransaction({ ...fixed, asset: {} }, rulesOf(network))).to.throw(RangeError, "asset.signature is missing");
    expect(() => serializeTransaction({ ...fixed, fee: 2n ** 64n }, rulesOf(network))).to.throw(RangeError, "does not fit in 8 bytes");
  });
});
