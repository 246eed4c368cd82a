// The lists of the contract: by which members rows are filtered, and by which they are ordered. From these tables come the types of
// filters and orders (types/chain-queries.ts), the input of the interface, and the tests of rows (`createTester`).

/** One filter of a list. */
export interface ListFilter {
  /** What its values are. `amount`: 1e-8 of the token; `count`: a whole number of any size; `time`: seconds since the network's epoch. */
  kind: "address" | "publicKey" | "hash" | "hex" | "blockId" | "text" | "amount" | "count" | "number" | "decimal" | "time" | "flag";
  /** How a row is compared with them. `any`: with each of a list; `part`: it contains the text. */
  by: "value" | "any" | "part" | "range";
  /** The member of the row, where it has another name; null: rows have none, and `createTester` is given what they are compared by. */
  of?: string | null;
  /** For clients. */
  about?: string;
  minimum?: number;
  maximum?: number;
  /** How many values clients may list. */
  most?: number;
  /** A search body, too, may have one value in the place of a range. */
  exact?: boolean;
}

export interface List {
  filters: Readonly<Record<string, ListFilter>>;
  orders: readonly string[];
}

export const walletList = {
  filters: {
    address: { kind: "address", by: "value" },
    /** Any of these. */
    addresses: { kind: "address", by: "any", of: "address", most: 50, about: "Any of these addresses." },
    publicKey: { kind: "publicKey", by: "value" },
    secondPublicKey: { kind: "publicKey", by: "value" },
    /** Public key of the delegate voted for. */
    vote: { kind: "publicKey", by: "value" },
    /** Exact. */
    username: { kind: "text", by: "value", about: "Exact match." },
    /** Counts as 0 for a wallet that is not a delegate. */
    producedBlocks: { kind: "number", by: "range", exact: true, about: "Number of blocks it has forged; 0 for a wallet that is not a delegate." },
    balance: { kind: "amount", by: "range", about: "Balance." },
    /** Counts as 0 for a wallet that is not a delegate. */
    voteBalance: { kind: "amount", by: "range", about: "Sum of the balances that vote for it; 0 for a wallet that is not a delegate." },
    nonce: { kind: "count", by: "range", about: "Number of transactions it has sent." },
  },
  orders: ["address", "publicKey", "username", "balance", "voteBalance", "nonce"],
} as const satisfies List;

export const delegateList = {
  filters: {
    address: { kind: "address", by: "value" },
    publicKey: { kind: "publicKey", by: "value" },
    secondPublicKey: { kind: "publicKey", by: "value", of: null },
    /** Public key of the delegate that the delegate itself votes for. */
    vote: { kind: "publicKey", by: "value" },
    /** Substring; case-sensitive. */
    username: { kind: "text", by: "part", about: "Part of the username." },
    /** Exact, any of these. */
    usernames: { kind: "text", by: "any", of: "username", most: 100, about: "Any of these usernames." },
    balance: { kind: "amount", by: "range", about: "Balance." },
    /** Percent. */
    approval: { kind: "decimal", by: "range", about: "Share of the supply that votes for it, in percent." },
    forgedFees: { kind: "amount", by: "range", about: "Fees of the transactions in its blocks." },
    forgedRewards: { kind: "amount", by: "range", about: "Rewards of its blocks." },
    forgedTotal: { kind: "amount", by: "range", about: "Fees and rewards of its blocks." },
    producedBlocks: { kind: "number", by: "range", about: "Number of blocks it has forged." },
    /** Slots without a block in which it was its turn. */
    missedBlocks: { kind: "number", by: "range", about: "Number of slots in which it was its turn and no block was forged." },
    /** Percent; rows before the first block that was produced or missed have none, and pass no range. */
    productivity: { kind: "decimal", by: "range", about: "Produced blocks in percent of those and the missed ones." },
    voteBalance: { kind: "amount", by: "range", about: "Sum of the balances that vote for it." },
    voters: { kind: "number", by: "range", about: "Number of wallets that vote for it." },
    resigned: { kind: "flag", by: "value" },
  },
  orders: [
    "username",
    "rank",
    "address",
    "publicKey",
    "approval",
    "producedBlocks",
    "missedBlocks",
    "productivity",
    "forgedFees",
    "forgedRewards",
    "forgedTotal",
    "voteBalance",
    "voters",
  ],
} as const satisfies List;

export const blockList = {
  filters: {
    id: { kind: "blockId", by: "value" },
    version: { kind: "number", by: "value", minimum: 0, about: "Version of the block's layout." },
    previousBlock: { kind: "blockId", by: "value" },
    payloadHash: { kind: "hex", by: "value" },
    generatorPublicKey: { kind: "publicKey", by: "value" },
    blockSignature: { kind: "hex", by: "value" },
    timestamp: { kind: "time", by: "range", about: "When it was forged" },
    height: { kind: "number", by: "range", minimum: 0, about: "Height: 1 for the first block." },
    numberOfTransactions: { kind: "number", by: "range", minimum: 0, about: "Number of transactions in it." },
    totalAmount: { kind: "amount", by: "range", about: "Sum of its transactions' amounts." },
    totalFee: { kind: "amount", by: "range", about: "Sum of its transactions' fees." },
    reward: { kind: "amount", by: "range", about: "Reward of its forger." },
    payloadLength: { kind: "number", by: "range", minimum: 0, about: "Size of its transactions' ids, in bytes." },
  },
  /** `timestamp` orders as `height` does, since blocks never go back in time. */
  orders: ["height", "timestamp", "version", "id", "numberOfTransactions", "totalAmount", "totalFee", "reward", "payloadLength"],
} as const satisfies List;

export const transactionList = {
  filters: {
    id: { kind: "hash", by: "value" },
    blockId: { kind: "blockId", by: "value" },
    type: { kind: "number", by: "value", minimum: 0, about: "Number of the type: see `/transactions/types`." },
    typeGroup: { kind: "number", by: "value", minimum: 0, about: "1 is the core group." },
    version: { kind: "number", by: "value", minimum: 1, about: "Version of the transaction's layout: 1 or 2." },
    senderPublicKey: { kind: "publicKey", by: "value" },
    /** Address of the sender. */
    senderId: { kind: "address", by: "value" },
    /** Address of the recipient of the transaction or of one of its payments. */
    recipientId: { kind: "address", by: "value", of: null },
    /** Address that is sender or recipient, as `senderId` and `recipientId` define them. */
    ownerId: { kind: "address", by: "value", of: null },
    /** Exact. */
    vendorField: { kind: "text", by: "value", about: "Exact match." },
    /** A substring of the vendor field's UTF-8 bytes in lower-case hex. */
    vendorFieldHex: { kind: "hex", by: "part", of: null },
    /** Epoch time: `Transaction.timestamp`. */
    timestamp: { kind: "time", by: "range", about: "Its own time in version 1, that of its block otherwise" },
    amount: { kind: "amount", by: "range", about: "What it transfers." },
    fee: { kind: "amount", by: "range", about: "What its sender paid for it." },
    nonce: { kind: "count", by: "value", about: "Number of the sender's transactions up to and including this one; only in version 2." },
    /** Any of these addresses is sender or recipient, as in `ownerId`. */
    addresses: { kind: "address", by: "any", of: null, most: 50, about: "Sender or recipient is any of these." },
  },
  /** `timestamp` orders by height, then position in the block. */
  orders: ["timestamp", "type", "amount", "fee", "version", "id"],
} as const satisfies List;

export const lockList = {
  filters: {
    lockId: { kind: "hash", by: "value" },
    senderPublicKey: { kind: "publicKey", by: "value" },
    senderId: { kind: "address", by: "value" },
    recipientId: { kind: "address", by: "value" },
    secretHash: { kind: "hash", by: "value" },
    /** Exact. */
    vendorField: { kind: "text", by: "value", about: "Exact match." },
    /** Whether the lock has expired at the snapshot's tip, by `isExpired` of `portico/chain`. */
    isExpired: { kind: "flag", by: "value", of: null, about: "Whether it can be refunded at the tip." },
    expirationType: { kind: "number", by: "value", of: null, minimum: 1, maximum: 2, about: "1: it expires at a time, 2: at a height." },
    amount: { kind: "amount", by: "range", about: "What is locked." },
    expirationValue: {
      kind: "number",
      by: "range",
      of: null,
      minimum: 0,
      about: "When it expires: seconds since the network's epoch, or a height, as `expirationType` says.",
    },
    timestamp: { kind: "time", by: "range", about: "When it was made" },
  },
  orders: ["timestamp", "amount", "expirationValue", "lockId"],
} as const satisfies List;
