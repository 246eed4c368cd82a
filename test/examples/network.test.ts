import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Networks } from "@arkecosystem/crypto";
import { expect } from "chai";
import { createCast } from "../../examples/standalone/chain/cast.js";
import { createCrypto } from "../../examples/standalone/chain/crypto.js";
import { createLocalNetwork, localSeed } from "../../examples/standalone/chain/genesis.js";
import { HostError } from "../../examples/standalone/program/host-error.js";
import { readNetwork } from "../../examples/standalone/chain/network.js";
import { loadChain } from "../data/read.js";
import { temporaryFolder } from "../fixtures/folder.js";

const refusal = (name: string): HostError => {
  try {
    readNetwork(name);
  } catch (error) {
    if (error instanceof HostError) return error;
    throw error;
  }
  throw new Error("it was not refused");
};

describe("the standalone host's networks", () => {
  let folder: string;
  beforeEach(() => (folder = temporaryFolder()));

  const writeFiles = (files: object): void => {
    for (const [name, content] of Object.entries(files) as [string, unknown][]) {
      writeFileSync(join(folder, `${name}.json`), typeof content === "string" ? content : JSON.stringify(content));
    }
  };

  describe("local", () => {
    it("has the same genesis block every time, to the last signature", () => {
      const network = createLocalNetwork();
      expect(network).to.deep.equal(createLocalNetwork());
      expect(network.genesisBlock.id).to.equal("7191607032646384712");
      expect(network.network.nethash).to.equal("9dfefbce6f2f0d0db04ad3a145830d285d01ee6b039cd4ba83f0cada14cf26b8");
      expect(createLocalNetwork("another seed").genesisBlock.id).to.not.equal(network.genesisBlock.id);
    });

    it("has a genesis block that the crypto package verifies: block, payload and every transaction", () => {
      const network = createLocalNetwork();
      const block = createCrypto(network).readBlock(network.genesisBlock);
      expect(block.verification).to.deep.equal({ verified: true, errors: [], containsMultiSignatures: false });
      expect(block.data.id).to.equal(network.genesisBlock.id);
      expect(block.data.payloadHash).to.equal(network.network.nethash);
      expect(block.transactions).to.have.length(178);
      expect(block.transactions.map(({ verified }) => verified)).to.not.include(false);
      expect(block.transactions.map(({ id }) => id)).to.deep.equal(network.genesisBlock.transactions?.map(({ id }) => id));
    });

    it("distributes 125 million tokens, and has 51 delegates that vote for themselves", () => {
      const { genesisBlock } = createLocalNetwork();
      const ofType = (type: number) => (genesisBlock.transactions ?? []).filter((transaction) => transaction.type === type);
      const sum = ofType(0).reduce((total, { amount }) => total + BigInt(String(amount)), 0n);
      expect(sum).to.equal(12_500_000_000_000_000n);
      expect(genesisBlock.totalAmount).to.equal("12500000000000000");
      expect(ofType(2)).to.have.length(51);
      expect(ofType(3)).to.have.length(51);
      for (const { senderPublicKey, asset } of ofType(3)) expect(asset).to.deep.equal({ votes: [`+${senderPublicKey}`] });
    });

    it("has delegates whose passphrases are known", () => {
      const network = createLocalNetwork();
      const crypto = createCrypto(network);
      const cast = createCast(localSeed, crypto);
      const registered = network.genesisBlock.transactions?.filter(({ type }) => type === 2) ?? [];
      expect(registered.map(({ senderPublicKey }) => senderPublicKey)).to.deep.equal(
        registered.map((_, index) => crypto.keysOf(cast.delegate(index + 1).passphrase).publicKey),
      );
    });
  });

  for (const name of ["testnet", "devnet", "mainnet"] as const) {
    it(`${name} is the crypto package's preset, which use leaves unchanged`, () => {
      const preset = structuredClone(Networks[name]) as unknown;
      const network = readNetwork(name);
      expect(network).to.deep.equal(preset);
      createCrypto(network).constantsAt(1);
      expect(network).to.deep.equal(preset);
    });
  }

  it("mainnet has the 1,492 transactions of its genesis block", () => {
    expect(readNetwork("mainnet").genesisBlock.transactions).to.have.length(1_492);
  });

  it("reads a fork's four files", () => {
    const { network } = loadChain("core3-custom-c");
    writeFiles(network);
    expect(readNetwork(folder)).to.deep.equal(network);
  });

  it("refuses a name that is neither a network nor a folder", () => {
    const { message, exitCode } = refusal("mainet");
    expect(message).to.equal('--network "mainet" is neither one of local, testnet, devnet, mainnet nor a folder.');
    expect(exitCode).to.equal(2);
  });

  it("names a missing file", () => {
    const { network, milestones, exceptions } = loadChain("core3-custom-c").network;
    writeFiles({ network, milestones, exceptions });
    expect(refusal(folder).message).to.equal(`${join(folder, "genesisBlock.json")} cannot be read: there is no such file.`);
  });

  it("names a file with invalid JSON", () => {
    writeFiles({ ...loadChain("core3-custom-c").network, milestones: "[{" });
    expect(refusal(folder).message).to.match(/^\/.*milestones\.json is not valid JSON: .+\.$/);
  });

  it("names a file with other content", () => {
    writeFiles({ ...loadChain("core3-custom-c").network, network: { name: "x" } });
    expect(refusal(folder).message).to.equal(`${join(folder, "network.json")} has no pubKeyHash that is a whole number.`);
  });
});
