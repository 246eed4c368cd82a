import { addressOf } from "../../../src/chain/address.js";
import { busiest, firstDelegate } from "./deeds.js";
import * as names from "./names.js";

/** The wallets that questions are about: the same in chains of every size. */

export const walletAddress = (wallet: number): string => addressOf(names.publicKeyOf(wallet), names.pubKeyHash);

/** The wallet with a fortieth of all transactions. */
export const busiestAddress = walletAddress(busiest);

/** A delegate that forges from the first round on, and has the most voters. */
export const forger = names.usernameOf(firstDelegate);
