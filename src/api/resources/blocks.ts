import { type Static, Type } from "@sinclair/typebox";
import type { MaybePromise } from "../../../types/chain-adapter.js";
import type { BlockFilter, BlockQuery } from "../../../types/chain-queries.js";
import type { Block } from "../../../types/chain.js";
import { andThen } from "../../async/maybe-promise.js";
import type { Epoch } from "../../chain/epoch.js";
import { blockList } from "../../chain/lists.js";
import { PorticoError } from "../../errors.js";
import { OrderBy } from "../../http/input/schema.js";
import type { PageAnswer } from "../../http/route.js";
import { isDigits } from "../../text/digits.js";
import type { ApiState } from "../state.js";
import { inputsOf, type ListRequest, pageOf } from "./lists.js";
import { Amount, TextOrNull, TimestampResource } from "./values.js";

const Generator = Type.Object({
  username: Type.Unsafe<string | null>({ type: ["string", "null"], description: "Null if the generator is not a delegate, as for the genesis block." }),
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
export const BlockSearchQuery = Type.Object({ orderBy: OrderBy(orders, order) });
export const BlockSearchBody = Type.Object({ ...inputsOf(filters, { exact: false }), orderBy: Type.Optional(OrderBy(orders)) });

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

export const listBlocks = async (request: ListRequest<BlockFilter, BlockQuery["order"]>, state: ApiState): Promise<PageAnswer<PresentedBlock>> => {
  const { rows, total } = await pageOfBlocks(request, state, (block) => block);
  return { rows: await presentBlocks(rows, state), total };
};

/** The block at a height written in digits; undefined for anything else, and for heights above the tip. */
const blockAtHeight = (name: string, { chain }: ApiState): MaybePromise<Block | undefined> =>
  isDigits(name) && Number(name) <= chain.tip.height ? chain.block({ height: Number(name) }) : undefined;

/** The id of the block that a filter names. Digits are tried as a height first; if there is no such block, the name is the id. */
export const blockIdNamed = (name: string, state: ApiState): MaybePromise<string> => andThen(blockAtHeight(name, state), (block) => block?.id ?? name);

const withBlockIds = async ({ id, previousBlock, ...filter }: BlockFilter, state: ApiState): Promise<BlockFilter> => ({
  ...filter,
  ...(id === undefined ? {} : { id: await blockIdNamed(id, state) }),
  ...(previousBlock === undefined ? {} : { previousBlock: await blockIdNamed(previousBlock, state) }),
});

/** A block by height or id; digits are tried as a height first. */
export const blockNamed = async (name: string, state: ApiState): Promise<Block | undefined> =>
  (await blockAtHeight(name, state)) ?? (await state.chain.block({ id: name.toLowerCase() }));

/** As `blockNamed`. @throws PorticoError BLOCK_NOT_FOUND */
export const findBlock = async (name: string, state: ApiState): Promise<Block> => {
  const found = await blockNamed(name, state);
  if (found === undefined) throw new PorticoError("BLOCK_NOT_FOUND");
  return found;
};

/** As `findBlock`, presented. */
export const showBlock = async (name: string, state: ApiState): Promise<{ data: PresentedBlock }> => {
  const [data] = await presentBlocks([await findBlock(name, state)], state);
  if (data === undefined) throw new PorticoError("BLOCK_NOT_FOUND");
  return { data };
};
