import { expect } from "chai";
import { blockData, type MultiSignatureAsset, type SignedBlock, type SignedTransaction } from "../../examples/standalone/chain/crypto.js";
import { createRandom, type Random } from "../../examples/standalone/traffic/random.js";
import { forgingOrder, roundOf, slotsAt } from "../../src/chain/rounds.js";
import { createChainRules } from "../../src/chain/rules.js";
import { createLocalChain, type LocalChain } from "./local-chain.js";
import { count, spread } from "../fixtures/long.js";

/** Only then is there every kind of transaction. */
const blocks = 300;

/** The crypto package's findings about a block, except those about multisignature wallets, which it cannot verify. */
const findings = ({ verification, transactions }: SignedBlock): string[] => {
  const unknown = transactions.filter(({ verified, data }) => !verified && data.signatures !== undefined).map(({ serialized }) => `=> ${serialized.toString("hex")}`);
  return verification.errors.map(String).filter((error) => error !== "One or more transactions are not verified:" && !unknown.includes(error));
};

const expectValid = ({ crypto }: LocalChain, forged: readonly SignedBlock[]): void => {
  for (const block of forged) {
    const read = crypto.readBlock(blockData(block));
    expect(findings(read), `block ${block.data.height}`).to.deep.equal([]);
    expect(read.data.id).to.equal(block.data.id);
  }
};

const senderOf = ({ data }: SignedTransaction): string => String(data.senderPublicKey);

describe("the standalone host's chain and traffic", () => {
  let chain: LocalChain;
  let made: SignedBlock[];
  let transactions: SignedTransaction[];

  before(async () => {
    chain = createLocalChain();
    made = await chain.grow(blocks);
    transactions = made.flatMap((block) => block.transactions);
  });

  it("makes blocks that the crypto package verifies when it reads them back", () => {
    expectValid(chain, spread(made, 100));
  });

  it("chains its blocks, each in a slot of its own and by the forger of that slot", async () => {
    const { milestones } = createChainRules(chain.network);
    const { round } = await chain.snapshot();
    const { slotOf, forgerOf } = slotsAt(1, milestones, () => 0);
    let previous = { id: chain.network.genesisBlock.id, timestamp: 0 };
    for (const { data } of made) {
      expect(data.previousBlock).to.equal(previous.id);
      expect(slotOf(data.timestamp)).to.be.above(slotOf(previous.timestamp));
      const number = roundOf(data.height, milestones).round;
      const order = forgingOrder((await round(number)) ?? [], number);
      expect(forgerOf(slotOf(data.timestamp), order)?.publicKey, `block ${data.height}`).to.equal(data.generatorPublicKey);
      previous = { id: String(data.id), timestamp: data.timestamp };
    }
  });

  it("rewards blocks from height 52 on", () => {
    for (const { data } of made) expect(data.reward.toString()).to.equal(data.height < 52 ? "0" : "200000000");
  });

  it("leaves block 2 empty, since version 2 is only valid after its milestone", () => {
    expect(made[0]?.transactions).to.deep.equal([]);
    expect(new Set(transactions.map(({ data }) => data.version))).to.deep.equal(new Set([2]));
  });

  it("really signs every transaction: once, twice, or by the participants of a multisignature wallet", async () => {
    const { height } = (await chain.snapshot()).tip;
    const seconds = new Map<string, string>();
    const groups = new Map<string, MultiSignatureAsset>();
    for (const transaction of transactions) {
      const group = groups.get(senderOf(transaction));
      const second = seconds.get(senderOf(transaction));
      if (group === undefined) expect(transaction.verified, transaction.id).to.equal(true);
      else expect(chain.crypto.verifyParticipants(transaction, group, height), transaction.id).to.equal(true);
      if (second === undefined) expect(transaction.data.secondSignature).to.equal(undefined);
      else expect(chain.crypto.verifySecondSignature(transaction, second, height), transaction.id).to.equal(true);

      const { signature, multiSignature } = transaction.data.asset ?? {};
      if (signature !== undefined) seconds.set(senderOf(transaction), signature.publicKey);
      if (multiSignature === undefined) continue;
      expect(chain.crypto.verifyParticipants(transaction, { ...multiSignature, min: 3 }, height), transaction.id).to.equal(true);
      groups.set(chain.crypto.multiSignatureKey(multiSignature), multiSignature);
    }
    expect(transactions.filter((transaction) => seconds.has(senderOf(transaction))), "signed twice").to.have.length.above(10);
    expect(transactions.filter((transaction) => groups.has(senderOf(transaction))), "spent by groups").to.have.length.above(10);
  });

  it("counts nonces without gaps, and never overspends", async () => {
    const nonces = new Map<string, bigint>();
    const count = (key: string, nonce: bigint): void => {
      expect(nonce).to.equal((nonces.get(key) ?? 0n) + 1n);
      nonces.set(key, nonce);
    };
    for (const { senderPublicKey } of chain.network.genesisBlock.transactions ?? []) count(senderPublicKey, (nonces.get(senderPublicKey) ?? 0n) + 1n);
    for (const transaction of transactions) count(senderOf(transaction), transaction.data.nonce?.toBigInt() ?? 0n);
    const { rows } = await (await chain.snapshot()).wallets({ filter: {}, order: { field: "balance", direction: "asc" }, offset: 0, limit: 2 });
    expect(rows.map(({ balance }) => balance < 0n), "only genesis owes").to.deep.equal([true, false]);
  });

  it("contains every transaction type, in a natural mix", () => {
    const count = new Map<number, number>();
    for (const { type } of transactions) count.set(type, (count.get(type) ?? 0) + 1);
    expect([...count.keys()].sort((a, b) => a - b)).to.deep.equal([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(count.get(0)).to.be.above(transactions.length / 4);
    expect(made.filter((block) => block.transactions.length === 0)).to.have.length.above(5);
    expect(Math.max(...made.map((block) => block.transactions.length))).to.be.above(7);
  });

  it("contains the variants of each type", () => {
    const data = transactions.map((transaction) => transaction.data);
    const votes = data.flatMap(({ asset }) => (asset?.votes === undefined ? [] : [asset.votes.map((vote) => vote[0]).join("")]));
    expect(new Set(votes)).to.deep.equal(new Set(["+", "-", "-+"]));
    const transfers = data.filter(({ type }) => type === 0);
    expect(new Set(transfers.map(({ vendorField }) => vendorField === undefined))).to.deep.equal(new Set([true, false]));
    const payments = data.flatMap(({ asset }) => (asset?.payments === undefined ? [] : [asset.payments.map(({ recipientId }) => recipientId)]));
    expect(payments.some((recipients) => new Set(recipients).size < recipients.length), "repeated recipients").to.equal(true);
    const expirations = data.flatMap(({ asset }) => (asset?.lock === undefined ? [] : [asset.lock.expiration.type]));
    expect(new Set(expirations)).to.deep.equal(new Set([1, 2]));
    const byOthers = data.filter(({ asset, senderPublicKey }) => {
      const lock = data.find(({ id }) => id === asset?.claim?.lockTransactionId);
      return lock !== undefined && lock.recipientId !== chain.crypto.addressOf(String(senderPublicKey));
    });
    expect(byOthers, "claimed by a third party").to.not.deep.equal([]);
  });

  it("lets newcomers be voted into the active delegates", async () => {
    const { round } = await chain.snapshot();
    const rounds = await Promise.all([2, 3, 4, 5, 6].map(async (number) => round(number)));
    const forgers = rounds.flatMap((delegates) => delegates ?? []);
    expect(forgers.filter(({ username }) => !username.startsWith("genesis_"))).to.not.deep.equal([]);
  });

  it("forges the same chain from the same seed, even across restarts", async () => {
    const again = createLocalChain();
    const first = await again.grow(20);
    const rest: SignedBlock[] = [];
    while (rest.length < 20) {
      const block = await again.forgeNext(again.createMaker());
      again.adapter.apply(blockData(block));
      rest.push(block);
    }
    expect([...first, ...rest].map(({ data }) => data.id)).to.deep.equal(made.slice(0, 40).map(({ data }) => data.id));
  });

  it("draws others when it is asked again for the same block", async () => {
    const maker = chain.createMaker();
    const ids = async (from = maker) => (await chain.forgeNext(from)).transactions.map(({ id }) => id);
    const first = await ids();
    expect(first).to.not.be.empty;
    const others = await ids();
    expect(others.filter((id) => first.includes(id))).to.be.empty;
    expect(await ids(chain.createMaker()), "after a restart").to.deep.equal(first);
  });

  it("makes valid blocks of the least and the greatest that it can draw, too", async () => {
    /** Every second number drawn is the least or the greatest. */
    const extreme = (seed: string): Random => {
      const random = createRandom(seed);
      const between: Random["between"] = (from, to) => (random.chance(0.5) ? random.between(from, to) : random.pick([from, to]));
      return { ...random, between };
    };
    expectValid(chain, await createLocalChain({ randomOf: extreme }).grow(count(40, 300)));
  });
});
