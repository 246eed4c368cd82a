import type { Delegate, Lock, RoundDelegate, Tip, Transaction, Wallet } from "../../types/chain.js";
import type { BlockData } from "../../types/events.js";
import type { WalletDraft } from "../../types/transaction-type.js";
import { approvalOf } from "../../src/chain/amount.js";
import { applyBlock } from "../../src/chain/blocks/apply.js";
import type { FullBlock } from "../../src/chain/blocks/block.js";
import { missedSlots } from "./missed-slots.js";
import { endsRound, rankDelegates, roundOf } from "../../src/chain/rounds.js";
import type { ChainRules } from "../../src/chain/rules.js";

/** The chain up to one block. Immutable: the next block creates a new state from it. */
export interface State {
  rules: ChainRules;
  /** From genesis on. */
  blocks: FullBlock[];
  /** By address. */
  drafts: Map<string, WalletDraft>;
  /** By the lock transaction's id. */
  locks: Map<string, Lock>;
  /** Ranks by the delegate's public key. */
  ranks: Map<string, number>;
  rounds: Map<number, RoundDelegate[]>;
  /** A delegate's public key, once for each round in which it was active and forged nothing. */
  missedRounds: string[];
  /** A delegate's public key, once for each slot that passed without a block and was its turn. */
  missedSlots: string[];
}

export const emptyState = (rules: ChainRules): State => ({
  rules,
  blocks: [],
  drafts: new Map(),
  locks: new Map(),
  ranks: new Map(),
  rounds: new Map(),
  missedRounds: [],
  missedSlots: [],
});

const sum = (amounts: Iterable<bigint>): bigint => {
  let total = 0n;
  for (const amount of amounts) total += amount;
  return total;
};

export const tipOf = ({ blocks }: State): Tip => {
  const last = blocks.at(-1);
  if (last === undefined) throw new Error("there is no block yet");
  const { id, height, timestamp } = last.block;
  return { id, height, timestamp };
};

export const supplyOf = ({ blocks }: State): bigint =>
  sum(blocks.map(({ block }) => (block.height === 1 ? block.totalAmount : 0n) + block.reward));

/** Hundredths of a percent in whole numbers: half of the divisor is added before the division, which cuts. */
const productivityIn = (produced: number, missed: number): number | null => {
  const turns = BigInt(produced + missed);
  return turns === 0n ? null : Number((BigInt(produced) * 20_000n + turns) / (2n * turns)) / 100;
};

/** Summed over all voters each time. */
const voteBalanceOf = (publicKey: string, { drafts }: State): bigint =>
  sum([...drafts.values()].filter(({ vote }) => vote === publicKey).map(({ balance, lockedBalance }) => balance + lockedBalance));

const delegateOf = (draft: WalletDraft, username: string, state: State, supply: bigint): Delegate => {
  const publicKey = draft.publicKey ?? "";
  const voteBalance = voteBalanceOf(publicKey, state);
  const forged = state.blocks.map(({ block }) => block).filter(({ generatorPublicKey }) => generatorPublicKey === publicKey);
  const forgedFees = sum(forged.map(({ totalFee }) => totalFee));
  const forgedRewards = sum(forged.map(({ reward }) => reward));
  const last = forged.at(-1);
  const missedBlocks = state.missedSlots.filter((missing) => missing === publicKey).length;
  return {
    username,
    address: draft.address,
    publicKey,
    voteBalance,
    voters: [...state.drafts.values()].filter(({ vote }) => vote === publicKey).length,
    rank: state.ranks.get(publicKey) ?? null,
    approval: approvalOf(voteBalance, supply),
    producedBlocks: forged.length,
    missedBlocks,
    productivity: productivityIn(forged.length, missedBlocks),
    missedRounds: state.missedRounds.filter((missing) => missing === publicKey).length,
    forgedFees,
    forgedRewards,
    forgedTotal: forgedFees + forgedRewards,
    lastBlock: last === undefined ? null : { id: last.id, height: last.height, timestamp: last.timestamp },
    resigned: draft.resigned,
    vote: draft.vote,
    balance: draft.balance,
  };
};

export const delegatesOf = (state: State): Delegate[] => {
  const supply = supplyOf(state);
  return [...state.drafts.values()].flatMap((draft) => (draft.username === null ? [] : [delegateOf(draft, draft.username, state, supply)]));
};

export const walletsOf = (state: State, delegates: Delegate[]): Wallet[] => {
  const byAddress = new Map(delegates.map((delegate) => [delegate.address, delegate]));
  return [...state.drafts.values()].map((draft) => {
    const delegate = byAddress.get(draft.address);
    return {
      ...draft,
      isDelegate: delegate !== undefined,
      voteBalance: delegate?.voteBalance ?? 0n,
      producedBlocks: delegate?.producedBlocks ?? 0,
      forgedFees: delegate?.forgedFees ?? 0n,
      forgedRewards: delegate?.forgedRewards ?? 0n,
      rank: delegate?.rank ?? null,
    };
  });
};

export const transactionsOf = ({ blocks }: State): Transaction[] => blocks.flatMap(({ transactions }) => transactions);

/** The active delegates of the round that the tip ends who forged none of its blocks. */
const missing = (state: State): string[] => {
  const { height } = tipOf(state);
  if (height === 1) return [];
  const { round, firstHeight } = roundOf(height, state.rules.milestones);
  const generators = state.blocks.slice(firstHeight - 1).map(({ block }) => block.generatorPublicKey);
  return (state.rounds.get(round) ?? []).map(({ publicKey }) => publicKey).filter((publicKey) => !generators.includes(publicKey));
};

/** Ranks all delegates anew, and determines who forges in the round that begins. */
const endRound = (state: State): State => {
  const { height } = tipOf(state);
  const ranked = rankDelegates(delegatesOf(state));
  const rounds = new Map(state.rounds);
  const numbers =
    height === 1
      ? [roundOf(1, state.rules.milestones), roundOf(2, state.rules.milestones)]
      : [roundOf(height + 1, state.rules.milestones)];
  for (const { round, activeDelegates } of numbers) {
    rounds.set(
      round,
      ranked.slice(0, activeDelegates).map(({ publicKey, username, voteBalance }) => ({ publicKey, username, voteBalance })),
    );
  }
  const missedRounds = [...state.missedRounds, ...missing(state)];
  return { ...state, missedRounds, rounds, ranks: new Map(ranked.map(({ publicKey }, index) => [publicKey, index + 1])) };
};

/** Whose turn each slot was that passed without a block before the last of some blocks. */
const missedBefore = (blocks: readonly FullBlock[], { rules: { milestones }, rounds }: State): string[] => {
  const [before, last] = blocks.slice(-2).map(({ block }) => block);
  if (before === undefined || last === undefined || before.height === 1) return [];
  const { round } = roundOf(last.height, milestones);
  const turns = { milestones: milestones.all, timeOf: (height: number) => blocks[height - 1]?.block.timestamp ?? NaN };
  return missedSlots(before, last, { ...turns, round, byRank: (rounds.get(round) ?? []).map(({ publicKey }) => publicKey) });
};

const chains = (data: BlockData, { blocks }: State): boolean => {
  const last = blocks.at(-1)?.block;
  return last === undefined ? data.height === 1 : data.height === last.height + 1 && data.previousBlock === last.id;
};

/** The state after another block. */
export const withBlock = (state: State, data: BlockData): State => {
  if (!chains(data, state)) throw new Error(`block ${data.height} does not follow the tip`);
  const full = state.rules.parseBlock(data);
  const changes = applyBlock(
    full,
    { wallet: (address) => state.drafts.get(address), lock: (id) => state.locks.get(id) },
    state.rules,
  );

  const drafts = new Map(state.drafts);
  for (const [address, { after }] of changes.wallets) drafts.set(address, after);
  const locks = new Map(state.locks);
  for (const [id, { after }] of changes.locks) {
    if (after === undefined) locks.delete(id);
    else locks.set(id, after);
  }
  const blocks = [...state.blocks, full];
  const next = { ...state, drafts, locks, blocks, missedSlots: [...state.missedSlots, ...missedBefore(blocks, state)] };
  return endsRound(full.block.height, state.rules.milestones) ? endRound(next) : next;
};
