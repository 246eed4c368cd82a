import { addressOf } from "../../../src/chain/address.js";
import { hexOf } from "./mixing.js";

/** Ids, keys and the like, each derived from a number, so that none has to be kept. */

const kinds = { transaction: 1, block: 2, publicKey: 3, secondPublicKey: 4, payload: 5, signature: 6, secondSignature: 7, secret: 8 };

/** Version byte of addresses. */
export const pubKeyHash = 30;

export const transactionId = (number: number): string => hexOf(kinds.transaction, number, 32);
export const blockId = (height: number): string => hexOf(kinds.block, height, 32);
export const payloadHash = (height: number): string => hexOf(kinds.payload, height, 32);
export const publicKeyOf = (wallet: number): string => `02${hexOf(kinds.publicKey, wallet, 32)}`;
export const secondPublicKeyOf = (wallet: number): string => `03${hexOf(kinds.secondPublicKey, wallet, 32)}`;
export const secretHash = (transaction: number): string => hexOf(kinds.secret, transaction, 32);
export const usernameOf = (wallet: number): string => `forger_${wallet.toString(36)}`;

/** As long as real ones: DER for blocks and version 1, Schnorr for version 2. */
export const blockSignature = (height: number): string => `3045${hexOf(kinds.signature, -height, 68)}`;
export const derSignature = (transaction: number): string => `3044${hexOf(kinds.signature, transaction, 68)}`;
export const schnorrSignature = (transaction: number): string => hexOf(kinds.signature, transaction, 64);
export const secondSignature = (transaction: number): string => hexOf(kinds.secondSignature, transaction, 64);

const addressLength = 34;

/** Addresses by number of the wallet. One takes 24 µs to compute and 34 bytes to keep. */
export const createAddresses = (wallets: number): ((wallet: number) => string) => {
  const kept = Buffer.alloc(wallets * addressLength);
  return (wallet) => {
    const at = wallet * addressLength;
    if (kept[at] === 0) kept.write(addressOf(publicKeyOf(wallet), pubKeyHash), at, "latin1");
    return kept.toString("latin1", at, at + addressLength);
  };
};
