import { type Static, type TSchema, Type } from "@sinclair/typebox";
import type { MaybePromise } from "../../../types/chain-adapter.js";
import type { TransactionFilter, TransactionQuery } from "../../../types/chain-queries.js";
import type { Transaction } from "../../../types/chain.js";
import type { TransactionType } from "../../../types/transaction-type.js";
import { andThen } from "../../async/maybe-promise.js";
import type { UnconfirmedTransaction } from "../../chain/blocks/block.js";
import type { Epoch } from "../../chain/epoch.js";
import { transactionList } from "../../chain/lists.js";
import { inputError } from "../../errors.js";
import { OrderBy } from "../../http/input/schema.js";
import type { PageAnswer } from "../../http/route.js";
import { isDigits } from "../../text/digits.js";
import type { ApiState } from "../state.js";
import {
  Amount,
  AmountText,
  blockIdNamed,
  inKnownCase,
  inputsOf,
  type ListRequest,
  pageOf,
  TextOrNull,
  TimestampResource,
} from "../fields.js";

const kept = { additionalProperties: true };
const publicKey = Type.String({ pattern: "^0[23][0-9a-f]{64}$" });
const transactionId = Type.String({ description: "Id of the lock transaction." });

const paymentsOf = (amount: TSchema, title: string): TSchema =>
  Type.Object(
    { payments: Type.Array(Type.Object({ amount, recipientId: Type.String() }, kept)) },
    { ...kept, title, description: "Of a multi-payment (type 6)." },
  );

/** Assets of the core types as replies have them, by the key of the type. */
export const coreAssets = {
  secondSignature: Type.Object({ signature: Type.Object({ publicKey }, kept) }, { ...kept, title: "SecondSignatureAsset", description: "Of a second signature (type 1)." }),
  delegateRegistration: Type.Object({ delegate: Type.Object({ username: Type.String() }, kept) }, { ...kept, title: "DelegateRegistrationAsset", description: "Of a delegate's registration (type 2)." }),
  vote: Type.Object(
    { votes: Type.Array(Type.String({ pattern: "^[+-]", description: "`+` or `-`, and the delegate's public key." })) },
    { ...kept, title: "VoteAsset", description: "Of a vote (type 3)." },
  ),
  multiSignature: Type.Object(
    { multiSignature: Type.Object({ min: Type.Integer({ description: "Signatures that are needed." }), publicKeys: Type.Array(publicKey) }, kept) },
    { ...kept, title: "MultiSignatureAsset", description: "Of a multisignature registration (type 4)." },
  ),
  ipfs: Type.Object({ ipfs: Type.String() }, { ...kept, title: "IpfsAsset", description: "Of an IPFS transaction (type 5)." }),
  multiPayment: paymentsOf(Amount, "MultiPaymentAsset"),
  htlcLock: Type.Object(
    {
      lock: Type.Object(
        {
          secretHash: Type.String(),
          expiration: Type.Object({ type: Type.Integer({ description: "1: the value is a time, in seconds since the network's epoch; 2: a height." }), value: Type.Integer() }, kept),
        },
        kept,
      ),
    },
    { ...kept, title: "LockAsset", description: "Of a lock (type 8)." },
  ),
  htlcClaim: Type.Object({ claim: Type.Object({ lockTransactionId: transactionId, unlockSecret: Type.String() }, kept) }, { ...kept, title: "ClaimAsset", description: "Of a lock's claim (type 9)." }),
  htlcRefund: Type.Object({ refund: Type.Object({ lockTransactionId: transactionId }, kept) }, { ...kept, title: "RefundAsset", description: "Of a lock's refund (type 10)." }),
} satisfies Record<string, TSchema>;

const otherAsset = { type: "object", additionalProperties: true, title: "OtherAsset", description: "Of a transaction of the network's own." };

const described = (assets: Record<string, TSchema>) => ({
  description: "Depends on the transaction's type. Each type of group 1 has its own asset; a fork's types may have any.",
  anyOf: [...Object.values(assets), otherAsset],
});

/**
 * An asset as the block has it, with the amounts of its payments written as all amounts are. What the docs say of it is not relied on: a
 * fork may call anything `payments`.
 */
const AssetResource = Type.Unsafe<Record<string, unknown>>({ type: "object", "x-amounts-inside": true, ...described(coreAssets) });

/** An asset in the payload of an event: amounts are text. */
export const PayloadAssetResource = Type.Unsafe<Record<string, unknown>>({
  type: "object",
  ...described({ ...coreAssets, multiPayment: paymentsOf(AmountText, "MultiPaymentAssetOfEvent") }),
});

/** The same in the first generation, whose clients know no more. */
export const FlatAssetResource = Type.Unsafe<Record<string, unknown>>({
  type: "object",
  additionalProperties: true,
  "x-amounts-inside": true,
  properties: { payments: { items: { properties: { amount: Amount }, additionalProperties: true } } },
  description: "Empty if there is none.",
});

const hasAmount = (payment: unknown): payment is { amount: string } =>
  typeof payment === "object" && payment !== null && "amount" in payment && typeof payment.amount === "string" && isDigits(payment.amount);

export const presentAsset = (asset: Record<string, unknown>): Record<string, unknown> => {
  const { payments } = asset;
  if (!Array.isArray(payments)) return asset;
  return {
    ...asset,
    payments: payments.map((payment: unknown) => (hasAmount(payment) ? { ...payment, amount: BigInt(payment.amount) } : payment)),
  };
};

const common = {
  id: Type.String(),
  version: Type.Integer(),
  type: Type.Integer(),
  typeGroup: Type.Integer(),
  amount: Amount,
  fee: Amount,
  sender: Type.String(),
  senderPublicKey: Type.String(),
  recipient: Type.String({
    description:
      "The sender, if the transaction names no recipient or has several payments. Filters match only recipients that are named.",
  }),
  signature: Type.Optional(Type.String({ description: "Absent if a multisignature wallet signed." })),
  signSignature: TextOrNull,
  signatures: Type.Optional(Type.Array(Type.String())),
  vendorField: Type.Optional(Type.String()),
  asset: Type.Optional(AssetResource),
  nonce: Type.Optional(Type.String({ pattern: "^[0-9]+$", description: "Only in version 2." })),
};

export const TransactionResource = Type.Object(
  {
    ...common,
    blockId: Type.String(),
    confirmations: Type.Integer({ description: "Height of the tip minus that of its block, plus 1." }),
    timestamp: TimestampResource,
  },
  { title: "Transaction" },
);

/** A transaction in the pool: it has no block yet, and in version 2 no timestamp. */
export const UnconfirmedTransactionResource = Type.Object(
  {
    ...common,
    confirmations: Type.Literal(0),
    timestamp: Type.Optional(TimestampResource),
    expiration: Type.Optional(Type.Integer({ description: "Height from which no block can contain it; 0 means never." })),
  },
  { title: "UnconfirmedTransaction" },
);

type Common = Omit<Static<typeof UnconfirmedTransactionResource>, "confirmations" | "timestamp" | "expiration">;

/** Members are assigned one by one, which is faster than spreading: a page has up to a hundred transactions. */
const presentCommon = (transaction: UnconfirmedTransaction): Common => {
  const { signature, signatures, vendorField, asset, nonce } = transaction;
  const shown: Common = {
    id: transaction.id,
    version: transaction.version,
    type: transaction.type,
    typeGroup: transaction.typeGroup,
    amount: transaction.amount,
    fee: transaction.fee,
    sender: transaction.senderId,
    senderPublicKey: transaction.senderPublicKey,
    recipient: transaction.recipientId ?? transaction.senderId,
    signSignature: transaction.secondSignature ?? null,
  };
  if (signature !== undefined) shown.signature = signature;
  if (signatures !== undefined) shown.signatures = signatures;
  if (vendorField !== undefined) shown.vendorField = vendorField;
  if (asset !== undefined) shown.asset = presentAsset(asset);
  if (nonce !== undefined) shown.nonce = nonce.toString();
  return shown;
};

const presentTransaction = (
  transaction: Transaction,
  { tipHeight, epoch }: { tipHeight: number; epoch: Epoch },
): Static<typeof TransactionResource> =>
  Object.assign(presentCommon(transaction), {
    blockId: transaction.blockId,
    confirmations: tipHeight - transaction.blockHeight + 1,
    timestamp: epoch.timestamp(transaction.timestamp),
  });

export const presentUnconfirmed = (transaction: UnconfirmedTransaction, epoch: Epoch): Static<typeof UnconfirmedTransactionResource> => ({
  ...presentCommon(transaction),
  confirmations: 0,
  ...(transaction.timestamp === undefined ? {} : { timestamp: epoch.timestamp(transaction.timestamp) }),
  ...(transaction.expiration === undefined ? {} : { expiration: transaction.expiration }),
});

export const TransactionTypesResource = Type.Unsafe<Record<string, number>>({ type: "object", additionalProperties: { type: "integer" } });

/** Name -> number. A kind with different numbers in the two versions gets that of the latest version, which new transactions use. */
export const presentTransactionTypes = (types: readonly TransactionType[]): Record<string, number> => {
  const latest = ({ versions }: TransactionType): number => Math.max(...(versions ?? [2]));
  const numbers: Record<string, number> = {};
  for (const { name, type } of [...types].sort((a, b) => latest(a) - latest(b))) numbers[name] = type;
  return Object.fromEntries(types.map(({ name }) => [name, numbers[name] ?? 0]));
};

const { orders, filters } = transactionList;
const { addresses: someAddresses, ...others } = filters;

const addresses = inputsOf({ addresses: someAddresses }, { exact: true });

const order = { default: "timestamp:desc", description: "`timestamp` orders by position in the chain." };
const orderBy = OrderBy(orders, order);

const { type, typeGroup, ...ofOneType } = inputsOf(others, { exact: true });
const { recipientId, ...ofOneRecipient } = inputsOf(others, { exact: true });

/** `address` is another name for `addresses`, used by clients of third-generation nodes. */
export const TransactionListQuery = Type.Object({ ...ofOneType, type, typeGroup, ...addresses, address: addresses.addresses, orderBy });
/** For the transactions of one wallet. `addresses` is not accepted: the routes use it themselves, for a second owner. */
export const OwnedTransactionListQuery = Type.Object({ ...ofOneRecipient, recipientId, orderBy });
/** For the transactions that a wallet received. The path already fixes `recipientId`, and a filter can name only one recipient. */
export const ReceivedTransactionListQuery = Type.Object({ ...ofOneRecipient, orderBy });
export const VoteListQuery = Type.Object({ ...ofOneType, ...addresses, orderBy });
export const TransactionSearchQuery = Type.Object({ orderBy });
export const TransactionSearchBody = Type.Object({ ...inputsOf(others, { exact: false }), ...addresses, orderBy: Type.Optional(OrderBy(orders)) });

/**
 * Turns the list's `address` into `addresses`. @throws PorticoError BAD_REQUEST if both are given: a filter can hold only one such list.
 */
export const transactionFilter = ({ address, ...filter }: TransactionFilter & { address?: string[] }): TransactionFilter => {
  if (address === undefined) return filter;
  if (filter.addresses === undefined) return { ...filter, addresses: address };
  throw inputError("query", "address", 'cannot be given together with "addresses"');
};

/** A transaction by its id in either letter case; undefined if it is not in the chain. */
export const transactionNamed = (id: string, { chain }: ApiState): MaybePromise<Transaction | undefined> =>
  chain.transaction(inKnownCase(id));

/** The adapter's order, as `ListQuery` defines it: ties go by place in the chain, and `asc` is the exact reverse of `desc`. */
export const compareTransactions = ({ field, direction }: TransactionQuery["order"]): ((a: Transaction, b: Transaction) => number) => {
  const sign = direction === "asc" ? 1 : -1;
  const inChain = (a: Transaction, b: Transaction): number => a.blockHeight - b.blockHeight || a.sequence - b.sequence;
  if (field === "timestamp") return (a, b) => sign * inChain(a, b);
  return (a, b) => sign * (a[field] < b[field] ? -1 : a[field] > b[field] ? 1 : inChain(a, b));
};

export const presentTransactionOf = (transaction: Transaction, { chain, rules }: ApiState): Static<typeof TransactionResource> =>
  presentTransaction(transaction, { tipHeight: chain.tip.height, epoch: rules.epoch });

/** Resolves the block that a filter names by id or height, as paths do, to its id. */
export const withBlockId = ({ blockId, ...filter }: TransactionFilter, state: ApiState): MaybePromise<TransactionFilter> =>
  blockId === undefined ? filter : andThen(blockIdNamed(blockId, state), (id) => ({ blockId: id, ...filter }));

type TransactionRequest = ListRequest<TransactionFilter, TransactionQuery["order"]>;
type TransactionPage = MaybePromise<PageAnswer<Static<typeof TransactionResource>>>;

/** `blockId` of the filter is an id: one of few digits is no height. */
export const pageOfTransactions = (request: TransactionRequest, state: ApiState): TransactionPage =>
  pageOf(
    request,
    (query) => state.chain.transactions(query),
    (transaction) => presentTransactionOf(transaction, state),
  );

/** `blockId` of the filter is what a client has given: an id or a height. */
export const listTransactions = ({ filter, ...rest }: TransactionRequest, state: ApiState): TransactionPage =>
  andThen(filter === undefined ? undefined : withBlockId(filter, state), (narrowed) =>
    pageOfTransactions({ filter: narrowed, ...rest }, state),
  );
