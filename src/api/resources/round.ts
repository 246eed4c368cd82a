import { type Static, Type } from "@sinclair/typebox";
import type { RoundDelegate } from "../../../types/chain.js";
import { Amount } from "./values/amount.js";

export const RoundDelegateResource = Type.Object(
  {
    publicKey: Type.String(),
    username: Type.String(),
    votes: Type.Unsafe<bigint>({ ...Amount, description: "Vote balance with which the delegate entered the round." }),
  },
  { title: "RoundDelegate" },
);

export const presentRoundDelegate = ({ publicKey, username, voteBalance }: RoundDelegate): Static<typeof RoundDelegateResource> => ({
  publicKey,
  username,
  votes: voteBalance,
});
