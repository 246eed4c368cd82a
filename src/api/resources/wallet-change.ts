import { type Static, Type } from "@sinclair/typebox";
import type { Block } from "../../../types/chain.js";
import type { WalletChange } from "../../../types/chain-queries.js";
import type { Epoch } from "../../chain/epoch.js";
import { PorticoError } from "../../errors.js";
import { Amount } from "./values/amount.js";
import { TextOrNull } from "./values/text.js";
import { TimestampResource } from "./values/timestamp.js";

export const WalletChangeResource = Type.Object(
  {
    height: Type.Integer(),
    blockId: Type.String(),
    timestamp: TimestampResource,
    balance: Amount,
    change: Amount,
    lockedBalance: Amount,
    vote: TextOrNull,
    nonce: Type.String({ pattern: "^[0-9]+$" }),
  },
  { title: "WalletChange" },
);

export const presentWalletChange = ({ height, balance, change, lockedBalance, vote, nonce }: WalletChange, block: Block | undefined, epoch: Epoch): Static<typeof WalletChangeResource> => {
  if (block === undefined) throw new PorticoError("INTERNAL", `the chain has no block ${height}`);
  return { height, blockId: block.id, timestamp: epoch.timestamp(block.timestamp), balance, change, lockedBalance, vote, nonce: nonce.toString() };
};
