import { type GoType, list, map, members, type Scalar } from "./types.js";

/**
 * What the Go clients read replies into. They are strict: a member of another type, or out of its type's range, fails the call. Client
 * 0.1 takes amounts as numbers, clients 1.1 and 2.0 as strings.
 */

const timestamp = members({ epoch: "int32", unix: "int32", human: "string" });

const meta = members({
  count: "uint32",
  pageCount: "uint32",
  totalCount: "uint32",
  next: "string",
  previous: "string",
  self: "string",
  first: "string",
  last: "string",
});

/** The members of a transaction that both have. */
const transactionMembers = (amount: Scalar, confirmations: Scalar): Record<string, GoType> => ({
  id: "string",
  blockId: "string",
  type: "byte",
  amount,
  fee: amount,
  sender: "string",
  recipient: "string",
  signature: "string",
  vendorField: "string",
  confirmations,
  timestamp,
});

const blockMembers = (amount: Scalar, length: Scalar): Record<string, GoType> => ({
  id: "string",
  version: "byte",
  height: "int64",
  previous: "string",
  forged: members({ reward: amount, fee: amount, total: amount }),
  payload: members({ hash: "string", length }),
  generator: members({ username: "string", address: "string", publicKey: "string" }),
  signature: "string",
  transactions: "byte",
  timestamp,
});

const delegateMembers = (block: GoType): Record<string, GoType> => ({
  username: "string",
  address: "string",
  publicKey: "string",
  votes: "int64",
  rank: "byte",
  blocks: members({ produced: "uint32", missed: "uint32", last: block }),
  production: members({ approval: "float64" }),
});

const walletMembers = (amount: Scalar): Record<string, GoType> => ({ address: "string", publicKey: "string", balance: amount, isDelegate: "bool" });

const enveloped = (types: Record<string, GoType>): Record<string, GoType> =>
  Object.fromEntries(
    Object.entries(types).flatMap(([name, type]) => [
      [name, members({ data: type })],
      [`${name}s`, members({ meta, data: list(type) })],
    ]),
  );

/** The types of replies by name: `wallet` is one wallet, `wallets` a page of them. */
export type Structs = Record<string, GoType>;

export const structs01: Structs = enveloped({
  transaction: members(transactionMembers("int64", "uint16")),
  wallet: members(walletMembers("int64")),
  delegate: members(delegateMembers(members(blockMembers("int64", "byte")))),
});

const asset = members({
  votes: list("string"),
  signature: members({ publicKey: "string" }),
  multisignature: members({ min: "byte", keysgroup: list("string"), lifetime: "byte" }),
  ipfs: members({ dag: "string" }),
  payments: list(members({ amount: "uint64,string", recipientId: "string" })),
});

const transaction = members({
  ...transactionMembers("uint64,string", "uint32"),
  typeGroup: "uint16",
  senderPublicKey: "string",
  nonce: "string",
  asset,
});

const block = members({
  ...blockMembers("uint64,string", "uint32"),
  forged: members({ reward: "uint64,string", fee: "uint64,string", total: "uint64,string", amount: "uint64,string" }),
  confirmations: "uint32",
});

const lock = members({
  lockId: "string",
  amount: "uint64,string",
  secretHash: "string",
  senderPublicKey: "string",
  recipientId: "string",
  timestamp,
  expirationType: "byte",
  expirationValue: "uint32",
  vendorField: "string",
  isExpired: "bool",
});

const peer = members({ ip: "string", port: "int16", ports: map("int16"), version: "string", height: "int64", latency: "byte" });

const fees = (amount: Scalar): GoType =>
  members(
    Object.fromEntries(
      ["transfer", "secondSignature", "delegateRegistration", "vote", "multiSignature", "ipfs", "multiPayment", "delegateResignation", "htlcLock", "htlcClaim", "htlcRefund"].map(
        (name) => [name, amount],
      ),
    ),
  );

const configuration = (fee: Scalar): GoType =>
  members({
    nethash: "string",
    token: "string",
    symbol: "string",
    explorer: "string",
    version: "int16",
    ports: map("int16"),
    constants: members({
      height: "int64",
      reward: "int64",
      activeDelegates: "byte",
      blocktime: "byte",
      block: members({ version: "byte", maxTransactions: "byte", maxPayload: "int64" }),
      epoch: "string",
      fees: map(fees(fee)),
    }),
    transactionPool: members({
      dynamicFees: members({ enabled: "bool", minFeePool: "int16", minFeeBroadcast: "int16", addonBytes: fees(fee) }),
    }),
  });

/** Clients 1.1 and 2.0 differ in the fees: 1.1 has no room for those of 2^32 and more. */
const laterStructs = (fee: Scalar, statistic: Scalar): Structs => ({
  ...enveloped({
    transaction,
    block,
    lock,
    peer,
    wallet: members({ ...walletMembers("uint64,string"), nonce: "uint64,string" }),
    delegate: members({
      ...delegateMembers(block),
      forged: members({ fees: "uint64,string", rewards: "uint64,string", total: "uint64,string" }),
    }),
  }),
  created: members({ accept: list("string"), excess: list("string"), invalid: list("string") }),
  types: members({ data: map(map("byte")) }),
  staticFees: members({ data: map("uint32") }),
  round: members({ data: list(members({ publicKey: "string", votes: "string" })) }),
  status: members({ data: members({ synced: "bool", now: "int64", blocksCount: "int64", timestamp: "int64" }) }),
  syncing: members({ data: members({ syncing: "bool", blocks: "int64", height: "int64", id: "string" }) }),
  configuration: members({ data: configuration(fee) }),
  feeStatistics: members({ data: list(members({ type: "int16", min: statistic, max: statistic, avg: statistic, sum: statistic, median: statistic })) }),
});

export const structs11 = laterStructs("uint32", "uint32,string");
export const structs20 = laterStructs("int64", "string");
