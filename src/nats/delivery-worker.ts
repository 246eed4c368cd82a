import { type ConsumerMessages, jetstream, jetstreamManager, type JsMsg } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import { randomUUID } from "node:crypto";
import type { Logger } from "../../types/node-context.js";
import type { OutgoingDelivery } from "../../types/webhooks.js";
import { messageOf } from "../errors.js";
import { createHttpSender, type Sender } from "../webhooks/send/http-sender.js";
import { createResolver, createTargetGuard } from "../webhooks/send/target-guard.js";
import { keepLink, type NatsOptions, queueOf, requireFiles } from "./connection.js";
import { bundleIn, type BundleTerms, heartbeat, mostRequests, type Result, resultsText, resultText, type WorkerSign } from "./delivery-messages.js";
import { consumerName, ensureQueue } from "./delivery-queue.js";
import { createPacking } from "./packing.js";
import { createSlots } from "./slots.js";

export interface DeliveryWorkerOptions {
  /** Requests at a time. Default: 64. */
  concurrency?: number;
  /** Private addresses or networks that targets may have, as the node's `webhooks.allowTargets`. */
  allowTargets?: string[];
  logger?: Pick<Logger, "info" | "warn">;
}

/** Sends requests of webhooks for nodes. It keeps nothing: what it does not answer is given to another. */
export interface DeliveryWorker {
  /** Requests that it has sent. */
  sent(): number;
  /** Takes nothing more, and ends what is under way. */
  stop(): Promise<void>;
}

/** Senders by the limits that bundles name. */
const createSenders = ({ allowTargets = [] }: DeliveryWorkerOptions) => {
  const needs = { guard: createTargetGuard(allowTargets), resolve: createResolver() };
  const senders = new Map<string, Sender>();
  return {
    for: ({ timeout, responseLimit }: BundleTerms): Sender => {
      const key = `${timeout} ${responseLimit}`;
      const sender = senders.get(key) ?? createHttpSender({ timeout, responseLimit }, needs);
      senders.set(key, sender);
      return sender;
    },
    close: async () => {
      for (const sender of senders.values()) await sender.close();
    },
  };
};

/** Tells what came of requests. */
const createResults = (to: NatsConnection, subject: string) => {
  const packing = createPacking<string>({
    most: Infinity,
    lengthOf: (text) => text.length,
    put: async (texts) => {
      if (to.isClosed()) return;
      to.publish(subject, resultsText(texts));
      // The server has it.
      await to.flush();
    },
  });
  return { put: (result: Result): void => packing.add(resultText(result)), sendAll: packing.sendAll };
};

/** Sends the requests of bundles, as many at a time as there is room for. */
const createWork = (senders: ReturnType<typeof createSenders>, concurrency: number, logger: DeliveryWorkerOptions["logger"]) => {
  const slots = createSlots(concurrency, (error) => logger?.warn(`a request was lost: ${messageOf(error)}`));
  let sent = 0;
  let isLeaving = false;
  let telling: { to: NatsConnection; bySubject: Map<string, ReturnType<typeof createResults>> } | undefined;

  /** Nodes share the queue, and each has a subject of its own. */
  const resultsFor = (to: NatsConnection, subject: string): ReturnType<typeof createResults> => {
    if (telling?.to !== to) telling = { to, bySubject: new Map() };
    const found = telling.bySubject.get(subject) ?? createResults(to, subject);
    telling.bySubject.set(subject, found);
    return found;
  };

  const sendResults = (): void => {
    for (const results of telling?.bySubject.values() ?? []) results.sendAll();
  };

  const take = async (message: JsMsg, via: NatsConnection): Promise<void> => {
    // Some come that were on their way: the node gives them to others.
    if (isLeaving) return message.nak();
    const bundle = bundleIn(message.string());
    // Past their deadline, its requests have been given to another, or sent by the node.
    if (bundle === undefined || bundle.deadline < Date.now()) return message.ack();
    const results = resultsFor(via, bundle.results);
    results.put({ bundle: bundle.id });
    const sender = senders.for(bundle);
    const send = async (outgoing: OutgoingDelivery, at: number): Promise<void> => {
      const answer = await sender.send(outgoing);
      sent++;
      results.put({ bundle: bundle.id, at, answer });
    };
    void Promise.all(bundle.requests.map((outgoing, at) => slots.begin(send(outgoing, at)))).then(() => message.ack());
    await slots.room();
  };

  return {
    take,
    sent: () => sent,
    /** Takes nothing more. What has been begun is told. */
    leave: (): void => {
      isLeaving = true;
      sendResults();
    },
    /** Resolves when nothing is under way and all results are on their way. */
    ended: async (): Promise<void> => {
      await slots.ended();
      sendResults();
    },
  };
};

/**
 * Starts a worker: it takes requests as it has room for them, and nodes know of it by its signs.
 * @throws PorticoError OPTION_INVALID for a file that cannot be read
 */
export const startDeliveryWorker = (options: NatsOptions, given: DeliveryWorkerOptions = {}): DeliveryWorker => {
  const { concurrency = 64, logger } = given;
  requireFiles(options);
  const queue = queueOf(options);
  const worker = randomUUID();
  const senders = createSenders(given);
  const work = createWork(senders, concurrency, logger);
  let takesRequests = false;
  let messages: ConsumerMessages | undefined;

  const sign = (connection: NatsConnection | undefined, leaves: boolean): void => {
    if (connection?.isClosed() === false) connection.publish(queue.workers, JSON.stringify({ worker, leaves } satisfies WorkerSign));
  };

  const consume = async (connection: NatsConnection, working: () => void): Promise<void> => {
    await ensureQueue(await jetstreamManager(connection), queue);
    const consumer = await jetstream(connection).consumers.get(queue.name, consumerName);
    messages = await consumer.consume({ max_messages: Math.ceil(concurrency / mostRequests), abort_on_missing_resource: true });
    working();
    takesRequests = true;
    sign(connection, false);
    try {
      for await (const message of messages) await work.take(message, connection);
    } finally {
      takesRequests = false;
    }
  };

  const link = keepLink(options, {
    name: "portico worker",
    retryDelay: 500,
    logger,
    says: { fails: "the worker takes no requests", works: "the worker takes requests again", begins: "the worker takes requests of webhooks" },
    work: consume,
  });
  // A worker that takes no requests gives no signs.
  const signs = setInterval(() => (takesRequests ? sign(link.connection(), false) : undefined), heartbeat);

  return {
    sent: work.sent,
    stop: async () => {
      clearInterval(signs);
      await link.stop(async (connection) => {
        messages?.stop();
        // Before the answers are there: what it has not begun, the node gives to others, or sends itself.
        work.leave();
        sign(connection, true);
        await work.ended();
        await connection?.drain().catch(() => undefined);
      });
      await senders.close();
    },
  };
};
