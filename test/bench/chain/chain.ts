import { type ChainRules, createChainRules } from "../../../src/chain/rules.js";
import type { FullBlock } from "../../../src/chain/blocks/block.js";
import type { BlockData } from "../../../types/events.js";
import type { Network } from "../../../types/node-context.js";
import type { BenchLedger } from "./ledger.js";
import { networkOf } from "./network.js";
import { createPlanner } from "./planner.js";
import { createRender } from "./render.js";
import { type ChainSize, fullBlock } from "./sizes.js";

/** Raised whenever the same size would give another chain. */
export const chainVersion = 1;

/** A chain of a size, block by block. */
export interface BenchChain {
  readonly network: Network;
  readonly rules: ChainRules;
  readonly ledger: BenchLedger;
  /** Height of the next block. */
  readonly height: number;
  next(transactions?: number): FullBlock;
  /** Advances until `height` comes next, without making the blocks before it. */
  skipTo(height: number): void;
}

/** A block in the form in which hosts carry it. */
export const blockDataOf = ({ block, transactions }: FullBlock): BlockData => ({ ...block, transactions });

/** Wallets that are enough for genesis. */
const ofGenesis = 100;

/** The network of a size, without its chain. */
export const benchNetwork = (size: ChainSize): Network => {
  const genesis = createPlanner({ ...size, wallets: ofGenesis }).next();
  return networkOf(size, blockDataOf(createRender(ofGenesis)(genesis)));
};

export const createBenchChain = (size: ChainSize): BenchChain => {
  const planner = createPlanner(size);
  const render = createRender(size.wallets);
  const network = benchNetwork(size);
  return {
    network,
    rules: createChainRules(network),
    ledger: planner.ledger,
    get height() {
      return planner.height;
    },
    next: (transactions) => render(planner.next(transactions)),
    skipTo: (height) => {
      while (planner.height < height) planner.next();
    },
  };
};

/** Blocks beyond a chain's end, so many at a time. */
export const blocksBeyond = (size: ChainSize, transactions = fullBlock): ((count: number) => BlockData[]) => {
  const chain = createBenchChain(size);
  chain.skipTo(size.blocks + 1);
  return (count) => Array.from({ length: count }, () => blockDataOf(chain.next(transactions)));
};
