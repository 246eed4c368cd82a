import type { Actor } from "./actors.js";
import { fakeHash } from "./fake-hash.js";

/** A transaction before it is put into a chain. The chain maker adds the id, the nonce or timestamp, and the signatures. */
export interface Draft {
  sender: Actor;
  version: 1 | 2;
  typeGroup: number;
  type: number;
  amount: bigint;
  fee: bigint;
  recipientId?: string;
  vendorField?: string;
  asset?: object;
  /** Determines the id, so that later transactions can refer to this one. */
  label?: string;
  /** Whether it has a second signature, which is named as its wire version does. */
  twice?: boolean;
  /** Number of signatures in a transaction of a multisignature wallet, which has no other signature. */
  signers?: number;
  expiration?: number;
}

type Rest = Partial<Omit<Draft, "sender" | "type" | "amount" | "recipientId">>;

const draft = (sender: Actor, type: number, fee: bigint, parts: Partial<Draft> = {}): Draft => ({
  sender,
  version: 2,
  typeGroup: 1,
  type,
  amount: 0n,
  fee,
  ...parts,
});

/** Id of the transaction with a label. */
export const labelled = (label: string): string => fakeHash(`transaction ${label}`, 64);

export const transfer = (sender: Actor, recipient: Actor, amount: bigint, rest: Rest = {}): Draft =>
  draft(sender, 0, 10_000_000n, { recipientId: recipient.address, amount, ...rest });

export const secondSignature = (sender: Actor, publicKey: string, rest: Rest = {}): Draft =>
  draft(sender, 1, 500_000_000n, { asset: { signature: { publicKey } }, ...rest });

export const registration = (sender: Actor, username: string, rest: Rest = {}): Draft =>
  draft(sender, 2, 2_500_000_000n, { asset: { delegate: { username } }, ...rest });

/** `votes`: "+" or "-", and the delegate. Version 1 names the sender as recipient, version 2 names no recipient. */
export const vote = (sender: Actor, votes: readonly (readonly ["+" | "-", Actor])[], rest: Rest = {}): Draft =>
  draft(sender, 3, 100_000_000n, {
    asset: { votes: votes.map(([sign, { publicKey }]) => sign + publicKey) },
    ...(rest.version === 1 ? { recipientId: sender.address } : {}),
    ...rest,
  });

export const multiSignature = (sender: Actor, min: number, participants: readonly Actor[], rest: Rest = {}): Draft =>
  draft(sender, 4, 500_000_000n * BigInt(participants.length + 1), {
    asset:
      rest.version === 1
        ? { multisignature: { min, lifetime: 24, keysgroup: participants.map(({ publicKey }) => `+${publicKey}`) } }
        : { multiSignature: { min, publicKeys: participants.map(({ publicKey }) => publicKey) } },
    ...rest,
  });

export const ipfs = (sender: Actor, hash: string, rest: Rest = {}): Draft =>
  draft(sender, 5, 500_000_000n, { asset: { ipfs: hash }, ...rest });

/** Version 1 only. Nobody ever used it, but it is one of the core's types. */
export const timelock = (sender: Actor, recipient: Actor, amount: bigint, rest: Rest = {}): Draft =>
  draft(sender, 6, 10_000_000n, { version: 1, recipientId: recipient.address, amount, ...rest });

export const multiPayment = (sender: Actor, payments: readonly (readonly [Actor, bigint])[], rest: Rest = {}): Draft =>
  draft(sender, rest.version === 1 ? 7 : 6, 10_000_000n, {
    asset: { payments: payments.map(([{ address }, amount]) => ({ recipientId: address, amount: String(amount) })) },
    ...rest,
  });

export const resignation = (sender: Actor, rest: Rest = {}): Draft =>
  draft(sender, rest.version === 1 ? 8 : 7, 2_500_000_000n, rest);

/** `expiration`: of type 1 an epoch time, of type 2 a height. */
export const htlcLock = (
  sender: Actor,
  recipient: Actor,
  amount: bigint,
  lock: { label: string; secret: string; expiration: { type: 1 | 2; value: number } },
  rest: Rest = {},
): Draft =>
  draft(sender, 8, 10_000_000n, {
    recipientId: recipient.address,
    amount,
    label: lock.label,
    asset: { lock: { secretHash: fakeHash(lock.secret, 64), expiration: lock.expiration } },
    ...rest,
  });

export const htlcClaim = (sender: Actor, label: string, rest: Rest = {}): Draft =>
  draft(sender, 9, 0n, {
    asset: { claim: { lockTransactionId: labelled(label), unlockSecret: fakeHash(`secret of ${label}`, 64) } },
    ...rest,
  });

export const htlcRefund = (sender: Actor, label: string, rest: Rest = {}): Draft =>
  draft(sender, 10, 0n, { asset: { refund: { lockTransactionId: labelled(label) } }, ...rest });

/** A kind that only a fork knows. */
export const foreign = (sender: Actor, type: number, rest: Rest = {}): Draft =>
  draft(sender, type, 5_000_000_000n, { typeGroup: 2, asset: { note: "theirs" }, ...rest });
