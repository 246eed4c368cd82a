import { type Static, Type } from "@sinclair/typebox";
import type { Block } from "../../../types/chain.js";
import { parseAmount } from "../../chain/amount.js";
import { PorticoError } from "../../errors.js";
import { Text } from "../../http/input/schema.js";
import { type Route, routesOf } from "../../http/route.js";
import { BlockListQuery, pageOfBlocks } from "../v2/blocks.js";
import { Amount, blockNamed, TextOrNull } from "../fields.js";
import type { ApiState } from "../state.js";
import { firstGeneration, pageOfQuery, paging, succeeded, SucceededWith } from "./input.js";
import { feeOf, FeeReply, feesOf, FeesReply } from "./fees.js";

export const BlockResource = Type.Object(
  {
    id: Type.String(),
    version: Type.Integer(),
    timestamp: Type.Integer({ description: "Seconds since the network's epoch." }),
    previousBlock: TextOrNull,
    height: Type.Integer(),
    numberOfTransactions: Type.Integer(),
    totalAmount: Amount,
    totalForged: Amount,
    totalFee: Amount,
    reward: Amount,
    payloadLength: Type.Integer({ description: "Bytes." }),
    payloadHash: Type.String(),
    generatorPublicKey: Type.String(),
    blockSignature: Type.String(),
    confirmations: Type.Integer({ description: "Height of the tip minus the block's." }),
  },
  { title: "FlatBlock" },
);

const presentBlock = (block: Block, tipHeight: number): Static<typeof BlockResource> => ({
  id: block.id,
  version: block.version,
  timestamp: block.timestamp,
  previousBlock: block.previousBlock,
  height: block.height,
  numberOfTransactions: block.numberOfTransactions,
  totalAmount: block.totalAmount,
  totalForged: block.reward + block.totalFee,
  totalFee: block.totalFee,
  reward: block.reward,
  payloadLength: block.payloadLength,
  payloadHash: block.payloadHash,
  generatorPublicKey: block.generatorPublicKey,
  blockSignature: block.blockSignature,
  confirmations: tipHeight - block.height,
});

const { item } = routesOf<ApiState>();
const common = { ...firstGeneration, resource: "blocks" } as const;

/** Blocks between two reductions of the reward in the first networks of the family. */
const milestoneLength = 3_000_000;
const milestoneOf = (height: number): number => Math.floor(height / milestoneLength);

const constantsOf = ({ chain, rules }: ApiState) => rules.milestones.at(chain.tip.height);
const rewardOf = (state: ApiState): bigint => parseAmount(constantsOf(state).reward);

/** Deployed clients use both spellings of the path. */
const heightRoute = (path: string, operation: string): Route<ApiState> =>
  item({
    ...common,
    path,
    operation,
    summary: "Returns the height and id of the last block.",
    reply: SucceededWith({ height: Type.Integer(), id: Type.String() }),
    answer: (_request, { chain: { tip } }) => succeeded({ height: tip.height, id: tip.id }),
  });

const feesRoute = (path: string, operation: string): Route<ApiState> =>
  item({
    ...common,
    path,
    operation,
    summary: "Returns the static fees of the first five transaction types.",
    reply: FeesReply,
    answer: (_request, state) => succeeded({ fees: feesOf(state) }),
  });

const StatusReply = SucceededWith({
  epoch: Type.String({ description: "ISO 8601." }),
  height: Type.Integer(),
  fee: Amount,
  milestone: Type.Integer(),
  nethash: Type.String(),
  reward: Amount,
  supply: Amount,
});

const statusOf = (state: ApiState): Omit<Static<typeof StatusReply>, "success"> => ({
  epoch: constantsOf(state).epoch,
  height: state.chain.tip.height,
  fee: feeOf("transfer", state),
  milestone: milestoneOf(state.chain.tip.height),
  nethash: state.rules.network.network.nethash,
  reward: rewardOf(state),
  supply: state.chain.supply,
});

const status = StatusReply.properties;

export const blockRoutes: Route<ApiState>[] = [
  item({
    ...common,
    path: "/blocks",
    summary: "Lists blocks, newest first.",
    query: Type.Object({ ...BlockListQuery.properties, ...paging }),
    reply: SucceededWith({ blocks: Type.Array(BlockResource), count: Type.Integer({ description: "Blocks on all pages." }) }),
    answer: async ({ query: { limit, offset, orderBy, ...filter } }, state) => {
      const request = { filter, orderBy, page: pageOfQuery({ limit, offset }) };
      const { rows, total } = await pageOfBlocks(request, state, (block) => presentBlock(block, state.chain.tip.height));
      return succeeded({ blocks: rows, count: total });
    },
  }),
  item({
    ...common,
    path: "/blocks/get",
    summary: "Returns a block.",
    query: Type.Object({ id: Text({ minLength: 1, description: "Height or id." }) }),
    reply: SucceededWith({ block: BlockResource }),
    answer: async ({ query: { id } }, state) => {
      const block = await blockNamed(id, state);
      if (block === undefined) throw new PorticoError("BLOCK_NOT_FOUND", `Block with id ${id} not found`);
      return succeeded({ block: presentBlock(block, state.chain.tip.height) });
    },
  }),
  heightRoute("/blocks/getHeight", "getV1BlocksHeight"),
  heightRoute("/blocks/getheight", "getV1BlocksHeightAlias"),
  item({
    ...common,
    path: "/blocks/getEpoch",
    summary: "Returns the time at which the network's epoch begins.",
    reply: SucceededWith({ epoch: status.epoch }),
    answer: (_request, state) => succeeded({ epoch: constantsOf(state).epoch }),
  }),
  item({
    ...common,
    path: "/blocks/getNethash",
    summary: "Returns the nethash, which identifies the network.",
    stateless: true,
    reply: SucceededWith({ nethash: status.nethash }),
    answer: (_request, { rules }) => succeeded({ nethash: rules.network.network.nethash }),
  }),
  item({
    ...common,
    path: "/blocks/getFee",
    summary: "Returns the fee of a transfer.",
    reply: FeeReply,
    answer: (_request, state) => succeeded({ fee: feeOf("transfer", state) }),
  }),
  feesRoute("/blocks/getFees", "getV1BlocksFees"),
  feesRoute("/blocks/getfees", "getV1BlocksFeesAlias"),
  item({
    ...common,
    path: "/blocks/getMilestone",
    summary: "Returns the number of completed periods of three million blocks.",
    reply: SucceededWith({ milestone: status.milestone }),
    answer: (_request, { chain }) => succeeded({ milestone: milestoneOf(chain.tip.height) }),
  }),
  item({
    ...common,
    path: "/blocks/getReward",
    summary: "Returns the block reward at the tip.",
    reply: SucceededWith({ reward: status.reward }),
    answer: (_request, state) => succeeded({ reward: rewardOf(state) }),
  }),
  item({
    ...common,
    path: "/blocks/getSupply",
    summary: "Returns the supply.",
    reply: SucceededWith({ supply: status.supply }),
    answer: (_request, { chain }) => succeeded({ supply: chain.supply }),
  }),
  item({
    ...common,
    path: "/blocks/getStatus",
    summary: "Returns the epoch, the height, the fee of a transfer, the block reward and the supply.",
    reply: StatusReply,
    answer: (_request, state) => succeeded(statusOf(state)),
  }),
];
