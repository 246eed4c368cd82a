import { randomUUID } from "node:crypto";
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import type { Logger } from "../../types/node-context.js";
import type { DeliveryAnswer, DeliveryDispatch, OutgoingDelivery } from "../../types/webhooks.js";
import { keepLink, type NatsOptions, queueOf, requireFiles } from "./connection.js";
import { type BundleTerms, bundleText, goneAfter, mostRequests, type Result, resultsIn, signIn, type WorkerSign } from "./delivery-messages.js";
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

/** A request that was given away. */
interface Asked {
  outgoing: OutgoingDelivery;
  /** Aborts when the node stops. */
  signal: AbortSignal;
  /** What it was put into. */
  waiting?: Waiting;
  /** Undefined: nothing came back. What ends it first counts. */
  end(answer: DeliveryAnswer | undefined): void;
}

/** A bundle of which something has no answer yet. */
interface Waiting {
  id: string;
  /** Whether a worker has said that it has it. */
  isBegun: boolean;
  requests: readonly Asked[];
  left: number;
  timer: NodeJS.Timeout;
}

/** The queue, while a server is connected. */
interface Queue {
  add(asked: Asked): void;
}

/** Milliseconds that a request may wait for a worker. */
const queueTime = 10_000;
/** Milliseconds that an answer may be on its way beyond the request's own limit. */
const slack = 2_000;
/** Characters that a request takes beside its body, about. */
const headLength = 400;
/** A request is given to workers so often; then the node sends it itself. */
const mostTries = 2;

const stopped: DeliveryAnswer = { status: null, retryAfter: undefined, date: undefined, body: "", failure: { stage: "response", error: "The node has stopped." } };

/** Requests that have been given away, and the bundles that they are in. */
const createBundles = ({ timeout }: Limits) => {
  const open = new Set<Asked>();
  const bundles = new Map<string, Waiting>();
  const heeded = new WeakSet<AbortSignal>();
  let last = 0;

  const giveUp = (requests: Iterable<Asked>): void => {
    for (const { end } of requests) end(undefined);
  };

  /** One listener for all: thousands come and go in a second. */
  const heed = (signal: AbortSignal): void => {
    if (heeded.has(signal)) return;
    heeded.add(signal);
    const stop = (): void => {
      for (const one of open) if (one.signal === signal) one.end(stopped);
    };
    signal.addEventListener("abort", stop, { once: true });
  };

  const endOne = ({ waiting }: Asked): void => {
    if (waiting === undefined || --waiting.left > 0) return;
    clearTimeout(waiting.timer);
    bundles.delete(waiting.id);
  };

  const waitFor = (requests: readonly Asked[], milliseconds: number): NodeJS.Timeout => setTimeout(giveUp, milliseconds + slack, requests);

  return {
    ask: (outgoing: OutgoingDelivery, signal: AbortSignal, { add }: Queue): Promise<DeliveryAnswer | undefined> =>
      new Promise((resolve) => {
        if (signal.aborted) return void resolve(stopped);
        const asked: Asked = {
          outgoing,
          signal,
          end: (answer) => {
            if (!open.delete(asked)) return;
            endOne(asked);
            resolve(answer);
          },
        };
        heed(signal);
        open.add(asked);
        add(asked);
      }),
    /** Of some that were to be sent: those that have not ended meanwhile. */
    openAmong: (requests: readonly Asked[]) => requests.filter((asked) => open.has(asked)),
    /** Waits for what comes of a bundle, which gets a name. */
    begin: (requests: readonly Asked[]): string => {
      const waiting: Waiting = { id: String(++last), isBegun: false, requests, left: requests.length, timer: waitFor(requests, queueTime) };
      bundles.set(waiting.id, waiting);
      for (const asked of requests) asked.waiting = waiting;
      return waiting.id;
    },
    onResult: ({ bundle, at, answer }: Result): void => {
      const waiting = bundles.get(bundle);
      if (waiting === undefined) return;
      if (at !== undefined) return waiting.requests[at]?.end(answer);
      clearTimeout(waiting.timer);
      waiting.isBegun = true;
      waiting.timer = waitFor(waiting.requests, timeout);
    },
    giveUp,
    giveUpAll: () => giveUp(open),
    /** A worker that leaves ends what it has begun. */
    giveUpRest: () => giveUp([...open].filter(({ waiting }) => waiting?.isBegun !== true)),
  };
};

interface WorkersNeeds {
  /** Called when the last one has said that it leaves. */
  lastLeaves(): void;
  /** Called when the last one gives no sign any more. */
  lastIsLost(): void;
}

/** Workers that have given a sign lately. */
const createWorkers = ({ lastLeaves, lastIsLost }: WorkersNeeds) => {
  const signs = new Map<string, NodeJS.Timeout>();
  const remove = (worker: string, wasLast: () => void): void => {
    clearTimeout(signs.get(worker));
    if (signs.delete(worker) && signs.size === 0) wasLast();
  };
  return {
    count: () => signs.size,
    onSign: ({ worker, leaves }: WorkerSign): void => {
      clearTimeout(signs.get(worker));
      if (leaves) remove(worker, lastLeaves);
      else signs.set(worker, setTimeout(() => remove(worker, lastIsLost), goneAfter).unref());
    },
    clear: (): void => {
      for (const worker of [...signs.keys()]) remove(worker, lastIsLost);
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
  bundles: ReturnType<typeof createBundles>;
  limits: Limits;
}

/** The queue may be gone, with all that the server had in memory: it is made anew, and what was for it published once more. */
const openQueue = async (to: NatsConnection, queue: ReturnType<typeof queueOf>, results: string, { workers, bundles, limits }: QueueNeeds): Promise<Queue> => {
  const manager = await jetstreamManager(to);
  const js = jetstream(to, { timeout: slack });
  await ensureQueue(manager, queue);
  listen(to, queue.workers, (text) => {
    const sign = signIn(text);
    if (sign !== undefined) workers.onSign(sign);
  });
  listen(to, results, (text) => resultsIn(text).forEach(bundles.onResult));
  const put = async (message: string): Promise<void> => void (await js.publish(queue.requests, message));
  const putAgain = async (message: string): Promise<void> => {
    await ensureQueue(manager, queue);
    await put(message);
  };
  return createPacking<Asked>({
    most: mostRequests,
    lengthOf: ({ outgoing }) => outgoing.body.length + headLength,
    put: async (packed) => {
      const asked = bundles.openAmong(packed);
      if (asked.length === 0) return;
      const terms: BundleTerms = { results, deadline: Date.now() + queueTime, ...limits };
      const message = bundleText({ id: bundles.begin(asked), ...terms, requests: asked.map(({ outgoing }) => outgoing) });
      await put(message).catch(() => putAgain(message));
    },
    lost: bundles.giveUp,
  });
};

/**
 * Requests are put into a work queue, some in each message. What has no result by its deadline is published again, with the same `webhook-id`, and where no worker
 * gives a sign, or NATS is away, the node sends it itself: a receiver may get it twice, never not at all.
 * @throws PorticoError OPTION_INVALID for a file that cannot be read
 */
export const natsDispatch = (options: NatsOptions, { timeout = 15_000, responseLimit = 16_384, logger }: DispatchOptions = {}): NatsDispatch => {
  requireFiles(options);
  const limits: Limits = { timeout, responseLimit };
  const queue = queueOf(options);
  const results = queue.results(randomUUID());
  const counts = { answered: 0, repeated: 0, here: 0 };
  const bundles = createBundles(limits);
  const workers = createWorkers({ lastLeaves: bundles.giveUpRest, lastIsLost: bundles.giveUpAll });
  let open: Queue | undefined;

  const link = keepLink(options, {
    name: "portico dispatch",
    retryDelay: 250,
    logger,
    says: { fails: "requests of webhooks are sent by the node itself", works: "requests of webhooks are given to workers again" },
    work: async (connection, working) => {
      try {
        open = await openQueue(connection, queue, results, { workers, bundles, limits });
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
        const answer = await bundles.ask(outgoing, signal, open);
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
      bundles.giveUpAll();
    },
  };
};
