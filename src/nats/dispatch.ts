import { randomUUID } from "node:crypto";
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import type { Logger } from "../../types/node-context.js";
import type { DeliveryAnswer, DeliveryDispatch, OutgoingDelivery } from "../../types/webhooks.js";
import { keepLink, type NatsOptions, queueOf } from "./connection.js";
import { type DeliveryJob, type DeliveryResult, ensureQueue, goneAfter, parsed, type WorkerSign } from "./delivery-job.js";

export interface DispatchOptions {
  /** As the node's `webhooks.timeout`. Default: 15,000. */
  timeout?: number;
  /** As the node's `webhooks.responseLimit`. Default: 16,384. */
  responseLimit?: number;
  logger?: Pick<Logger, "info" | "warn">;
}

/** Leaves requests of webhooks to workers. */
export interface NatsDispatch extends DeliveryDispatch {
  /** Requests since the start: answered by workers, given to them again because nothing came back in time, sent by the node itself. */
  counts(): { answered: number; repeated: number; here: number };
  /** Workers that have given a sign lately. */
  workers(): number;
  close(): Promise<void>;
}

/** A job that a worker has to answer. */
interface Waiting {
  /** A worker has begun it. */
  begun(): void;
  end(answer: DeliveryAnswer | undefined): void;
}

/** The queue, while a server is connected. */
interface Queue {
  publish(job: DeliveryJob): Promise<void>;
}

/** Milliseconds that a job may wait for a worker. */
const queueTime = 10_000;
/** Milliseconds that an answer may be on its way beyond the request's own limit. */
const slack = 2_000;
/** A request is given to workers so often; then the node sends it itself. */
const mostTries = 2;

const stopped: DeliveryAnswer = { status: null, retryAfter: undefined, date: undefined, body: "", failure: { stage: "response", error: "The node has stopped." } };

/** Jobs under way, by their ids. */
const createJobs = (results: string, { timeout = 15_000, responseLimit = 16_384 }: DispatchOptions) => {
  const waiting = new Map<string, Waiting>();
  return {
    onResult: (result: DeliveryResult): void => {
      const found = waiting.get(result.id);
      if ("answer" in result) found?.end(result.answer);
      else found?.begun();
    },
    giveUpAll: (): void => {
      for (const { end } of waiting.values()) end(undefined);
    },
    /** Resolves with undefined if nothing came back. */
    ask: (outgoing: OutgoingDelivery, publish: Queue["publish"], signal: AbortSignal): Promise<DeliveryAnswer | undefined> =>
      new Promise((resolve) => {
        const job: DeliveryJob = { ...outgoing, id: randomUUID(), results, deadline: Date.now() + queueTime, timeout, responseLimit };
        const end = (answer: DeliveryAnswer | undefined): void => {
          clearTimeout(timer);
          signal.removeEventListener("abort", stop);
          if (waiting.delete(job.id)) resolve(answer);
        };
        const stop = (): void => end(stopped);
        const waitFor = (milliseconds: number): NodeJS.Timeout => setTimeout(() => end(undefined), milliseconds + slack);
        let timer = waitFor(queueTime);
        const begun = (): void => {
          clearTimeout(timer);
          timer = waitFor(timeout);
        };
        waiting.set(job.id, { begun, end });
        signal.addEventListener("abort", stop, { once: true });
        publish(job).catch(() => end(undefined));
      }),
  };
};

/** Workers that have given a sign lately. */
const createWorkers = (noneLeft: () => void) => {
  const signs = new Map<string, NodeJS.Timeout>();
  const gone = (worker: string): void => {
    clearTimeout(signs.get(worker));
    if (signs.delete(worker) && signs.size === 0) noneLeft();
  };
  return {
    count: () => signs.size,
    onSign: ({ worker, leaves }: WorkerSign): void => {
      clearTimeout(signs.get(worker));
      if (leaves) gone(worker);
      else signs.set(worker, setTimeout(() => gone(worker), goneAfter).unref());
    },
    clear: (): void => {
      for (const worker of [...signs.keys()]) gone(worker);
    },
  };
};

const listen = (to: NatsConnection, subject: string, take: (value: object) => void): void => {
  to.subscribe(subject, {
    callback: (error, message) => {
      const value = error === null ? parsed(message.string()) : undefined;
      if (typeof value === "object" && value !== null) take(value);
    },
  });
};

interface QueueNeeds {
  workers: ReturnType<typeof createWorkers>;
  jobs: ReturnType<typeof createJobs>;
}

/** The queue may be gone, with all that the server had in memory: it is made anew, and the job published once more. */
const openQueue = async (to: NatsConnection, queue: ReturnType<typeof queueOf>, results: string, { workers, jobs }: QueueNeeds): Promise<Queue> => {
  const manager = await jetstreamManager(to);
  const js = jetstream(to, { timeout: slack });
  await ensureQueue(manager, queue);
  listen(to, queue.workers, (sign) => workers.onSign(sign as WorkerSign));
  listen(to, results, (result) => jobs.onResult(result as DeliveryResult));
  const put = async (job: DeliveryJob): Promise<void> => void (await js.publish(queue.jobs, JSON.stringify(job)));
  return {
    publish: (job) =>
      put(job).catch(async () => {
        await ensureQueue(manager, queue);
        await put(job);
      }),
  };
};

/**
 * Each request is a job in a work queue. What has no result by its deadline is published again, with the same `webhook-id`, and where no worker
 * gives a sign, or NATS is away, the node sends it itself: a receiver may get it twice, never not at all.
 */
export const natsDispatch = (options: NatsOptions, given: DispatchOptions = {}): NatsDispatch => {
  const { logger } = given;
  const queue = queueOf(options);
  const results = queue.results(randomUUID());
  const counts = { answered: 0, repeated: 0, here: 0 };
  const jobs = createJobs(results, given);
  const workers = createWorkers(jobs.giveUpAll);
  let open: Queue | undefined;

  const link = keepLink(options, {
    name: "portico dispatch",
    retryDelay: 250,
    logger,
    says: { fails: "requests of webhooks are sent by the node itself", works: "requests of webhooks are given to workers again" },
    work: async (connection, working) => {
      try {
        open = await openQueue(connection, queue, results, { workers, jobs });
        working();
        await connection.closed();
      } finally {
        open = undefined;
        // What listens on it must not be doubled.
        await connection.close();
      }
    },
  });

  return {
    send: async (outgoing, here, signal) => {
      for (let tries = 1; tries <= mostTries && open !== undefined && workers.count() > 0; tries++) {
        if (tries > 1) counts.repeated++;
        const answer = await jobs.ask(outgoing, open.publish, signal);
        if (answer === undefined) continue;
        counts.answered++;
        return answer;
      }
      counts.here++;
      return here();
    },
    counts: () => ({ ...counts }),
    workers: workers.count,
    close: async () => {
      await link.stop();
      workers.clear();
      jobs.giveUpAll();
    },
  };
};
