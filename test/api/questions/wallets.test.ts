import { expect } from "chai";
import { findWallet, walletFilter } from "../../../src/api/resources/wallets.js";
import { createApiState } from "../../../src/api/state.js";
import { createChainRules } from "../../../src/chain/rules.js";
import { PorticoError } from "../../../src/errors.js";
import type { BlockData } from "../../../types/events.js";
import { loadChain } from "../../data/read.js";
import { createMemoryAdapter } from "../../memory-adapter/adapter.js";

const noWebhooks = (): never => {
  throw new PorticoError("NOT_SUPPORTED");
};

describe("the wallet filter", () => {
  it("accepts votebalance as voteBalance", () => {
    expect(walletFilter({ votebalance: { from: 1n } })).to.deep.equal({ voteBalance: { from: 1n } });
    expect(walletFilter({ vote: "a", voteBalance: { to: 2n } })).to.deep.equal({ vote: "a", voteBalance: { to: 2n } });
    expect(walletFilter({})).to.deep.equal({});
  });

  it("applies both when both are given", () => {
    const cases: [Parameters<typeof walletFilter>[0], object][] = [
      [{ voteBalance: { from: 1n, to: 9n }, votebalance: { from: 3n } }, { from: 3n, to: 9n }],
      [{ voteBalance: { from: 5n }, votebalance: { from: 3n, to: 4n } }, { from: 5n, to: 4n }],
      [{ voteBalance: { to: 9n }, votebalance: { to: 2n } }, { to: 2n }],
      [{ voteBalance: {}, votebalance: {} }, {}],
    ];
    for (const [input, voteBalance] of cases) expect(walletFilter(input)).to.deep.equal({ voteBalance });
  });
});

describe("looking up a wallet", () => {
  const { network, blocks } = loadChain("core3-testnet-a");
  const rules = createChainRules(network);
  /** A public key that signs nothing on the chain: the first participant's of a multisignature wallet. */
  const coldKey = "02967ba60c8a046378cb5944ded643def34988582ab0eb55119941a2aa5af21908";
  const [genesis] = blocks as [BlockData];
  const [transfer, ...others] = genesis.transactions ?? [];
  const adapter = createMemoryAdapter(network);
  adapter.apply({ ...genesis, transactions: [{ ...transfer, recipientId: rules.addressOf(coldKey) } as NonNullable<typeof transfer>, ...others] });
  const state = async () => createApiState(await adapter.snapshot(), { rules, host: {}, supports: {}, openWebhooks: noWebhooks, clock: { now: () => 0 }, finalHeight: (tip) => tip });

  it("finds it by a public key unknown to the chain, if the address is known", async () => {
    const wallet = await findWallet(coldKey, await state());
    expect(wallet).to.include({ address: rules.addressOf(coldKey), publicKey: null });
  });

  it("refuses a name that no wallet has", async () => {
    for (const name of ["02".padEnd(66, "0"), "genesis_99", ""]) {
      const look = async () => findWallet(name, await state());
      const error: unknown = await look().catch((thrown: unknown) => thrown);
      expect(error, name).to.be.instanceOf(PorticoError).with.property("code", "WALLET_NOT_FOUND");
    }
  });
});
