import type { Transaction } from "../../types/chain.js";
import type { BlockData } from "../../types/events.js";
import type { Network } from "../../types/node-context.js";
import type { TransactionType } from "../../types/transaction-type.js";
import { createAddressOf } from "./address.js";
import { parseAmount } from "./amount.js";
import { type FullBlock, parseBlock } from "./blocks/block.js";
import { createEpoch, type Epoch } from "./epoch.js";
import { createMilestones, type Milestones } from "./milestones.js";
import { atOnce, type Sliced } from "../async/time-slicing.js";
import { createTransactionTypes, recipientsOf, type TransactionTypes } from "./blocks/transaction-types.js";

/** Everything that is known about a network without reading its chain. */
export interface ChainRules {
  readonly network: Network;
  readonly milestones: Milestones;
  readonly epoch: Epoch;
  readonly types: TransactionTypes;
  addressOf(publicKey: string): string;
  /** The reward that a block must have; undefined where any will do. */
  rewardOf(block: { height: number; id: string }): bigint | undefined;
  /** Addresses that a transaction names as recipients, without repeats. */
  recipientsOf(transaction: Transaction): string[];
  /** Parses a block as hosts and files represent it. @throws PorticoError BLOCK_INVALID */
  parseBlock(data: BlockData): FullBlock;
  /** The same, in steps. */
  parseBlockSliced(data: BlockData): Sliced<FullBlock>;
}

export const createChainRules = (network: Network, added: readonly TransactionType[] = []): ChainRules => {
  const milestones = createMilestones(network.milestones);
  const types = createTransactionTypes(added);
  const exempt = new Set<unknown>(Array.isArray(network.exceptions.blocks) ? network.exceptions.blocks : []);
  const addressOf = createAddressOf(network.network.pubKeyHash);
  return {
    network,
    milestones,
    epoch: createEpoch(milestones.at(1).epoch),
    types,
    addressOf,
    // Genesis has none, whatever the milestones say.
    rewardOf: ({ height, id }) =>
      network.rewards === "blocks" || height === 1 || exempt.has(id) ? undefined : parseAmount(milestones.at(height).reward),
    recipientsOf: (transaction) => recipientsOf(transaction, types),
    parseBlock: (data) => atOnce(parseBlock(data, addressOf)),
    parseBlockSliced: (data) => parseBlock(data, addressOf),
  };
};
