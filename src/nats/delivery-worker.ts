import { type ConsumerMessages, jetstream, jetstreamManager, type JsMsg } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import { randomUUID } from "node:crypto";
import type { Logger } from "../../types/node-context.js";
import { messageOf } from "../errors.js";
import { createHttpSender, type Sender } from "../webhooks/send/http-sender.js";
import { createResolver, createTargetGuard } from "../webhooks/send/target-guard.js";
import { keepLink, type NatsOptions, queueOf } from "./connection.js";
import { consumerName, type DeliveryJob, type DeliveryResult, ensureQueue, heartbeat, parsed, type WorkerSign } from "./delivery-job.js";

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

/** Senders by the limits that jobs name. */
const createSenders = ({ allowTargets = [], concurrency = 64 }: DeliveryWorkerOptions) => {
  const needs = { guard: createTargetGuard(allowTargets), resolve: createResolver() };
  const senders = new Map<string, Sender>();
  return {
    for: ({ timeout, responseLimit }: DeliveryJob): Sender => {
      const key = `${timeout} ${responseLimit}`;
      const sender = senders.get(key) ?? createHttpSender({ timeout, responseLimit, concurrencyPerTarget: concurrency }, needs);
      senders.set(key, sender);
      return sender;
    },
    close: async () => {
      for (const sender of senders.values()) await sender.close();
    },
  };
};

/** Does jobs, as many at a time as there is room for. */
const createWork = (senders: ReturnType<typeof createSenders>, concurrency: number, logger: DeliveryWorkerOptions["logger"]) => {
  const underWay = new Set<Promise<void>>();
  let sent = 0;

  const work = async (message: JsMsg, via: NatsConnection): Promise<void> => {
    const job = parsed(message.string()) as DeliveryJob | undefined;
    // It has been given to another, or sent by the node.
    if (job === undefined || job.deadline < Date.now()) return message.ack();
    const tell = (result: DeliveryResult): void => via.publish(job.results, JSON.stringify(result));
    tell({ id: job.id, begun: true });
    const answer = await senders.for(job).send(job);
    sent++;
    tell({ id: job.id, answer });
    message.ack();
  };

  const take = async (message: JsMsg, via: NatsConnection): Promise<void> => {
    const own = work(message, via).catch((error: unknown) => logger?.warn(`a job was lost: ${messageOf(error)}`));
    underWay.add(own);
    void own.finally(() => underWay.delete(own));
    if (underWay.size >= concurrency) await Promise.race(underWay);
  };

  return { take, sent: () => sent, ended: () => Promise.all(underWay) };
};

/** Starts a worker: it takes jobs as it has room for them, and nodes know of it by its signs. */
export const startDeliveryWorker = (options: NatsOptions, given: DeliveryWorkerOptions = {}): DeliveryWorker => {
  const { concurrency = 64, logger } = given;
  const queue = queueOf(options);
  const worker = randomUUID();
  const senders = createSenders(given);
  const work = createWork(senders, concurrency, logger);
  let takesJobs = false;
  let messages: ConsumerMessages | undefined;

  const sign = (connection: NatsConnection | undefined, leaves: boolean): void => {
    if (connection?.isClosed() === false) connection.publish(queue.workers, JSON.stringify({ worker, leaves } satisfies WorkerSign));
  };

  const consume = async (connection: NatsConnection, working: () => void): Promise<void> => {
    await ensureQueue(await jetstreamManager(connection), queue);
    const consumer = await jetstream(connection).consumers.get(queue.name, consumerName);
    messages = await consumer.consume({ max_messages: concurrency, abort_on_missing_resource: true });
    working();
    takesJobs = true;
    sign(connection, false);
    try {
      for await (const message of messages) await work.take(message, connection);
    } finally {
      takesJobs = false;
    }
  };

  const link = keepLink(options, {
    name: "portico worker",
    retryDelay: 500,
    logger,
    says: { fails: "the worker takes no jobs", works: "the worker takes jobs again" },
    work: consume,
  });
  // A worker that takes no jobs gives no signs.
  const signs = setInterval(() => (takesJobs ? sign(link.connection(), false) : undefined), heartbeat);

  return {
    sent: work.sent,
    stop: async () => {
      clearInterval(signs);
      await link.stop(async (connection) => {
        messages?.stop();
        await work.ended();
        sign(connection, true);
        await connection?.drain().catch(() => undefined);
      });
      await senders.close();
    },
  };
};
