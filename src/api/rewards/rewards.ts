import type { ChainSnapshot, MaybePromise } from "../../../types/chain-adapter.js";
import type { Block, Wallet } from "../../../types/chain.js";
import { currentMeter, loopShare, metered, runShared } from "../../async/loop-share.js";
import { voteKind } from "../../chain/blocks/transaction-types.js";
import { divideRewards, type Rewards, type RewardTerms, type VoterChange } from "../../chain/rewards.js";
import { type AskPage, everyRow, rowsBelow } from "../resources/every-row.js";
import type { Heights } from "../statement/period.js";
import { type ApiState, noHistory } from "../state.js";

/** Asks for pages in what is left of a round of the event loop; the time counts for the client that has asked. */
const createShared = () => {
  const meter = currentMeter();
  return <Row>(ask: AskPage<Row>): AskPage<Row> =>
    (offset, limit) =>
      loopShare.run(() => metered(meter, () => ask(offset, limit)));
};

type Shared = ReturnType<typeof createShared>;

const forgedIn = (publicKey: string, heights: Heights, chain: ChainSnapshot, shared: Shared): Promise<Block[]> =>
  everyRow(
    shared((offset, limit) =>
      chain.blocks({ filter: { generatorPublicKey: publicKey, height: heights }, order: { field: "height", direction: "asc" }, offset, limit }),
    ),
  );

const votersIn = (publicKey: string, chain: ChainSnapshot, shared: Shared): Promise<Wallet[]> =>
  everyRow(shared((offset, limit) => chain.wallets({ filter: { vote: publicKey }, order: { field: "balance", direction: "desc" }, offset, limit })));

/** Addresses that voted for a delegate by a transaction in a range of heights. */
const newVotersIn = async (publicKey: string, { from, to }: Heights, chain: ChainSnapshot, shared: Shared): Promise<string[]> => {
  const ask = shared((offset, limit) => chain.transactions({ filter: voteKind, order: { field: "timestamp", direction: "asc" }, offset, limit }));
  const votes = await everyRow(ask, { from: await rowsBelow(from, ask), beyond: ({ blockHeight }) => blockHeight > to });
  const isFor = (asset: unknown): boolean => Array.isArray(asset) && asset.includes(`+${publicKey}`);
  return votes.filter(({ asset }) => isFor(asset?.votes)).map(({ senderId }) => senderId);
};

const inOrder = (one: VoterChange, other: VoterChange): number => one.height - other.height;

/** All voters of a delegate in the state after the first of its blocks, and whatever changes about them up to the last. */
const changesOf = async (publicKey: string, heights: Heights, state: Pick<ApiState, "chain" | "at">, shared: Shared): Promise<VoterChange[]> => {
  const { chain } = state;
  const { walletChanges } = chain;
  if (walletChanges === undefined) throw noHistory();
  const first = await state.at(heights.from);
  const last = await state.at(heights.to);
  try {
    const before = await votersIn(publicKey, first, shared);
    const after = await votersIn(publicKey, last, shared);
    const joined = await newVotersIn(publicKey, heights, chain, shared);
    const changes: VoterChange[] = before.map(({ address, balance }) => ({ height: heights.from, address, balance }));
    for (const address of new Set([...before, ...after].map((wallet) => wallet.address).concat(joined))) {
      const within = { from: heights.from + 1, to: heights.to };
      const ask = shared((offset, limit) => walletChanges.call(chain, { address, heights: within, direction: "asc", offset, limit }));
      for (const { height, balance, vote } of await everyRow(ask)) changes.push({ height, address, balance: vote === publicKey ? balance : undefined });
    }
    return changes.sort(inOrder);
  } finally {
    first.release?.();
    last.release?.();
  }
};

/** What is due to whom of what a delegate forged in a range of heights. */
export const rewardsOf = async (publicKey: string, heights: Heights, terms: RewardTerms, state: ApiState): Promise<Rewards & { blocks: number }> => {
  const shared = createShared();
  const meter = currentMeter();
  const blocks = await forgedIn(publicKey, heights, state.chain, shared);
  const [first, last] = [blocks[0], blocks.at(-1)];
  const changes = first === undefined || last === undefined ? [] : await changesOf(publicKey, { from: first.height, to: last.height }, state, shared);
  const divided: MaybePromise<Rewards> = metered(meter, () => runShared(divideRewards(blocks, changes, terms), loopShare));
  return { ...(await divided), blocks: blocks.length };
};
