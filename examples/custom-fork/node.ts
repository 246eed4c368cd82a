import type { EventEmitter } from "eventemitter3";
import type { BlockData, ChainSnapshot, Network, TransactionData } from "portico";
import { createChainRules, turnsAfter } from "portico/chain";
import { delegates, forkAddressOf, token, treasury } from "./network.js";
import { keysOf, signBlock, signTransaction, type UnsignedTransaction } from "./signing.js";
import { forkGroup } from "./split.js";
import type { SqliteChain } from "./store/sqlite-chain.js";

/** The best delegate earns the milestone's reward, each one below a tenth less of it. */
export const rewardOf = (most: bigint, rank: number): bigint => (most * BigInt(Math.max(0, 11 - rank))) / 10n;

/** A minimal node of the fork: it forges for every delegate, into the store that Portico reads. */
export interface ForkNode {
  /** Appends the next block to the chain, and emits its events. */
  forge(): Promise<BlockData>;
  /** Reverts the last block, which is `block`, and emits the event. */
  revert(block: BlockData): void;
}

export const crewAddress = (number: number): string => forkAddressOf(keysOf(`harbour crew ${number}`));

export const createForkNode = ({ network, chain, events }: { network: Network; chain: SqliteChain; events: EventEmitter }): ForkNode => {
  const { milestones } = createChainRules(network);

  const forgerAfter = async (snapshot: ChainSnapshot) => {
    const { next, beginOf, forgerOf } = await turnsAfter(snapshot, milestones);
    const forger = forgerOf(next);
    const keys = delegates.find((delegate) => delegate.keys.publicKey === forger?.publicKey)?.keys;
    if (keys === undefined) throw new Error(`nobody to forge in slot ${next}`);
    return { keys, timestamp: beginOf(next) };
  };

  /** Stands in for a pool: a transfer to one of the crew, and an amount split among three. */
  const waiting = async (snapshot: ChainSnapshot): Promise<TransactionData[]> => {
    const { height } = snapshot.tip;
    const nonce = (await snapshot.wallet(forkAddressOf(treasury)))?.nonce ?? 0n;
    const order = (offset: bigint, parts: Partial<UnsignedTransaction>): TransactionData =>
      signTransaction(
        { version: 2, network: network.network.pubKeyHash, typeGroup: 1, type: 0, nonce: String(nonce + offset), amount: "0", fee: "1000000", ...parts },
        treasury,
      );
    const parts = [1, 2, 3].map((count) => ({ recipientId: crewAddress((height + count) % 7), parts: count }));
    return [
      order(1n, { amount: String(token * BigInt(height)), recipientId: crewAddress(height % 7), vendorField: `Wages of height ${height}` }),
      order(2n, { typeGroup: forkGroup, type: 0, amount: String(10n * token + 1n), fee: "2000000", asset: { split: parts } }),
    ];
  };

  const forge = async (): Promise<BlockData> => {
    const snapshot = await chain.snapshot();
    if (snapshot === undefined) throw new Error("the chain has no genesis");
    const { tip } = snapshot;
    const { keys, timestamp } = await forgerAfter(snapshot);
    const rank = (await snapshot.delegate(keys.publicKey, ["rank"]))?.rank ?? 1;
    const transactions = await waiting(snapshot);
    snapshot.release?.();
    const reward = rewardOf(BigInt(milestones.at(tip.height + 1).reward), rank);
    const block = signBlock({ height: tip.height + 1, timestamp, previousBlock: tip.id, reward: String(reward), transactions }, keys, network.milestones);
    chain.apply(block);
    events.emit("block.applied", block);
    for (const transaction of transactions) events.emit("transaction.applied", transaction);
    return block;
  };

  return {
    forge,
    revert: (block) => {
      chain.revert();
      events.emit("block.reverted", block);
    },
  };
};
