import { appliedOnce } from "../memory-adapter/applied.js";
import { missedSlots } from "../memory-adapter/missed-slots.js";
import type { BlockData, TransactionData } from "../../types/events.js";
import { type Chain, type DelegateFigures, type LockFigures, loadChain, type ChainName, type WalletFigures } from "../data/read.js";

/**
 * The chains as their blocks and the real node describe them, row by row, for naive computations: nothing here comes from the code
 * under test. Sender addresses are the node's own, by public key.
 */

export interface WalletRow extends WalletFigures {
  delegate: RankedDelegate | undefined;
}

/** The rank is filled in where the figures have none. */
export interface RankedDelegate extends DelegateFigures {
  rank: number | null;
  voters: number;
  /** Slots without a block in which it was its turn. */
  missedBlocks: number;
}

export interface BlockRow extends BlockData {
  generator: { username: string | null; address: string; publicKey: string };
}

export interface TransactionRow extends TransactionData {
  version: number;
  typeGroup: number;
  block: BlockData;
  sequence: number;
  sender: string;
  /** The one that is shown: the sender if none is named. */
  recipient: string;
  /** Those that are named; a vote's is its sender. */
  recipients: string[];
  time: number;
}

export interface LockRow extends LockFigures {
  lockId: string;
  sender: WalletFigures;
}

export interface Figures extends Chain {
  tip: { id: string; height: number; timestamp: number };
  walletRows: WalletRow[];
  delegateRows: RankedDelegate[];
  blockRows: BlockRow[];
  transactionRows: TransactionRow[];
  lockRows: LockRow[];
}

interface Asset {
  payments: { recipientId: string }[] | undefined;
}

const transactionRow = (data: TransactionData, sequence: number, block: BlockData, addressOf: (publicKey: string) => string): TransactionRow => {
  const sender = addressOf(data.senderPublicKey);
  const version = data.version ?? 1;
  const typeGroup = data.typeGroup ?? 1;
  const isVote = data.type === 3 && typeGroup === 1;
  const named = data.recipientId ?? (isVote ? sender : undefined);
  const payments = (data.asset as Asset | undefined)?.payments;
  const recipients = payments === undefined ? (named === undefined ? [] : [named]) : payments.map(({ recipientId }) => recipientId);
  const time = version === 1 && data.timestamp !== undefined ? data.timestamp : block.timestamp;
  return { ...data, version, typeGroup, block, sequence, sender, recipient: named ?? sender, recipients, time };
};

/** An asset as clients see it: the amounts of its payments are bigints where the wire has numbers. */
export const shownAsset = (asset: TransactionData["asset"]): object => {
  const { payments, ...rest } = (asset ?? {}) as { payments?: { amount: unknown }[] };
  return payments === undefined ? rest : { ...rest, payments: payments.map((payment) => ({ ...payment, amount: BigInt(String(payment.amount)) })) };
};

/** The chain with genesis as the network's files have it: the same block, which the block files have in the form a node wrote. */
const chainOf = (name: ChainName): Chain => {
  const { blocks, ...chain } = loadChain(name);
  return { ...chain, blocks: [chain.network.genesisBlock, ...blocks.slice(1)] };
};

/** Where the real node reports no rank, the tests' own adapter tells it. How ranks arise is checked against rounds elsewhere. */
const rankIn = (chain: Chain, { username }: DelegateFigures): number | null =>
  (appliedOnce(chain).snapshot() as { delegate(username: string): { rank: number | null } | undefined }).delegate(username)?.rank ?? null;

/** Public keys, once for each slot that passed without a block. The tests' own adapter tells who was active. */
const missedIn = (chain: Chain): string[] => {
  const [size, snapshot] = [51, appliedOnce(chain).snapshot() as { round(round: number): { publicKey: string }[] | undefined }];
  const constants = [{ height: 1, blocktime: 8, activeDelegates: size }];
  return chain.blocks.slice(2).flatMap((block) => {
    const round = Math.ceil(block.height / size);
    const byRank = (snapshot.round(round) ?? []).map(({ publicKey }) => publicKey);
    const before = chain.blocks[block.height - 2] ?? block;
    return missedSlots(before, block, { milestones: constants, timeOf: (height) => chain.blocks[height - 1]?.timestamp ?? NaN, round, byRank });
  });
};

const read = (name: ChainName): Figures => {
  const chain = chainOf(name);
  const addresses = new Map(chain.wallets.map(({ publicKey, address }) => [publicKey, address]));
  const addressOf = (publicKey: string): string => {
    const address = addresses.get(publicKey);
    if (address === undefined) throw new Error(`no wallet has the key ${publicKey}`);
    return address;
  };
  const missed = missedIn(chain);
  const delegateRows = chain.delegates.map((delegate) => ({
    ...delegate,
    rank: delegate.rank === undefined ? rankIn(chain, delegate) : delegate.rank,
    voters: chain.wallets.filter(({ vote }) => vote === delegate.publicKey).length,
    missedBlocks: missed.filter((publicKey) => publicKey === delegate.publicKey).length,
  }));
  const delegates = new Map(delegateRows.map((delegate) => [delegate.publicKey, delegate]));
  const last = chain.blocks.at(-1);
  if (last === undefined) throw new Error("a chain without blocks");
  return {
    ...chain,
    tip: { id: last.id, height: last.height, timestamp: last.timestamp },
    walletRows: chain.wallets.map((wallet) => ({ ...wallet, delegate: delegates.get(wallet.publicKey ?? "") })),
    delegateRows,
    blockRows: chain.blocks.map((block) => ({
      ...block,
      generator: {
        username: delegates.get(block.generatorPublicKey)?.username ?? null,
        address: addressOf(block.generatorPublicKey),
        publicKey: block.generatorPublicKey,
      },
    })),
    transactionRows: chain.blocks.flatMap((block) =>
      (block.transactions ?? []).map((data, sequence) => transactionRow(data, sequence, block, addressOf)),
    ),
    lockRows: chain.wallets.flatMap((sender) => Object.entries(sender.locks ?? {}).map(([lockId, lock]) => ({ lockId, sender, ...lock }))),
  };
};

const known = new Map<ChainName, Figures>();

export const figuresOf = (name: ChainName): Figures => {
  const figures = known.get(name) ?? read(name);
  known.set(name, figures);
  return figures;
};

const epochStart = Date.parse("2017-03-21T13:00:00.000Z") / 1000;

/** Both networks use their predecessor's epoch. */
export const timestampOf = (epoch: number): { epoch: number; unix: number; human: string } => ({
  epoch,
  unix: epochStart + epoch,
  human: new Date((epochStart + epoch) * 1000).toISOString(),
});
