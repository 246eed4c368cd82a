import { type ConsumerMessages, jetstream, jetstreamManager, type JsMsg } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import { randomUUID } from "node:crypto";
import type { Logger } from "../../types/node-context.js";
import type { DeliveryAnswer } from "../../types/webhooks.js";
import { messageOf } from "../errors.js";
import { createHttpSender, type Sender } from "../webhooks/send/http-sender.js";
import { createResolver, createTargetGuard } from "../webhooks/send/target-guard.js";
import { keepLink, type NatsOptions, queueOf } from "./connection.js";
import { type DeliveryJob, type DeliveryJobs, type DeliveryResults, heartbeat, jobsIn, mostJobs, type WorkerSign } from "./delivery-messages.js";
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

/** Senders by the limits that jobs name. */
const createSenders = ({ allowTargets = [], concurrency = 64 }: DeliveryWorkerOptions) => {
  const needs = { guard: createTargetGuard(allowTargets), resolve: createResolver() };
  const senders = new Map<string, Sender>();
  return {
    for: ({ timeout, responseLimit }: DeliveryJobs): Sender => {
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

/** Tells what came of jobs. */
const createAnswers = (to: NatsConnection, subject: string) => {
  const packing = createPacking(Infinity, async (answers) => {
    if (to.isClosed()) return;
    to.publish(subject, `{"answers":[${answers.join(",")}]}`);
    // The server has it.
    await to.flush();
  });
  return {
    begun: (jobs: readonly DeliveryJob[]): void => to.publish(subject, JSON.stringify({ begun: jobs.map(({ id }) => id) } satisfies DeliveryResults)),
    put: (id: string, answer: DeliveryAnswer): void => packing.add(JSON.stringify({ id, answer })),
    sendAll: packing.sendAll,
  };
};

/** Does jobs, as many at a time as there is room for. */
const createWork = (senders: ReturnType<typeof createSenders>, concurrency: number, logger: DeliveryWorkerOptions["logger"]) => {
  const slots = createSlots(concurrency, (error) => logger?.warn(`a job was lost: ${messageOf(error)}`));
  let sent = 0;
  let answering: { to: NatsConnection; bySubject: Map<string, ReturnType<typeof createAnswers>> } | undefined;

  /** Nodes share the queue, and each has a subject of its own. */
  const answersFor = (to: NatsConnection, subject: string): ReturnType<typeof createAnswers> => {
    if (answering?.to !== to) answering = { to, bySubject: new Map() };
    const found = answering.bySubject.get(subject) ?? createAnswers(to, subject);
    answering.bySubject.set(subject, found);
    return found;
  };

  const take = async (message: JsMsg, via: NatsConnection): Promise<void> => {
    const given = jobsIn(message.string());
    // Past their deadline, they have been given to another, or sent by the node.
    if (given === undefined || given.deadline < Date.now()) return message.ack();
    const answers = answersFor(via, given.results);
    answers.begun(given.jobs);
    const sender = senders.for(given);
    const send = async (job: DeliveryJob): Promise<void> => {
      const answer = await sender.send(job);
      sent++;
      answers.put(job.id, answer);
    };
    void Promise.all(given.jobs.map((job) => slots.begin(send(job)))).then(() => message.ack());
    await slots.room();
  };

  return {
    take,
    sent: () => sent,
    /** Resolves when nothing is under way and all answers are on their way. */
    ended: async (): Promise<void> => {
      await slots.ended();
      for (const answers of answering?.bySubject.values() ?? []) answers.sendAll();
    },
  };
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
    messages = await consumer.consume({ max_messages: Math.ceil(concurrency / mostJobs), abort_on_missing_resource: true });
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
        // After the answers: what is not answered by then, the node gives to others, or sends itself.
        sign(connection, true);
        await connection?.drain().catch(() => undefined);
      });
      await senders.close();
    },
  };
};
