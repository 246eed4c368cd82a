import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import { expect } from "chai";
import { buildSync } from "esbuild";
import type { BlockData, Network } from "../../src/index.js";
import { blockIdOf, createMilestones, type Proof, ProofError, type ProofOptions, type ProofStep, verifyProof } from "../../src/verify/index.js";
import { type ChainName, loadChain, loadCore2Chain } from "../data/read.js";
import { createLocalChain, localBlocks } from "../examples/local-chain.js";
import { blockData } from "../../examples/standalone/chain/crypto.js";
import { localNetwork } from "../../examples/standalone/chain/genesis.js";
import { temporaryFolder } from "../fixtures/folder.js";
import { count, isLong, seedOr, spread } from "../fixtures/long.js";
import { startNode } from "../fixtures/node.js";
import { copyOfStored, startStoredNode } from "../fixtures/stored-chain.js";
import type { Answer, Question } from "../http/ask.js";
import { magistrateTypes } from "./magistrate.js";

type Get = (path: string, question?: Question) => Promise<Answer>;

interface Served {
  network: Network;
  blocks: readonly BlockData[];
  get: Get;
  origin: string;
  options: ProofOptions;
  proof(path: string): Promise<Proof>;
}

/** Rounds of core3-custom-c: ARK Core 3.9.1 has ranked by wrong sums since others claimed locks, so that no client can know whose turn it was. */
const misranked = new Set([6, 7, 8, 9, 10, 11].map((round) => `${loadChain("core3-custom-c").network.network.nethash}/521/${round}`));

/** A node with a chain, and what a client of its network has. */
const serve = async (network: Network, blocks: BlockData[], dataDir: string): Promise<Served> => {
  const node = await startNode({ network, blocks, dataDir, transactionTypes: magistrateTypes, options: { webhooks: false, rateLimit: false } });
  await node.plugin.settled();
  const snapshot = await node.plugin.chain.snapshot();
  const rounds = new Map<number, string[]>();
  for (let round = 1; ; round++) {
    const delegates = await snapshot?.round(round);
    if (delegates === undefined) break;
    if (!misranked.has(`${network.network.nethash}/${blocks.length}/${round}`)) rounds.set(round, delegates.map(({ publicKey }) => publicKey));
  }
  snapshot?.release?.();
  const proof = async (path: string): Promise<Proof> => {
    const { status, json, text } = await node.get(path);
    expect(status, text).to.equal(200);
    return (json as { data: Proof }).data;
  };
  return { network, blocks, get: node.get, origin: node.origin, options: { ...network, network: network.network, delegates: (round) => rounds.get(round) }, proof };
};

/** Which rule a proof breaks; undefined if it holds. */
const stepOf = (proof: unknown, options: ProofOptions): ProofStep | undefined => {
  try {
    verifyProof(proof, options);
    return undefined;
  } catch (error) {
    if (error instanceof ProofError) return error.step;
    throw error;
  }
};

const changed = (proof: Proof, change: (copy: Proof) => void): Proof => {
  const copy = structuredClone(proof);
  change(copy);
  return copy;
};

/** A text with one bit of it changed, if that is still JSON. */
const withBit = (text: Buffer, byte: number, bit: number): unknown => {
  const copy = Buffer.from(text);
  copy[byte] = (copy[byte] ?? 0) ^ (1 << bit);
  try {
    return JSON.parse(copy.toString("utf8"));
  } catch {
    return undefined;
  }
};

describe("proofs of real chains", function () {
  this.timeout(120_000);
  const served = new Map<string, Served>();
  const chainOf = (name: string): Served => {
    const found = served.get(name);
    if (found === undefined) throw new Error(`${name} is not here`);
    return found;
  };
  const core2 = loadCore2Chain();

  before(async () => {
    for (const name of ["core3-testnet-a", "core3-custom-c"] satisfies ChainName[]) {
      const { network, blocks } = loadChain(name);
      served.set(name, await serve(network, blocks, await copyOfStored(name, temporaryFolder())));
    }
    served.set("local", await serve(localNetwork(), await localBlocks(), temporaryFolder()));
    if (core2 !== undefined) served.set("core2-testnet", await serve(core2.network, core2.blocks, temporaryFolder()));
  });

  for (const name of ["core3-testnet-a", "core3-custom-c", "local", "core2-testnet"]) {
    it(`hold for the transactions and blocks of ${name}`, async function () {
      if (!served.has(name)) return this.skip();
      const { blocks, options, proof } = chainOf(name);
      const transactions = blocks.flatMap((block) => block.transactions ?? []);
      const kinds = [...new Map(transactions.map((one) => [`${one.version}/${one.typeGroup}/${one.type}`, one])).values()];
      for (const { id } of new Set([...kinds, ...spread(transactions, 8)])) {
        const verified = verifyProof(await proof(`/transactions/${id}/proof?confirmations=2`), options);
        expect(verified.transaction?.id).to.equal(id);
      }
      for (const { height, id, previousBlock, totalFee, generatorPublicKey } of spread(blocks, 12)) {
        const { block, confirmedBy, proven } = verifyProof(await proof(`/blocks/${id}/proof?confirmations=3`), options);
        expect({ ...block, totalFee: String(block.totalFee) }).to.include({ id, height, totalFee: String(totalFee), previousBlock: previousBlock ?? "0", generatorPublicKey });
        expect(confirmedBy).to.be.within(name === "core3-custom-c" && height > 250 ? 0 : Math.min(1, blocks.length - height), 3);
        expect(proven.join(" ")).to.include(height === 1 ? "The header of block 1 has the signature" : `Block ${id} at height ${height}`);
      }
    });
  }

  it("tell how many delegates built on a block: as many as its descendants have made, itself not counted", async () => {
    const { options, proof } = chainOf("core3-testnet-a");
    const [whole, none] = [await proof("/blocks/60/proof"), await proof("/blocks/60/proof?confirmations=0")];
    expect(whole.descendants).to.have.length(51);
    const makers = new Set(verifyProof(whole, { ...options, threshold: 40 }).confirmedBy === 0 ? [] : whole.descendants.map(({ header }) => header.slice(-66)));
    expect(verifyProof(whole, options).confirmedBy).to.equal(makers.size);
    expect(verifyProof(none, options)).to.include({ confirmedBy: 0 });
    expect(stepOf(none, { ...options, threshold: 1 })).to.equal("threshold");
    expect(stepOf(whole, { ...options, threshold: makers.size + 1 })).to.equal("threshold");
  });

  it("check the order of the rounds that are given, and say whose was not", async () => {
    const { options, proof } = chainOf("core3-testnet-a");
    const whole = await proof("/blocks/100/proof");
    const { delegates } = whole.round;
    const { confirmedBy, trusted } = verifyProof(whole, { ...options, delegates });
    expect(confirmedBy).to.be.greaterThan(30);
    expect(trusted).to.include("Who made 49 of these 52 blocks: the delegates of their round were not given.");
    expect(verifyProof(whole, { ...options, delegates: () => undefined })).to.include({ confirmedBy: 0 });
    expect(stepOf(whole, { ...options, delegates: delegates.toReversed() })).to.equal("round");
    expect(stepOf({ ...whole, round: { ...whole.round, delegates: delegates.toReversed() } }, { ...options, delegates: delegates.toReversed() })).to.equal("generator");
    expect(stepOf({ ...whole, round: { ...whole.round, number: 1 } }, options)).to.equal("round");
  });

  it("need delegates as public keys, not as rows of a reply, and not in a promise", async () => {
    const { options, proof } = chainOf("core3-testnet-a");
    const shown = await proof("/blocks/60/proof");
    for (const delegates of [[{ publicKey: "02" }], () => Promise.resolve([]), "02"]) {
      const wrong = { ...options, delegates } as unknown as ProofOptions;
      expect(() => verifyProof(shown, wrong), typeof delegates).to.throw(TypeError, "must be a list of public keys");
    }
  });

  it("hold with fewer descendants, but not with a gap among them, or another chain's", async () => {
    const { options, proof } = chainOf("core3-testnet-a");
    const whole = await proof("/blocks/60/proof?confirmations=5");
    expect(stepOf(changed(whole, ({ descendants }) => descendants.pop()), options)).to.equal(undefined);
    expect(stepOf(changed(whole, ({ descendants }) => descendants.splice(2, 1)), options)).to.equal("descendants");
    expect(stepOf(changed(whole, ({ descendants }) => descendants.reverse()), options)).to.equal("descendants");
    const other = await chainOf("core3-custom-c").proof("/blocks/60/proof?confirmations=5");
    expect(stepOf({ ...whole, descendants: other.descendants }, options)).to.equal("descendants");
  });

  it("do not hold for a block that somebody else has signed, or in a signature's other forms", async () => {
    const { network, options, proof } = chainOf("core3-testnet-a");
    const milestones = createMilestones(network.milestones);
    const whole = await proof("/blocks/60/proof?confirmations=0");
    const resigned = (header: string, signature: string): Proof =>
      changed(whole, (copy) => {
        const id = blockIdOf(hexToBytes(header), hexToBytes(signature), 60, milestones);
        copy.block = { id, height: 60, header, signature };
      });
    const secret = sha256(Uint8Array.of(7));
    const sign = (header: string): string => bytesToHex(secp256k1.sign(hexToBytes(header), secret, { format: "der" }));
    const { header, signature } = whole.block;
    const forged = header.slice(0, -66) + bytesToHex(secp256k1.getPublicKey(secret));
    expect(stepOf(resigned(forged, sign(forged)), options)).to.equal("generator");
    expect(stepOf(resigned(header, sign(header)), options)).to.equal("signature");

    const { r, s } = secp256k1.Signature.fromHex(signature, "der");
    const high = new secp256k1.Signature(r, secp256k1.Point.Fn.ORDER - s).toHex("der");
    expect(stepOf(resigned(header, high), options)).to.equal("signature");
    const inner = signature.slice(4);
    for (const loose of [`3081${signature.slice(2)}`, `${signature}00`, `30${(inner.length / 2 + 1).toString(16)}02${(Number.parseInt(inner.slice(2, 4), 16) + 1).toString(16)}00${inner.slice(4)}`]) {
      expect(stepOf(resigned(header, loose), options), loose).to.equal("signature");
    }
    expect(stepOf(resigned(header, signature), options)).to.equal(undefined);
    const genesis = await proof("/blocks/1/proof");
    expect(stepOf(changed(genesis, ({ block }) => void (block.header = block.header.replace(/^00/, "01"))), options)).to.equal("signature");
  });

  it("do not hold for a transaction that the block does not have, or has in another order", async () => {
    const { options, proof, blocks } = chainOf("core3-custom-c");
    const block = blocks.find(({ height, transactions = [] }) => height > 60 && transactions.length > 3);
    const [id, other] = [block?.transactions?.[1]?.id ?? "", blocks.findLast(({ transactions = [] }) => transactions.length > 0)?.transactions?.[0]?.id ?? ""];
    const whole = await proof(`/transactions/${id}/proof?confirmations=1`);
    expect(whole.transactionIds).to.deep.equal(block?.transactions?.map((one) => one.id));
    const { transaction } = await proof(`/transactions/${other}/proof?confirmations=1`);
    expect(stepOf({ ...whole, transaction }, options)).to.equal("transactionIds");
    expect(stepOf({ ...whole, transactionIds: whole.transactionIds.toReversed() }, options)).to.equal("payloadHash");
    expect(stepOf({ ...whole, transactionIds: whole.transactionIds.slice(1) }, options)).to.equal("transactionIds");
    expect(stepOf({ ...whole, transactionIds: [...whole.transactionIds.slice(1), other] }, options)).to.equal("payloadHash");
    expect(stepOf(changed(whole, (copy) => void (copy.transaction = { id, serialized: `${copy.transaction?.serialized ?? ""}00` })), options)).to.equal("transaction");
  });

  it("honour the network's exceptions", async () => {
    const { network, options, proof } = chainOf("core3-custom-c");
    const whole = await proof("/blocks/100/proof?confirmations=1");
    const mixed = { ...whole, transactionIds: whole.transactionIds.toReversed() };
    const { id, header, signature } = whole.block;
    expect(stepOf(mixed, options)).to.equal("payloadHash");
    expect(stepOf(mixed, { ...options, exceptions: { wrongTransactionOrder: { [id]: mixed.transactionIds } } })).to.equal(undefined);
    const wrong = `${signature.slice(0, -2)}00`;
    const renamed = { ...whole, descendants: [], block: { ...whole.block, signature: wrong } };
    const given = blockIdOf(hexToBytes(header), hexToBytes(wrong), 100, createMilestones(network.milestones));
    expect(stepOf(renamed, options)).to.equal("id");
    expect(stepOf(renamed, { ...options, exceptions: { outlookTable: { [given]: id } } })).to.equal("signature");
    const { trusted } = verifyProof(renamed, { ...options, exceptions: { outlookTable: { [given]: id }, blocks: [id] } });
    expect(trusted).to.include(`Blocks that the network has as exceptions: ${id}.`);
  });

  it("are refused for any bit that is changed, and the rule is named", async () => {
    const [most, each] = [count(2, 1_000), served.size];
    const steps = new Map<string, number>();
    let random = seedOr(5);
    const draw = (below: number): number => (random = (random * 48_271) % 2_147_483_647) % below;
    for (let made = 0; made < most; made++) {
      const { blocks, options, proof } = [...served.values()][made % each] as Served;
      // Nothing binds the delegates of a round that is not given.
      const given = blocks.slice(1).filter(({ height }) => typeof options.delegates === "function" && options.delegates(Math.ceil(height / 51)) !== undefined);
      const { height, transactions = [] } = given[draw(given.length)] as BlockData;
      const one = transactions[draw(Math.max(1, transactions.length))];
      const whole = await proof(one === undefined ? `/blocks/${height}/proof?confirmations=2` : `/transactions/${one.id}/proof?confirmations=1`);
      expect(stepOf(whole, options)).to.equal(undefined);
      const text = Buffer.from(JSON.stringify(whole));
      const keys = text.indexOf('"delegates"');
      for (let byte = 0; byte < text.length; byte++) {
        // The delegates' keys, which are most of it, are alike.
        const every = isLong && byte < keys;
        for (const bit of every ? [0, 1, 2, 3, 4, 5, 6, 7] : [draw(8)]) {
          const wrong = withBit(text, byte, bit);
          if (wrong === undefined) continue;
          const step = stepOf(wrong, options);
          if (step === undefined) expect.fail(`bit ${bit} of byte ${byte} of the proof of block ${height} can be changed`);
          steps.set(step, (steps.get(step) ?? 0) + 1);
        }
      }
    }
    expect([...steps.keys()]).to.include.members(["shape", "header", "id", "round", "payloadHash"]);
  });

  it("are checked by the code of the manual", async () => {
    const { origin, network, blocks, options } = chainOf("core3-testnet-a");
    const { height = 0, transactions = [] } = blocks.find((block) => block.height > 60 && (block.transactions ?? []).length > 0) ?? {};
    const folder = temporaryFolder();
    const [, code = ""] = /```js\n([^]*?)```/.exec(readFileSync("src/verify/README.md", "utf8")) ?? [];
    const { delegates } = options;
    const files = { network: network.network, milestones: network.milestones, delegates: typeof delegates === "function" ? delegates(Math.ceil(height / 51)) : [] };
    for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, `${name}.json`), JSON.stringify(content));
    writeFileSync(join(folder, "check.mjs"), code);
    buildSync({ entryPoints: [join(folder, "check.mjs")], outfile: join(folder, "built.mjs"), bundle: true, format: "esm", platform: "node", alias: { "portico/verify": resolve("src/verify/index.ts") } });
    const told = await promisify(execFile)(process.execPath, ["built.mjs", transactions[0]?.id ?? ""], { cwd: folder, env: { ...process.env, NODE_URL: `${origin}/api` } });
    expect(told.stdout).to.match(new RegExp(`^${transactions[0]?.id ?? ""} is in block ${height}, on which [345]\\d delegates have built\\.\n`));
    expect(told.stdout).to.include("This takes for granted:\nWho the delegates are.");
  });

  it("are small: one of a block of 150 transactions with 51 descendants takes less than 30 KB compressed", async () => {
    const whole = await chainOf("core3-testnet-a").proof("/blocks/60/proof");
    const transactionIds = Array.from({ length: 150 }, (_, index) => bytesToHex(sha256(Uint8Array.of(index))));
    expect(gzipSync(JSON.stringify({ data: { ...whole, transactionIds } })).length).to.be.below(30_000);
  });

  it("are served at any height, immutable once they cannot change", async () => {
    const { get, options } = chainOf("core3-testnet-a");
    const of = async (path: string) => {
      const { status, headers, json } = await get(path);
      return { status, cache: headers["cache-control"], data: (json as { data?: Proof }).data, code: (json as { code?: string }).code };
    };
    const last = await of("/blocks/260/proof");
    expect(last.data?.descendants).to.have.length(8);
    expect(last.cache).to.not.include("immutable");
    expect((await of("/blocks/60/proof")).cache).to.include("immutable");
    expect((await of("/blocks/150/proof?confirmations=200")).cache).to.not.include("immutable");
    const earlier = await of("/blocks/60/proof?at=100");
    expect(earlier.data?.descendants).to.have.length(40);
    expect(earlier.cache).to.include("immutable");
    expect(stepOf(earlier.data, options)).to.equal(undefined);
    for (const [path, status, code] of [
      ["/blocks/999/proof", 404, "BLOCK_NOT_FOUND"],
      ["/blocks/60/proof?at=59", 404, "BLOCK_NOT_FOUND"],
      [`/transactions/${"0".repeat(64)}/proof`, 404, "TRANSACTION_NOT_FOUND"],
      ["/blocks/60/proof?confirmations=201", 400, "BAD_REQUEST"],
    ] as const) {
      expect(await of(path), path).to.deep.include({ status, code });
    }
  });

  it("are 501 for a type that the node cannot write; its block, and others in it, have theirs", async () => {
    const { blocks } = loadChain("core3-custom-c");
    const node = await startStoredNode("core3-custom-c", { options: { webhooks: false, rateLimit: false } });
    const block = blocks.find(({ transactions = [] }) => new Set(transactions.map(({ typeGroup }) => typeGroup)).size > 1);
    for (const { id, typeGroup } of block?.transactions ?? []) {
      const { status, json } = await node.get(`/transactions/${id}/proof`);
      expect(status).to.equal(typeGroup === 1 ? 200 : 501);
      if (typeGroup !== 1) expect(json).to.deep.include({ code: "NOT_SUPPORTED" }).and.property("message").to.match(/^Transactions of the type 2\/\d cannot be proven/);
    }
    expect((await node.get(`/blocks/${block?.id ?? ""}/proof`)).status).to.equal(200);
  });

  it("are 501 for blocks that the network writes in a form of its own", async () => {
    const { network, blocks } = loadChain("core3-testnet-a");
    const foreign = blocks.slice(0, 5).map((block) => (block.height === 3 ? { ...block, payloadHash: "of another form" } : block.height === 5 ? { ...block, payloadHash: "0".repeat(64) } : block));
    const node = await startNode({ network, blocks: foreign, options: { webhooks: false } });
    await node.plugin.settled();
    const statuses = [];
    for (const height of [2, 3, 4, 5]) for (const confirmations of [0, 1]) statuses.push((await node.get(`/blocks/${height}/proof?confirmations=${confirmations}`)).status);
    expect(statuses).to.deep.equal([200, 501, 501, 501, 200, 501, 501, 501]);
  });
});

describe("proofs where milestones change block time, delegates and the form of ids", function () {
  this.timeout(120_000);

  it("bring the times that decide the slots, and hold at every height", async () => {
    const local = localNetwork();
    const changes = [{ height: 20, blocktime: 6 }, { height: 52, activeDelegates: 31, blocktime: 3 }, { height: 57, block: { idFullSha256: true } }];
    const network: Network = { ...local, milestones: [...local.milestones, ...changes].sort((one, other) => one.height - other.height) as Network["milestones"] };
    const chain = createLocalChain({ network });
    const blocks = [network.genesisBlock, ...(await chain.grow(66)).map(blockData)];
    const { options, proof } = await serve(network, blocks, temporaryFolder());
    for (const { height } of blocks.filter(({ height: each }) => isLong || each % 3 === 0 || Math.abs(each - 54) < 5)) {
      const whole = await proof(`/blocks/${height}/proof?confirmations=3`);
      const deciding = height + 3 < 20 ? [] : [1, 19, 20, ...(height + 3 < 52 ? [] : [51, 52])];
      expect(whole.round.slots?.map((slot) => slot.height) ?? [], `of block ${height}`).to.deep.equal(deciding.filter((needed) => needed < height));
      expect(stepOf(whole, options), `of block ${height}`).to.equal(undefined);
      const { slots } = whole.round;
      if (slots === undefined) continue;
      const of = (given: typeof slots): ProofStep | undefined => stepOf({ ...whole, round: { ...whole.round, slots: given } }, options);
      expect(of(slots.slice(1))).to.equal("round");
      expect(of([...slots, { height: 5, timestamp: slots.at(-1)?.timestamp ?? 0 }])).to.equal("round");
      expect(of([])).to.equal("round");
    }
  });
});
