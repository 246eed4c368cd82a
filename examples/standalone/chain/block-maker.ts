import type { Tip } from "../../../types/chain.js";
import { createMilestones } from "../../../src/chain/milestones.js";
import { forgerOf, forgingOrder, roundOf, slotOf } from "../../../src/chain/rounds.js";
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
  /** Length of a slot in seconds, for the block after a tip. */
  blocktime(tip: Pick<Tip, "height">): number;
  /** Number of the round of the block after this height, and whether that block begins it. */
  nextRound(height: number): { round: number; begins: boolean };
}

export const createBlockMaker = ({ crypto, keyRing, sources }: { crypto: ChainCrypto; keyRing: KeyRing; sources: TransactionSource[] }): BlockMaker => {
  const milestones = createMilestones(crypto.network.milestones);
  const blocktime: BlockMaker["blocktime"] = ({ height }) => milestones.at(height + 1).blocktime;

  const turn: BlockMaker["turn"] = async (state, now, leap) => {
    const { round } = roundOf(state.tip.height + 1, milestones);
    const byRank = await state.round(round);
    if (byRank === undefined || byRank.length === 0) throw new Error(`round ${round} has no delegates`);
    const order = forgingOrder(byRank, round);
    const seconds = blocktime(state.tip);
    const first = Math.max(slotOf(now, seconds), slotOf(state.tip.timestamp, seconds) + 1);
    for (let slot = first; slot < first + (leap ? order.length : 1); slot++) {
      const delegate = forgerOf(slot, order);
      const keys = delegate === undefined ? undefined : keyRing(delegate);
      if (delegate !== undefined && keys !== undefined) return { timestamp: slot * seconds, username: delegate.username, keys };
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

  return { turn, make, blocktime, nextRound };
};
