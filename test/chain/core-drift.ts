import type { RoundDelegate } from "../../types/chain.js";
import type { ChainSnapshot, MaybePromise } from "../../types/chain-adapter.js";
import type { Network } from "../../types/node-context.js";
import type { BlockData } from "../../types/events.js";
import type { FullBlock } from "../../src/chain/blocks/block.js";
import { endsRound, rankDelegates, roundOf } from "../../src/chain/rounds.js";
import { createChainRules } from "../../src/chain/rules.js";
import { createMemoryAdapter } from "../memory-adapter/adapter.js";

/**
 * The vote balances by which a running ARK Core 3.9.1 ranks. When a third party claims a lock, that node credits the amount to
 * the delegate of the claim's sender instead of the recipient's, until it is restarted. A chain that such a node forged can
 * only be checked, forger by forger, if its fault is taken into account; without third-party claims there is no difference.
 */
interface Drift {
  /** Adds the effect of a block, given the state before it, which is asked for only if the block claims a lock: it takes long to make. */
  add(block: FullBlock, stateBefore: () => MaybePromise<ChainSnapshot | undefined>): Promise<void>;
  of(publicKey: string): bigint;
}

const htlcLock = 8;
const htlcClaim = 9;
const vote = 3;

interface Claim {
  claim: { lockTransactionId: string };
}

const createDrift = (): Drift => {
  const byDelegate = new Map<string, bigint>();
  const move = (delegate: string | null, by: bigint): void => {
    if (delegate !== null) byDelegate.set(delegate, (byDelegate.get(delegate) ?? 0n) + by);
  };

  const add: Drift["add"] = async ({ transactions }, stateBefore) => {
    if (!transactions.some(({ typeGroup, type }) => typeGroup === 1 && type === htlcClaim)) return;
    const before = await stateBefore();
    const votes = new Map<string, string | null>();
    const voteOf = async (address: string): Promise<string | null> => {
      const changed = votes.get(address);
      return changed === undefined ? ((await before?.wallet(address))?.vote ?? null) : changed;
    };
    const opened = new Map<string, { recipientId: string; amount: bigint }>();
    for (const { id, typeGroup, type, asset, senderId, recipientId, amount } of transactions) {
      if (typeGroup !== 1) continue;
      if (type === vote) {
        for (const item of (asset as { votes: string[] }).votes) votes.set(senderId, item.startsWith("+") ? item.slice(1) : null);
      }
      if (type === htlcLock && recipientId !== undefined) opened.set(id, { recipientId, amount });
      if (type === htlcClaim) {
        const lockId = (asset as unknown as Claim).claim.lockTransactionId;
        const lock = opened.get(lockId) ?? (await before?.lock(lockId));
        if (lock === undefined) throw new Error(`lock ${lockId} is not open`);
        if (lock.recipientId === senderId) continue;
        move(await voteOf(senderId), lock.amount);
        move(await voteOf(lock.recipientId), -lock.amount);
      }
    }
  };

  return { add, of: (publicKey) => byDelegate.get(publicKey) ?? 0n };
};

const activeAt = async (snapshot: ChainSnapshot, activeDelegates: number, drift: Drift): Promise<RoundDelegate[]> => {
  const { rows } = await snapshot.delegates({
    filter: {},
    order: { field: "username", direction: "asc" },
    offset: 0,
    limit: Number.MAX_SAFE_INTEGER,
  });
  return rankDelegates(rows.map((row) => ({ ...row, voteBalance: row.voteBalance + drift.of(row.publicKey) })))
    .slice(0, activeDelegates)
    .map(({ publicKey, username, voteBalance }) => ({ publicKey, username, voteBalance }));
};

interface Forged {
  network: Network;
  blocks: BlockData[];
}

type Rounds = ReadonlyMap<number, RoundDelegate[]>;

const computed = new WeakMap<BlockData[], Promise<Rounds>>();

/** The active delegates of each round, by rank, as the node that forged the chain had them. Computed once for each chain. */
export const roundsOfCore = (chain: Forged): Promise<Rounds> => {
  const rounds = computed.get(chain.blocks) ?? computeRounds(chain);
  computed.set(chain.blocks, rounds);
  return rounds;
};

const computeRounds = async ({ network, blocks }: Forged): Promise<Rounds> => {
  const rules = createChainRules(network);
  const adapter = createMemoryAdapter(network);
  const drift = createDrift();
  const rounds = new Map<number, RoundDelegate[]>();
  for (const block of blocks) {
    await drift.add(rules.parseBlock(block), () => adapter.snapshot());
    adapter.apply(block);
    if (!endsRound(block.height, rules.milestones)) continue;
    const snapshot = await adapter.snapshot();
    if (snapshot === undefined) throw new Error("no state");
    const { round, activeDelegates } = roundOf(block.height + 1, rules.milestones);
    rounds.set(round, await activeAt(snapshot, activeDelegates, drift));
  }
  return rounds;
};
