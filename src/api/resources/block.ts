import { type Static, Type } from "@sinclair/typebox";
import type { Block } from "../../../types/chain.js";
import type { Epoch } from "../../chain/epoch.js";
import { Amount } from "./values/amount.js";
import { TextOrNull } from "./values/text.js";
import { TimestampResource } from "./values/timestamp.js";

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

export const presentBlock = (block: Block, { generator, tipHeight, epoch }: BlockSurroundings): Static<typeof BlockResource> => ({
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
