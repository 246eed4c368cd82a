import { type Static, Type } from "@sinclair/typebox";
import type { Block } from "../../../../types/chain.js";
import { Amount } from "../../resources/values/amount.js";
import { TextOrNull } from "../../resources/values/text.js";

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

export const presentBlock = (block: Block, tipHeight: number): Static<typeof BlockResource> => ({
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
