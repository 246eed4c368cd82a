import { expect } from "chai";
import { chainNames } from "../../e2e/chains.js";
import { serveFirst } from "../../e2e/first-generation.js";
import { createMemoryAdapter } from "../../memory-adapter/adapter.js";
import { loadChain } from "../../data/read.js";
import type { Network } from "../../../types/node-context.js";

describe("fees, first generation", () => {
  for (const name of chainNames) {
    it(`include that of a second signature at GET /signatures/fee on ${name}`, async () => {
      const served = await serveFirst(name);
      expect(await served.get("/signatures/fee")).to.deep.equal({ fee: 500_000_000, success: true });
      await served.stop();
    });
  }

  const { network, blocks } = loadChain("core3-testnet-a");
  const feesAt = async (milestones: Network["milestones"], height: number): Promise<unknown[]> => {
    const own = { ...network, milestones };
    const chain = createMemoryAdapter(own);
    for (const block of blocks.slice(0, height)) chain.apply(block);
    const served = await serveFirst("core3-testnet-a", { network: own, chain });
    const paths = ["/signatures/fee", "/delegates/fee", "/accounts/delegates/fee", "/blocks/getFee", "/blocks/getStatus"];
    const fees = await Promise.all(paths.map(async (path) => (await served.get(path)).fee));
    const five = (await served.get("/blocks/getFees")).fees;
    await served.stop();
    return [...fees, five];
  };

  it("are those of the milestones at the tip, exact beyond 2^53", async () => {
    const change = { height: 5, fees: { staticFees: { secondSignature: "9007199254740993", transfer: 3 } } };
    const [first, ...rest] = network.milestones;
    const milestones: Network["milestones"] = [first, ...rest.filter(({ height }) => height < 5), change];
    const before = { send: 10_000_000, vote: 100_000_000, secondsignature: 500_000_000, delegate: 2_500_000_000, multisignature: 500_000_000 };
    expect(await feesAt(milestones, 4)).to.deep.equal([500_000_000, 2_500_000_000, 2_500_000_000, 10_000_000, 10_000_000, before]);
    const after = { ...before, send: 3, secondsignature: 9_007_199_254_740_993n };
    expect(await feesAt(milestones, 5)).to.deep.equal([9_007_199_254_740_993n, 2_500_000_000, 2_500_000_000, 3, 3, after]);
  });

  it("are 0 if a network has none", async () => {
    const [first, ...rest] = network.milestones;
    const milestones: Network["milestones"] = [{ ...first, fees: {} }, ...rest.map(({ fees: _fees, ...other }) => other)];
    const none = { send: 0, vote: 0, secondsignature: 0, delegate: 0, multisignature: 0 };
    expect(await feesAt(milestones, 2)).to.deep.equal([0, 0, 0, 0, 0, none]);
  });
});
