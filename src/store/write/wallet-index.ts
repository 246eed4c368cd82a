import type { WalletRecord } from "../layout/codec.js";
import type { RankedSetWriter } from "./ranked-set-writer.js";
import type { Journal } from "./batch/journal.js";
import { amountKey, idKey, numberKey, sets, textKey } from "../layout/keys.js";

/**
 * Where a wallet stands in each ordered set. One row for each set: the key that a state of the wallet has there, or undefined if it is
 * not in it, and whether two states have the same place. A changed wallet moves only in the sets where they do not.
 */

export const balanceDescending = ({ balance, address }: Pick<WalletRecord, "balance" | "address">): Buffer => Buffer.concat([amountKey(-balance), textKey(address)]);

/** Wallets without a public key come after those with one. */
export const publicKeyPart = { known: Buffer.from([0]), unknown: Buffer.from([1]), end: Buffer.from([2]) };

export const publicKeyAscending = ({ publicKey, address }: Pick<WalletRecord, "publicKey" | "address">): Buffer =>
  publicKey === null ? Buffer.concat([publicKeyPart.unknown, textKey(address)]) : Buffer.concat([publicKeyPart.known, idKey(publicKey)]);

interface WalletSet {
  set: number;
  same(one: WalletRecord, other: WalletRecord): boolean;
  key(wallet: WalletRecord, delegateNumber: (publicKey: string) => number | undefined): Buffer | undefined;
}

const walletSets: readonly WalletSet[] = [
  { set: sets.walletsByAddress, same: (one, other) => one.address === other.address, key: ({ address }) => textKey(address) },
  { set: sets.walletsByBalance, same: (one, other) => one.balance === other.balance, key: balanceDescending },
  { set: sets.walletsByPublicKey, same: (one, other) => one.publicKey === other.publicKey, key: publicKeyAscending },
  {
    set: sets.votersByBalance,
    same: (one, other) => one.vote === other.vote && (one.vote === null || one.balance === other.balance),
    key: (wallet, delegateNumber) => {
      const delegate = wallet.vote === null ? undefined : delegateNumber(wallet.vote);
      return delegate === undefined ? undefined : Buffer.concat([numberKey(delegate), balanceDescending(wallet)]);
    },
  },
];

/** Moves a wallet in every set, from where `before` stands to where `after` does. */
export const indexWallet = (
  journal: Journal,
  rankedSets: RankedSetWriter,
  before: WalletRecord | undefined,
  after: WalletRecord,
  delegateNumber: (publicKey: string) => number | undefined,
): void => {
  const value = textKey(after.address);
  for (const { set, same, key } of walletSets) {
    if (before !== undefined && same(before, after)) continue;
    const old = before === undefined ? undefined : key(before, delegateNumber);
    const now = key(after, delegateNumber);
    if (old !== undefined) rankedSets.remove(set, old, value);
    if (now !== undefined) rankedSets.insert(set, now, value);
  }
  if (after.publicKey !== null && before?.publicKey !== after.publicKey) journal.put("publicKeys", idKey(after.publicKey), value);
  if (after.username !== null && before?.username !== after.username) journal.put("usernames", textKey(after.username), value);
  if (before?.secondPublicKey !== after.secondPublicKey) {
    if (before !== undefined && before.secondPublicKey !== null) journal.remove("secondPublicKeys", secondPublicKeyEntry(before.secondPublicKey, after.address));
    if (after.secondPublicKey !== null) journal.put("secondPublicKeys", secondPublicKeyEntry(after.secondPublicKey, after.address), value);
  }
};

export const secondPublicKeyEntry = (publicKey: string, address: string): Buffer => Buffer.concat([idKey(publicKey), textKey(address)]);
