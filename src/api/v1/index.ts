import type { Route } from "../../http/route.js";
import type { ApiState } from "../state.js";
import { accountRoutes } from "./accounts.js";
import { blockRoutes } from "./blocks.js";
import { delegateRoutes } from "./delegates.js";
import { loaderRoutes } from "./loader.js";
import { peerRoutes } from "./peers.js";
import { signatureRoutes } from "./fees.js";
import { transactionRoutes } from "./transactions.js";

/**
 * The first generation. To remove it, delete this folder and its lines in src/plugin/plugin.ts.
 *
 * What its clients rely on, and what is kept of it:
 * - Replies are HTTP 200 with `success: true`, or with `success: false` and `error` for client errors except 405 and 429.
 * - Parameters that a route does not know are ignored; those that it knows are checked and applied.
 * - The `orderBy` of delegates may be a number, as in the contract. It names no column, and means the default order.
 * - `delegates/get` also takes `id`, the only parameter that the npm client of the time sends.
 * - Transactions pass any of the given filters, blocks and peers all of them. For transactions: at most five filters, and with more
 *   than one, pages within 10 000 rows of either end.
 * - The next forgers are those of the round of the block after the tip.
 * - Lists page by `offset` and `limit`; `limit=0` means the default. Delegates, accounts and peers have `totalCount`, blocks and
 *   transactions `count`.
 *
 * | member | form |
 * |---|---|
 * | fees, `reward`, `supply`, getForgedByAccount, `forged`; amounts of blocks, transactions and their payments; `balance` of voters | numbers, with all their digits |
 * | `balance` and `unconfirmedBalance` of accounts, getBalance and top | decimal strings |
 * | `vote` of a delegate in lists, `get` and `fee` | the public key that the delegate itself votes for, or null |
 * | `vote` of a delegate in searches and accounts/delegates | its vote balance, a decimal string |
 * | `approval`, `productivity` | percent, numbers with two decimals |
 * | `missedblocks` | finished rounds in which the delegate was active but forged nothing; `productivity` is the share of `producedblocks` in `producedblocks` + `missedblocks` |
 * | `rate` | the rank; absent if there is none |
 * | timestamps | seconds since the network's epoch |
 * | `confirmations` | of a block tip − height, of a transaction one more, as in the second generation |
 * | `status` of a peer | the text `OK` for 200, otherwise its digits |
 * | missing public keys, `username`, `previousBlock` | null |
 * | missing `recipientId` | the sender |
 * | missing `vendorField` and signatures | absent; a missing `asset` is `{}` |
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
