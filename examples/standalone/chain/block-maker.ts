import { createMilestones } from "../../../src/chain/milestones.js";
import { roundOf, slotsAt, turnsAfter } from "../../../src/chain/rounds.js";
import type { ChainCrypto, Keys, SignedBlock, SignedTransaction } from "./crypto.js";
import { createLedger } from "./ledger.js";
import type { ChainState, Ledger } from "./ledger-state.js";

/** Who forges next, and in which slot. */
export interface Turn {
  /** Epoch time at which the slot begins. */
  timestamp: number;
  username: string;
  keys: Keys;
}

/** The keys of the delegates that this node forges for. */
export type KeyRing = (delegate: { publicKey: string; username: string }) => Keys | undefined;

/** A source of transactions for a block. It applies them to the ledger, on which the next source builds. */
export type TransactionSource = (ledger: Ledger, limit: number) => Promise<SignedTransaction[]>;

export interface BlockMaker {
  /**
   * The turn at an epoch time (`now`); undefined if this node has no keys of the slot's delegate.
   *
   * Each block has a slot of its own, after the tip's. A node that forges faster than the block time (`leap`) takes the next slot for
   * whose delegate it has keys: its chain's clock runs ahead of the real one, but no rule is broken.
   */
  turn(state: ChainState, now: number, leap: boolean): Promise<Turn | undefined>;
  make(state: ChainState, turn: Turn): Promise<SignedBlock>;
  /** Epoch time at which the slot after the one of an epoch time (`now`) begins; without a state, as it is before any milestone. */
  nextSlot(state: ChainState | undefined, now: number): Promise<number>;
  /** Number of the round of the block after this height, and whether that block begins it. */
  nextRound(height: number): { round: number; begins: boolean };
}

export const createBlockMaker = ({ crypto, keyRing, sources }: { crypto: ChainCrypto; keyRing: KeyRing; sources: TransactionSource[] }): BlockMaker => {
  const milestones = createMilestones(crypto.network.milestones);

  const nextSlot: BlockMaker["nextSlot"] = async (state, now) => {
    const { slotOf, beginOf } = state === undefined ? slotsAt(1, milestones, () => 0) : await turnsAfter(state, milestones);
    return beginOf(slotOf(now) + 1);
  };

  const turn: BlockMaker["turn"] = async (state, now, leap) => {
    const { next, order, slotOf, beginOf, forgerOf } = await turnsAfter(state, milestones);
    if (order.length === 0) throw new Error(`the round of block ${state.tip.height + 1} has no delegates`);
    const first = Math.max(slotOf(now), next);
    for (let slot = first; slot < first + (leap ? order.length : 1); slot++) {
      const delegate = forgerOf(slot);
      const keys = delegate === undefined ? undefined : keyRing(delegate);
      if (delegate !== undefined && keys !== undefined) return { timestamp: beginOf(slot), username: delegate.username, keys };
    }
    return undefined;
  };

  const make: BlockMaker["make"] = async (state, { timestamp, keys }) => {
    const ledger = createLedger(crypto, state);
    const { maxTransactions } = crypto.constantsAt(state.tip.height + 1).block;
    const transactions: SignedTransaction[] = [];
    for (const source of sources) transactions.push(...(await source(ledger, maxTransactions - transactions.length)));
    return crypto.forge({ tip: state.tip, timestamp, transactions, keys });
  };

  const nextRound: BlockMaker["nextRound"] = (height) => {
    const { round, firstHeight } = roundOf(height + 1, milestones);
    return { round, begins: firstHeight === height + 1 };
  };

  return { turn, make, nextSlot, nextRound };
};
