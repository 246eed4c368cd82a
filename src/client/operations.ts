import type {
  AtHeight, Block, BlockProof, Blockchain, CreateWebhookBody, CreatedWebhook, CryptoConfiguration, Delegate, Delivery, DeliveryDetail,
  DryRun, DryRunWebhookBody, Event, EventFeed, FeeStatistics, GetBlockProofQuery, GetBlockTransactionsQuery, GetDelegateBlocksQuery,
  GetDelegateRewardsQuery, GetDelegatesQuery, GetEventsFeedQuery, GetNodeFeesQuery, GetPeersQuery, GetUnlockedLocksBody,
  GetWalletHistoryQuery, GetWalletLocksQuery, GetWalletStatementQuery, GetWalletTransactionsQuery, GetWalletTransactionsReceivedQuery,
  GetWalletVotesQuery, GetWalletsQuery, GetWebhookDeliveriesQuery, GetWebhooksQuery, Lock, NodeConfiguration, NodeStatus, NodeSyncing,
  Paging, Peer, PoolResult, RecoverWebhookBody, Recovered, Replay, ReplayWebhookBody, Reward, Rewards, RoundDelegate, SearchBlocksBody,
  SearchDelegatesBody, SearchLocksBody, SearchTransactionsBody, SearchWalletsBody, StatementRow, Transaction, TransactionProof,
  UnconfirmedTransaction, UpdateWebhookBody, Wallet, WalletChange, Webhook, WebhookKey, WebhookSecret,
} from "./schemas.js";
import type { List } from "./list.js";
import type { WithProof } from "./proof.js";
import type { CallOptions } from "./transport.js";

/** Made by `npm run docs` from the routes' schemas. */

export interface NodeOperations {
  /** Returns the network's parameters, the constants at the tip and the node's settings. */
  configuration(query?: AtHeight, options?: CallOptions): Promise<NodeConfiguration>;
  /** Returns everything needed to sign for the network: parameters, milestones, exceptions and genesis block. */
  crypto(options?: CallOptions): Promise<CryptoConfiguration>;
  /** Returns statistics of the fees paid in the days before the tip, by transaction type. */
  fees(query?: GetNodeFeesQuery & AtHeight, options?: CallOptions): Promise<FeeStatistics[]>;
  /** Returns whether the node is in sync with its network. */
  status(options?: CallOptions): Promise<NodeStatus>;
  /** Returns how many blocks the node is behind its network. */
  syncing(options?: CallOptions): Promise<NodeSyncing>;
}

export interface WalletsOperations {
  /** Lists wallets, including empty ones. */
  list(query?: GetWalletsQuery & Paging, options?: CallOptions): List<Wallet>;
  /** Lists the richest wallets. */
  top(query?: GetWalletsQuery & Paging, options?: CallOptions): List<Wallet>;
  /** Searches wallets. */
  search(body?: SearchWalletsBody & Paging, options?: CallOptions): List<Wallet>;
  /** Returns a wallet. */
  get(id: string, query?: AtHeight, options?: CallOptions): Promise<Wallet>;
  find(id: string, query?: AtHeight, options?: CallOptions): Promise<Wallet | undefined>;
  /** Lists the transactions that a wallet sent or received. */
  transactions(id: string, query?: GetWalletTransactionsQuery & Paging & AtHeight, options?: CallOptions): List<Transaction>;
  /** Lists the transactions that a wallet received, including multipayments. */
  received(id: string, query?: GetWalletTransactionsReceivedQuery & Paging & AtHeight, options?: CallOptions): List<Transaction>;
  /** Lists the transactions that a wallet sent. */
  sent(id: string, query?: GetWalletTransactionsQuery & Paging & AtHeight, options?: CallOptions): List<Transaction>;
  /** Lists the votes that a wallet cast. */
  votes(id: string, query?: GetWalletVotesQuery & Paging & AtHeight, options?: CallOptions): List<Transaction>;
  /** Lists the open locks that a wallet created. */
  locks(id: string, query?: GetWalletLocksQuery & Paging, options?: CallOptions): List<Lock>;
  /** Lists the blocks that changed a wallet, newest first, with its state after each. */
  history(id: string, query?: GetWalletHistoryQuery & Paging & AtHeight, options?: CallOptions): List<WalletChange>;
  /** Returns every booking of a wallet as JSON lines or CSV. */
  statement(id: string, query?: GetWalletStatementQuery & AtHeight, options?: CallOptions): AsyncIterable<StatementRow>;
}

export interface DelegatesOperations {
  /** Lists all registered delegates. */
  list(query?: GetDelegatesQuery & Paging & AtHeight, options?: CallOptions): List<Delegate>;
  /** Searches delegates. */
  search(body?: SearchDelegatesBody & Paging & AtHeight, options?: CallOptions): List<Delegate>;
  /** Returns a delegate. */
  get(id: string, query?: AtHeight, options?: CallOptions): Promise<Delegate>;
  find(id: string, query?: AtHeight, options?: CallOptions): Promise<Delegate | undefined>;
  /** Lists the blocks that a delegate forged. */
  blocks(id: string, query?: GetDelegateBlocksQuery & Paging & AtHeight, options?: CallOptions): List<Block>;
  /** Lists the wallets that vote for a delegate. */
  voters(id: string, query?: GetWalletsQuery & Paging & AtHeight, options?: CallOptions): List<Wallet>;
  /** Returns the balances of all wallets that vote for a delegate, by address, richest first. */
  voterBalances(id: string, query?: AtHeight, options?: CallOptions): Promise<Record<string, bigint>>;
  /** Returns the shares of its earnings that a delegate owes its voters, as JSON or CSV. */
  rewards(id: string, query?: GetDelegateRewardsQuery & AtHeight, options?: CallOptions): Promise<Rewards>;
  /** Returns what a delegate owes one of its voters. */
  reward(id: string, address: string, query?: GetDelegateRewardsQuery & AtHeight, options?: CallOptions): Promise<Reward>;
}

export interface VotesOperations {
  /** Lists votes: transactions of type 3. */
  list(query?: GetWalletVotesQuery & Paging & AtHeight, options?: CallOptions): List<Transaction>;
  /** Returns a vote. */
  get(id: string, query?: AtHeight, options?: CallOptions): Promise<Transaction>;
  find(id: string, query?: AtHeight, options?: CallOptions): Promise<Transaction | undefined>;
}

export interface PeersOperations {
  /** Lists the peers whose interface is public. */
  list(query?: GetPeersQuery & Paging, options?: CallOptions): List<Peer>;
  /** Lists the peers that the node has suspended. */
  suspended(query?: GetPeersQuery & Paging, options?: CallOptions): List<Peer>;
  /** Returns a peer. */
  get(ip: string, options?: CallOptions): Promise<Peer>;
  find(ip: string, options?: CallOptions): Promise<Peer | undefined>;
}

export interface BlocksOperations {
  /** Lists blocks, newest first. */
  list(query?: GetDelegateBlocksQuery & Paging & AtHeight, options?: CallOptions): List<Block>;
  /** Returns the genesis block. */
  first(query?: AtHeight, options?: CallOptions): Promise<Block>;
  /** Returns the last block. */
  last(query?: AtHeight, options?: CallOptions): Promise<Block>;
  /** Searches blocks. */
  search(body?: SearchBlocksBody & Paging & AtHeight, options?: CallOptions): List<Block>;
  /** Returns a block. */
  get(id: string | number, query?: AtHeight, options?: CallOptions): Promise<Block>;
  find(id: string | number, query?: AtHeight, options?: CallOptions): Promise<Block | undefined>;
  /** Lists the transactions of a block, last first. */
  transactions(id: string | number, query?: GetBlockTransactionsQuery & Paging & AtHeight, options?: CallOptions): List<Transaction>;
  /** Returns a proof of a block, which can be checked without trusting the node. */
  proof(id: string | number, query?: GetBlockProofQuery & AtHeight, options?: CallOptions): Promise<BlockProof>;
}

export interface TransactionsOperations {
  /** Lists transactions, newest first. */
  list(query?: GetBlockTransactionsQuery & Paging & AtHeight, options?: CallOptions): List<Transaction>;
  /** Submits signed transactions to the node's pool. */
  submit(transactions: readonly object[], options?: CallOptions): Promise<PoolResult>;
  /** Searches transactions. */
  search(body?: SearchTransactionsBody & Paging & AtHeight, options?: CallOptions): List<Transaction>;
  /** Lists the transactions in the node's pool, in the pool's order. */
  unconfirmed(query?: Paging, options?: CallOptions): List<UnconfirmedTransaction>;
  /** Returns a transaction in the node's pool. */
  getUnconfirmed(id: string, options?: CallOptions): Promise<UnconfirmedTransaction>;
  /** Lists the transaction types with their numbers. */
  types(query?: AtHeight, options?: CallOptions): Promise<Record<string, number>>;
  /** Returns the static fees at the tip, by transaction type. */
  fees(query?: AtHeight, options?: CallOptions): Promise<Record<string, bigint>>;
  /** Returns the schema of each transaction type's wire form, by type group and type. */
  schemas(options?: CallOptions): Promise<Record<string, Record<string, Record<string, unknown>>>>;
  /** Returns a transaction. */
  get(id: string, query?: AtHeight & WithProof, options?: CallOptions): Promise<Transaction>;
  find(id: string, query?: AtHeight & WithProof, options?: CallOptions): Promise<Transaction | undefined>;
  /** Returns a proof that a transaction is in a block, which can be checked without trusting the node. */
  proof(id: string, query?: GetBlockProofQuery & AtHeight, options?: CallOptions): Promise<TransactionProof>;
}

export interface BlockchainOperations {
  /** Returns the tip, the supply and the digest of the state. */
  get(query?: AtHeight, options?: CallOptions): Promise<Blockchain>;
}

export interface RoundsOperations {
  /** Lists the active delegates of a round, by rank. */
  delegates(id: string | number, query?: AtHeight, options?: CallOptions): Promise<RoundDelegate[]>;
}

export interface LocksOperations {
  /** Lists open locks. */
  list(query?: GetWalletLocksQuery & Paging, options?: CallOptions): List<Lock>;
  /** Searches open locks. */
  search(body?: SearchLocksBody & Paging, options?: CallOptions): List<Lock>;
  /** Lists the transactions that claimed or refunded the given locks. */
  unlocked(body: GetUnlockedLocksBody & Paging, options?: CallOptions): List<Transaction>;
  /** Returns an open lock. */
  get(id: string, options?: CallOptions): Promise<Lock>;
  find(id: string, options?: CallOptions): Promise<Lock | undefined>;
}

export interface WebhooksOperations {
  /** Lists webhooks, enabled or not, oldest first. */
  list(query?: GetWebhooksQuery & Paging, options?: CallOptions): List<Webhook>;
  /** Creates a webhook and returns its token and secret, which are shown only once. */
  create(body: CreateWebhookBody, options?: CallOptions): Promise<CreatedWebhook>;
  /** Lists the node's public keys, with which receivers verify `v1a` signatures. */
  keys(options?: CallOptions): Promise<WebhookKey[]>;
  /** Lists the events that a webhook can listen to, each with an example payload. */
  events(query?: Paging, options?: CallOptions): List<Event>;
  /** Tests conditions against a sample payload, or against the last real payloads of an event. */
  dryRun(body: DryRunWebhookBody, options?: CallOptions): Promise<DryRun[]>;
  /** Returns a webhook. */
  get(id: string | number, options?: CallOptions): Promise<Webhook>;
  find(id: string | number, options?: CallOptions): Promise<Webhook | undefined>;
  /** Replaces a webhook, keeping its id and token; members left out get their defaults. */
  replace(id: string | number, body: CreateWebhookBody, options?: CallOptions): Promise<void>;
  /** Changes the given members of a webhook. */
  update(id: string | number, body: UpdateWebhookBody, options?: CallOptions): Promise<Webhook>;
  /** Sends the events of some heights again, beside the live ones. */
  replay(id: string | number, body: ReplayWebhookBody, options?: CallOptions): Promise<Replay>;
  /** Deletes a webhook and its deliveries. */
  delete(id: string | number, options?: CallOptions): Promise<void>;
  /** Sends a ping to the target, whatever the webhook's event and conditions. */
  ping(id: string | number, options?: CallOptions): Promise<Delivery>;
  /** Gives a webhook a new token and secret, which are shown only once; the old ones keep signing for a day. */
  rotate(id: string | number, options?: CallOptions): Promise<WebhookSecret>;
  /** Resends the deliveries of a period that failed or are waiting to be retried; without `until`, the period ends now. */
  recover(id: string | number, body: RecoverWebhookBody, options?: CallOptions): Promise<Recovered>;
  /** Lists the deliveries of a webhook, newest first. */
  deliveries(id: string | number, query?: GetWebhookDeliveriesQuery & Paging, options?: CallOptions): List<Delivery>;
  /** Returns a delivery with its payload and attempts. */
  delivery(id: string | number, deliveryId: string | number, options?: CallOptions): Promise<DeliveryDetail>;
  /** Resends a delivery, with the whole retry schedule; a ping is sent once. */
  redeliver(id: string | number, deliveryId: string | number, options?: CallOptions): Promise<Delivery>;
}

export interface EventsOperations {
  /** Returns the events after a cursor; with `wait`, waits for new ones. */
  feed(query?: GetEventsFeedQuery, options?: CallOptions): Promise<EventFeed>;
  /** Returns the events after a cursor, for conditions too long for a URL. */
  postFeed(body?: GetEventsFeedQuery, options?: CallOptions): Promise<EventFeed>;
}

export interface Operations {
  node: NodeOperations;
  wallets: WalletsOperations;
  delegates: DelegatesOperations;
  votes: VotesOperations;
  peers: PeersOperations;
  blocks: BlocksOperations;
  transactions: TransactionsOperations;
  blockchain: BlockchainOperations;
  rounds: RoundsOperations;
  locks: LocksOperations;
  webhooks: WebhooksOperations;
  events: EventsOperations;
}

/** Where a reply has amounts: members by name, `*` for each of a list or map. */
const NodeConfiguration = "constants.reward constants.fees.staticFees.*";
const CryptoConfiguration =
  "genesisBlock.totalAmount genesisBlock.totalFee genesisBlock.reward genesisBlock.transactions.*.amount genesisBlock.transactions.*.fee milestones.*.reward milestones.*.fees.staticFees.*";
const Wallet =
  "balance lockedBalance attributes.delegate.voteBalance attributes.delegate.forgedFees attributes.delegate.forgedRewards attributes.htlc.lockedBalance";
const Transaction = "amount fee asset.payments.*.amount";
const Lock = "amount";
const WalletChange = "balance change lockedBalance";
const StatementRow = "in out fee balance";
const Delegate = "votes forged.fees forged.rewards forged.total";
const Block = "forged.reward forged.fee forged.total forged.amount";
const Rewards = "forged.rewards forged.fees forged.total shared rest voters.*.amount";
const Reward = "amount";
const UnconfirmedTransaction = "amount fee asset.payments.*.amount";
const Blockchain = "supply";
const Change =
  "block.totalAmount block.totalFee block.reward block.transactions.*.amount block.transactions.*.fee block.transactions.*.asset.payments.*.amount";
const BlockOfEvent = "totalAmount totalFee reward";
const BlockOfHost = "totalAmount totalFee reward";
const TransactionOfEvent = "amount fee asset.payments.*.amount";
const TransactionOfHost = "amount fee asset.payments.*.amount";
const VoteOfEvent = "transaction.amount transaction.fee transaction.asset.payments.*.amount";
const WalletOfHost = "balance";
const Booking = "in out fee";

/** Method, path, kind of reply and input of each operation, and where its `data`, or each row of it, has amounts. */
export const operations: Record<string, Record<string, string | readonly [how: string, amounts: string]>> = {
  node: {
    configuration: ["GET /node/configuration data query at", NodeConfiguration],
    crypto: ["GET /node/configuration/crypto data", CryptoConfiguration],
    fees: ["GET /node/fees data query at", "*.avg *.min *.max *.sum"],
    status: "GET /node/status data",
    syncing: "GET /node/syncing data",
  },
  wallets: {
    list: ["GET /wallets list query", Wallet],
    top: ["GET /wallets/top list query", Wallet],
    search: ["POST /wallets/search list body", Wallet],
    get: ["GET /wallets/{id} data query at", Wallet],
    transactions: ["GET /wallets/{id}/transactions list query at", Transaction],
    received: ["GET /wallets/{id}/transactions/received list query at", Transaction],
    sent: ["GET /wallets/{id}/transactions/sent list query at", Transaction],
    votes: ["GET /wallets/{id}/votes list query at", Transaction],
    locks: ["GET /wallets/{id}/locks list query", Lock],
    history: ["GET /wallets/{id}/history list query at", WalletChange],
    statement: ["GET /wallets/{id}/statement lines query at", StatementRow],
  },
  delegates: {
    list: ["GET /delegates list query at", Delegate],
    search: ["POST /delegates/search list body at", Delegate],
    get: ["GET /delegates/{id} data query at", Delegate],
    blocks: ["GET /delegates/{id}/blocks list query at", Block],
    voters: ["GET /delegates/{id}/voters list query at", Wallet],
    voterBalances: ["GET /delegates/{id}/voters/balances data query at", "*"],
    rewards: ["GET /delegates/{id}/rewards data query at", Rewards],
    reward: ["GET /delegates/{id}/rewards/{address} data query at", Reward],
  },
  votes: {
    list: ["GET /votes list query at", Transaction],
    get: ["GET /votes/{id} data query at", Transaction],
  },
  peers: {
    list: "GET /peers list query",
    suspended: "GET /peers/suspended list query",
    get: "GET /peers/{ip} data",
  },
  blocks: {
    list: ["GET /blocks list query at", Block],
    first: ["GET /blocks/first data query at", Block],
    last: ["GET /blocks/last data query at", Block],
    search: ["POST /blocks/search list body at", Block],
    get: ["GET /blocks/{id} data query at", Block],
    transactions: ["GET /blocks/{id}/transactions list query at", Transaction],
    proof: "GET /blocks/{id}/proof data query at",
  },
  transactions: {
    list: ["GET /transactions list query at", Transaction],
    submit: "POST /transactions data body",
    search: ["POST /transactions/search list body at", Transaction],
    unconfirmed: ["GET /transactions/unconfirmed list query", UnconfirmedTransaction],
    getUnconfirmed: ["GET /transactions/unconfirmed/{id} data", UnconfirmedTransaction],
    types: "GET /transactions/types data query at",
    fees: ["GET /transactions/fees data query at", "*"],
    schemas: "GET /transactions/schemas data",
    get: ["GET /transactions/{id} data query at proof", Transaction],
    proof: "GET /transactions/{id}/proof data query at",
  },
  blockchain: {
    get: ["GET /blockchain data query at", Blockchain],
  },
  rounds: {
    delegates: ["GET /rounds/{id}/delegates data query at", "*.votes"],
  },
  locks: {
    list: ["GET /locks list query", Lock],
    search: ["POST /locks/search list body", Lock],
    unlocked: ["POST /locks/unlocked list body", Transaction],
    get: ["GET /locks/{id} data", Lock],
  },
  webhooks: {
    list: "GET /webhooks list query token",
    create: "POST /webhooks data body token",
    keys: "GET /webhooks/keys data",
    events: "GET /webhooks/events list query token",
    dryRun: "POST /webhooks/dry-run data body token",
    get: "GET /webhooks/{id} data token",
    replace: "PUT /webhooks/{id} none body token",
    update: "PATCH /webhooks/{id} data body token",
    replay: "POST /webhooks/{id}/replay data body token",
    delete: "DELETE /webhooks/{id} none token",
    ping: "POST /webhooks/{id}/ping data token",
    rotate: "POST /webhooks/{id}/rotate data token",
    recover: "POST /webhooks/{id}/recover data body token",
    deliveries: "GET /webhooks/{id}/deliveries list query token",
    delivery: "GET /webhooks/{id}/deliveries/{deliveryId} data token",
    redeliver: "POST /webhooks/{id}/deliveries/{deliveryId}/redeliver data token",
  },
  events: {
    feed: "GET /events/feed feed query",
    postFeed: "POST /events/feed feed body",
  },
};

/** Where the `data` of events has amounts. */
export const eventAmounts: Partial<Record<string, string>> = {
  "block.applied": BlockOfEvent,
  "block.reverted": BlockOfEvent,
  "block.forged": BlockOfHost,
  "block.received": BlockOfHost,
  "block.disregarded": BlockOfHost,
  "transaction.applied": TransactionOfEvent,
  "transaction.reverted": TransactionOfEvent,
  "transaction.forged": TransactionOfHost,
  "transaction.expired": TransactionOfHost,
  "transaction.pool.added": "*.amount *.fee *.asset.payments.*.amount",
  "transaction.pool.rejected": "*.amount *.fee *.asset.payments.*.amount",
  "delegate.registered": TransactionOfEvent,
  "delegate.resigned": TransactionOfEvent,
  "wallet.vote": VoteOfEvent,
  "wallet.unvote": VoteOfEvent,
  "wallet.saved": WalletOfHost,
  "wallet.created.cold": WalletOfHost,
  "round.created": "*.votes",
  "booking.applied": Booking,
  "booking.reverted": Booking,
};

export const changeAmounts = Change;
