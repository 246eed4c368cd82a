import { type Static, Type } from "@sinclair/typebox";
import type { Block, Wallet } from "../../../types/chain.js";
import type { ChainSnapshot } from "../../../types/chain-adapter.js";
import { currentMeter, longShare, metered, runShared } from "../../async/loop-share.js";
import { isAddress } from "../../chain/address.js";
import type { ChainRules } from "../../chain/rules.js";
import { voteKind } from "../../chain/blocks/transaction-types.js";
import { divideRewards, type Rewards, type RewardTerms, type VoterChange } from "../../chain/rewards.js";
import { inputError, PorticoError } from "../../errors.js";
import { Amount as AmountInput, amountUnit, Flag, type InputKind, InputOf, ListOf, OneOf, Text } from "../../http/input/schema.js";
import { type FileAnswer, type Route, routesOf } from "../../http/route.js";
import { Address, Amount, DataOf } from "../fields.js";
import { chooseFormat, csvType, savedAs } from "../formats.js";
import { createPaced, everyRow, type Paced, rowsBelow } from "../pages.js";
import { findDelegate } from "./delegates.js";
import { findWallet, votersOf } from "./wallets.js";
import { type Heights, heightsOf, type PeriodEnd, PeriodEndInput } from "../statement/period.js";
import { type ApiState, noHistory } from "../state.js";
import { firstWhere } from "../../text/first-where.js";

const { body } = routesOf<ApiState>();

const mostBlocks = 1_000_000;
const mostExcluded = 100;

/** Percent with up to two decimals, as hundredths of a percent. */
const percentKind: InputKind<bigint> = {
  parse: (value) => {
    const [, whole = "", part = ""] = /^(\d{1,3})(?:\.(\d{1,2}))?$/.exec(String(value)) ?? [];
    const hundredths = whole === "" ? 10_001n : BigInt(whole + part.padEnd(2, "0"));
    return hundredths > 10_000n ? { rule: "must be a number from 0 to 100 with at most two decimals" } : { value: hundredths };
  },
  accepts: { type: "number", minimum: 0, maximum: 100 },
};

const RewardsQuery = Type.Object({
  from: Type.Optional(PeriodEndInput("First block: a height, a time (ISO 8601), or a day (UTC).")),
  to: Type.Optional(PeriodEndInput("Last block, included: a height, a time, or a whole day.")),
  share: Type.Optional(
    InputOf(percentKind, { description: "Percent of each block that its voters get, with at most two decimals. Default: 100." }),
  ),
  of: OneOf(["total", "rewards", "fees"], { default: "total", description: "The part of each block's earnings that is shared." }),
  minimum: Type.Optional(
    AmountInput({ description: `Voters owed less than this over the whole period get nothing. Their amounts are in \`rest\`. ${amountUnit}` }),
  ),
  cap: Type.Optional(AmountInput({ description: `Largest balance that counts for one voter, also in the sum of all balances. ${amountUnit}` })),
  exclude: Type.Optional(ListOf(Address, { maxItems: mostExcluded, description: "Up to 100 addresses that get nothing." })),
  spread: Flag({ default: false, description: "Whether the part of excluded addresses goes to the other voters; if not, to `rest`." }),
});

type Query = Static<typeof RewardsQuery>;

const BlockName = Type.Object({ height: Type.Integer(), id: Type.String() });
const Reward = Type.Object(
  { address: Type.String(), blocks: Type.Integer({ description: "Number of blocks of which it gets a share." }), amount: Amount },
  { title: "Reward" },
);

const RewardsResource = Type.Object(
  {
    delegate: Type.Object({ username: Type.String(), address: Type.String(), publicKey: Type.String() }),
    from: BlockName,
    to: BlockName,
    blocks: Type.Integer({ description: "Blocks that it forged." }),
    forged: Type.Object({ rewards: Amount, fees: Amount, total: Amount }),
    share: Type.Number({ description: "Percent." }),
    shared: Type.Unsafe<bigint>({ ...Amount, description: "Sum of the shared parts of all blocks." }),
    rest: Type.Unsafe<bigint>({
      ...Amount,
      description: "Amount that nobody gets. The sum of all amounts and `rest` is the part of `forged` that `of` names.",
    }),
    voters: Type.Array(Reward),
  },
  { title: "Rewards" },
);

const termsOf = ({ share = 10_000n, of, minimum = 0n, cap, exclude = [], spread }: Query, { network }: ChainRules): RewardTerms => {
  const wrong = exclude.find((address) => !isAddress(address, network.network.pubKeyHash));
  if (wrong !== undefined) throw inputError("query", "exclude", `has ${wrong}, which is not an address of this network`);
  for (const [key, value] of Object.entries({ minimum, cap }))
    if (value !== undefined && value < 0n) throw inputError("query", key, "must not be below 0");
  return { share, of, minimum, cap, exclude: new Set(exclude), spread };
};

/** The voters of a delegate in the state at a height. */
const votersAt = async (publicKey: string, height: number, state: Pick<ApiState, "at">, paced: Paced): Promise<Wallet[]> => {
  const chain = await state.at(height);
  try {
    return await votersOf(publicKey, { chain }, paced);
  } finally {
    chain.release?.();
  }
};

/** Addresses that voted for a delegate by a transaction in a range of heights. */
const newVotersIn = async (publicKey: string, { from, to }: Heights, chain: ChainSnapshot, paced: Paced): Promise<string[]> => {
  const ask = paced((offset, limit) =>
    chain.transactions({ filter: voteKind, order: { field: "timestamp", direction: "asc" }, offset, limit }),
  );
  const votes = await everyRow(ask, { from: await rowsBelow(from, ask), beyond: ({ blockHeight }) => blockHeight > to });
  const isFor = (asset: unknown): boolean => Array.isArray(asset) && asset.includes(`+${publicKey}`);
  return votes.filter(({ asset }) => isFor(asset?.votes)).map(({ senderId }) => senderId);
};

/**
 * By the index of a delegate's block, what has changed about its voters since the one before; for the first, those in the state after it.
 */
const changesOf = async (publicKey: string, blocks: readonly Block[], state: ApiState, paced: Paced): Promise<Map<number, VoterChange[]>> => {
  const heights = { from: blocks[0]?.height ?? 0, to: blocks.at(-1)?.height ?? 0 };
  const { chain } = state;
  const { walletChanges } = chain;
  if (walletChanges === undefined) throw noHistory();
  const before = await votersAt(publicKey, heights.from, state, paced);
  const addresses = new Set(before.map(({ address }) => address));
  for (const address of await newVotersIn(publicKey, heights, chain, paced)) addresses.add(address);
  // A fork's own type may have made others vote.
  for (const { address } of await votersAt(publicKey, heights.to, state, paced)) addresses.add(address);
  const changes = new Map<number, VoterChange[]>([[0, before.map(({ address, balance }) => ({ address, balance }))]]);
  const within = { from: heights.from + 1, to: heights.to };
  for (const address of addresses) {
    const ask = paced((offset, limit) => walletChanges.call(chain, { address, heights: within, direction: "asc", offset, limit }));
    for (const { height, balance, vote } of await everyRow(ask)) {
      const index = firstWhere(0, blocks.length, (place) => (blocks[place]?.height ?? 0) >= height);
      const there = changes.get(index);
      const change = { address, balance: vote === publicKey ? balance : undefined };
      if (there === undefined) changes.set(index, [change]);
      else there.push(change);
    }
  }
  return changes;
};

/** What is due to whom of what a delegate forged in a range of heights. */
const rewardsOf = async (publicKey: string, heights: Heights, terms: RewardTerms, state: ApiState): Promise<Rewards & { blocks: number }> => {
  const [meter, paced] = [currentMeter(), createPaced(longShare)];
  const filter = { generatorPublicKey: publicKey, height: heights };
  const blocks = await everyRow(
    paced((offset, limit) => state.chain.blocks({ filter, order: { field: "height", direction: "asc" }, offset, limit })),
  );
  const changes = blocks.length === 0 ? new Map<number, VoterChange[]>() : await changesOf(publicKey, blocks, state, paced);
  const divided = await metered(meter, () => runShared(divideRewards(blocks, changes, terms), longShare));
  return { ...divided, blocks: blocks.length };
};

/** A block of the chain, to name it. */
const blockAt = async (height: number, chain: ChainSnapshot): Promise<Pick<Block, "height" | "id">> => {
  const block = await chain.block({ height });
  if (block === undefined) throw new PorticoError("BLOCK_NOT_FOUND");
  return { height, id: block.id };
};

/** Whether it will be the same for ever: its end is named, is not beyond the tip, and final. */
const isLasting = (to: PeriodEnd | undefined, heights: Heights, state: ApiState): boolean => {
  const { chain, rules, isFinal } = state;
  if (isFinal === true) return true;
  if (to === undefined || heights.to > state.finalHeight(chain.tip.height)) return false;
  return "height" in to ? to.height <= chain.tip.height : rules.epoch.fromMilliseconds(to.end) <= chain.tip.timestamp;
};

const compute = async (id: string, query: Query, state: ApiState) => {
  const { chain, rules } = state;
  const { username, address, publicKey } = await findDelegate(id, state);
  const heights = await heightsOf(query.from, query.to, chain, rules.epoch);
  if (heights.from > heights.to) throw new PorticoError("BLOCK_NOT_FOUND");
  if (heights.to - heights.from >= mostBlocks) throw inputError("query", "from", `must be less than ${mostBlocks} blocks before the end`);
  const [from, to] = [await blockAt(heights.from, chain), await blockAt(heights.to, chain)];
  const { voters, blocks, forged, shared, rest } = await rewardsOf(publicKey, heights, termsOf(query, rules), state);
  const share = Number(query.share ?? 10_000n) / 100;
  const immutable = isLasting(query.to, heights, state);
  return { data: { delegate: { username, address, publicKey }, from, to, blocks, forged, share, shared, rest, voters }, immutable };
};

const contentTypes = { json: "application/json; charset=utf-8", csv: csvType };

const fileOf = (text: string, contentType: string, immutable: boolean, headers: readonly string[] = []): FileAnswer => ({
  file: Buffer.from(text),
  contentType,
  immutable,
  headers,
});

const common = { method: "GET", versions: [2], resource: "delegates", atHeight: true, errors: [404, 410, 501] } as const;
const delegate = Text({ description: "Username, address or public key of the delegate." });

export const rewardRoutes: Route<ApiState>[] = [
  body({
    ...common,
    path: "/delegates/{id}/rewards",
    operation: "getDelegateRewards",
    summary: "Returns the shares of its earnings that a delegate owes its voters, as JSON or CSV.",
    params: Type.Object({ id: delegate }),
    query: Type.Object({
      ...RewardsQuery.properties,
      format: Type.Optional(OneOf(["json", "csv"], { description: "Default: `json`, or `csv` where `Accept` prefers `text/csv`." })),
    }),
    content: { "application/json": DataOf(RewardsResource), "text/csv": Type.String() },
    answer: async ({ params: { id }, query: { format, ...query }, headers, json }, state) => {
      const { data, immutable } = await compute(id, query, state);
      const chosen = chooseFormat(contentTypes, format, headers);
      if (chosen.name === "json") return fileOf(json({ data }), chosen.contentType, immutable, chosen.headers);
      const lines = data.voters.map(({ address, blocks, amount }) => `${address},${blocks},${amount}\r\n`);
      const naming = savedAs(`rewards-${data.delegate.address}-${data.from.height}-${data.to.height}.csv`);
      return fileOf(`address,blocks,amount\r\n${lines.join("")}`, chosen.contentType, immutable, [...naming, ...chosen.headers]);
    },
  }),
  body({
    ...common,
    path: "/delegates/{id}/rewards/{address}",
    operation: "getDelegateReward",
    summary: "Returns what a delegate owes one of its voters.",
    params: Type.Object({ id: delegate, address: Text({ description: "Address, public key or username of the voter." }) }),
    query: RewardsQuery,
    content: { "application/json": DataOf(Reward) },
    answer: async ({ params, query, json }, state) => {
      const { address } = await findWallet(params.address, state);
      const { data: { voters }, immutable } = await compute(params.id, query, state);
      const data = voters.find((voter) => voter.address === address);
      if (data === undefined) throw new PorticoError("WALLET_NOT_FOUND");
      return fileOf(json({ data }), contentTypes.json, immutable);
    },
  }),
];
