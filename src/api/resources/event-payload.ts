import { type TObject, type TSchema, Type } from "@sinclair/typebox";
import type { EventDescription } from "../../../types/webhooks.js";
import { AmountText } from "./values/amount.js";
import { PayloadAssetResource } from "./transactions/asset.js";
import { TextOrNull } from "./values/text.js";

/** What the events carry, for the docs. Amounts are text, so that no receiver rounds them; times are seconds since the network's epoch. */

const Epoch = Type.Integer({ description: "Seconds since the network's epoch." });

const BlockHeader = Type.Object(
  {
    id: Type.String(),
    version: Type.Integer(),
    timestamp: Epoch,
    height: Type.Integer(),
    previousBlock: TextOrNull,
    numberOfTransactions: Type.Integer(),
    totalAmount: AmountText,
    totalFee: AmountText,
    reward: AmountText,
    payloadLength: Type.Integer(),
    payloadHash: Type.String(),
    generatorPublicKey: Type.String(),
    blockSignature: Type.String(),
  },
  { title: "BlockOfEvent", additionalProperties: true },
);

const wireForm = {
  id: Type.String(),
  version: Type.Integer(),
  network: Type.Optional(Type.Integer()),
  typeGroup: Type.Integer(),
  type: Type.Integer(),
  nonce: Type.Optional(Type.String({ pattern: "^[0-9]+$" })),
  senderPublicKey: Type.String(),
  recipientId: Type.Optional(Type.String()),
  amount: AmountText,
  fee: AmountText,
  vendorField: Type.Optional(Type.String()),
  expiration: Type.Optional(Type.Integer({ description: "Height from which no block can contain it; 0 means never." })),
  asset: Type.Optional(PayloadAssetResource),
  signature: Type.Optional(Type.String()),
  secondSignature: Type.Optional(Type.String()),
  signatures: Type.Optional(Type.Array(Type.String())),
};

const CommittedTransaction = Type.Object(
  {
    ...wireForm,
    timestamp: Epoch,
    blockId: Type.String(),
    blockHeight: Type.Integer(),
    sequence: Type.Integer({ description: "Place in its block, from 0." }),
    addresses: Type.Array(Type.String(), { description: "Sender, recipient and those of its payments, each once." }),
  },
  { title: "TransactionOfEvent", additionalProperties: true },
);

const Vote = Type.Object({ delegate: Type.String({ description: "`+` or `-`, and the delegate's public key." }), transaction: CommittedTransaction }, { title: "VoteOfEvent", additionalProperties: true });

const Round = Type.Array(Type.Object({ publicKey: Type.String(), username: Type.String(), votes: AmountText }, { title: "RoundDelegateOfEvent", additionalProperties: true }));

/** What the host emits may have less, or more. */
const fromHost = (schema: TObject, title: string): TSchema => Type.Partial(schema, { title, additionalProperties: true, description: "As the node emits it." });

const HostBlock = fromHost(BlockHeader, "BlockOfHost");
const HostTransaction = fromHost(CommittedTransaction, "TransactionOfHost");
const HostDelegate = Type.Object({ username: Type.Optional(Type.String()), publicKey: Type.Optional(Type.String()) }, { title: "DelegateOfHost", additionalProperties: true });
const HostWallet = Type.Object({ address: Type.Optional(Type.String()), balance: Type.Optional(AmountText) }, { title: "WalletOfHost", additionalProperties: true });
const HostPeer = Type.Object({ ip: Type.Optional(Type.String()), port: Type.Optional(Type.Integer()) }, { title: "PeerOfHost", additionalProperties: true });
const HostVote = Type.Object({ delegate: Type.Unknown(), transaction: HostTransaction }, { title: "VoteOfHost", additionalProperties: true });
const WebhookNews = Type.Object({ webhook: Type.Integer({ description: "Its number." }), reason: Type.String() }, { title: "WebhookNews" });

const chainPayloads: Readonly<Record<string, TSchema>> = {
  "block.applied": BlockHeader,
  "block.reverted": BlockHeader,
  "transaction.applied": CommittedTransaction,
  "transaction.reverted": CommittedTransaction,
  "delegate.registered": CommittedTransaction,
  "delegate.resigned": CommittedTransaction,
  "wallet.vote": Vote,
  "wallet.unvote": Vote,
  "round.applied": Type.Null(),
  "round.created": Round,
};

const otherPayloads: Readonly<Record<string, TSchema>> = {
  "block.applied": HostBlock,
  "block.reverted": HostBlock,
  "block.forged": HostBlock,
  "block.received": HostBlock,
  "block.disregarded": HostBlock,
  "transaction.applied": HostTransaction,
  "transaction.reverted": HostTransaction,
  "transaction.forged": HostTransaction,
  "transaction.expired": HostTransaction,
  "transaction.pool.added": Type.Array(HostTransaction),
  "transaction.pool.rejected": Type.Array(HostTransaction),
  "transaction.pool.removed": Type.String({ description: "Id of the transaction." }),
  "delegate.registered": HostTransaction,
  "delegate.resigned": HostTransaction,
  "wallet.vote": HostVote,
  "wallet.unvote": HostVote,
  "wallet.saved": HostWallet,
  "wallet.created.cold": HostWallet,
  "round.created": Type.Array(HostDelegate),
  "forger.missing": Type.Object({ delegate: HostDelegate }, { title: "MissedForging", additionalProperties: true }),
  "forger.failed": Type.Object({ error: Type.Optional(Type.Unknown()) }, { title: "ForgerFailure", additionalProperties: true }),
  "forger.started": Type.Object({ activeDelegates: Type.Optional(Type.Array(Type.String())) }, { title: "ForgerStart", additionalProperties: true }),
  "peer.added": HostPeer,
  "peer.removed": HostPeer,
  "webhook.disabled": WebhookNews,
  "webhook.failing": WebhookNews,
  "webhook.enabled": WebhookNews,
  "delivery.dead": Type.Object({ webhook: Type.Integer(), delivery: Type.Integer(), event: Type.String(), reason: Type.String() }, { title: "DeadDelivery" }),
};

/** The schema of an event's `data`. */
export const eventPayload = ({ event, source }: Pick<EventDescription, "event" | "source">): TSchema =>
  (source === "chain" ? chainPayloads[event] : otherPayloads[event]) ?? Type.Unknown({ description: "As the node emits it; null for none." });
