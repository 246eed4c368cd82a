import { expect } from "chai";
import { createApiState, requireSupport } from "../../src/api/state.js";
import { createChainRules } from "../../src/chain/rules.js";
import { PorticoError } from "../../src/errors.js";
import type { ChainSnapshot } from "../../types/chain-adapter.js";
import { loadChain } from "../data/read.js";
import { createMemoryAdapter } from "../memory-adapter/adapter.js";

const noWebhooks = (): never => {
  throw new PorticoError("NOT_SUPPORTED");
};

const { network, blocks } = loadChain("core3-testnet-a");
const needs = { rules: createChainRules(network), host: {}, supports: { rounds: true, locks: false }, openWebhooks: noWebhooks, clock: { now: () => 0 }, finalHeight: (tip: number) => tip };

const genesisSnapshot = async (): Promise<ChainSnapshot> => {
  const adapter = createMemoryAdapter(network);
  for (const block of blocks.slice(0, 1)) adapter.apply(block);
  const snapshot = await adapter.snapshot();
  if (snapshot === undefined) throw new Error("no snapshot");
  return snapshot;
};

describe("the state that answers a request", () => {
  it("has the tip of its snapshot", async () => {
    const snapshot = await genesisSnapshot();
    expect(createApiState(snapshot, needs).tip).to.equal(snapshot.tip);
  });

  it("releases its snapshot", async () => {
    let released = 0;
    createApiState({ ...(await genesisSnapshot()), release: () => void (released += 1) }, needs).release?.();
    expect(released).to.equal(1);
  });

  it("has no tip without a snapshot, and refuses access to the chain", () => {
    const state = createApiState(undefined, needs);
    expect(state).to.not.have.property("tip");
    expect(() => state.chain).to.throw(PorticoError, "not ready");
    expect(() => state.release?.()).to.not.throw();
  });

  it("refuses exactly what the adapter does not support", () => {
    const state = createApiState(undefined, needs);
    expect(() => requireSupport("locks", state)).to.throw(PorticoError).with.property("code", "NOT_SUPPORTED");
    expect(() => requireSupport("rounds", state)).to.not.throw();
    expect(() => requireSupport("feeStatistics", state)).to.not.throw();
  });
});
