import type { Route } from "../../http/route.js";
import type { ApiState } from "../state.js";
import { accountRoutes } from "./accounts.js";
import { blockRoutes } from "./blocks.js";
import { delegateRoutes } from "./delegates.js";
import { loaderRoutes } from "./loader.js";
import { peerRoutes } from "./peers.js";
import { signatureRoutes } from "./signatures.js";
import { transactionRoutes } from "./transactions.js";

/**
 * The first generation. Taking it out is removing this folder and its lines in src/plugin.ts.
 *
 * What its clients were written against, and what is kept of it:
 * - Every request that is answered is HTTP 200: `success: true`, or `success: false` and `error`.
 * - Parameters that a route does not know are left out; those that it knows are checked and applied.
 * - An `orderBy` of delegates that is a number, as the contract has it, names no column: the usual order.
 * - `delegates/get` takes `id` too, which is all that the npm client of the time sends.
 * - Transactions pass any of the filters given, blocks and peers all; at most five filters, and 10 000 rows from either end.
 * - Next forgers are told by the round of the block after the tip.
 * - Lists page by `offset` and `limit`; `limit=0` is the default. Delegates and accounts tell `totalCount`, blocks and transactions `count`.
 *
 * | member | form |
 * |---|---|
 * | fees, `reward`, `supply`, getForgedByAccount, `forged`; amounts of blocks and transactions; `balance` of voters | numbers, with all their digits |
 * | `balance` and `unconfirmedBalance` of accounts, getBalance and top | decimal strings |
 * | `vote` of a delegate in lists, `get` and `fee` | the public key that it votes for itself, or null |
 * | `vote` of a delegate in searches and accounts/delegates | its vote balance, a decimal string |
 * | `approval`, `productivity` | percent, numbers with two decimals |
 * | `missedblocks` | finished rounds in which the delegate was active and forged nothing; `productivity` is what it forged of that and `producedblocks` |
 * | `rate` | the rank; absent where there is none |
 * | timestamps | seconds since the network's epoch |
 * | `confirmations` | of a block tip − height, of a transaction one more: as the second generation tells them |
 * | `status` of a peer | the text `OK` for 200, else its digits |
 * | public keys, `username`, `previousBlock` that are not there | null |
 * | `vendorField`, `recipientId` and signatures that are not there | absent; `asset` is then `{}` |
 */
export const v1Routes: Route<ApiState>[] = [
  ...accountRoutes,
  ...blockRoutes,
  ...delegateRoutes,
  ...loaderRoutes,
  ...peerRoutes,
  ...signatureRoutes,
  ...transactionRoutes,
];
