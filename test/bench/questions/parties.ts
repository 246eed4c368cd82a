import { addressOf } from "../../../src/chain/address.js";
import { busiest, firstDelegate } from "../chain/deeds.js";
import * as names from "../chain/names.js";

/** Whom questions are asked about: the same in the chain of every size. */

export const walletAddress = (wallet: number): string => addressOf(names.publicKeyOf(wallet), names.pubKeyHash);

/** The wallet with a fortieth of all transactions. */
export const busiestAddress = walletAddress(busiest);
export const busiestPublicKey = names.publicKeyOf(busiest);

/** One who forges from the first round on, and whom the most vote for. */
export const forger = {
  publicKey: names.publicKeyOf(firstDelegate),
  address: walletAddress(firstDelegate),
  username: names.usernameOf(firstDelegate),
};
