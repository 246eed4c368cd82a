import { createHash } from "node:crypto";
import { type ChainCrypto, type Keys, type MultiSignatureAsset, type Order, transactionData } from "../../../examples/standalone/chain/crypto.js";
import type { TransactionData } from "../../../types/events.js";

/** Someone who sends transactions one after another. */
export interface Account {
  readonly address: string;
  readonly publicKey: string;
  readonly keys: Keys;
  /** Signed with the next nonce and the static fee of its type. */
  sign(kind: string, order: Partial<Order> & Pick<Order, "type">): TransactionData;
}

export interface Accounts {
  /** `nonce`: that of the account's last transaction on the chain. */
  account(passphrase: string, nonce?: bigint): Account;
  /** The same account from now on, with a second passphrase. */
  withSecond(account: Account, passphrase: string): Account;
  secondKey(passphrase: string): string;
  /** A wallet of several members, all of whom sign. */
  group(members: Account[]): Account & { asset: MultiSignatureAsset };
}

interface Signing {
  senderPublicKey: string;
  keys?: Keys;
  secondKeys?: Keys;
  participants?: { index: number; keys: Keys }[];
}

export const sha256 = (hex: string): string => createHash("sha256").update(Buffer.from(hex, "hex")).digest("hex");

/** Any height at which transactions have version 2. */
const signingHeight = 2;

export const createAccounts = (crypto: ChainCrypto): Accounts => {
  const nonces = new Map<string, bigint>();

  const signer = (keys: Keys, signing: Signing): Account => ({
    address: crypto.addressOf(signing.senderPublicKey),
    publicKey: signing.senderPublicKey,
    keys,
    sign: (kind, order) => {
      const nonce = (nonces.get(signing.senderPublicKey) ?? 0n) + 1n;
      nonces.set(signing.senderPublicKey, nonce);
      const fee = BigInt(crypto.constantsAt(signingHeight).fees.staticFees[kind] ?? NaN);
      const founders = order.type === 4 ? participantsOf(order) : undefined;
      // All founders of a multisignature wallet sign its registration, and each of them adds a fee.
      const full = { fee: founders === undefined ? fee : fee * BigInt(founders.length + 1), nonce, ...order };
      return transactionData(crypto.sign(full, { ...signing, ...(founders === undefined ? {} : { participants: founders }) }, signingHeight));
    },
  });

  const known = new Map<string, Keys>();
  const participantsOf = ({ asset }: Partial<Order>): { index: number; keys: Keys }[] =>
    (asset as { multiSignature: MultiSignatureAsset }).multiSignature.publicKeys.map((publicKey, index) => {
      const keys = known.get(publicKey);
      if (keys === undefined) throw new Error(`nobody has the key ${publicKey}`);
      return { index, keys };
    });

  return {
    account: (passphrase, nonce = 0n) => {
      const keys = crypto.keysOf(passphrase);
      known.set(keys.publicKey, keys);
      nonces.set(keys.publicKey, nonce);
      return signer(keys, { senderPublicKey: keys.publicKey, keys });
    },
    withSecond: ({ keys }, passphrase) => signer(keys, { senderPublicKey: keys.publicKey, keys, secondKeys: crypto.keysOf(passphrase) }),
    secondKey: (passphrase) => crypto.keysOf(passphrase).publicKey,
    group: (members) => {
      const asset = { min: members.length, publicKeys: members.map(({ publicKey }) => publicKey) };
      const senderPublicKey = crypto.multiSignatureKey(asset);
      nonces.set(senderPublicKey, 0n);
      const participants = members.map(({ keys }, index) => ({ index, keys }));
      const [first] = members;
      if (first === undefined) throw new Error("a group has members");
      return { asset, ...signer(first.keys, { senderPublicKey, participants }) };
    },
  };
};
