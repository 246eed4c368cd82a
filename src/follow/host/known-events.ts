import type { HostEvent } from "../../../types/events.js";
import type { EventDescription } from "../../../types/webhooks.js";
import { examples } from "./event-examples.js";

interface KnownEvent {
  description: string;
  example: unknown;
  /** Comes from the chain itself where Portico keeps it: sent when the block is committed, not when the host emits it. */
  fromChain?: true;
  confirmations?: true;
}

const delegateVote = (transaction: { asset: { votes: string[] } }) => ({ delegate: transaction.asset.votes[0], transaction });

/** Every event that hosts of the family emit, with an example of its payload. */
export const knownEvents: Readonly<Record<HostEvent, KnownEvent>> = Object.freeze({
  "block.applied": { description: "A block is saved.", example: examples.block, fromChain: true, confirmations: true },
  "block.reverted": { description: "A block is reverted.", example: examples.block, fromChain: true },
  "block.forged": { description: "A block is forged.", example: examples.block },
  "block.received": { description: "A block arrives from a peer.", example: examples.block },
  "block.disregarded": { description: "A received block is not accepted.", example: examples.block },
  "transaction.applied": { description: "A transaction is saved.", example: examples.transferInBlock, fromChain: true, confirmations: true },
  "transaction.reverted": { description: "A transaction is reverted.", example: examples.transferInBlock, fromChain: true },
  "transaction.forged": { description: "A transaction is forged by a delegate.", example: examples.transferInBlock },
  "transaction.expired": { description: "An unconfirmed transaction expires.", example: examples.transfer },
  "transaction.pool.added": { description: "Transactions enter the pool.", example: [examples.transfer] },
  "transaction.pool.rejected": { description: "Transactions are refused by the pool.", example: [examples.transfer] },
  "transaction.pool.removed": { description: "A transaction leaves the pool; the payload is its id.", example: examples.transfer.id },
  "delegate.registered": { description: "A delegate is registered.", example: examples.registration, fromChain: true },
  "delegate.resigned": { description: "A delegate resigns.", example: examples.resignation, fromChain: true },
  "wallet.vote": { description: "A wallet votes for a delegate.", example: delegateVote(examples.voteTransaction), fromChain: true },
  "wallet.unvote": { description: "A wallet withdraws its vote.", example: delegateVote(examples.unvoteTransaction), fromChain: true },
  "wallet.saved": { description: "A wallet is updated.", example: examples.wallet },
  "wallet.created.cold": { description: "A wallet that never existed before is saved.", example: examples.wallet },
  "round.created": { description: "A round is created; the payload is its delegates.", example: [examples.roundDelegate], fromChain: true },
  "round.applied": { description: "A round is over.", example: null, fromChain: true },
  "forger.failed": { description: "The forger fails to start.", example: { error: "connect ECONNREFUSED" } },
  "forger.missing": { description: "A delegate that should have forged did not.", example: { delegate: examples.delegate } },
  "forger.started": { description: "The forger begins to forge.", example: { activeDelegates: [examples.delegate.publicKey] } },
  "peer.added": { description: "A peer is added.", example: examples.peer },
  "peer.removed": { description: "A peer is removed.", example: examples.peer },
  "state:started": { description: "The node's state is started.", example: null },
  "state.started": { description: "The same as state:started.", example: null },
});

const describe = (event: string, known: KnownEvent, keepsChain: boolean): EventDescription => ({
  event,
  description: known.description,
  source: known.fromChain && keepsChain ? "chain" : "host",
  confirmations: known.confirmations ?? false,
  example: known.example,
});

/** The events that a webhook of this node can listen to: the known ones, and those that the host declares. */
export const describeEvents = (declared: readonly string[], keepsChain: boolean): EventDescription[] => [
  ...Object.entries(knownEvents).map(([event, known]) => describe(event, known, keepsChain)),
  ...[...new Set(declared)]
    .filter((event) => !Object.hasOwn(knownEvents, event))
    .map((event) => describe(event, { description: "An event that this node declares.", example: null }, keepsChain)),
];
