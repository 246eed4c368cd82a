import { type TObject, type TSchema, Type } from "@sinclair/typebox";
import type { EventDescription } from "../../../types/webhooks.js";
import { AmountOrNone, AmountText, TextOrNull } from "../fields.js";
import { PayloadAssetResource } from "../v2/transactions.js";
import { WebhookRequestHeaders, webhookRequestMembers } from "./schemas.js";
import type { OutgoingRequest } from "../../http/route.js";

// What the events carry, for the docs. Amounts are text, so that no receiver rounds them; times are seconds since the network's epoch.

const Epoch = Type.Integer({ description: "Seconds since the network's epoch." });

export const BlockHeader = Type.Object(
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

export const wireForm = {
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
    senderId: Type.String({ description: "Address of the sender." }),
    addresses: Type.Array(Type.String(), { description: "Sender, recipient and those of its payments, each once." }),
  },
  { title: "TransactionOfEvent", additionalProperties: true },
);

const Vote = Type.Object(
  { delegate: Type.String({ description: "`+` or `-`, and the delegate's public key." }), transaction: CommittedTransaction },
  { title: "VoteOfEvent", additionalProperties: true },
);

const Round = Type.Array(Type.Object({ publicKey: Type.String(), username: Type.String(), votes: AmountText }, { title: "RoundDelegateOfEvent", additionalProperties: true }));

const Booking = Type.Object(
  {
    address: Type.String(),
    kind: Type.String({ description: "Key of the transaction's type, or `forged` for a block." }),
    id: Type.String({ description: "Id of the transaction or the block." }),
    height: Type.Integer(),
    timestamp: Epoch,
    counterparty: Type.String(),
    memo: Type.String(),
    in: AmountOrNone,
    out: AmountOrNone,
    fee: AmountOrNone,
  },
  { title: "Booking" },
);

/** What the host emits may have less, or more. */
const fromHost = (schema: TObject, title: string): TSchema =>
  Type.Partial(schema, { title, additionalProperties: true, description: "As the node emits it." });

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
  "booking.applied": Booking,
  "booking.reverted": Booking,
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
  "forger.started": Type.Object(
    { activeDelegates: Type.Optional(Type.Array(Type.String())) },
    { title: "ForgerStart", additionalProperties: true },
  ),
  "peer.added": HostPeer,
  "peer.removed": HostPeer,
  "webhook.disabled": WebhookNews,
  "webhook.failing": WebhookNews,
  "webhook.enabled": WebhookNews,
  "delivery.dead": Type.Object(
    { webhook: Type.Integer(), delivery: Type.Integer(), event: Type.String(), reason: Type.String() },
    { title: "DeadDelivery" },
  ),
};

/** The schema of an event's `data`. */
export const eventPayload = ({ event, source }: Pick<EventDescription, "event" | "source">): TSchema =>
  (source === "chain" ? chainPayloads[event] : otherPayloads[event]) ??
  Type.Unknown({ description: "As the node emits it; null for none." });

/** Where and when the examples are: in the block of the example payloads. Milliseconds since 1970. */
const sample = {
  time: 1_795_347_229_922,
  block: { height: 125, id: "6141099371174916037" },
  before: "124-13783007172145780449",
  after: "125-6141099371174916037",
  /** A place in the log of the host's events. */
  logged: "86283b11.22",
  deliveries: ["msg_1_3ce4e6581db0a3c6c292085794cb34a9", "msg_1_5c1f895e60aa950400ec64a796e68532"],
} as const;

/** The name of an event within other names; no two are the same: `pool.added` → `PoolAdded`, `state:started` → `State_58_started`. */
const nameOfEvent = (event: string): string =>
  `.${event}`.replace(/\.([a-z])|[^a-z0-9]/g, (mark, letter: string | undefined) => letter?.toUpperCase() ?? `_${mark.charCodeAt(0)}_`);

/** `event` and `data` of an event, as those who follow the chain get them. */
export const followedEvent = (described: Pick<EventDescription, "event" | "source">): TObject =>
  Type.Object({ event: Type.Literal(described.event), data: eventPayload(described) }, { title: `${nameOfEvent(described.event)}InFeed` });

/** What the example of an event has beside time, data and name. A block's own event is the first of its events; others come after it. */
const placeOf = ({ event, source }: EventDescription): object => {
  if (source === "webhooks") return { id: `a60e8eb6ac84.${event}.1.0.mwzhp7c4`, block: null };
  if (source === "host") return { id: sample.logged, cursor: `${sample.after}~${sample.logged}`, block: null };
  const [kind, cursor] = event.endsWith(".reverted") ? ["reverted", sample.after] : ["applied", sample.before];
  return { id: `${sample.block.id}.${kind}.${event.startsWith("block.") ? 0 : 1}`, cursor, block: sample.block };
};

const answers = {
  "2XX": "The delivery succeeded.",
  "410": "No more deliveries are wanted: the webhook is disabled.",
  default: "The attempt failed; the delivery is retried later.",
};

const signed = "signed as Standard Webhooks specifies.";

const requestOf = (described: EventDescription): OutgoingRequest => ({
  name: described.event,
  operation: `on${nameOfEvent(described.event)}`,
  summary: described.description,
  description: `${described.description} Sent to the targets of webhooks that ask for it, ${signed} Webhooks with \`batch\` get it within a \`batch\`.`,
  headers: WebhookRequestHeaders,
  body: Type.Object(
    { ...webhookRequestMembers(described.source), data: eventPayload(described), event: Type.Literal(described.event) },
    { title: `${nameOfEvent(described.event)}Request` },
  ),
  example: { timestamp: sample.time, data: described.example, event: described.event, ...placeOf(described) },
  answers,
});

const ping: OutgoingRequest = {
  name: "ping",
  operation: "onPing",
  summary: "A client pings the webhook.",
  description: `Sent once by \`POST /webhooks/{id}/ping\`, whatever the webhook asks for, ${signed} It is not an event, and has no \`id\`, \`cursor\` or \`block\`.`,
  headers: WebhookRequestHeaders,
  body: Type.Object(
    {
      timestamp: Type.Integer({ description: "Time of the ping, in milliseconds since 1970." }),
      data: Type.Object({ webhook: Type.Integer({ description: "Its number." }) }),
      event: Type.Literal("ping"),
    },
    { title: "Ping" },
  ),
  example: { timestamp: sample.time, data: { webhook: 1 }, event: "ping" },
  answers: { "2XX": "The ping succeeded.", default: "The ping failed. It is not retried, and does not count as a failed attempt." },
};

/** `requests`: of the events. */
const batchOf = (requests: readonly OutgoingRequest[]): OutgoingRequest => {
  const anyOf = requests.map(({ body }): TSchema => body);
  const event = Type.Unsafe<unknown>({ anyOf, required: ["webhook-id"], discriminator: { propertyName: "event" } });
  const examples = requests.filter(({ name }) => name === "block.applied" || name === "transaction.applied");
  return {
    name: "batch",
    operation: "onBatch",
    summary: "Several events in one request.",
    description: `Sent to the targets of webhooks with \`batch\`, even for a single event, with one signature for all. If an event is superseded before delivery, the batch is sent without it, under another \`webhook-id\`.`,
    headers: WebhookRequestHeaders,
    body: Type.Object({ events: Type.Array(event, { minItems: 1 }) }, { title: "Batch" }),
    example: { events: examples.map(({ example }, index) => ({ "webhook-id": sample.deliveries[index], ...(example as object) })) },
    answers: { ...answers, "2XX": "All of its deliveries succeeded.", default: "The attempt failed; all of its deliveries are retried later." },
  };
};

/** The requests that targets of webhooks get: an event each, several, or a ping. */
export const webhookRequests = (events: readonly EventDescription[]): OutgoingRequest[] => {
  if (events.length === 0) return [];
  const requests = events.map(requestOf);
  // A node may declare any name for an event of its own.
  const others = [batchOf(requests), ping].filter(({ name }) => !events.some(({ event }) => event === name));
  return [...requests, ...others];
};
