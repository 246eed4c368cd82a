import type { Delegate } from "../../../types/chain.js";
import { approvalOf, productivityOf } from "../../chain/amount.js";
import { PorticoError } from "../../errors.js";
import type { DelegateRecord, StateRecord, WalletRecord } from "../layout/codec.js";
import {
  historyBounds,
  type HistoryKind,
  historyKinds,
  historyRowKey,
  unpackDelegate,
  unpackFigures,
  unpackTraits,
  readHistoryFrom,
  readHistoryTip,
} from "../write/history-rows.js";
import type { ReadSession } from "../lmdb/read-session.js";
import type { DelegateList } from "../query/lists/delegate-list.js";
import { existing, readBlock, readDelegate, readWallet, transactionsOfBlock } from "../records/records.js";

/** Single records as they were at an earlier height. */
export interface Past {
  reading: ReadSession;
  height: number;
  supply: bigint;
  /** How many there were: their numbers are below it. */
  wallets: number;
  /** At the tip. */
  delegates(): DelegateList;
}

/** The first height whose state a store has, up to its tip. */
export const oldestState = (reading: ReadSession, { tip }: StateRecord): number => {
  const found = readHistoryTip(reading)?.id === tip.id ? readHistoryFrom(reading) : undefined;
  return found ?? tip.height;
};

/** The row of the state after a block. It lasts until the next read. */
export const heightRowAt = (reading: ReadSession, height: number): Buffer =>
  existing(reading.get("history", historyRowKey(historyKinds.heights, 0, height)) as Buffer | undefined, `state at height ${height}`);

/** What is known of the chain as a whole at that height; its kinds and `timesApart` are those of the tip, `now`. */
export const stateOf = ({ reading, height, supply, wallets }: Past, now: StateRecord): StateRecord => {
  const { id, timestamp } = existing(readBlock(reading, height), `block ${height}`);
  const { first, count } = transactionsOfBlock(reading, height);
  return { ...now, tip: { id, height, timestamp }, supply, transactions: first + count, wallets };
};

/** The first row above a height: it says what was overwritten there. It lasts until the next read. */
const firstAbove = (kind: HistoryKind, number: number, { reading, height }: Pick<Past, "reading" | "height">): Buffer | undefined =>
  reading.first("history", historyBounds(kind, number, height + 1)) as Buffer | undefined;

/** A wallet as it was, except for how long its lists were. */
export const walletAt = (address: string, past: Pick<Past, "reading" | "height" | "wallets">): WalletRecord | undefined => {
  const now = readWallet(past.reading, address);
  // Numbers are given in the order of appearance.
  if (now === undefined || now.number >= past.wallets) return undefined;
  const figures = firstAbove(historyKinds.figures, now.number, past);
  Object.assign(now, figures && unpackFigures(figures));
  const traits = firstAbove(historyKinds.traits, now.number, past);
  return Object.assign(now, traits && unpackTraits(traits));
};

/** What a wallet must be known by for what it had as a delegate. */
type DelegateWallet = Pick<WalletRecord, "number" | "username" | "publicKey" | "address" | "resigned" | "vote">;

/** The wallet of a delegate, which is in memory as it is at the tip. */
export const walletOfDelegateAt = (now: Delegate, past: Past): DelegateWallet | undefined => {
  const { address } = now;
  const number = existing(past.delegates().numbers.get(address), `wallet ${address}`);
  if (number >= past.wallets) return undefined;
  const traits = firstAbove(historyKinds.traits, number, past);
  const { username, publicKey, resigned, vote } = traits === undefined ? now : unpackTraits(traits);
  return { number, username, publicKey, address, resigned, vote };
};

export const balanceAt = ({ number }: Pick<WalletRecord, "number">, now: Pick<Delegate, "balance">, past: Past): bigint => {
  const figures = firstAbove(historyKinds.figures, number, past);
  return figures === undefined ? now.balance : unpackFigures(figures).balance;
};

/** What a delegate had beyond its wallet, but for its rank. */
const delegateFiguresAt = (number: number, publicKey: string, past: Past): Omit<DelegateRecord, "address" | "publicKey"> => {
  const row = firstAbove(historyKinds.delegates, number, past);
  if (row === undefined) return existing(readDelegate(past.reading, publicKey), `delegate ${publicKey}`);
  const { lastHeight, ...figures } = unpackDelegate(row);
  return { ...figures, lastBlock: lastBlockAt(lastHeight, past.reading) };
};

/** What a wallet had as a delegate, but for its balance; undefined if it was none. */
export const delegateAt = (wallet: DelegateWallet, past: Past): Omit<Delegate, "balance"> | undefined => {
  const { number, username, publicKey, address, resigned, vote } = wallet;
  if (username === null || publicKey === null) return undefined;
  const figures = delegateFiguresAt(number, publicKey, past);
  const rank = firstAbove(historyKinds.ranks, number, past)?.readUInt32BE(0) ?? past.delegates().ranks.get(publicKey) ?? 0;
  return {
    username,
    address,
    publicKey,
    ...figures,
    rank: rank === 0 ? null : rank,
    approval: approvalOf(figures.voteBalance, past.supply),
    productivity: productivityOf(figures.producedBlocks, figures.missedBlocks),
    forgedTotal: figures.forgedFees + figures.forgedRewards,
    resigned,
    vote,
  };
};

const lastBlockAt = (height: number, reading: ReadSession): Delegate["lastBlock"] => {
  if (height === 0) return null;
  const { id, timestamp } = existing(readBlock(reading, height), `block ${height}`);
  return { id, height, timestamp };
};

const missing = (oldest: number, reading: ReadSession, message: string): PorticoError => {
  const { id } = existing(readBlock(reading, oldest), `block ${oldest}`);
  return new PorticoError("HISTORY_MISSING", message, { members: { oldest: { height: oldest, id } } });
};

/** What is thrown for a height whose state is not known; `oldest`: the first that is. */
export const historyMissing = (oldest: number, reading: ReadSession): PorticoError =>
  missing(oldest, reading, `The state at that height is not kept. The oldest state is at height ${oldest}.`);

/** What is thrown for changes of a wallet by blocks whose rows are not kept: those up to the oldest state. */
export const changesMissing = (oldest: number, reading: ReadSession): PorticoError =>
  missing(oldest, reading, `Changes of this wallet up to height ${oldest} are not kept. Ask from height ${oldest + 1} on.`);
