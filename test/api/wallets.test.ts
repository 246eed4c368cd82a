import { expect } from "chai";
import { createChainRules } from "../../src/chain/rules.js";
import type { BlockData } from "../../types/events.js";
import { loadChain } from "../data/read.js";
import { startNode } from "../fixtures/node.js";
import { createMemoryAdapter } from "../memory-adapter/adapter.js";

describe("looking up a wallet", () => {
  const { network, blocks } = loadChain("core3-testnet-a");
  const rules = createChainRules(network);
  /** A public key that signs nothing on the chain: the first participant's of a multisignature wallet. */
  const coldKey = "02967ba60c8a046378cb5944ded643def34988582ab0eb55119941a2aa5af21908";
  const [genesis] = blocks as [BlockData];
  const [transfer, ...others] = genesis.transactions ?? [];

  it("finds it by a public key unknown to the chain, if the address is known, and refuses a name that no wallet has", async () => {
    const chain = createMemoryAdapter(network);
    chain.apply({ ...genesis, transactions: [{ ...transfer, recipientId: rules.addressOf(coldKey) } as NonNullable<typeof transfer>, ...others] });
    const { get } = await startNode({ network, chain, options: { webhooks: false } });
    const { json } = await get(`/wallets/${coldKey}`);
    expect(json).to.have.property("data").that.includes({ address: rules.addressOf(coldKey), publicKey: null });
    for (const name of ["02".padEnd(66, "0"), "genesis_99"]) expect((await get(`/wallets/${name}`)).json, name).to.include({ code: "WALLET_NOT_FOUND" });
  });
});
