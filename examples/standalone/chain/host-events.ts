import { EventEmitter } from "eventemitter3";
import type { RoundDelegate } from "../../../types/chain.js";
import type { HostEvents } from "../../../types/events.js";
import type { SignedBlock } from "./crypto.js";

/** The host's emitter, with the names and payloads of a node of the ARK Core family. */
export interface HostEmitter extends HostEvents {
  emit(event: string, payload?: unknown): unknown;
}

export const createHostEvents = (): HostEmitter => new EventEmitter();

/** Announces a block that this node forged. */
export const announceForged = (events: HostEmitter, block: SignedBlock): void => {
  events.emit("block.forged", block.getHeader());
  for (const { data } of block.transactions) events.emit("transaction.forged", data);
};

const announceVotes = (events: HostEmitter, transaction: SignedBlock["transactions"][number]): void => {
  for (const delegate of transaction.data.asset?.votes ?? []) {
    events.emit(delegate.startsWith("+") ? "wallet.vote" : "wallet.unvote", { delegate, transaction: transaction.data });
  }
};

/** Announces a block that is now part of the chain. Its event carries the header only, as in real nodes. */
export const announceApplied = (events: HostEmitter, block: SignedBlock): void => {
  for (const transaction of block.transactions) {
    events.emit("transaction.applied", transaction.data);
    if (transaction.data.type === 2) events.emit("delegate.registered", transaction.data);
    if (transaction.data.type === 3) announceVotes(events, transaction);
    if (transaction.data.type === 7) events.emit("delegate.resigned", transaction.data);
  }
  events.emit("block.applied", block.getHeader());
};

/** Announces the round that begins, with its delegates. `round.applied` has no payload. */
export const announceRound = (events: HostEmitter, round: number, delegates: readonly RoundDelegate[]): void => {
  const created = delegates.map(({ publicKey, username, voteBalance }, index) => ({
    round,
    publicKey,
    username,
    voteBalance: voteBalance.toString(),
    rank: index + 1,
  }));
  events.emit("round.created", created);
  events.emit("round.applied");
};
