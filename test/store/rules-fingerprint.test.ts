import { expect } from "chai";
import { createChainRules } from "../../src/chain/rules.js";
import { coreTransactionTypes } from "../../src/chain/blocks/transaction-types.js";
import { PorticoError } from "../../src/errors.js";
import { createStore, type StoreOptions } from "../../src/store/state/store.js";
import type { Network } from "../../types/node-context.js";
import type { TransactionType } from "../../types/transaction-type.js";
import { loadChain } from "../data/read.js";
import { closeTemporaryStores, temporaryFolder } from "./temporary-store.js";

const chain = loadChain("core3-custom-c");
const { network } = chain;

/** Opens a store with other rules than it may have been written with, applies some blocks and closes it. Returns the error message, or "opened". */
const open = async (
  dataDir: string,
  given: { milestones?: Network["milestones"]; pubKeyHash?: number; types?: TransactionType[] } & Pick<Partial<StoreOptions>, "access">,
  blocks = 0,
): Promise<string> => {
  const pubKeyHash = given.pubKeyHash ?? network.network.pubKeyHash;
  const other: Network = { ...network, network: { ...network.network, pubKeyHash }, milestones: given.milestones ?? network.milestones };
  const rules = createChainRules(other, given.types);
  try {
    const store = createStore({ dataDir, undoBlocks: 10, access: given.access ?? "write" }, { rules });
    try {
      if (blocks > 0) await store.apply(chain.blocks.slice(0, blocks).map(rules.parseBlock));
    } finally {
      await store.stop();
    }
    return "opened";
  } catch (error) {
    expect(error).to.be.instanceOf(PorticoError).with.property("code", "STORE_FOREIGN");
    return (error as PorticoError).message;
  }
};

describe("a store written with other rules", () => {
  after(closeTemporaryStores);
  const height = 40;
  const made = async (given: Parameters<typeof open>[1] = {}): Promise<string> => {
    const dataDir = temporaryFolder();
    expect(await open(dataDir, given, height)).to.equal("opened");
    return dataDir;
  };
  const kindsOf = ({ transactions = [] }: (typeof chain.blocks)[number]): string[] => transactions.map(({ type, typeGroup = 1 }) => `${typeGroup}/${type}`);
  const seen = new Set(chain.blocks.slice(0, height).flatMap(kindsOf));

  it("is refused for every kind of access when its addresses have another version byte", async () => {
    const dataDir = await made();
    for (const access of ["write", "read"] as const) {
      expect(await open(dataDir, { pubKeyHash: 0, access }), access).to.match(/chain\.mdb was written with address version byte \d+, not 0: restore the former rules, or move the store away/);
    }
    expect(await open(dataDir, {})).to.equal("opened");
  });

  it("is refused when constants up to its tip differ, but not when they differ above it", async () => {
    const dataDir = await made();
    const [first, ...rest] = network.milestones;
    const dearer: Network["milestones"] = [{ ...first, height: 1, reward: 77 }, ...rest];
    expect(await open(dataDir, { milestones: dearer })).to.include("was written with other milestones up to its tip");
    expect(await open(dataDir, { milestones: [...network.milestones, { height: height - 1, reward: 77 }] })).to.include("other milestones up to its tip");
    // As when a network agrees on an upcoming change and then on a different one.
    for (const activeDelegates of [77, 78]) {
      expect(await open(dataDir, { milestones: [...network.milestones, { height: height + 1, activeDelegates }] })).to.equal("opened");
    }
    // The same milestones in two entries.
    expect(await open(dataDir, { milestones: [{ ...first, height: 1, reward: 77 }, ...network.milestones] })).to.equal("opened");
    // Constants that do not affect state may change anywhere.
    expect(await open(dataDir, { milestones: [{ ...first, height: 1, vendorFieldLength: 255 }, ...rest] })).to.equal("opened");
  });

  it("is refused when a transaction type that it holds now has another effect, but not when it holds none of that type", async () => {
    expect([...seen]).to.include("1/3");
    const vote: TransactionType = { typeGroup: 1, type: 3, key: "vote", name: "Vote" };
    const dataDir = await made();
    expect(await open(dataDir, { types: [vote] })).to.include("another definition of transactions of group 1, type 3, version ");
    const gift: TransactionType = { typeGroup: 9, type: 0, key: "gift", name: "Gift" };
    expect(await open(dataDir, { types: [gift] })).to.equal("opened");
    expect(await open(dataDir, { types: [{ ...gift, apply: () => undefined }] })).to.equal("opened");
    expect(await open(dataDir, {})).to.equal("opened");
    // Renaming a type changes no state.
    const transfer = coreTransactionTypes.find(({ key }) => key === "transfer")!;
    expect([...seen]).to.include("1/0");
    expect(await open(dataDir, { types: [{ ...transfer, key: "payment", name: "Payment" }] })).to.equal("opened");
  });

  it("is left unchanged when it is refused", async () => {
    const dataDir = await made();
    expect(await open(dataDir, { pubKeyHash: 0 })).to.not.equal("opened");
    expect(await open(dataDir, { pubKeyHash: 0 })).to.not.equal("opened");
    expect(await open(dataDir, {})).to.equal("opened");
  });
});
