import { Type } from "@sinclair/typebox";
import type { TransactionType } from "../../../types/transaction-type.js";
import type { Constants } from "../../chain/milestones.js";
import type { ChainRules } from "../../chain/rules.js";

/** Member of a transaction's wire form -> JSON schema of its values. */
type Members = Record<string, object>;

/** Type group -> type -> members. */
export const TransactionSchemasResource = Type.Unsafe<Record<string, Record<string, Members>>>({
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
export const presentTransactionSchemas = (rules: ChainRules, tipHeight: number): Record<string, Record<string, Members>> => {
  const constants = rules.milestones.at(tipHeight);
  const groups = new Map<number, Record<string, Members>>();
  for (const row of rules.types.all) {
    if (row.versions !== undefined && !row.versions.includes(2)) continue;
    groups.set(row.typeGroup, { ...groups.get(row.typeGroup), [row.type]: membersOf(row, rules, constants) });
  }
  return Object.fromEntries(groups);
};
