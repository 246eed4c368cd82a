import type { ApiState } from "./state.js";
import { blockRoutes } from "./v2/blocks.js";
import { delegateRoutes, roundRoutes } from "./v2/delegates.js";
import { lockRoutes } from "./v2/locks.js";
import { blockchainRoutes, nodeRoutes } from "./v2/node.js";
import { peerRoutes } from "./v2/peers.js";
import { proofRoutes } from "./v2/proofs.js";
import { rewardRoutes } from "./v2/rewards.js";
import { transactionRoutes, voteRoutes } from "./v2/transaction-routes.js";
import { walletHistoryRoutes } from "./v2/wallet-history.js";
import { walletRoutes } from "./v2/wallets.js";
import { webhookRoutes } from "./webhooks/routes.js";
import type { Route } from "../http/route.js";

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
  ...proofRoutes,
  ...blockchainRoutes,
  ...roundRoutes,
  ...lockRoutes,
  ...webhookRoutes,
];

/** What the docs say of each group of routes (`Route.resource`). */
export const groups: Readonly<Record<string, string>> = {
  accounts: "Accounts: what an address owns and votes for.",
  blockchain: "The chain as a whole: its tip, its supply, its digest.",
  blocks: "Blocks, by height or id.",
  delegates: "Delegates: their ranks, votes, blocks and earnings.",
  events: "Following the chain: its events as a stream or page by page, from any block on.",
  lake: "The lake: final blocks in files that never change, and snapshots.",
  loader: "How far the node has synced.",
  locks: "Locks of hashed time-lock contracts.",
  node: "The node itself: configuration, state, health, and these docs.",
  peers: "Other nodes of the network known to this node.",
  rounds: "Rounds: which delegates forge when.",
  signatures: "Second signatures.",
  transactions: "Transactions: in the chain, waiting in the pool, submitted by you.",
  votes: "Transactions in which wallets vote for delegates.",
  wallets: "Wallets: their balance, nonce, vote and transactions.",
  webhooks: "Webhooks: the node calls a URL of yours when something happens. All of these routes need a token.",
};

/** What the docs say of the interface as a whole. */
export const guide = (network: string): string => `The public interface of a node of the network ${network}.

- **Paths** without a version are of the node's default generation; below \`/v2\` and \`/v1\`, each generation has its own.
- **Amounts** are whole numbers of 1e-8 of the token. Some exceed 2^53; \`API-Amounts: string\` or a path below \`/strings\` returns text.
- **Lists** come in pages: \`limit\` is 1 to 100, and \`meta.next\` is the path of the next page. \`orderBy=balance:desc\` orders them.
- **Filters** are the searchable fields: \`type=3\`, or \`amount.from=1\` and \`amount.to=9\`. A search takes them in its body.
- **Earlier states**: \`at\` (a height, a block's id, a day or a time) returns the state as it was then.
- **Events**: \`/events\` streams them, \`/events/feed\` has them in pages, webhooks get them. To continue, pass the last cursor as \`after\`.
- **The token**: only webhooks need one. Enter it at *Authorize*; clients send it as \`Authorization\`.
- **Errors** of the second generation have a \`code\` for programs. After 429 and 503, wait for \`Retry-After\` seconds.
- **Caching**: the \`ETag\` of a reply changes with its bytes; \`X-Block-Height\` is the height that it was computed at.
- **Examples** of replies are of a test network.`;
