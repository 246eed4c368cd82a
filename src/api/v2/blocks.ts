import { type Static, Type } from "@sinclair/typebox";
import type { BlockFilter, BlockQuery } from "../../../types/chain-queries.js";
import type { Block } from "../../../types/chain.js";
import {
  Amount,
  blockIdNamed,
  blockNamed,
  DataOf,
  inputsOf,
  largestSearch,
  type ListRequest,
  pageOf,
  TextOrNull,
  TimestampResource,
  within,
} from "../fields.js";
import type { ApiState } from "../state.js";
import { pageOfTransactions, transactionFilter, TransactionListQuery, TransactionResource, withBlockId } from "./transactions.js";
import type { Epoch } from "../../chain/epoch.js";
import { blockList } from "../../chain/lists.js";
import { PorticoError } from "../../errors.js";
import { OrderBy, Text } from "../../http/input/schema.js";
import { type PageAnswer, type Route, routesOf } from "../../http/route.js";

const Generator = Type.Object({
  username: Type.Unsafe<string | null>({
    type: ["string", "null"],
    description: "Null if the generator is not a delegate, as for the genesis block.",
  }),
  address: Type.String(),
  publicKey: Type.String(),
});

export const BlockResource = Type.Object(
  {
    id: Type.String(),
    version: Type.Integer(),
    height: Type.Integer(),
    previous: TextOrNull,
    forged: Type.Object({ reward: Amount, fee: Amount, total: Amount, amount: Amount }),
    payload: Type.Object({ hash: Type.String(), length: Type.Integer() }),
    generator: Generator,
    signature: Type.String(),
    confirmations: Type.Integer({ description: "Height of the tip minus the block's." }),
    transactions: Type.Integer({ description: "Number of transactions." }),
    timestamp: TimestampResource,
  },
  { title: "Block" },
);

interface BlockSurroundings {
  generator: Static<typeof Generator>;
  tipHeight: number;
  epoch: Epoch;
}

const presentBlock = (block: Block, { generator, tipHeight, epoch }: BlockSurroundings): Static<typeof BlockResource> => ({
  id: block.id,
  version: block.version,
  height: block.height,
  previous: block.previousBlock,
  forged: { reward: block.reward, fee: block.totalFee, total: block.reward + block.totalFee, amount: block.totalAmount },
  payload: { hash: block.payloadHash, length: block.payloadLength },
  generator,
  signature: block.blockSignature,
  confirmations: tipHeight - block.height,
  transactions: block.numberOfTransactions,
  timestamp: epoch.timestamp(block.timestamp),
});

const { filters, orders } = blockList;
const order = { default: "height:desc" };

export const BlockListQuery = Type.Object({ ...inputsOf(filters, { exact: true }), orderBy: OrderBy(orders, order) });
const BlockSearchQuery = Type.Object({ orderBy: OrderBy(orders, order) });
const BlockSearchBody = Type.Object({ ...inputsOf(filters, { exact: false }), orderBy: Type.Optional(OrderBy(orders)) });

/** A page of blocks. The filter may name blocks by id or height, as paths do. */
export const pageOfBlocks = async <Row>(
  { filter, ...rest }: ListRequest<BlockFilter, BlockQuery["order"]>,
  state: ApiState,
  present: (block: Block) => Row,
): Promise<PageAnswer<Row>> => {
  const named = filter === undefined ? undefined : await withBlockIds(filter, state);
  return pageOf({ filter: named, ...rest }, (query) => state.chain.blocks(query), present);
};

type PresentedBlock = Static<typeof BlockResource>;

/** Presents blocks with the usernames of their generators, each looked up once. */
const presentBlocks = async (blocks: Block[], { chain, rules }: ApiState): Promise<PresentedBlock[]> => {
  const keys = [...new Set(blocks.map(({ generatorPublicKey }) => generatorPublicKey))];
  const usernames = new Map(
    await Promise.all(keys.map(async (publicKey) => [publicKey, (await chain.delegate(publicKey))?.username ?? null] as const)),
  );
  return blocks.map((block) =>
    presentBlock(block, {
      generator: {
        username: usernames.get(block.generatorPublicKey) ?? null,
        address: rules.addressOf(block.generatorPublicKey),
        publicKey: block.generatorPublicKey,
      },
      tipHeight: chain.tip.height,
      epoch: rules.epoch,
    }),
  );
};

export const listBlocks = async (
  request: ListRequest<BlockFilter, BlockQuery["order"]>,
  state: ApiState,
): Promise<PageAnswer<PresentedBlock>> => {
  const { rows, total } = await pageOfBlocks(request, state, (block) => block);
  return { rows: await presentBlocks(rows, state), total };
};

const withBlockIds = async ({ id, previousBlock, ...filter }: BlockFilter, state: ApiState): Promise<BlockFilter> => ({
  ...filter,
  ...(id === undefined ? {} : { id: await blockIdNamed(id, state) }),
  ...(previousBlock === undefined ? {} : { previousBlock: await blockIdNamed(previousBlock, state) }),
});

/** As `blockNamed`. @throws PorticoError BLOCK_NOT_FOUND */
const findBlock = async (name: string, state: ApiState): Promise<Block> => {
  const found = await blockNamed(name, state);
  if (found === undefined) throw new PorticoError("BLOCK_NOT_FOUND");
  return found;
};

/** As `findBlock`, presented. */
const showBlock = async (name: string, state: ApiState): Promise<{ data: PresentedBlock }> => {
  const [data] = await presentBlocks([await findBlock(name, state)], state);
  if (data === undefined) throw new PorticoError("BLOCK_NOT_FOUND");
  return { data };
};

const { item, list } = routesOf<ApiState>();
const common = { versions: [2], resource: "blocks" } as const;
const params = Type.Object({ id: Text({ description: "Height or id." }) });

export const blockRoutes: Route<ApiState>[] = [
  list({
    ...common,
    method: "GET",
    path: "/blocks",
    atHeight: true,
    summary: "Lists blocks, newest first.",
    query: BlockListQuery,
    item: BlockResource,
    answer: ({ query: { orderBy, ...filter }, page }, state) => listBlocks({ filter, orderBy, page }, state),
  }),
  item({
    ...common,
    method: "GET",
    path: "/blocks/first",
    atHeight: true,
    operation: "getFirstBlock",
    summary: "Returns the genesis block.",
    reply: DataOf(BlockResource),
    answer: (_request, state) => showBlock("1", state),
  }),
  item({
    ...common,
    method: "GET",
    path: "/blocks/last",
    atHeight: true,
    operation: "getLastBlock",
    summary: "Returns the last block.",
    reply: DataOf(BlockResource),
    answer: (_request, state) => showBlock(String(state.chain.tip.height), state),
  }),
  list({
    ...common,
    method: "POST",
    path: "/blocks/search",
    reserved: true,
    atHeight: true,
    mostBody: largestSearch,
    summary: "Searches blocks.",
    query: BlockSearchQuery,
    body: BlockSearchBody,
    bodyOptional: true,
    item: BlockResource,
    answer: ({ query, body: { orderBy = query.orderBy, ...filter }, page }, state) => listBlocks({ filter, orderBy, page }, state),
  }),
  item({
    ...common,
    method: "GET",
    path: "/blocks/{id}",
    atHeight: true,
    summary: "Returns a block.",
    params,
    errors: [404],
    reply: DataOf(BlockResource),
    answer: ({ params: { id } }, state) => showBlock(id, state),
  }),
  list({
    ...common,
    method: "GET",
    path: "/blocks/{id}/transactions",
    atHeight: true,
    summary: "Lists the transactions of a block, last first.",
    params,
    query: TransactionListQuery,
    errors: [404],
    item: TransactionResource,
    answer: async ({ params: { id }, query: { orderBy, ...query }, page }, state) => {
      const block = await findBlock(id, state);
      return pageOfTransactions(
        { filter: within(await withBlockId(transactionFilter(query), state), { blockId: block.id }), orderBy, page },
        state,
      );
    },
  }),
];
