import type { HostEvent } from "../../types/events.js";
import type { EventDescription } from "../../types/webhooks.js";
import { derivedEvents } from "./derive.js";
import { type bookingEvents, isBookingEvent } from "./event-names.js";

// Payloads of the known events, as a real node emits them.

const block = {
  id: "6141099371174916037",
  version: 0,
  timestamp: 305132312,
  height: 125,
  previousBlock: "13783007172145780449",
  numberOfTransactions: 1,
  totalAmount: "1",
  totalFee: "10000000",
  reward: "0",
  payloadLength: 32,
  payloadHash: "fc2a7b139e378d348c4243e67ab24112231cef3ccd160bdcdd68818d50ea4783",
  generatorPublicKey: "02def27da9336e7fbf63131b8d7e5c9f45b296235db035f1f4242c507398f0f21d",
  blockSignature:
    "3045022100d0f18b4aa8b87464922b8cd5e55717cd1668035fc3d7fc6a4abd47928086ca1f0220564302aabe178eba5280b2dac391deec8d69db744c27fefb55b8dcb2ccc663d8",
};

const transferOfHost = {
  version: 2,
  network: 23,
  typeGroup: 1,
  type: 0,
  nonce: "3",
  senderPublicKey: "03e59140fde881ac437ec3dc3e372bf25f7c19f0b471a5b35cc30f783e8a7b811b",
  recipientId: "AaUgne8txmQB1iBboiFVLVHwLaYChZiFVA",
  amount: "1",
  fee: "10000000",
  vendorField: "hi",
  expiration: 0,
  signature:
    "96640d09cbda7d72c3b3c9b7f260643b1c31970c6a334f866ec24f45d35079586588238a8b64ea626a4e6200cd766743450d5f2234e71c27451ac5e84f553512",
  id: "a254c827e946110abd80927e7e053f803d59e51c1175b8e56dc3f80257aad76e",
};

/** From a wallet to itself: one address. */
const transfer = { ...transferOfHost, addresses: [transferOfHost.recipientId] };

const place = { timestamp: 305132312, blockId: block.id, blockHeight: 125, sequence: 0 };

const forgedTransfer = { ...transferOfHost, ...place, addresses: transfer.addresses };

const transferInBlock = { ...forgedTransfer, senderId: transferOfHost.recipientId };

const registration = {
  version: 2,
  network: 23,
  typeGroup: 1,
  type: 2,
  nonce: "1",
  senderPublicKey: "024a2eb375891aa35912b6863cb5338207366d748ca0affc6b90fa55f9ca796183",
  senderId: "Ab6Ervkz9ycsk7Fv4HZGCq66mfPeT9HwNw",
  amount: "0",
  fee: "2500000000",
  asset: { delegate: { username: "probe_0" } },
  signature:
    "e1c928be818e7f5a1eb17285ce7d299c44ce938883ab3f6b4386af0ccc7eb8e451f91e12c07b5aa15dfa727c6150a2570f581c6645e544a1b2185786f6fa6b5b",
  id: "6ad545dc77d4cd1d48dc2b8936f6b84ef9f57cf32eb1c364bf9b2f81acaa2a71",
  ...place,
  addresses: ["Ab6Ervkz9ycsk7Fv4HZGCq66mfPeT9HwNw"],
};

const resignation = {
  version: 2,
  network: 23,
  typeGroup: 1,
  type: 7,
  nonce: "2",
  senderPublicKey: "02e9bb24261b4f62879d1220202db6c06bf543a0266c41bfa351735553004985d8",
  senderId: "ATiyw2rsjo95GwNps2qNJnxBKK7nPMHb47",
  amount: "0",
  fee: "2500000000",
  signature:
    "019aae026e7778a0c1a5e2b8c7fe2dadd995fdbe34d4aba39a1852ce279b3a3d12d3b29ba82194431284158f533ffeaeb4b9911af242527deb6eb186137c65af",
  id: "958ff7f7039817d823b7c21441dba9201f66befc695c342941cc5cc0ea9c31c4",
  ...place,
  addresses: ["ATiyw2rsjo95GwNps2qNJnxBKK7nPMHb47"],
};

const voteTransaction = {
  version: 2,
  network: 23,
  typeGroup: 1,
  type: 3,
  nonce: "1",
  senderPublicKey: "037bd12c7c95eabe4a90ee39b1cb233d6fa8b1f3303be24dc320cf6822ecfd28cd",
  senderId: "APCMC1ngZwHXDqzLZNhKapjsvNyav5iWQS",
  amount: "0",
  fee: "100000000",
  asset: { votes: [`+${registration.senderPublicKey}`] },
  signature:
    "0aebb5f13d69e60cf28ebf032bbb92f502108777ec1d3fdcbbc1f667ad81895749a1b38c751b81cc6791b6363d9ab0e4bea7ad51d2c3e7764bfee22c3ea5fd0e",
  id: "20c8bb2dac16184243db797de3643e9a76de8d0631d10f44ba7c0dfedd31f741",
  ...place,
  addresses: ["APCMC1ngZwHXDqzLZNhKapjsvNyav5iWQS"],
};

const unvoteTransaction = { ...voteTransaction, nonce: "2", asset: { votes: [`-${registration.senderPublicKey}`] } };

const delegate = {
  address: "AVFRmRYr8zqDbe1cb7GCJWoTBzz6FmpvpE",
  publicKey: block.generatorPublicKey,
  username: "genesis_1",
  balance: "10000000",
  voteBalance: "245098000000000",
};

const roundDelegate = { publicKey: delegate.publicKey, username: delegate.username, votes: delegate.voteBalance };

const wallet = { address: transfer.recipientId, balance: "1" };

const peer = { ip: "203.0.113.10", port: 4002, version: "2.4.15", height: 125, latency: 23 };

export const examples = {
  block,
  transfer,
  forgedTransfer,
  transferInBlock,
  registration,
  resignation,
  voteTransaction,
  unvoteTransaction,
  delegate,
  roundDelegate,
  wallet,
  peer,
};

interface EventEntry {
  description: string;
  example: unknown;
  confirmations?: true;
}

const delegateVote = (transaction: { asset: { votes: string[] } }) => ({ delegate: transaction.asset.votes[0], transaction });

/** Every event that hosts of the family emit, with an example of its payload. */
export const knownEvents: Readonly<Record<HostEvent, EventEntry>> = Object.freeze({
  "block.applied": { description: "A block is saved.", example: examples.block, confirmations: true },
  "block.reverted": { description: "A block is reverted.", example: examples.block },
  "block.forged": { description: "A block is forged.", example: examples.block },
  "block.received": { description: "A block arrives from a peer.", example: examples.block },
  "block.disregarded": { description: "A received block is not accepted.", example: examples.block },
  "transaction.applied": { description: "A transaction is saved.", example: examples.transferInBlock, confirmations: true },
  "transaction.reverted": { description: "A transaction is reverted.", example: examples.transferInBlock },
  "transaction.forged": { description: "A transaction is forged by a delegate.", example: examples.forgedTransfer },
  "transaction.expired": { description: "An unconfirmed transaction expires.", example: examples.transfer },
  "transaction.pool.added": { description: "Transactions enter the pool.", example: [examples.transfer] },
  "transaction.pool.rejected": { description: "Transactions are refused by the pool.", example: [examples.transfer] },
  "transaction.pool.removed": { description: "A transaction leaves the pool; the payload is its id.", example: examples.transfer.id },
  "delegate.registered": { description: "A delegate is registered.", example: examples.registration },
  "delegate.resigned": { description: "A delegate resigns.", example: examples.resignation },
  "wallet.vote": { description: "A wallet votes for a delegate.", example: delegateVote(examples.voteTransaction) },
  "wallet.unvote": { description: "A wallet withdraws its vote.", example: delegateVote(examples.unvoteTransaction) },
  "wallet.saved": { description: "A wallet is updated.", example: examples.wallet },
  "wallet.created.cold": { description: "A wallet that never existed before is saved.", example: examples.wallet },
  "round.created": { description: "A round is created; the payload is its delegates.", example: [examples.roundDelegate] },
  "round.applied": { description: "A round is over.", example: null },
  "forger.failed": { description: "The forger fails to start.", example: { error: "connect ECONNREFUSED" } },
  "forger.missing": { description: "A delegate that should have forged did not.", example: { delegate: examples.delegate } },
  "forger.started": { description: "The forger begins to forge.", example: { activeDelegates: [examples.delegate.publicKey] } },
  "peer.added": { description: "A peer is added.", example: examples.peer },
  "peer.removed": { description: "A peer is removed.", example: examples.peer },
  "state:started": { description: "The node's state is started.", example: null },
  "state.started": { description: "The same as state:started.", example: null },
});

const booking = {
  address: transfer.recipientId,
  kind: "transfer",
  id: transferOfHost.id,
  height: block.height,
  timestamp: block.timestamp,
  counterparty: transfer.recipientId,
  memo: "hi",
  in: "1",
  out: "1",
  fee: "10000000",
};

/** Made from the chain, where that offers its changes: hosts do not emit them. */
const bookings: Readonly<Record<(typeof bookingEvents)[number], EventEntry>> = {
  "booking.applied": {
    description: "A wallet's money changes, by any type of transaction. The data is a row of its statement. `*` does not include this event.",
    example: booking,
    confirmations: true,
  },
  "booking.reverted": { description: "A booking is reverted. `*` does not include this event.", example: booking },
};

const describe = (event: string, known: EventEntry, keepsChain: boolean): EventDescription => ({
  event,
  description: known.description,
  // Sent when the block is committed, not when the host emits it.
  source: keepsChain && derivedEvents.includes(event) ? "chain" : "host",
  confirmations: known.confirmations ?? false,
  example: known.example,
});

/** The events that a webhook of this node can listen to: the known ones, and those that the host declares. */
export const describeEvents = (declared: readonly string[], keepsChain: boolean): EventDescription[] => [
  ...Object.entries(keepsChain ? { ...knownEvents, ...bookings } : knownEvents).map(([event, known]) => describe(event, known, keepsChain)),
  ...[...new Set(declared)]
    .filter((event) => !Object.hasOwn(knownEvents, event) && !(keepsChain && isBookingEvent(event)))
    .map((event) => describe(event, { description: "An event that this node declares.", example: null }, keepsChain)),
];
