import type { Route } from "../../http/route.js";
import type { ApiState } from "../state.js";
import { blockRoutes } from "./blocks.js";
import { blockchainRoutes } from "./blockchain.js";
import { delegateRoutes } from "./delegates.js";
import { lockRoutes } from "./locks.js";
import { nodeRoutes } from "./node.js";
import { peerRoutes } from "./peers.js";
import { rewardRoutes } from "./rewards.js";
import { roundRoutes } from "./rounds.js";
import { transactionRoutes } from "./transactions.js";
import { voteRoutes } from "./votes.js";
import { walletHistoryRoutes } from "./wallet-history.js";
import { walletRoutes } from "./wallets.js";
import { webhookRoutes } from "./webhooks.js";

/** The second generation. Its webhook routes also serve the first. */
export const v2Routes: Route<ApiState>[] = [
  ...nodeRoutes,
  ...walletRoutes,
  ...walletHistoryRoutes,
  ...delegateRoutes,
  ...rewardRoutes,
  ...voteRoutes,
  ...peerRoutes,
  ...blockRoutes,
  ...transactionRoutes,
  ...blockchainRoutes,
  ...roundRoutes,
  ...lockRoutes,
  ...webhookRoutes,
];
