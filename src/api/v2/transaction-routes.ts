import { Type } from "@sinclair/typebox";
import type { TransactionType } from "../../../types/transaction-type.js";
import { isVote, voteKind } from "../../chain/blocks/transaction-types.js";
import type { Constants } from "../../chain/milestones.js";
import type { ChainRules } from "../../chain/rules.js";
import { PorticoError } from "../../errors.js";
import { InputOf, Text } from "../../http/input/schema.js";
import { type Route, routesOf } from "../../http/route.js";
import { andThen } from "../../async/maybe-promise.js";
import { findUnconfirmed, listUnconfirmed, mostSubmitted, PoolResultResource, submitTransactions } from "./pool.js";
import {
  listTransactions,
  presentTransactionOf,
  presentTransactionTypes,
  transactionFilter,
  TransactionListQuery,
  transactionNamed,
  TransactionResource,
  TransactionSearchBody,
  TransactionSearchQuery,
  TransactionTypesResource,
  UnconfirmedTransactionResource,
  VoteListQuery,
} from "./transactions.js";
import { DataOf, largestSearch } from "../fields.js";
import { presentStaticFees, StaticFees } from "./configuration.js";
import type { ApiState } from "../state.js";

/** Member of a transaction's wire form -> JSON schema of its values. */
type Members = Record<string, object>;

/** Type group -> type -> members. */
const TransactionSchemasResource = Type.Unsafe<Record<string, Record<string, Members>>>({
  type: "object",
  additionalProperties: { type: "object", additionalProperties: { type: "object", additionalProperties: true } },
  description: "Type group -> type -> JSON schema of each member of the wire form.",
});

const text = (pattern: string): object => ({ type: "string", pattern });
const publicKey = text("^0[23][0-9a-f]{64}$");
const transactionId = text("^[0-9a-f]{64}$");
const address = text("^[1-9A-HJ-NP-Za-km-z]{34}$");
const hash = text("^[0-9a-fA-F]{64}$");
const signature = text("^[0-9a-fA-F]+$");
/** A multisignature participant's signature: its index, then a Schnorr signature. */
const participantSignature = text("^[0-9a-fA-F]{130}$");

/** An amount in the wire form: decimal text or a number. */
const amountFrom = (minimum: number): object => ({
  anyOf: [
    { type: "integer", minimum },
    { type: "string", pattern: minimum === 0 ? "^[0-9]+$" : "^0*[1-9][0-9]*$" },
  ],
});
const noAmount: object = { enum: [0, "0"] };
const positive = amountFrom(1);

/** Most signers of a multisignature wallet. */
const mostSigners = 16;

const objectOf = (members: Members): object => ({ type: "object", required: Object.keys(members), properties: members });

const vendorField = ({ vendorFieldLength = 64 }: Constants): object => ({
  type: "string",
  maxLength: vendorFieldLength,
  description: "At most `maxLength` bytes in UTF-8.",
});

const multiPaymentLimit = ({ multiPaymentLimit: limit }: Constants): object => (typeof limit === "number" ? { maxItems: limit } : {});

/** The members that a kind has in addition to the common ones, or in place of them. */
const ownMembers: Record<string, ((constants: Constants) => Members) | undefined> = {
  transfer: (constants) => ({
    amount: positive,
    recipientId: address,
    vendorField: vendorField(constants),
    expiration: { type: "integer", minimum: 0, description: "Height from which no block can contain it; 0 means never." },
  }),
  secondSignature: () => ({ asset: objectOf({ signature: objectOf({ publicKey }) }) }),
  delegateRegistration: () => ({
    asset: objectOf({ delegate: objectOf({ username: { type: "string", pattern: "^[a-z0-9!@$&_.]+$", minLength: 1, maxLength: 20 } }) }),
  }),
  vote: () => ({
    recipientId: address,
    asset: objectOf({ votes: { type: "array", minItems: 1, maxItems: 2, items: text("^[+-]0[23][0-9a-f]{64}$") } }),
  }),
  multiSignature: () => ({
    asset: objectOf({
      multiSignature: objectOf({
        min: { type: "integer", minimum: 1, maximum: mostSigners },
        publicKeys: { type: "array", minItems: 1, maxItems: mostSigners, uniqueItems: true, items: publicKey },
      }),
    }),
  }),
  ipfs: () => ({ asset: objectOf({ ipfs: { type: "string", pattern: "^[1-9A-HJ-NP-Za-km-z]+$", minLength: 2, maxLength: 90 } }) }),
  multiPayment: (constants) => ({
    vendorField: vendorField(constants),
    asset: objectOf({
      payments: { type: "array", minItems: 2, ...multiPaymentLimit(constants), items: objectOf({ amount: positive, recipientId: address }) },
    }),
  }),
  delegateResignation: () => ({}),
  htlcLock: (constants) => ({
    amount: positive,
    recipientId: address,
    vendorField: vendorField(constants),
    asset: objectOf({
      lock: objectOf({
        secretHash: hash,
        expiration: objectOf({
          type: { enum: [1, 2], description: "1: the value is an epoch time; 2: the value is a height." },
          value: { type: "integer", minimum: 0 },
        }),
      }),
    }),
  }),
  htlcClaim: () => ({ fee: noAmount, asset: objectOf({ claim: objectOf({ lockTransactionId: transactionId, unlockSecret: hash }) }) }),
  htlcRefund: () => ({ fee: noAmount, asset: objectOf({ refund: objectOf({ lockTransactionId: transactionId }) }) }),
};

/** The members of a kind that has no entry above, such as a fork's. */
const unknownMembers = (): Members => ({ amount: amountFrom(0), recipientId: address, asset: { type: "object" } });

const coreGroup = 1;

const membersOf = (row: TransactionType, { network: { network } }: ChainRules, constants: Constants): Members => ({
  id: transactionId,
  version: { const: 2 },
  network: { const: network.pubKeyHash },
  typeGroup: { const: row.typeGroup },
  type: { const: row.type },
  nonce: positive,
  senderPublicKey: publicKey,
  fee: row.typeGroup === coreGroup ? positive : amountFrom(0),
  amount: noAmount,
  signature,
  secondSignature: signature,
  signatures: { type: "array", minItems: 1, maxItems: mostSigners, uniqueItems: true, items: participantSignature },
  ...((row.typeGroup === coreGroup ? ownMembers[row.key] : undefined) ?? unknownMembers)(constants),
});

/** The wire form of version 2 that the network accepts at the tip, for every kind that has one. */
const presentTransactionSchemas = (rules: ChainRules, tipHeight: number): Record<string, Record<string, Members>> => {
  const constants = rules.milestones.at(tipHeight);
  const groups = new Map<number, Record<string, Members>>();
  for (const row of rules.types.all) {
    if (row.versions !== undefined && !row.versions.includes(2)) continue;
    groups.set(row.typeGroup, { ...groups.get(row.typeGroup), [row.type]: membersOf(row, rules, constants) });
  }
  return Object.fromEntries(groups);
};

const { item, list } = routesOf<ApiState>();
const common = { versions: [2], resource: "transactions" } as const;
const params = Type.Object({ id: Text({ description: "Id of the transaction." }) });

/** Not checked here: the handler replies 422 if it is not a list of transactions, as deployed nodes do. */
const Submitted = InputOf<unknown>(
  {
    parse: (value) => ({ value }),
    accepts: { type: "array", minItems: 1, maxItems: mostSubmitted, items: { type: "object", properties: { id: { type: "string", description: "Hexadecimal, as its bytes give it." } }, required: ["id"], additionalProperties: true } },
  },
  { description: "Signed transactions in their wire form (`/transactions/schemas`)." },
);

export const transactionRoutes: Route<ApiState>[] = [
  list({
    ...common,
    method: "GET",
    path: "/transactions",
    atHeight: true,
    summary: "Lists transactions, newest first.",
    query: TransactionListQuery,
    item: TransactionResource,
    answer: ({ query: { orderBy, ...query }, page }, state) => listTransactions({ filter: transactionFilter(query), orderBy, page }, state),
  }),
  item({
    ...common,
    method: "POST",
    path: "/transactions",
    operation: "submitTransactions",
    summary: "Submits signed transactions to the node's pool.",
    body: Type.Object({ transactions: Type.Optional(Submitted) }),
    errors: [422, 501],
    reply: PoolResultResource,
    answer: async ({ body: { transactions } }, state) => {
      const { accept, broadcast, excess, invalid, errors } = await submitTransactions(transactions, state);
      return { data: { accept, broadcast, excess, invalid }, ...(errors === undefined ? {} : { errors }) };
    },
  }),
  list({
    ...common,
    method: "POST",
    path: "/transactions/search",
    reserved: true,
    atHeight: true,
    mostBody: largestSearch,
    summary: "Searches transactions.",
    query: TransactionSearchQuery,
    body: TransactionSearchBody,
    bodyOptional: true,
    item: TransactionResource,
    answer: ({ query, body: { orderBy = query.orderBy, ...filter }, page }, state) => listTransactions({ filter, orderBy, page }, state),
  }),
  list({
    ...common,
    method: "GET",
    path: "/transactions/unconfirmed",
    operation: "getUnconfirmedTransactions",
    summary: "Lists the transactions in the node's pool, in the pool's order.",
    cache: "never",
    stateless: true,
    item: UnconfirmedTransactionResource,
    answer: ({ page }, state) => listUnconfirmed(page, state),
  }),
  item({
    ...common,
    method: "GET",
    path: "/transactions/unconfirmed/{id}",
    operation: "getUnconfirmedTransaction",
    summary: "Returns a transaction in the node's pool.",
    cache: "never",
    stateless: true,
    params,
    errors: [404],
    reply: DataOf(UnconfirmedTransactionResource),
    answer: async ({ params: { id } }, state) => ({ data: await findUnconfirmed(id, state) }),
  }),
  item({
    ...common,
    method: "GET",
    path: "/transactions/types",
    atHeight: true,
    hasHostParts: true,
    summary: "Lists the transaction types with their numbers.",
    stateless: true,
    cache: "tip",
    reply: DataOf(TransactionTypesResource),
    answer: (_request, { rules }) => ({ data: presentTransactionTypes(rules.types.all) }),
  }),
  item({
    ...common,
    method: "GET",
    path: "/transactions/fees",
    atHeight: true,
    summary: "Returns the static fees at the tip, by transaction type.",
    reply: DataOf(StaticFees),
    answer: (_request, { chain, rules }) => ({ data: presentStaticFees(rules.milestones.at(chain.tip.height)) }),
  }),
  item({
    ...common,
    method: "GET",
    path: "/transactions/schemas",
    summary: "Returns the schema of each transaction type's wire form, by type group and type.",
    reply: DataOf(TransactionSchemasResource),
    answer: (_request, { chain, rules }) => ({ data: presentTransactionSchemas(rules, chain.tip.height) }),
  }),
  item({
    ...common,
    method: "GET",
    path: "/transactions/{id}",
    atHeight: true,
    summary: "Returns a transaction.",
    params,
    errors: [404],
    reply: DataOf(TransactionResource),
    answer: ({ params: { id } }, state) =>
      andThen(transactionNamed(id, state), (transaction) => {
        if (transaction === undefined) throw new PorticoError("TRANSACTION_NOT_FOUND");
        return { data: presentTransactionOf(transaction, state) };
      }),
  }),
];

const votes = { method: "GET", versions: [2], resource: "votes" } as const;

export const voteRoutes: Route<ApiState>[] = [
  list({
    ...votes,
    path: "/votes",
    atHeight: true,
    summary: "Lists votes: transactions of type 3.",
    query: VoteListQuery,
    item: TransactionResource,
    answer: ({ query: { orderBy, ...query }, page }, state) =>
      listTransactions({ filter: { ...query, ...voteKind }, orderBy, page }, state),
  }),
  item({
    ...votes,
    path: "/votes/{id}",
    atHeight: true,
    summary: "Returns a vote.",
    params,
    errors: [404],
    reply: DataOf(TransactionResource),
    answer: async ({ params: { id } }, state) => {
      const transaction = await transactionNamed(id, state);
      if (transaction === undefined || !isVote(transaction)) throw new PorticoError("VOTE_NOT_FOUND");
      return { data: presentTransactionOf(transaction, state) };
    },
  }),
];
