/** Made by `npm run docs` from the routes' schemas. */
/* oxlint-disable max-lines */

/** A field, alone (ascending) or with its direction. */
export type Order<Field extends string> = Field | `${Field}:${"asc" | "desc"}`;

/** Both ends are included. */
export interface Range<Bound> {
  from?: Bound | undefined;
  to?: Bound | undefined;
}

export interface Paging {
  page?: number | undefined;
  limit?: number | undefined;
  offset?: number | undefined;
}

export interface AtHeight {
  /** Height or id of a block, a time or a day. The reply is of the state when that block was the tip. */
  at?: string | number | undefined;
}

export type ErrorCode =
  | "BAD_REQUEST" | "UNSUPPORTED_VERSION" | "MALFORMED_JSON" | "SEARCH_TOO_WIDE" | "NOT_AT_HEIGHT" | "UNAUTHORIZED" | "NOT_FOUND"
  | "BLOCK_NOT_FOUND" | "DELEGATE_NOT_FOUND" | "DELIVERY_NOT_FOUND" | "LOCK_NOT_FOUND" | "PEER_NOT_FOUND" | "ROUND_NOT_FOUND"
  | "TRANSACTION_NOT_FOUND" | "VOTE_NOT_FOUND" | "WALLET_NOT_FOUND" | "WEBHOOK_NOT_FOUND" | "BODY_TOO_SLOW" | "METHOD_NOT_ALLOWED"
  | "REQUEST_TIMEOUT" | "WEBHOOKS_FULL" | "IDEMPOTENCY_CONFLICT" | "CURSOR_UNKNOWN" | "HISTORY_MISSING" | "BODY_TOO_LARGE"
  | "UNSUPPORTED_MEDIA_TYPE" | "RANGE_NOT_SATISFIABLE" | "EXPECTATION_FAILED" | "UNPROCESSABLE" | "RATE_LIMITED" | "HEADERS_TOO_LARGE"
  | "INTERNAL" | "RECORD_DAMAGED" | "NOT_SUPPORTED" | "BODIES_FULL" | "HOST_SILENT" | "SEARCHES_FULL" | "STREAMS_FULL" | "NOT_READY"
  | "STORE_UNWRITABLE";

export interface Constants {
  height: number; reward: bigint; activeDelegates: number; blocktime: number; epoch: string;
  block?: { version?: number; maxTransactions?: number; maxPayload?: number; idFullSha256?: boolean };
  fees?: { staticFees?: Record<string, bigint> }; vendorFieldLength?: number;
}
export interface NodeConfiguration {
  core?: { /** Version of the node software. */ version: string }; nethash: string; slip44?: number; wif: number; token: string;
  symbol: string; explorer: string; /** Version byte of addresses. */ version: number;
  /** Port by component name; null or below 1 if the component is off. */ ports: Record<string, number | null>; constants: Constants;
  transactionPool: { dynamicFees: { enabled: boolean; /** Fee per byte below which the pool refuses a transaction. */ minFeePool: number;
  /** Fee per byte below which a transaction is not broadcast. */ minFeeBroadcast: number; addonBytes: Record<string, number> } };
}
export interface CryptoConfiguration {
  exceptions: { blocks: string[]; transactions: string[]; outlookTable: Record<string, string>;
  transactionIdFixTable: Record<string, string>; wrongTransactionOrder: Record<string, string[]> }; genesisBlock: { version: number;
  totalAmount: bigint; totalFee: bigint; reward: bigint; payloadHash: string; timestamp: number; numberOfTransactions: number;
  payloadLength: number; previousBlock: string | null; generatorPublicKey: string; transactions: { type: number; amount: bigint;
  fee: bigint; recipientId?: string | null; timestamp?: number; asset?: Record<string, unknown>; senderPublicKey: string;
  signature?: string; id: string }[]; height: number; id: string; blockSignature?: string };
  /** Each merged with those at lower heights. */ milestones: Constants[]; network: { name: string; messagePrefix: string;
  bip32: { public: number; private: number }; pubKeyHash: number; nethash: string; wif: number; slip44?: number; aip20?: number;
  client: { token: string; symbol: string; explorer: string } };
  /** Blocks have their own rewards; those of the milestones do not apply. */ rewards?: "blocks";
}
export interface GetNodeFeesQuery { /** Days before the tip that are looked at. */ days?: number | undefined; }
export interface FeeStatistics { type: number; typeGroup: number; avg: bigint; min: bigint; max: bigint; sum: bigint; }
export interface NodeStatus {
  synced: boolean; /** Height of this node. */ now: number;
  /** Height of the network minus that of this node; negative if this node is ahead. */ blocksCount: number;
  /** Epoch time of this node's clock. */ timestamp: number;
}
export interface NodeSyncing {
  syncing: boolean; /** Height of the network minus that of this node; negative if this node is ahead. */ blocks: number;
  /** Height of this node. */ height: number; /** Id of this node's last block. */ id: string;
}
export interface GetWalletsQuery {
  /** Any of these addresses. */ address?: readonly string[] | undefined;
  /** Any of these addresses. */ addresses?: readonly string[] | undefined; publicKey?: string | undefined;
  secondPublicKey?: string | undefined; vote?: string | undefined; username?: string | undefined;
  /** Number of blocks it has forged; 0 for a wallet that is not a delegate. */ producedBlocks?: number | Range<number> | undefined;
  balance?: bigint | Range<bigint> | undefined;
  /** Sum of the balances that vote for it; 0 for a wallet that is not a delegate. */ voteBalance?: bigint | Range<bigint> | undefined;
  /** Number of transactions it has sent. */ nonce?: bigint | Range<bigint> | undefined;
  /** The same as voteBalance. */ votebalance?: bigint | Range<bigint> | undefined;
  orderBy?: Order<"address" | "publicKey" | "username" | "balance" | "voteBalance" | "nonce"> | undefined;
}
export interface WalletAttributes {
  delegate?: { username: string; voteBalance: bigint; forgedFees: bigint; forgedRewards: bigint; producedBlocks: number;
  /** Absent before the first round that ranks it, and once it has resigned. */ rank?: number;
  /** Absent unless the delegate has resigned. */ resigned?: boolean }; vote?: string; secondPublicKey?: string;
  /** Only for a multisignature wallet. */ multiSignature?: { min: number; publicKeys: string[] }; htlc?: { lockedBalance: bigint };
}
export interface Wallet {
  address: string; publicKey: string | null; username: string | null; secondPublicKey: string | null; balance: bigint; isDelegate: boolean;
  vote: string | null; lockedBalance: bigint; /** Number of transactions sent; the nonce of the next one is this plus 1. */ nonce: string;
  isResigned: boolean; /** Only for a multisignature wallet. */ multiSignature?: { min: number; publicKeys: string[] };
  attributes: WalletAttributes;
}
export interface SearchWalletsBody {
  orderBy?: Order<"address" | "publicKey" | "username" | "balance" | "voteBalance" | "nonce"> | undefined; address?: string | undefined;
  /** Any of these addresses. */ addresses?: readonly string[] | undefined; publicKey?: string | undefined;
  secondPublicKey?: string | undefined; vote?: string | undefined; username?: string | undefined;
  /** Number of blocks it has forged; 0 for a wallet that is not a delegate. */ producedBlocks?: number | Range<number> | undefined;
  balance?: Range<bigint> | undefined;
  /** Sum of the balances that vote for it; 0 for a wallet that is not a delegate. */ voteBalance?: Range<bigint> | undefined;
  /** Number of transactions it has sent. */ nonce?: Range<bigint> | undefined;
  /** The same as voteBalance. */ votebalance?: Range<bigint> | undefined;
}
export interface GetWalletTransactionsQuery {
  /** 64 hexadecimal digits. */ id?: string | undefined;
  /** Id of a block (up to 20 decimal or 64 hexadecimal digits), or its height. */ blockId?: string | undefined;
  /** Number of the type. */ type?: number | undefined; /** 1 is the core group. */ typeGroup?: number | undefined;
  /** Version of the transaction's layout. */ version?: number | undefined; senderPublicKey?: string | undefined;
  senderId?: string | undefined; ownerId?: string | undefined; vendorField?: string | undefined; vendorFieldHex?: string | undefined;
  /** Its own time in version 1, that of its block otherwise. */ timestamp?: number | string | Range<number | string> | undefined;
  /** What it transfers. */ amount?: bigint | Range<bigint> | undefined;
  /** What its sender paid for it. */ fee?: bigint | Range<bigint> | undefined;
  /** Number of the sender's transactions up to and including this one; only in version 2. */ nonce?: bigint | undefined;
  recipientId?: string | undefined; orderBy?: Order<"timestamp" | "type" | "amount" | "fee" | "version" | "id"> | undefined;
}
export interface SecondSignatureAsset { signature: { publicKey: string }; }
export interface DelegateRegistrationAsset { delegate: { username: string }; }
export interface VoteAsset { votes: string[]; }
export interface MultiSignatureAsset { multiSignature: { /** Signatures that are needed. */ min: number; publicKeys: string[] }; }
export interface IpfsAsset { ipfs: string; }
export interface MultiPaymentAsset { payments: { amount: bigint; recipientId: string }[]; }
export interface LockAsset { lock: { secretHash: string; expiration: { type: number; value: number } }; }
export interface ClaimAsset { claim: { /** Id of the lock transaction. */ lockTransactionId: string; unlockSecret: string }; }
export interface RefundAsset { refund: { /** Id of the lock transaction. */ lockTransactionId: string }; }
export interface Timestamp {
  /** Seconds since the network's epoch. */ epoch: number; /** Seconds since 1970. */ unix: number;
  /** ISO 8601, UTC, with milliseconds. */ human: string;
}
export interface TransactionMembers {
  id: string; version: number; typeGroup: number; amount: bigint; fee: bigint; sender: string; senderPublicKey: string;
  /** The sender, if the transaction names no recipient or has several payments. */ recipient: string;
  /** Absent if a multisignature wallet signed. */ signature?: string; signSignature: string | null; signatures?: string[];
  vendorField?: string; /** Only in version 2. */ nonce?: string; blockId: string;
  /** Height of the tip minus that of its block, plus 1. */ confirmations: number; timestamp: Timestamp;
}
export type Transaction = TransactionMembers & WithAsset;
export interface GetWalletTransactionsReceivedQuery {
  /** 64 hexadecimal digits. */ id?: string | undefined;
  /** Id of a block (up to 20 decimal or 64 hexadecimal digits), or its height. */ blockId?: string | undefined;
  /** Number of the type. */ type?: number | undefined; /** 1 is the core group. */ typeGroup?: number | undefined;
  /** Version of the transaction's layout. */ version?: number | undefined; senderPublicKey?: string | undefined;
  senderId?: string | undefined; ownerId?: string | undefined; vendorField?: string | undefined; vendorFieldHex?: string | undefined;
  /** Its own time in version 1, that of its block otherwise. */ timestamp?: number | string | Range<number | string> | undefined;
  /** What it transfers. */ amount?: bigint | Range<bigint> | undefined;
  /** What its sender paid for it. */ fee?: bigint | Range<bigint> | undefined;
  /** Number of the sender's transactions up to and including this one; only in version 2. */ nonce?: bigint | undefined;
  orderBy?: Order<"timestamp" | "type" | "amount" | "fee" | "version" | "id"> | undefined;
}
export interface GetWalletVotesQuery {
  /** 64 hexadecimal digits. */ id?: string | undefined;
  /** Id of a block (up to 20 decimal or 64 hexadecimal digits), or its height. */ blockId?: string | undefined;
  /** Version of the transaction's layout. */ version?: number | undefined; senderPublicKey?: string | undefined;
  senderId?: string | undefined; recipientId?: string | undefined; ownerId?: string | undefined; vendorField?: string | undefined;
  vendorFieldHex?: string | undefined;
  /** Its own time in version 1, that of its block otherwise. */ timestamp?: number | string | Range<number | string> | undefined;
  /** What it transfers. */ amount?: bigint | Range<bigint> | undefined;
  /** What its sender paid for it. */ fee?: bigint | Range<bigint> | undefined;
  /** Number of the sender's transactions up to and including this one; only in version 2. */ nonce?: bigint | undefined;
  /** Sender or recipient is any of these. */ addresses?: readonly string[] | undefined;
  orderBy?: Order<"timestamp" | "type" | "amount" | "fee" | "version" | "id"> | undefined;
}
export interface GetWalletLocksQuery {
  /** 64 hexadecimal digits. */ lockId?: string | undefined; senderPublicKey?: string | undefined; senderId?: string | undefined;
  recipientId?: string | undefined; /** 64 hexadecimal digits. */ secretHash?: string | undefined; vendorField?: string | undefined;
  /** Whether it can be refunded at the tip. */ isExpired?: boolean | undefined; expirationType?: number | undefined;
  /** What is locked. */ amount?: bigint | Range<bigint> | undefined;
  /** When it expires. */ expirationValue?: number | Range<number> | undefined;
  /** When it was made. */ timestamp?: number | string | Range<number | string> | undefined;
  orderBy?: Order<"timestamp" | "amount" | "expirationValue" | "lockId"> | undefined;
}
export interface Lock {
  /** Id of the lock transaction. */ lockId: string; senderPublicKey: string; senderId: string; recipientId: string;
  /** Whether it can be refunded at the tip. */ isExpired: boolean; amount: bigint; secretHash: string; timestamp: Timestamp;
  expirationType: number; expirationValue: number; vendorField?: string;
}
export interface GetWalletHistoryQuery {
  /** Height of the block. */ height?: number | Range<number> | undefined;
  /** When the block was forged. */ timestamp?: number | string | Range<number | string> | undefined;
}
export interface WalletChange {
  height: number; blockId: string; timestamp: Timestamp; balance: bigint; change: bigint; lockedBalance: bigint; vote: string | null;
  nonce: string;
}
export interface GetWalletStatementQuery {
  from?: string | number | undefined; /** Last block, included. */ to?: string | number | undefined;
  /** Oldest or newest first. */ order?: "asc" | "desc" | undefined;
  /** Whether a row of kind `opening` says what the balance was before the period. */ opening?: boolean | undefined;
}
export interface StatementRow {
  /** Time of the block, ISO 8601. */ time: string; height: number; kind: string; /** Id of the transaction or the block. */ id: string;
  counterparty: string; memo: string; in: bigint | null; out: bigint | null; fee: bigint | null;
  /** Balance after the row. */ balance: bigint;
}
export interface GetDelegatesQuery {
  address?: string | undefined; publicKey?: string | undefined; secondPublicKey?: string | undefined; vote?: string | undefined;
  /** Part of the username. */ username?: string | undefined; /** Any of these usernames. */ usernames?: readonly string[] | undefined;
  balance?: bigint | Range<bigint> | undefined;
  /** Share of the supply that votes for it, in percent. */ approval?: number | Range<number> | undefined;
  /** Fees of the transactions in its blocks. */ forgedFees?: bigint | Range<bigint> | undefined;
  /** Rewards of its blocks. */ forgedRewards?: bigint | Range<bigint> | undefined;
  /** Fees and rewards of its blocks. */ forgedTotal?: bigint | Range<bigint> | undefined;
  /** Number of blocks it has forged. */ producedBlocks?: number | Range<number> | undefined;
  /** Number of slots in which it was its turn and no block was forged. */ missedBlocks?: number | Range<number> | undefined;
  /** Produced blocks in percent of those and the missed ones. */ productivity?: number | Range<number> | undefined;
  /** Sum of the balances that vote for it. */ voteBalance?: bigint | Range<bigint> | undefined;
  /** Number of wallets that vote for it. */ voters?: number | Range<number> | undefined;
  /** Only those that resigned, or that forged no block. */ type?: "resigned" | "never-forged" | undefined; orderBy?: Order<"username"
  | "rank" | "votes" | "address" | "publicKey" | "approval" | "producedBlocks" | "missedBlocks" | "productivity" | "forgedFees"
  | "forgedRewards" | "forgedTotal" | "voteBalance" | "voters"> | undefined;
}
export interface Delegate {
  username: string; address: string; publicKey: string; votes: bigint; /** Number of wallets that vote for it. */ voters?: number;
  /** Absent if the last round did not rank the delegate. */ rank?: number; isResigned: boolean; blocks: { produced: number;
  /** Slots of this delegate without a block, counted between blocks from the second block on. */ missed?: number;
  /** Absent before its first block. */ last?: { id: string; height: number; timestamp: Timestamp } };
  production: { /** Percentage of the supply, to two decimals. */ approval: number; productivity?: number | null };
  forged: { fees: bigint; rewards: bigint; total: bigint };
}
export interface SearchDelegatesBody {
  orderBy?: Order<"username" | "rank" | "votes" | "address" | "publicKey" | "approval" | "producedBlocks" | "missedBlocks" | "productivity"
  | "forgedFees" | "forgedRewards" | "forgedTotal" | "voteBalance" | "voters"> | undefined; address?: string | undefined;
  publicKey?: string | undefined; secondPublicKey?: string | undefined; vote?: string | undefined;
  /** Part of the username. */ username?: string | undefined; /** Any of these usernames. */ usernames?: readonly string[] | undefined;
  balance?: Range<bigint> | undefined; /** Share of the supply that votes for it, in percent. */ approval?: Range<number> | undefined;
  /** Fees of the transactions in its blocks. */ forgedFees?: Range<bigint> | undefined;
  /** Rewards of its blocks. */ forgedRewards?: Range<bigint> | undefined;
  /** Fees and rewards of its blocks. */ forgedTotal?: Range<bigint> | undefined;
  /** Number of blocks it has forged. */ producedBlocks?: Range<number> | undefined;
  /** Number of slots in which it was its turn and no block was forged. */ missedBlocks?: Range<number> | undefined;
  /** Produced blocks in percent of those and the missed ones. */ productivity?: Range<number> | undefined;
  /** Sum of the balances that vote for it. */ voteBalance?: Range<bigint> | undefined;
  /** Number of wallets that vote for it. */ voters?: Range<number> | undefined;
}
export interface GetDelegateBlocksQuery {
  /** Id of a block (up to 20 decimal or 64 hexadecimal digits), or its height. */ id?: string | undefined;
  /** Version of the block's layout. */ version?: number | undefined;
  /** Id of a block (up to 20 decimal or 64 hexadecimal digits), or its height. */ previousBlock?: string | undefined;
  payloadHash?: string | undefined; generatorPublicKey?: string | undefined; blockSignature?: string | undefined;
  /** When it was forged. */ timestamp?: number | string | Range<number | string> | undefined; height?: number | Range<number> | undefined;
  /** Number of transactions in it. */ numberOfTransactions?: number | Range<number> | undefined;
  /** Sum of its transactions' amounts. */ totalAmount?: bigint | Range<bigint> | undefined;
  /** Sum of its transactions' fees. */ totalFee?: bigint | Range<bigint> | undefined;
  /** Reward of its forger. */ reward?: bigint | Range<bigint> | undefined;
  /** Size of its transactions' ids, in bytes. */ payloadLength?: number | Range<number> | undefined; orderBy?: Order<"height" | "timestamp"
  | "version" | "id" | "numberOfTransactions" | "totalAmount" | "totalFee" | "reward" | "payloadLength"> | undefined;
}
export interface Block {
  id: string; version: number; height: number; previous: string | null;
  forged: { reward: bigint; fee: bigint; total: bigint; amount: bigint }; payload: { hash: string; length: number };
  generator: { /** Null if the generator is not a delegate, as for the genesis block. */ username: string | null; address: string;
  publicKey: string }; signature: string; /** Height of the tip minus the block's. */ confirmations: number;
  /** Number of transactions. */ transactions: number; timestamp: Timestamp;
}
export interface GetDelegateRewardsQuery {
  from?: string | number | undefined; /** Last block, included. */ to?: string | number | undefined;
  /** Percent of each block that its voters get, with at most two decimals. */ share?: number | undefined;
  /** The part of each block's earnings that is shared. */ of?: "total" | "rewards" | "fees" | undefined;
  /** Voters owed less than this over the whole period get nothing. */ minimum?: bigint | undefined;
  /** Largest balance that counts for one voter, also in the sum of all balances. */ cap?: bigint | undefined;
  /** Up to 100 addresses that get nothing. */ exclude?: readonly string[] | undefined;
  /** Whether the part of excluded addresses goes to the other voters; if not, to `rest`. */ spread?: boolean | undefined;
}
export interface Reward { address: string; /** Number of blocks of which it gets a share. */ blocks: number; amount: bigint; }
export interface Rewards {
  delegate: { username: string; address: string; publicKey: string }; from: { height: number; id: string };
  to: { height: number; id: string }; /** Blocks that it forged. */ blocks: number;
  forged: { rewards: bigint; fees: bigint; total: bigint }; share: number; /** Sum of the shared parts of all blocks. */ shared: bigint;
  /** Amount that nobody gets. */ rest: bigint; voters: Reward[];
}
export interface GetPeersQuery {
  ip?: string | undefined; /** Port of its peer-to-peer interface. */ port?: number | undefined;
  /** Version that it says it runs. */ version?: string | undefined;
  /** Operating system that it says it runs on. */ os?: string | undefined; /** A number, or OK for 200. */ status?: string | undefined;
  orderBy?: Order<"ip" | "port" | "version" | "height" | "status" | "os" | "latency"> | undefined;
}
export interface Peer {
  ip: string; /** Port of the peer protocol. */ port: number;
  /** Port by component name; null or below 1 if the component is off. */ ports: Record<string, number | null>;
  /** Version of the node software. */ version: string; height: number; /** 200 for a peer that answers. */ status: number;
  /** `unknown` if the host does not know it. */ os: string; latency: number;
}
export interface SearchBlocksBody {
  orderBy?: Order<"height" | "timestamp" | "version" | "id" | "numberOfTransactions" | "totalAmount" | "totalFee" | "reward"
  | "payloadLength"> | undefined; /** Id of a block (up to 20 decimal or 64 hexadecimal digits), or its height. */ id?: string | undefined;
  /** Version of the block's layout. */ version?: number | undefined;
  /** Id of a block (up to 20 decimal or 64 hexadecimal digits), or its height. */ previousBlock?: string | undefined;
  payloadHash?: string | undefined; generatorPublicKey?: string | undefined; blockSignature?: string | undefined;
  /** When it was forged. */ timestamp?: Range<number | string> | undefined; height?: Range<number> | undefined;
  /** Number of transactions in it. */ numberOfTransactions?: Range<number> | undefined;
  /** Sum of its transactions' amounts. */ totalAmount?: Range<bigint> | undefined;
  /** Sum of its transactions' fees. */ totalFee?: Range<bigint> | undefined;
  /** Reward of its forger. */ reward?: Range<bigint> | undefined;
  /** Size of its transactions' ids, in bytes. */ payloadLength?: Range<number> | undefined;
}
export interface GetBlockTransactionsQuery {
  /** 64 hexadecimal digits. */ id?: string | undefined;
  /** Id of a block (up to 20 decimal or 64 hexadecimal digits), or its height. */ blockId?: string | undefined;
  /** Version of the transaction's layout. */ version?: number | undefined; senderPublicKey?: string | undefined;
  senderId?: string | undefined; recipientId?: string | undefined; ownerId?: string | undefined; vendorField?: string | undefined;
  vendorFieldHex?: string | undefined;
  /** Its own time in version 1, that of its block otherwise. */ timestamp?: number | string | Range<number | string> | undefined;
  /** What it transfers. */ amount?: bigint | Range<bigint> | undefined;
  /** What its sender paid for it. */ fee?: bigint | Range<bigint> | undefined;
  /** Number of the sender's transactions up to and including this one; only in version 2. */ nonce?: bigint | undefined;
  /** Number of the type. */ type?: number | undefined; /** 1 is the core group. */ typeGroup?: number | undefined;
  /** Sender or recipient is any of these. */ addresses?: readonly string[] | undefined;
  /** Sender or recipient is any of these. */ address?: readonly string[] | undefined;
  orderBy?: Order<"timestamp" | "type" | "amount" | "fee" | "version" | "id"> | undefined;
}
export interface PoolResult {
  accept: string[]; broadcast: string[]; excess: string[]; invalid: string[];
  /** Id of a transaction -> why it is under `invalid` or `excess`. */ errors?: Record<string, { type: string; message: string }[]>;
}
export interface SearchTransactionsBody {
  orderBy?: Order<"timestamp" | "type" | "amount" | "fee" | "version" | "id"> | undefined;
  /** 64 hexadecimal digits. */ id?: string | undefined;
  /** Id of a block (up to 20 decimal or 64 hexadecimal digits), or its height. */ blockId?: string | undefined;
  /** Number of the type. */ type?: number | undefined; /** 1 is the core group. */ typeGroup?: number | undefined;
  /** Version of the transaction's layout. */ version?: number | undefined; senderPublicKey?: string | undefined;
  senderId?: string | undefined; recipientId?: string | undefined; ownerId?: string | undefined; vendorField?: string | undefined;
  vendorFieldHex?: string | undefined;
  /** Its own time in version 1, that of its block otherwise. */ timestamp?: Range<number | string> | undefined;
  /** What it transfers. */ amount?: Range<bigint> | undefined; /** What its sender paid for it. */ fee?: Range<bigint> | undefined;
  /** Number of the sender's transactions up to and including this one; only in version 2. */ nonce?: bigint | undefined;
  /** Sender or recipient is any of these. */ addresses?: readonly string[] | undefined;
}
export interface UnconfirmedTransactionMembers {
  id: string; version: number; typeGroup: number; amount: bigint; fee: bigint; sender: string; senderPublicKey: string;
  /** The sender, if the transaction names no recipient or has several payments. */ recipient: string;
  /** Absent if a multisignature wallet signed. */ signature?: string; signSignature: string | null; signatures?: string[];
  vendorField?: string; /** Only in version 2. */ nonce?: string; confirmations: 0; timestamp?: Timestamp;
  /** Height from which no block can contain it; 0 means never. */ expiration?: number;
}
export type UnconfirmedTransaction = UnconfirmedTransactionMembers & WithAsset;
export interface GetBlockProofQuery {
  /** Number of blocks after it in the proof; fewer if the tip is nearer. */ confirmations?: number | undefined;
}
export interface ProofBlock {
  id: string; height: number; /** What the block's generator signed. */ header: string; /** ECDSA on secp256k1, DER. */ signature: string;
}
export interface BlockProof {
  block: ProofBlock; /** Ids of all transactions of the block, in the order that was hashed. */ transactionIds: string[];
  /** The blocks after it. */ descendants: ProofBlock[]; /** The round of the block. */ round: { number: number;
  /** Public keys, by rank. */ delegates: string[]; slots?: { height: number; timestamp: number }[] };
}
export interface TransactionProof {
  transaction: { id: string; /** The bytes with all signatures. */ serialized: string }; block: ProofBlock;
  /** Ids of all transactions of the block, in the order that was hashed. */ transactionIds: string[];
  /** The blocks after it. */ descendants: ProofBlock[]; /** The round of the block. */ round: { number: number;
  /** Public keys, by rank. */ delegates: string[]; slots?: { height: number; timestamp: number }[] };
}
export interface Blockchain { block: { height: number; id: string }; supply: bigint; /** Digest of the state. */ digest?: string; }
export interface RoundDelegate {
  publicKey: string; username: string; /** Vote balance with which the delegate entered the round. */ votes: bigint;
}
export interface SearchLocksBody {
  orderBy?: Order<"timestamp" | "amount" | "expirationValue" | "lockId"> | undefined;
  /** 64 hexadecimal digits. */ lockId?: string | undefined; senderPublicKey?: string | undefined; senderId?: string | undefined;
  recipientId?: string | undefined; /** 64 hexadecimal digits. */ secretHash?: string | undefined; vendorField?: string | undefined;
  /** Whether it can be refunded at the tip. */ isExpired?: boolean | undefined; expirationType?: number | undefined;
  /** What is locked. */ amount?: Range<bigint> | undefined; /** When it expires. */ expirationValue?: Range<number> | undefined;
  /** When it was made. */ timestamp?: Range<number | string> | undefined;
}
export interface GetUnlockedLocksBody {
  orderBy?: Order<"timestamp" | "type" | "amount" | "fee" | "version" | "id"> | undefined;
  /** Ids of lock transactions. */ ids: readonly string[];
}
export interface GetWebhooksQuery { /** Only webhooks with this tag. */ tag?: string | undefined; }
export interface Condition {
  key: string;
  condition: "between" | "contains" | "eq" | "falsy" | "gt" | "gte" | "in" | "lt" | "lte" | "ne" | "not-between" | "regexp" | "truthy";
  value?: unknown;
}
export interface Webhook {
  id: number; /** The first of `events`. */ event: string; events: string[]; target: string; enabled: boolean; conditions: Condition[];
  match: "any" | "all"; confirmations: number | "final"; order: "first" | "strict" | "none";
  /** Several events in one request. */ batch: { size: number; wait: number } | null;
  /** Deliveries per second, at most. */ rate: number | null; headers: Record<string, string>; description: string; tags: string[];
  signature: "v1" | "v1a"; cursor: string | null; /** Blocks from the cursor to the tip. */ behind: number | null;
  /** Milliseconds since 1970. */ createdAt: number; /** Milliseconds since 1970. */ failingSince: number | null;
  disabledBecause: string | null; /** Milliseconds since 1970. */ pausedUntil: number | null;
}
export interface CreateWebhookBody {
  /** One of the events that `GET /webhooks/events` lists. */ event?: AnyEventName | undefined;
  events?: readonly EventSelector[] | undefined; /** http or https URL. */ target: string; enabled?: boolean | "true" | "false" | undefined;
  conditions?: readonly { /** A member of the payload, or a dotted path into it, in which `*` is any element of a list. */ key: string;
  condition: "between" | "contains" | "eq" | "falsy" | "gt" | "gte" | "in" | "lt" | "lte" | "ne" | "not-between" | "regexp" | "truthy";
  value?: unknown }[] | undefined; /** Whether any one condition must hold, or all of them. */ match?: "any" | "all" | undefined;
  /** How many blocks the webhook stays behind the tip; `final`. */ confirmations?: number | "final" | undefined;
  order?: "first" | "strict" | "none" | undefined;
  /** Up to `size` events in one request, which waits at most `wait` milliseconds to fill. */ batch?: { size: number; wait: number } | null
  | undefined; /** Deliveries per second, at most. */ rate?: number | null | undefined;
  /** Additional headers of its requests. */ headers?: Record<string, string> | undefined; description?: string | undefined;
  tags?: readonly string[] | undefined; signature?: "v1" | "v1a" | undefined; /** Where it begins. */ from?: string | number | undefined;
  id?: unknown; createdAt?: unknown; failingSince?: unknown; disabledBecause?: unknown; pausedUntil?: unknown; cursor?: unknown;
  behind?: unknown;
}
export interface CreatedWebhook {
  id: number; /** The first of `events`. */ event: string; events: string[]; target: string; enabled: boolean; conditions: Condition[];
  match: "any" | "all"; confirmations: number | "final"; order: "first" | "strict" | "none";
  /** Several events in one request. */ batch: { size: number; wait: number } | null;
  /** Deliveries per second, at most. */ rate: number | null; headers: Record<string, string>; description: string; tags: string[];
  signature: "v1" | "v1a"; cursor: string | null; /** Blocks from the cursor to the tip. */ behind: number | null;
  /** Milliseconds since 1970. */ createdAt: number; /** Milliseconds since 1970. */ failingSince: number | null;
  disabledBecause: string | null; /** Milliseconds since 1970. */ pausedUntil: number | null;
  /** 64 hexadecimal digits; shown only once. */ token: string;
  /** The same 32 bytes, in the form that Standard Webhooks libraries take. */ secret: string;
}
export interface WebhookKey { type: string; /** `whpk_` and the key in base64. */ key: string; }
export interface Event {
  event: string; description: string; source: "chain" | "host" | "webhooks";
  /** Whether this event waits for the confirmations of a webhook. */ confirmations: boolean; example: unknown;
}
export interface DryRunWebhookBody {
  /** Required without `payload`. */ event?: AnyEventName | undefined;
  conditions: readonly { /** A member of the payload, or a dotted path into it, in which `*` is any element of a list. */ key: string;
  condition: "between" | "contains" | "eq" | "falsy" | "gt" | "gte" | "in" | "lt" | "lte" | "ne" | "not-between" | "regexp" | "truthy";
  value?: unknown }[]; /** Whether any one condition must hold, or all of them. */ match?: "any" | "all" | undefined; payload?: unknown;
  last?: number | undefined;
}
export interface DryRun {
  matches: boolean; /** Milliseconds since 1970. */ timestamp: number | null; payload: unknown; conditions: { key: string;
  condition: "between" | "contains" | "eq" | "falsy" | "gt" | "gte" | "in" | "lt" | "lte" | "ne" | "not-between" | "regexp" | "truthy";
  value?: unknown; holds: boolean; /** The payload's value at the key. */ actual?: unknown; reason: string }[];
}
export interface UpdateWebhookBody {
  /** One of the events that `GET /webhooks/events` lists. */ event?: AnyEventName | undefined;
  events?: readonly EventSelector[] | undefined; /** http or https URL. */ target?: string | undefined;
  enabled?: boolean | "true" | "false" | undefined;
  conditions?: readonly { /** A member of the payload, or a dotted path into it, in which `*` is any element of a list. */ key: string;
  condition: "between" | "contains" | "eq" | "falsy" | "gt" | "gte" | "in" | "lt" | "lte" | "ne" | "not-between" | "regexp" | "truthy";
  value?: unknown }[] | undefined; /** Whether any one condition must hold, or all of them. */ match?: "any" | "all" | undefined;
  /** How many blocks the webhook stays behind the tip; `final`. */ confirmations?: number | "final" | undefined;
  order?: "first" | "strict" | "none" | undefined;
  /** Up to `size` events in one request, which waits at most `wait` milliseconds to fill. */ batch?: { size: number; wait: number } | null
  | undefined; /** Deliveries per second, at most. */ rate?: number | null | undefined;
  /** Additional headers of its requests. */ headers?: Record<string, string> | undefined; description?: string | undefined;
  tags?: readonly string[] | undefined; signature?: "v1" | "v1a" | undefined; /** Where it begins. */ from?: string | number | undefined;
  id?: unknown; createdAt?: unknown; failingSince?: unknown; disabledBecause?: unknown;
  /** Null ends the pause of its target at once, for all webhooks with that target. */ pausedUntil?: null | undefined; cursor?: unknown;
  behind?: unknown;
}
export interface ReplayWebhookBody { /** The first height. */ from: number; /** The last height, included. */ to: number; }
export interface Replay { from: number; to: number; }
export interface Attempt {
  /** Milliseconds since 1970. */ at: number; duration: number; /** HTTP status; null if there was no answer. */ status: number | null;
  stage: string | null; error: string | null; /** First bytes of the answer. */ body: string;
}
export interface Delivery {
  id: number; webhookId: number; /** The header `webhook-id`, the same on every attempt. */ messageId: string; event: string;
  state: "pending" | "retrying" | "delivered" | "dead" | "dropped" | "superseded"; /** Milliseconds since 1970. */ timestamp: number;
  /** Milliseconds since 1970. */ dueAt: number | null; attemptCount: number; attempts: Attempt[];
}
export interface WebhookSecret {
  /** 64 hexadecimal digits; shown only once. */ token: string;
  /** The same 32 bytes, in the form that Standard Webhooks libraries take. */ secret: string;
}
export interface RecoverWebhookBody { since: number | string; until?: number | string | undefined; }
export interface Recovered { recovered: number; }
export interface GetWebhookDeliveriesQuery {
  /** Only deliveries in this state. */ state?: "pending" | "retrying" | "delivered" | "dead" | "dropped" | "superseded" | undefined;
}
export interface DeliveryDetail {
  id: number; webhookId: number; /** The header `webhook-id`, the same on every attempt. */ messageId: string; event: string;
  state: "pending" | "retrying" | "delivered" | "dead" | "dropped" | "superseded"; /** Milliseconds since 1970. */ timestamp: number;
  /** Milliseconds since 1970. */ dueAt: number | null; attemptCount: number; attempts: Attempt[]; payload: unknown;
}
export interface GetEventsFeedQuery {
  /** Names of events, and patterns such as `block.*`. */ event?: readonly EventSelector[] | undefined;
  /** Where to continue. */ after?: string | number | undefined;
  /** Blocks by which the reader stays behind the tip; `final`. */ confirmations?: number | "final" | undefined;
  /** Conditions on the payload, as those of a webhook;
  in a query as JSON. */ conditions?: readonly { /** A member of the payload, or a dotted path into it, in which `*` is any element of a list. */ key: string;
  condition: "between" | "contains" | "eq" | "falsy" | "gt" | "gte" | "in" | "lt" | "lte" | "ne" | "not-between" | "regexp" | "truthy";
  value?: unknown }[] | undefined; /** Whether one of the conditions must hold (the default), or all. */ match?: "any" | "all" | undefined;
  /** Events, at most. */ limit?: number | undefined; /** Seconds to wait for events, if there are none. */ wait?: number | undefined;
}
export interface Meta {
  /** Rows on this page. */ count: number; /** Number of pages, at least 1. */ pageCount: number;
  /** Rows on all pages. */ totalCount: number; /** Link to the next page; null on the last. */ next: string | null;
  /** Link to the previous page; null on the first. */ previous: string | null; self: string; first: string; last: string;
}
export interface WireTransactionMembers {
  id: string; version: number; network?: number; typeGroup: number; nonce?: string; senderPublicKey: string; recipientId?: string;
  amount: bigint; fee: bigint; vendorField?: string; /** Height from which no block can contain it; 0 means never. */ expiration?: number;
  signature?: string; secondSignature?: string; signatures?: string[]; timestamp?: number;
}
export type WireTransaction = WireTransactionMembers & WithAsset;
export interface WholeBlock {
  id: string; version: number; /** Seconds since the network's epoch. */ timestamp: number; height: number; previousBlock: string | null;
  numberOfTransactions: number; totalAmount: bigint; totalFee: bigint; reward: bigint; payloadLength: number; payloadHash: string;
  generatorPublicKey: string; blockSignature: string; transactions: WireTransaction[];
}
export interface Change {
  kind: "applied" | "reverted"; block: WholeBlock; /** Where to go on after it. */ cursor: string;
  /** Of the state after it. */ digest?: string;
}
export interface BlockOfEvent {
  id: string; version: number; /** Seconds since the network's epoch. */ timestamp: number; height: number; previousBlock: string | null;
  numberOfTransactions: number; totalAmount: bigint; totalFee: bigint; reward: bigint; payloadLength: number; payloadHash: string;
  generatorPublicKey: string; blockSignature: string;
}
export type BlockOfHost = Partial<BlockOfEvent>;
export interface TransactionOfEventMembers {
  id: string; version: number; network?: number; typeGroup: number; nonce?: string; senderPublicKey: string; recipientId?: string;
  amount: bigint; fee: bigint; vendorField?: string; /** Height from which no block can contain it; 0 means never. */ expiration?: number;
  signature?: string; secondSignature?: string; signatures?: string[]; /** Seconds since the network's epoch. */ timestamp: number;
  blockId: string; blockHeight: number; /** Place in its block, from 0. */ sequence: number; /** Address of the sender. */ senderId: string;
  /** Sender, recipient and those of its payments, each once. */ addresses: string[];
}
export type TransactionOfEvent = TransactionOfEventMembers & WithAsset;
export interface TransactionOfHost {
  id?: string; version?: number; network?: number; typeGroup?: number; type?: number; nonce?: string; senderPublicKey?: string;
  recipientId?: string; amount?: bigint; fee?: bigint; vendorField?: string;
  /** Height from which no block can contain it; 0 means never. */ expiration?: number;
  /** Depends on the transaction's type. */ asset?: Record<string, unknown>; signature?: string; secondSignature?: string;
  signatures?: string[]; /** Seconds since the network's epoch. */ timestamp?: number; blockId?: string; blockHeight?: number;
  /** Place in its block, from 0. */ sequence?: number; /** Address of the sender. */ senderId?: string;
  /** Sender, recipient and those of its payments, each once. */ addresses?: string[];
}
export interface VoteOfEvent { /** `+` or `-`, and the delegate's public key. */ delegate: string; transaction: TransactionOfEvent; }
export interface WalletOfHost { address?: string; balance?: bigint; }
export interface RoundDelegateOfEvent { publicKey: string; username: string; votes: bigint; }
export interface ForgerFailure { error?: unknown; }
export interface DelegateOfHost { username?: string; publicKey?: string; }
export interface MissedForging { delegate: DelegateOfHost; }
export interface ForgerStart { activeDelegates?: string[]; }
export interface PeerOfHost { ip?: string; port?: number; }
export interface Booking {
  address: string; /** Key of the transaction's type, or `forged` for a block. */ kind: string;
  /** Id of the transaction or the block. */ id: string; height: number; /** Seconds since the network's epoch. */ timestamp: number;
  counterparty: string; memo: string; in: bigint | null; out: bigint | null; fee: bigint | null;
}
export interface WebhookNews { webhook: number; reason: string; }
export interface DeadDelivery { webhook: number; delivery: number; event: string; reason: string; }

/**
 * The asset by `type`, of the types of group 1 in version 2. Where a fork has types of its own, look at `typeGroup` first.
 */
export type WithAsset =
  | { type: 0; asset?: Record<string, unknown> }
  | { type: 1; asset: SecondSignatureAsset }
  | { type: 2; asset: DelegateRegistrationAsset }
  | { type: 3; asset: VoteAsset }
  | { type: 4; asset: MultiSignatureAsset }
  | { type: 5; asset: IpfsAsset }
  | { type: 6; asset: MultiPaymentAsset }
  | { type: 7; asset?: Record<string, unknown> }
  | { type: 8; asset: LockAsset }
  | { type: 9; asset: ClaimAsset }
  | { type: 10; asset: RefundAsset };

/** An event: `event` says what `data` is. */
export type FollowedEvent<Name extends EventName = EventName> = {
  [Each in Name]: {
    /** The same whenever and wherever the event is read. */ id: string; event: Each; /** Milliseconds since 1970. */ timestamp: number;
    data: Events[Each]; /** Where to go on after the event. */ cursor: string;
    /** Null for events of the host. */ block: { height: number; id: string } | null;
  };
}[Name];
export interface EventFeed { data: FollowedEvent[]; meta: { cursor: string; tip: string; more: boolean } }

/** The `data` of each event that can be followed. */
export interface Events {
  "block.applied": BlockOfEvent;
  "block.reverted": BlockOfEvent;
  "block.forged": BlockOfHost;
  "block.received": BlockOfHost;
  "block.disregarded": BlockOfHost;
  "transaction.applied": TransactionOfEvent;
  "transaction.reverted": TransactionOfEvent;
  "transaction.forged": TransactionOfHost;
  "transaction.expired": TransactionOfHost;
  "transaction.pool.added": TransactionOfHost[];
  "transaction.pool.rejected": TransactionOfHost[];
  "transaction.pool.removed": string;
  "delegate.registered": TransactionOfEvent;
  "delegate.resigned": TransactionOfEvent;
  "wallet.vote": VoteOfEvent;
  "wallet.unvote": VoteOfEvent;
  "wallet.saved": WalletOfHost;
  "wallet.created.cold": WalletOfHost;
  "round.created": RoundDelegateOfEvent[];
  "round.applied": null;
  "forger.failed": ForgerFailure;
  "forger.missing": MissedForging;
  "forger.started": ForgerStart;
  "peer.added": PeerOfHost;
  "peer.removed": PeerOfHost;
  "state:started": unknown;
  "state.started": unknown;
  "booking.applied": Booking;
  "booking.reverted": Booking;
}

/** The same with those about webhooks, which only webhooks get. */
export interface AnyEvents extends Events {
  "webhook.disabled": WebhookNews;
  "webhook.failing": WebhookNews;
  "webhook.enabled": WebhookNews;
  "delivery.dead": DeadDelivery;
}

export type EventName = keyof Events;
export type AnyEventName = keyof AnyEvents;
export type EventPattern =
  | "*" | "block.*" | "transaction.*" | "transaction.pool.*" | "delegate.*" | "wallet.*" | "wallet.created.*" | "round.*" | "forger.*"
  | "peer.*" | "state.*" | "booking.*" | "webhook.*" | "delivery.*";
export type EventSelector = AnyEventName | EventPattern;

/** What `*` leaves out. */
export type BookingEvent = "booking.applied" | "booking.reverted";
