import type { Tip } from "../../../types/chain.js";
import type { DelegateRecord, RankedDelegate, StateRecord, WalletRecord } from "../layout/codec.js";
import {
  historyFromKey,
  historyKinds,
  historyRowKey,
  historyTipKey,
  packDelegate,
  packFigures,
  packHeight,
  packTraits,
  packVoter,
  voterRowKey,
  type WalletTraits,
} from "../layout/history-rows.js";
import { numberKey } from "../layout/keys.js";
import type { Lookup } from "../lmdb/read-session.js";
import { readDelegate, readWallet } from "../records/records.js";

/** Writes what a block overwrites, as rows of the database `history`. */
export interface HistoryRows {
  /** `before` is undefined for a wallet that the block creates. */
  wallet(before: WalletRecord | undefined, after: WalletRecord, delegateNumber: (publicKey: string) => number | undefined): void;
  /** The record as it was before the block. Of several in one block, the first counts. */
  delegate(number: number, before: DelegateRecord): void;
  ranks(before: readonly RankedDelegate[], after: readonly RankedDelegate[], delegateNumber: (publicKey: string) => number | undefined): void;
  /** To be called last, with the state after the block and its digest. */
  end(state: StateRecord, digest: Buffer): void;
}

const traitNames = ["publicKey", "vote", "username", "secondPublicKey", "resigned"] as const satisfies (keyof WalletTraits)[];

const haveSameTraits = (one: WalletTraits, other: WalletTraits): boolean =>
  traitNames.every((name) => one[name] === other[name]) &&
  (one.multiSignature === other.multiSignature || JSON.stringify(one.multiSignature) === JSON.stringify(other.multiSignature));

const haveSameFigures = (one: WalletRecord, other: WalletRecord): boolean =>
  one.balance === other.balance && one.nonce === other.nonce && one.lockedBalance === other.lockedBalance && one.vote === other.vote;

const heightRow = ({ tip, supply, wallets }: StateRecord, digest: Buffer): [key: Buffer, value: Buffer] => [
  historyRowKey(historyKinds.heights, 0, tip.height),
  packHeight({ supply, wallets, digest }),
];

const packTip = ({ height, id }: Pick<Tip, "height" | "id">): [number, string] => [height, id];

/** Number of a delegate's wallet, which may be one of `written`: those of a block that are not in the store yet. */
export const numberOfDelegate = (publicKey: string, reading: Lookup, written?: ReadonlyMap<string, { number: number }>): number | undefined => {
  const address = readDelegate(reading, publicKey)?.address;
  return address === undefined ? undefined : (written?.get(address) ?? readWallet(reading, address))?.number;
};

/** `put` writes a row, which is new. */
const createHistoryRows = (height: number, put: (key: Buffer, value: Buffer) => void): HistoryRows => {
  const written = new Set<number>();
  return {
    wallet: (before, after, delegateNumber) => {
      const { number, address } = after;
      if (before !== undefined && !haveSameFigures(before, after)) put(historyRowKey(historyKinds.figures, number, height), packFigures(before));
      if (before !== undefined && !haveSameTraits(before, after)) put(historyRowKey(historyKinds.traits, number, height), packTraits(before));
      const old = before?.vote ?? null;
      if (old === after.vote) return;
      for (const [vote, was] of [[old, true], [after.vote, false]] as const) {
        const delegate = vote === null ? undefined : delegateNumber(vote);
        if (delegate !== undefined) put(voterRowKey(delegate, height, number), packVoter(was, address));
      }
    },
    delegate: (number, before) => {
      if (written.has(number)) return;
      written.add(number);
      put(historyRowKey(historyKinds.delegates, number, height), packDelegate({ ...before, lastHeight: before.lastBlock?.height ?? 0 }));
    },
    ranks: (before, after, delegateNumber) => {
      const old = new Map(before.map(({ publicKey }, place) => [publicKey, place + 1]));
      const now = new Map(after.map(({ publicKey }, place) => [publicKey, place + 1]));
      for (const publicKey of new Set([...old.keys(), ...now.keys()])) {
        const rank = old.get(publicKey) ?? 0;
        const number = rank === (now.get(publicKey) ?? 0) ? undefined : delegateNumber(publicKey);
        if (number !== undefined) put(historyRowKey(historyKinds.ranks, number, height), numberKey(rank));
      }
    },
    end: (state, digest) => put(...heightRow(state, digest)),
  };
};

interface Journaled {
  insert(database: "history", key: Buffer, value: unknown): void;
  put(database: "history" | "meta", key: Buffer, value: unknown): void;
}

/** The block up to which history is complete. */
export const readHistoryTip = (reading: Lookup): Pick<Tip, "height" | "id"> | undefined => {
  const found = reading.get("meta", historyTipKey) as [number, string] | undefined;
  return found && { height: found[0], id: found[1] };
};

export const readHistoryFrom = (reading: Lookup): number | undefined => reading.get("meta", historyFromKey) as number | undefined;

/**
 * The rows of a block on the state `before`. Where history is not complete up to there, because the store was written without, it begins
 * with that state.
 */
export const continueHistory = (height: number, before: { state: StateRecord; digest: Buffer } | undefined, pending: Lookup, journal: Journaled): HistoryRows => {
  if (before === undefined) journal.put("meta", historyFromKey, height);
  else if (readHistoryTip(pending)?.id !== before.state.tip.id) {
    journal.put("meta", historyFromKey, before.state.tip.height);
    const [key, value] = heightRow(before.state, before.digest);
    journal.put("history", key, value);
  }
  const rows = createHistoryRows(height, (key, value) => journal.insert("history", key, value));
  return {
    ...rows,
    end: (state, digest) => {
      rows.end(state, digest);
      journal.put("meta", historyTipKey, packTip(state.tip));
    },
  };
};
