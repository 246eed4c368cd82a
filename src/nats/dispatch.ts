import { randomUUID } from "node:crypto";
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import type { Logger } from "../../types/node-context.js";
import type { DeliveryAnswer, DeliveryDispatch, OutgoingDelivery } from "../../types/webhooks.js";
import { keepLink, type NatsOptions, queueOf } from "./connection.js";
import { type DeliveryJob, type DeliveryJobs, type DeliveryResults, goneAfter, mostJobs, resultsIn, signIn, type WorkerSign } from "./delivery-messages.js";
import { ensureQueue } from "./delivery-queue.js";
import { createPacking } from "./packing.js";

export interface DispatchOptions {
  /** As the node's `webhooks.timeout`. Default: 15,000. */
  timeout?: number;
  /** As the node's `webhooks.responseLimit`. Default: 16,384. */
  responseLimit?: number;
  logger?: Pick<Logger, "info" | "warn">;
}

/** What each request is held to. */
type Limits = Required<Pick<DispatchOptions, "timeout" | "responseLimit">>;

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
  /** Aborts when the node stops. */
  signal: AbortSignal;
  /** A worker has begun it. */
  begun(): void;
  end(answer: DeliveryAnswer | undefined): void;
}

/** The queue, while a server is connected. */
interface Queue {
  /** `failed` is called if the server does not take it. */
  publish(job: DeliveryJob, failed: () => void): void;
}

/** Milliseconds that a job may wait for a worker. */
const queueTime = 10_000;
/** Milliseconds that an answer may be on its way beyond the request's own limit. */
const slack = 2_000;
/** A request is given to workers so often; then the node sends it itself. */
const mostTries = 2;

const stopped: DeliveryAnswer = { status: null, retryAfter: undefined, date: undefined, body: "", failure: { stage: "response", error: "The node has stopped." } };

/** Jobs under way, by their ids. */
const createJobs = ({ timeout }: Limits) => {
  const waiting = new Map<string, Waiting>();
  const heeded = new WeakSet<AbortSignal>();

  /** One listener for all jobs: thousands come and go in a second. */
  const heed = (signal: AbortSignal): void => {
    if (heeded.has(signal)) return;
    heeded.add(signal);
    const stop = (): void => {
      for (const one of waiting.values()) if (one.signal === signal) one.end(stopped);
    };
    signal.addEventListener("abort", stop, { once: true });
  };

  return {
    onResults: ({ begun, answers }: Required<DeliveryResults>): void => {
      for (const id of begun) waiting.get(id)?.begun();
      for (const { id, answer } of answers) waiting.get(id)?.end(answer);
    },
    giveUpAll: (): void => {
      for (const { end } of waiting.values()) end(undefined);
    },
    /** Resolves with undefined if nothing came back. */
    ask: (outgoing: OutgoingDelivery, publish: Queue["publish"], signal: AbortSignal): Promise<DeliveryAnswer | undefined> =>
      new Promise((resolve) => {
        if (signal.aborted) return void resolve(stopped);
        const job: DeliveryJob = { id: randomUUID(), ...outgoing };
        const end = (answer: DeliveryAnswer | undefined): void => {
          clearTimeout(timer);
          if (waiting.delete(job.id)) resolve(answer);
        };
        const waitFor = (milliseconds: number): NodeJS.Timeout => setTimeout(() => end(undefined), milliseconds + slack);
        let timer = waitFor(queueTime);
        const begun = (): void => {
          clearTimeout(timer);
          timer = waitFor(timeout);
        };
        heed(signal);
        waiting.set(job.id, { signal, begun, end });
        publish(job, () => end(undefined));
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

/** `take` must not throw: the client would read nothing more. */
const listen = (to: NatsConnection, subject: string, take: (text: string) => void): void => {
  to.subscribe(subject, {
    callback: (error, message) => {
      if (error === null) take(message.string());
    },
  });
};

interface QueueNeeds {
  workers: ReturnType<typeof createWorkers>;
  jobs: ReturnType<typeof createJobs>;
  limits: Limits;
}

/** The queue may be gone, with all that the server had in memory: it is made anew, and the jobs published once more. */
const openQueue = async (to: NatsConnection, queue: ReturnType<typeof queueOf>, results: string, { workers, jobs, limits }: QueueNeeds): Promise<Queue> => {
  const manager = await jetstreamManager(to);
  const js = jetstream(to, { timeout: slack });
  await ensureQueue(manager, queue);
  listen(to, queue.workers, (text) => {
    const sign = signIn(text);
    if (sign !== undefined) workers.onSign(sign);
  });
  listen(to, results, (text) => jobs.onResults(resultsIn(text)));
  const put = async (message: string): Promise<void> => void (await js.publish(queue.jobs, message));
  const putAgain = async (message: string): Promise<void> => {
    await ensureQueue(manager, queue);
    await put(message);
  };
  const packing = createPacking(mostJobs, (jobs) => {
    const common: Omit<DeliveryJobs, "jobs"> = { results, deadline: Date.now() + queueTime, ...limits };
    const message = `${JSON.stringify(common).slice(0, -1)},"jobs":[${jobs.join(",")}]}`;
    return put(message).catch(() => putAgain(message));
  });
  return { publish: (job, failed) => packing.add(JSON.stringify(job), failed) };
};

/**
 * Each request is a job in a work queue. What has no result by its deadline is published again, with the same `webhook-id`, and where no worker
 * gives a sign, or NATS is away, the node sends it itself: a receiver may get it twice, never not at all.
 */
export const natsDispatch = (options: NatsOptions, { timeout = 15_000, responseLimit = 16_384, logger }: DispatchOptions = {}): NatsDispatch => {
  const limits: Limits = { timeout, responseLimit };
  const queue = queueOf(options);
  const results = queue.results(randomUUID());
  const counts = { answered: 0, repeated: 0, here: 0 };
  const jobs = createJobs(limits);
  const workers = createWorkers(jobs.giveUpAll);
  let open: Queue | undefined;

  const link = keepLink(options, {
    name: "portico dispatch",
    retryDelay: 250,
    logger,
    says: { fails: "requests of webhooks are sent by the node itself", works: "requests of webhooks are given to workers again" },
    work: async (connection, working) => {
      try {
        open = await openQueue(connection, queue, results, { workers, jobs, limits });
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
