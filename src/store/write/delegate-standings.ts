import type { WalletDraft } from "../../../types/transaction-type.js";
import { type DelegateRecord, delegateCodec } from "../layout/codec.js";
import type { Sliced } from "../../async/time-slicing.js";
import type { WriterReads } from "../lmdb/read-session.js";
import { readDelegate, readWallet } from "../records/records.js";
import { numberOfDelegate } from "./history.js";

export interface Candidate {
  publicKey: string;
  username: string;
  voteBalance: bigint;
  resigned: boolean;
}

/**
 * The delegates as the next ranking weighs them. Cached by the one process that writes: there are some hundreds of them, and every
 * round ends by ranking them all.
 */
export interface DelegateStandings {
  all(): Sliced<Candidate[]>;
  /** As `numberOfDelegate` finds it, which is asked once for each. */
  numberOf(publicKey: string, written?: ReadonlyMap<string, { number: number }>): number | undefined;
  /** To be called for every delegate record that is written, */
  delegateWritten(record: DelegateRecord): void;
  /** and then for the wallets of that block. */
  walletWritten(wallet: WalletDraft): void;
  /** Drops the cache; to be called when writes are undone. */
  forget(): void;
}

export const createDelegateStandings = (reading: WriterReads): DelegateStandings => {
  let known: Map<string, Candidate> | undefined;
  const numbers = new Map<string, number>();

  const read = function* (): Sliced<Map<string, Candidate>> {
    const found = new Map<string, Candidate>();
    for (const { value } of reading.range("delegates", {})) {
      yield;
      const { address, publicKey, voteBalance } = delegateCodec.unpack(value as unknown[]);
      const wallet = readWallet(reading, address);
      if (wallet === undefined || wallet.username === null) continue;
      found.set(publicKey, { publicKey, username: wallet.username, voteBalance, resigned: wallet.resigned });
    }
    return found;
  };

  return {
    all: function* () {
      known ??= yield* read();
      return [...known.values()];
    },
    numberOf: (publicKey, written) => {
      const number = numbers.get(publicKey) ?? numberOfDelegate(publicKey, reading, written);
      if (number !== undefined) numbers.set(publicKey, number);
      return number;
    },
    delegateWritten: ({ publicKey, voteBalance }) => {
      const candidate = known?.get(publicKey);
      if (candidate !== undefined) known?.set(publicKey, { ...candidate, voteBalance });
    },
    walletWritten: ({ publicKey, username, resigned }) => {
      if (known === undefined || username === null || publicKey === null) return;
      const { voteBalance } = known.get(publicKey) ?? readDelegate(reading, publicKey) ?? { voteBalance: 0n };
      known.set(publicKey, { publicKey, username, resigned, voteBalance });
    },
    forget: () => {
      known = undefined;
      numbers.clear();
    },
  };
};
