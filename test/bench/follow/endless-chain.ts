import type { ChainChanges, KeptBlock } from "../../../types/chain-adapter.js";
import { createChainRules } from "../../../src/chain/rules.js";
import { actors } from "../../../src/conformance/chain/actors.js";
import { genesis, hex, network } from "../../follow/schedule.js";

/** A chain that is made as it is read: any length costs nothing. Its blocks are eight seconds apart. */
export interface EndlessChain {
  changes: ChainChanges;
  /** Moves the tip. */
  grow(blocks: number): void;
}

const rules = createChainRules(network);
const [genesisTransaction] = rules.parseBlock(genesis).transactions;
if (genesisTransaction === undefined) throw new Error("genesis has transactions");
const first = { ...genesisTransaction, vendorField: "" };

const idOf = (height: number): string => hex(`endless ${height}`);

/** `prepared`: blocks up to this height are made beforehand, where the time to make them is not to count. */
export const createEndlessChain = (transactions: number, { begin = 1, prepared = 0 } = {}): EndlessChain => {
  let tip = begin;
  const watchers = new Set<() => void>();

  const make = (height: number): KeptBlock => {
    const block = { ...rules.parseBlock(genesis).block, id: idOf(height), height, previousBlock: height === 1 ? null : idOf(height - 1), timestamp: height * 8, numberOfTransactions: transactions };
    return {
      block,
      transactions: Array.from({ length: transactions }, (_, sequence) => ({
        ...first,
        id: hex(`${height} ${sequence}`),
        senderId: actors.ada.address,
        recipientId: `A${(height * 31 + sequence * 7_919) % 200_000}`,
        amount: BigInt(height * 1_000 + sequence),
        vendorField: `order ${height * 1_000 + sequence}`,
        blockId: block.id,
        blockHeight: height,
        sequence,
      })),
    };
  };

  const ready = new Map(Array.from({ length: prepared }, (_, index) => [index + 1, make(index + 1)]));
  const blockAt = (height: number): KeptBlock => ready.get(height) ?? make(height);

  return {
    changes: {
      view: () => ({
        tip: { height: tip, id: idOf(tip), timestamp: tip * 8 },
        idAt: (height) => (height < 1 || height > tip ? undefined : idOf(height)),
        blocks: (from, limit) => Array.from({ length: Math.max(0, Math.min(limit, tip - from + 1, 4)) }, (_, index) => blockAt(from + index)),
        orphan: () => undefined,
        round: () => undefined,
      }),
      watch: (changed) => {
        watchers.add(changed);
        return () => void watchers.delete(changed);
      },
    },
    grow: (blocks) => {
      tip += blocks;
      watchers.forEach((changed) => changed());
    },
  };
};
