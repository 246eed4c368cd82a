import { type ChainMaker, createChainMaker, milestones, transfer } from "../../src/conformance/chain/chain-maker.js";
import { actors } from "../../src/conformance/chain/actors.js";

const transactionsInBlock = 3;

/** A chain that is identical in every process. Each later block contains everything that the webhook engine reads. */
export const createFaultChain = (): ChainMaker => {
  const { origin, ada } = actors;
  const maker = createChainMaker(milestones);
  maker.add({ generator: origin, transactions: [transfer(origin, ada, 2n ** 60n, { version: 1, fee: 0n })] });
  return maker;
};

export const addFaultBlock = (maker: ChainMaker): void => {
  const { origin, ada, bob } = actors;
  const transactions = Array.from({ length: transactionsInBlock }, (_unused, index) => transfer(ada, bob, BigInt(index + 1)));
  maker.add({ generator: origin, transactions });
};
