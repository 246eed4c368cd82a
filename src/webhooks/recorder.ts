import type { HostEvents } from "../../types/events.js";
import type { Clock, Logger } from "../../types/node-context.js";
import type { DeliveryRow, Recipient, WebhookRow, WebhookStore } from "../../types/webhook-store.js";
import type { FullBlock } from "../chain/block.js";
import { createEmittedPayloads } from "./emitted-payloads.js";
import { canonicalEvent, chainEvents } from "./known-events.js";
import { blockPayload, payloadJson, transactionPayload } from "./payload.js";
import type { RecentEvents } from "./recent-events.js";
import type { Register } from "./register.js";

/** A change of the chain: a block that was committed, or taken back. */
export interface ChainChange {
  kind: "applied" | "reverted";
  full: FullBlock;
}

export interface RecorderNeeds {
  store: WebhookStore;
  register: Register;
  recent: RecentEvents;
  clock: Clock;
  logger: Logger;
  /** Told of webhooks that got something to deliver. */
  onWork(webhookIds: Iterable<number>): void;
}

/**
 * Writes down what happened, matched and ready to be delivered.
 *
 * Where Portico keeps the chain, blocks and transactions are recorded as they are committed (`witness`), each once, whatever the host
 * emits; what it emitted before serves as their payload. Every other event is recorded when it is emitted, before the emitter's call
 * returns.
 */
export interface Recorder {
  /** Within the write transaction of the change. */
  witness(change: ChainChange): void;
  /** A listener's work for one event. Never throws. */
  hear(event: string, payload: unknown): void;
  /** After the commit of what was witnessed. */
  committed(): void;
}

type Subject = "block" | "transaction";

/** What an event tells of, and in which block. */
interface Place {
  subject: Subject;
  height: number;
}

/** Height of a transaction's block that its host does not tell: that of the next block that is applied. */
const nextBlock = Number.MAX_SAFE_INTEGER;
/** Held deliveries that are looked at together. */
const batchSize = 500;
/** Emitted payloads kept for the commit of their blocks: more than two full blocks and their transactions. */
const emittedLimit = 2_000;

/** Confirmations are counted as the interface shows them: a block's from 0, a transaction's from 1. */
const releaseHeightOf = (subject: Subject, blockHeight: number, confirmations: number): number =>
  blockHeight === nextBlock ? nextBlock : blockHeight + confirmations - (subject === "transaction" ? 1 : 0);

const memberOf = (payload: unknown, name: string): unknown =>
  typeof payload === "object" && payload !== null ? (payload as Record<string, unknown>)[name] : undefined;

const heightOf = (payload: unknown, name: string): number | undefined => {
  const height = memberOf(payload, name);
  return Number.isSafeInteger(height) ? (height as number) : undefined;
};

export const createRecorder = (
  { store, register, recent, clock, logger, onWork }: RecorderNeeds,
  { keepsChain }: { keepsChain: boolean },
): Recorder => {
  const emitted = createEmittedPayloads(emittedLimit);
  let touched = new Set<number>();

  const committed = (): void => {
    if (touched.size === 0) return;
    const webhooks = touched;
    touched = new Set();
    onWork(webhooks);
  };

  const recipientOf = (webhook: WebhookRow, place: Place | undefined): Recipient => {
    const { id: webhookId, event, confirmations } = webhook;
    if (place === undefined || confirmations === 0) return { webhookId, event, begin: { state: "pending" } };
    const releaseHeight = releaseHeightOf(place.subject, place.height, confirmations);
    if (releaseHeight <= place.height && place.height !== nextBlock) return { webhookId, event, begin: { state: "pending" } };
    return { webhookId, event, begin: { state: "held", releaseHeight, blockHeight: place.height } };
  };

  const matching = (event: string, json: string): WebhookRow[] => {
    try {
      const ids = register.matcher().match(event, JSON.parse(json));
      return ids.map((id) => register.find(id)).filter((row) => row !== undefined);
    } catch (error) {
      logger.error(`webhooks: ${event} cannot be matched: ${error instanceof Error ? error.message : String(error)}`);
      return [];
    }
  };

  /** One event: noted for dry runs, and written with its deliveries if there are any. */
  const record = (event: string, json: () => string, place?: Place): void => {
    const at = clock.now();
    recent.note(event, { at, json });
    if (!register.matcher().listens(event)) return;
    const text = json();
    const recipients = matching(event, text).map((webhook) => recipientOf(webhook, place));
    if (recipients.length === 0) return;
    store.append({ at, json: text }, recipients);
    for (const { webhookId } of recipients) touched.add(webhookId);
  };

  const changeAll = (list: () => { webhookId: number; id: number }[], change: (row: DeliveryRow) => DeliveryRow): void => {
    for (let found = list(); found.length > 0; found = list()) {
      for (const { webhookId, id } of found) {
        const row = store.delivery(webhookId, id);
        if (row === undefined) continue;
        store.changeDelivery(row, change(row));
        touched.add(webhookId);
      }
    }
  };

  /** Puts what waited for its block's height in its place, then sends on its way what has waited long enough. */
  const release = (height: number): void => {
    changeAll(
      () => store.heldFrom(nextBlock, batchSize),
      (row) => ({
        ...row,
        hold: { blockHeight: height, releaseHeight: releaseHeightOf("transaction", height, register.find(row.webhookId)?.confirmations ?? 0) },
      }),
    );
    changeAll(
      () => store.releasable(height, batchSize),
      (row) => ({ ...row, state: "pending", hold: null }),
    );
  };

  /** A reverted block takes with it what waited for its confirmations. */
  const drop = (height: number): void =>
    changeAll(
      () => store.heldFrom(height, batchSize),
      (row) => ({ ...row, state: "dropped", hold: null, finishedAt: clock.now() }),
    );

  const witness = ({ kind, full: { block, transactions } }: ChainChange): void => {
    const { height } = block;
    store.transaction(() => {
      if (kind === "applied") release(height);
      else drop(height);
      const transactionEvent = `transaction.${kind}`;
      for (const transaction of kind === "applied" ? transactions : transactions.toReversed()) {
        const json = (): string => emitted.get(transactionEvent, transaction.id) ?? transactionPayload(transaction);
        record(transactionEvent, json, kind === "applied" ? { subject: "transaction", height } : undefined);
      }
      const blockEvent = `block.${kind}`;
      const json = (): string => emitted.get(blockEvent, block.id) ?? blockPayload(block);
      record(blockEvent, json, kind === "applied" ? { subject: "block", height } : undefined);
    });
  };

  /** Kept until the store commits the block. */
  const awaitCommit = (event: string, payload: unknown): void => {
    const id = memberOf(payload, "id");
    if (typeof id === "string" && register.matcher().listens(event)) emitted.put(event, id, payloadJson(payload));
  };

  const placeOf = (event: string, payload: unknown): Place | undefined => {
    if (event === "block.applied") return { subject: "block", height: heightOf(payload, "height") ?? nextBlock };
    if (event === "transaction.applied") return { subject: "transaction", height: heightOf(payload, "blockHeight") ?? nextBlock };
    return undefined;
  };

  /** A host's block moves what waits for confirmations, where its store does not witness the blocks. */
  const followHost = (event: string, height: number | undefined): void => {
    if (height === undefined) return;
    if (event === "block.applied") release(height);
    if (event === "block.reverted") drop(height);
  };

  const recordNow = (event: string, payload: unknown): void => {
    const json = payloadJson(payload);
    const movesChain = event === "block.applied" || event === "block.reverted";
    if (!movesChain && !register.matcher().listens(event)) {
      recent.note(event, { at: clock.now(), json: () => json });
      return;
    }
    store.transaction(() => {
      followHost(event, heightOf(payload, "height"));
      record(event, () => json, placeOf(event, payload));
    });
    committed();
  };

  return {
    witness,
    committed,
    hear: (name, payload) => {
      try {
        const event = canonicalEvent(name);
        if (keepsChain && chainEvents.includes(event)) awaitCommit(event, payload);
        else recordNow(event, payload);
      } catch (error) {
        logger.error(`webhooks: ${name} could not be recorded: ${error instanceof Error ? error.message : String(error)}`);
      }
    },
  };
};

/** Listens to the host's emitter. Returns what ends it. */
export const listenToHost = (events: HostEvents, names: readonly string[], { hear }: Recorder): (() => void) => {
  const listeners = names.map((name) => ({ name, listener: (payload?: unknown) => hear(name, payload) }));
  for (const { name, listener } of listeners) events.on(name, listener);
  return () => {
    for (const { name, listener } of listeners) events.off(name, listener);
  };
};
