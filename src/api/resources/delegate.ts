import { type Static, Type } from "@sinclair/typebox";
import type { Delegate } from "../../../types/chain.js";
import type { Epoch } from "../../chain/epoch.js";
import { Amount } from "./values/amount.js";
import { TimestampResource } from "./values/timestamp.js";

export const DelegateResource = Type.Object(
  {
    username: Type.String(),
    address: Type.String(),
    publicKey: Type.String(),
    votes: Amount,
    rank: Type.Optional(Type.Integer({ description: "Absent if the last round did not rank the delegate." })),
    isResigned: Type.Boolean(),
    blocks: Type.Object({
      produced: Type.Integer(),
      last: Type.Optional(
        Type.Object({ id: Type.String(), height: Type.Integer(), timestamp: TimestampResource }, { description: "Absent before its first block." }),
      ),
    }),
    production: Type.Object({ approval: Type.Number({ description: "Percentage of the supply, to two decimals." }) }),
    forged: Type.Object({ fees: Amount, rewards: Amount, total: Amount }),
  },
  { title: "Delegate" },
);

/** What a reply shows of a delegate. */
export const shownOfDelegate = [
  "username",
  "address",
  "publicKey",
  "voteBalance",
  "rank",
  "resigned",
  "producedBlocks",
  "lastBlock",
  "approval",
  "forgedFees",
  "forgedRewards",
  "forgedTotal",
] as const satisfies (keyof Delegate)[];

export type ShownDelegate = Pick<Delegate, (typeof shownOfDelegate)[number]>;

export const presentDelegate = (delegate: ShownDelegate, epoch: Epoch): Static<typeof DelegateResource> => ({
  username: delegate.username,
  address: delegate.address,
  publicKey: delegate.publicKey,
  votes: delegate.voteBalance,
  ...(delegate.rank === null ? {} : { rank: delegate.rank }),
  isResigned: delegate.resigned,
  blocks: {
    produced: delegate.producedBlocks,
    ...(delegate.lastBlock === null ? {} : { last: presentTip(delegate.lastBlock, epoch) }),
  },
  production: { approval: delegate.approval },
  forged: { fees: delegate.forgedFees, rewards: delegate.forgedRewards, total: delegate.forgedTotal },
});

const presentTip = ({ id, height, timestamp }: NonNullable<Delegate["lastBlock"]>, epoch: Epoch) => ({
  id,
  height,
  timestamp: epoch.timestamp(timestamp),
});
