import { expect } from "chai";
import {
  heightOfRow,
  historyBounds,
  historyKinds,
  historyRowKey,
  packDelegate,
  packFigures,
  packHeight,
  packTraits,
  packVoter,
  unpackDelegate,
  unpackDigest,
  unpackFigures,
  unpackHeight,
  unpackTraits,
  unpackVoter,
  voterRowKey,
} from "../../src/store/write/history-rows.js";

describe("rows of the history", () => {
  it("have amounts of any size and sign, each as long as it has to be", () => {
    const edges = [0n, 1n, 15n, 16n, 255n, 256n, 4_095n, 65_535n, 65_536n, 2n ** 48n - 1n, 2n ** 48n, 2n ** 53n + 1n, 2n ** 64n, 2n ** 1000n - 1n];
    const amounts = edges.flatMap((amount) => [amount, -amount]).map((amount) => amount + 0n);
    for (const balance of amounts) {
      for (const figures of [{ balance, nonce: 7n, lockedBalance: 0n }, { balance: 1n, nonce: balance, lockedBalance: balance }]) expect(unpackFigures(packFigures(figures))).to.deep.equal(figures);
    }
    const hexOf = (balance: bigint): string => packFigures({ balance, nonce: 0n, lockedBalance: 0n }).toString("hex");
    expect([0n, 1n, -1n, 255n, -256n].map(hexOf)).to.deep.equal(["00", "0201", "0301", "02ff", "050100"].map((hex) => `${hex}0000`));
  });

  it("are read as they were written", () => {
    const digest = Buffer.alloc(32, 0xab);
    const height = { supply: 2n ** 70n, wallets: 300, digest };
    const figures = { balance: -5n, nonce: 9n, lockedBalance: 2n ** 65n };
    const delegate = { voteBalance: 2n ** 66n, voters: 2 ** 33, producedBlocks: 256, missedBlocks: 3, missedRounds: 2, forgedFees: 4n, forgedRewards: 5n, lastHeight: 70_000 };
    const traits = { publicKey: "02", vote: null, username: "é", secondPublicKey: "03", resigned: true, multiSignature: { min: 2, publicKeys: ["a", "b"] } };
    expect({ ...unpackHeight(packHeight(height)), digest: unpackDigest(packHeight(height)) }).to.deep.equal(height);
    expect(unpackFigures(packFigures(figures))).to.deep.equal(figures);
    expect(unpackDelegate(packDelegate(delegate))).to.deep.equal(delegate);
    for (const count of [0, 1, 255, 256, 2 ** 32, 2 ** 48 - 1, 2 ** 48, Number.MAX_SAFE_INTEGER]) {
      const [height, { lastHeight, missedBlocks }] = [unpackHeight(packHeight({ supply: -1n, wallets: count, digest })), unpackDelegate(packDelegate({ ...delegate, missedBlocks: count, lastHeight: count }))];
      expect([height, missedBlocks, lastHeight]).to.deep.equal([{ supply: -1n, wallets: count }, count, count]);
    }
    expect(unpackTraits(packTraits(traits))).to.deep.equal(traits);
    for (const was of [true, false]) expect(unpackVoter(packVoter(was, "Aé"))).to.deep.equal({ was, address: "Aé" });
  });

  it("stand by kind, number and height, in the order of these, and a range has one kind and number alone", () => {
    const [below, first, last, other, kind] = [historyRowKey(2, 6, 0xffffffff), historyRowKey(2, 7, 1), historyRowKey(2, 7, 0x01020304), historyRowKey(2, 8, 0), historyRowKey(3, 0, 0)];
    expect(last.toString("hex")).to.equal("020000000701020304");
    expect([below, first, last, other, kind].toSorted(Buffer.compare)).to.deep.equal([below, first, last, other, kind]);
    expect([first, last].map(heightOfRow)).to.deep.equal([1, 0x01020304]);
    expect(historyBounds(historyKinds.figures, 7, 1)).to.deep.equal({ start: first, end: other });
    expect(historyBounds(historyKinds.figures, 7, 1, 0x01020304)).to.deep.equal({ start: first, end: last });
    expect(voterRowKey(7, 0x01020304, 9).toString("hex")).to.equal("06000000070102030400000009");
    expect(heightOfRow(voterRowKey(7, 12, 9))).to.equal(12);
    expect(new Set(Object.values(historyKinds)).size).to.equal(Object.keys(historyKinds).length);
  });
});
