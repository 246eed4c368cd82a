import type { Delegate, Wallet } from "portico";
import { approvalOf } from "portico/chain";
import { rowFrom, walletColumns } from "./columns.js";
import type { SqlRow } from "./database.js";
import type { State } from "./revisions.js";

export const walletFrom = (found: SqlRow): Wallet => {
  const { address, publicKey, secondPublicKey, username, balance, lockedBalance, nonce, vote, multiSignature, resigned, ...asDelegate } =
    rowFrom(walletColumns, found, "null");
  const { voteBalance, producedBlocks, forgedFees, forgedRewards, rank } = asDelegate;
  return {
    address,
    publicKey,
    secondPublicKey,
    username,
    balance,
    lockedBalance,
    nonce,
    vote,
    multiSignature,
    isDelegate: username !== null,
    resigned,
    voteBalance,
    producedBlocks,
    forgedFees,
    forgedRewards,
    rank,
  };
};

export const delegateFrom = (found: SqlRow, { supply }: State): Delegate => {
  const row = rowFrom(walletColumns, found, "null");
  const { username, address, publicKey, voteBalance, voters, rank, producedBlocks, missedBlocks, productivity } = row;
  const { forgedFees, forgedRewards, forgedTotal, lastBlock, resigned, vote, balance } = row;
  return {
    username: username ?? "",
    address,
    publicKey: publicKey ?? "",
    voteBalance,
    voters,
    rank,
    approval: approvalOf(voteBalance, supply),
    producedBlocks,
    missedBlocks,
    productivity,
    forgedFees,
    forgedRewards,
    forgedTotal,
    lastBlock,
    resigned,
    vote,
    balance,
  };
};
