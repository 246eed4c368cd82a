import type { Worker } from "node:cluster";
import type { MaybePromise } from "../../types/chain-adapter.js";
import type { TransactionData } from "../../types/events.js";
import type { Network, PoolResult, ProcessMetrics, WhichMetrics } from "../../types/node-context.js";
import { messageOf } from "./program/host-error.js";
import type { HostOptions } from "./options.js";

/** What a worker can ask of the node's own process, over the channel that node:cluster opens between them. */
export interface NodeServices {
  /** The command line's options, with the port to serve on. */
  options(): MaybePromise<HostOptions>;
  /** A worker gets it from the node, and so need not load what makes and checks signatures. */
  network(): MaybePromise<Network>;
  list(): MaybePromise<TransactionData[]>;
  get(id: string): MaybePromise<TransactionData | undefined>;
  submit(transactions: TransactionData[]): MaybePromise<PoolResult>;
  /** Metrics of the node's own process and of the workers other than the one that asks, which tells its own. */
  otherMetrics(own: ProcessMetrics): MaybePromise<ProcessMetrics[]>;
}

type Name = keyof NodeServices;

/** From a worker to the node. */
type FromWorker = { question: number; name: Name; args: unknown[] } | { failed: WorkerFailure } | { metrics: ProcessMetrics; asked?: number };
/** From the node to a worker. */
type FromNode = { question: number; value: unknown } | { question: number; error: string } | { problem: string | undefined } | { metricsAsked: number };

/** Why a worker cannot serve. */
export interface WorkerFailure {
  message: string;
  /** Code of a system error, such as EADDRINUSE. */
  code?: string | undefined;
}

/** The node's end of the channel to one worker. */
export interface WorkerChannel {
  /** Tells the worker what keeps the node from following the chain, for its health. */
  tell(problem: string | undefined): void;
  /** Asks the worker for its metrics. Whether it has told them in time. */
  askMetrics(): Promise<boolean>;
}

/** What a worker tells unasked, too. */
export interface WorkerReports {
  /** Why it cannot serve, before it ends. */
  failed(failure: WorkerFailure): void;
  /** Its metrics as they are now, or what of them grows. */
  metrics(metrics: ProcessMetrics): void;
}

/** Milliseconds for which a worker's metrics are waited for: one that is busy must not keep the others' from being read. */
const metricsPatience = 2_000;

/** Answers a worker's questions. */
export const answerWorker = (worker: Worker, services: NodeServices, reports: WorkerReports): WorkerChannel => {
  const send = (message: FromNode): void => {
    if (worker.isConnected()) worker.send(message);
  };
  const answer = async (question: number, name: Name, args: unknown[]): Promise<void> => {
    try {
      const service = services[name] as (...given: unknown[]) => unknown;
      send({ question, value: await service(...args) });
    } catch (error) {
      send({ question, error: messageOf(error) });
    }
  };
  const expected = new Map<number, (isTold: boolean) => void>();
  let asked = 0;
  const askMetrics = (): Promise<boolean> =>
    new Promise((resolve) => {
      const own = ++asked;
      const end = (isTold: boolean): void => {
        clearTimeout(late);
        expected.delete(own);
        resolve(isTold);
      };
      const late = setTimeout(() => end(false), metricsPatience);
      expected.set(own, end);
      if (worker.isConnected()) send({ metricsAsked: own });
      else end(false);
    });
  worker.on("message", (message: FromWorker) => {
    if ("metrics" in message) {
      reports.metrics(message.metrics);
      if (message.asked !== undefined) expected.get(message.asked)?.(true);
    } else if ("failed" in message) reports.failed(message.failed);
    else void answer(message.question, message.name, message.args);
  });
  worker.once("disconnect", () => expected.forEach((end) => end(false)));
  return { tell: (problem) => send({ problem }), askMetrics };
};

/** Milliseconds after which a worker tells its metrics again: what it has counted since then is lost if it is killed. */
const metricsInterval = 5_000;

/** The worker's end of the channel. */
export interface NodeChannel {
  readonly services: NodeServices;
  problem(): string | undefined;
  /** Says how the node gets this process's metrics. It is told what grows now and then, so that it has that if this process ends. */
  answerMetrics(read: (which: WhichMetrics) => Promise<ProcessMetrics>): void;
  /** Tells the node what of this process's metrics grows. */
  tellMetrics(): Promise<void>;
  /** Resolves when the node has been told. */
  fail(failure: WorkerFailure): Promise<void>;
}

/** Connects a worker's process to the node. If the channel closes, the node is gone, and node:cluster ends the worker. */
export const connectToNode = (channel: NodeJS.Process = process, tellEvery = metricsInterval): NodeChannel => {
  const waiting = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
  let [asked, problem] = [0, undefined as string | undefined];

  const send = (message: FromWorker): Promise<void> =>
    new Promise((resolve, reject) => {
      channel.send?.(message, undefined, undefined, (error) => (error === null ? resolve() : reject(error)));
    });

  let readMetrics: (which: WhichMetrics) => Promise<ProcessMetrics> = () => Promise.resolve([]);
  const sendMetrics = async (asked?: number): Promise<void> => send(asked === undefined ? { metrics: await readMetrics("growing") } : { metrics: await readMetrics("all"), asked });
  // A node that is just ending does not need them any more.
  const passOn = (asked?: number): void => void sendMetrics(asked).catch(() => undefined);

  channel.on("message", (message: FromNode) => {
    if ("metricsAsked" in message) {
      passOn(message.metricsAsked);
      return;
    }
    if ("problem" in message) {
      problem = message.problem;
      return;
    }
    const asker = waiting.get(message.question);
    waiting.delete(message.question);
    if ("error" in message) asker?.reject(new Error(message.error));
    else asker?.resolve(message.value);
  });

  const ask = <N extends Name>(name: N, ...args: Parameters<NodeServices[N]>): Promise<Awaited<ReturnType<NodeServices[N]>>> =>
    new Promise((resolve, reject) => {
      const question = ++asked;
      waiting.set(question, { resolve: resolve as (value: unknown) => void, reject });
      send({ question, name, args }).catch((error: unknown) => {
        waiting.delete(question);
        reject(error instanceof Error ? error : new Error(String(error)));
      });
    });

  return {
    services: {
      options: () => ask("options"),
      network: () => ask("network"),
      list: () => ask("list"),
      get: (id) => ask("get", id),
      submit: (transactions) => ask("submit", transactions),
      otherMetrics: (own) => ask("otherMetrics", own),
    },
    problem: () => problem,
    answerMetrics: (read) => {
      readMetrics = read;
      setInterval(passOn, tellEvery).unref();
    },
    tellMetrics: () => sendMetrics(),
    fail: (failure) => send({ failed: failure }),
  };
};
