import { expect } from "chai";
import { findWallet, walletFilter } from "../../../src/api/questions/wallets.js";
import { createApiState } from "../../../src/api/state.js";
import { createChainRules } from "../../../src/chain/rules.js";
import { PorticoError } from "../../../src/errors.js";
import type { BlockData } from "../../../types/events.js";
import { loadChain } from "../../data/read.js";
import { createMemoryAdapter } from "../../memory-adapter/adapter.js";

const noWebhooks = (): never => {
  throw new PorticoError("NOT_SUPPORTED");
};

describe("the filter of wallets", () => {
  it("takes votebalance for voteBalance", () => {
    expect(walletFilter({ votebalance: { from: 1n } })).to.deep.equal({ voteBalance: { from: 1n } });
    expect(walletFilter({ vote: "a", voteBalance: { to: 2n } })).to.deep.equal({ vote: "a", voteBalance: { to: 2n } });
    expect(walletFilter({})).to.deep.equal({});
  });

  it("holds both where both are given", () => {
    const cases: [Parameters<typeof walletFilter>[0], object][] = [
      [{ voteBalance: { from: 1n, to: 9n }, votebalance: { from: 3n } }, { from: 3n, to: 9n }],
      [{ voteBalance: { from: 5n }, votebalance: { from: 3n, to: 4n } }, { from: 5n, to: 4n }],
      [{ voteBalance: { to: 9n }, votebalance: { to: 2n } }, { to: 2n }],
      [{ voteBalance: {}, votebalance: {} }, {}],
    ];
    for (const [input, voteBalance] of cases) expect(walletFilter(input)).to.deep.equal({ voteBalance });
  });
});

describe("a wallet by what names it", () => {
  const { network, blocks } = loadChain("core3-testnet-a");
  const rules = createChainRules(network);
  /** A key that signs nothing in the chain: the first participant's of a multisignature wallet. */
  const coldKey = "02967ba60c8a046378cb5944ded643def34988582ab0eb55119941a2aa5af21908";
  const [genesis] = blocks as [BlockData];
  const [transfer, ...others] = genesis.transactions ?? [];
  const adapter = createMemoryAdapter(network);
  adapter.apply({ ...genesis, transactions: [{ ...transfer, recipientId: rules.addressOf(coldKey) } as NonNullable<typeof transfer>, ...others] });
  const state = async () => createApiState(await adapter.snapshot(), { rules, host: {}, supports: {}, openWebhooks: noWebhooks, clock: { now: () => 0 } });

  it("is found by a public key that the chain does not know, as long as it knows the address", async () => {
    const wallet = await findWallet(coldKey, await state());
    expect(wallet).to.include({ address: rules.addressOf(coldKey), publicKey: null });
  });

  it("is not found by what names none", async () => {
    for (const name of ["02".padEnd(66, "0"), "genesis_99", ""]) {
      const look = async () => findWallet(name, await state());
      const error: unknown = await look().catch((thrown: unknown) => thrown);
      expect(error, name).to.be.instanceOf(PorticoError).with.property("code", "WALLET_NOT_FOUND");
    }
  });
});
