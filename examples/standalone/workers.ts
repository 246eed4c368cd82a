import cluster, { type Worker } from "node:cluster";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import type { Clock, Logger, ProcessMetrics } from "../../types/node-context.js";
import { answerWorker, type NodeServices, type WorkerChannel, type WorkerFailure } from "./node-channel.js";
import { createWorkerMetrics } from "./worker-metrics.js";

/** The worker processes that serve requests, while this process forges, writes the store and delivers webhooks. */
export interface Workers {
  /** Resolves when all of them listen. @throws Error with the system's code if one cannot */
  start(): Promise<void>;
  /** Stops the workers; each ends when its open requests are answered. */
  stop(): Promise<void>;
}

export interface WorkersNeeds {
  services: Omit<NodeServices, "otherMetrics">;
  /** Metrics of this process. */
  metrics(): Promise<ProcessMetrics>;
  /** What keeps the node from following the chain; undefined if nothing does. */
  problem(): string | undefined;
  logger: Logger;
  clock: Required<Clock>;
}

/** Milliseconds from a worker's end to the start of its successor: 0 after a long life, doubled after each short one. */
const restartDelay = { first: 100, last: 10_000 };
const longLife = 10_000;
/** Milliseconds after which a worker that was told to stop is killed: longer than Portico waits for open requests. */
const patience = 15_000;
/** Milliseconds between two checks of the node's health. */
const healthInterval = 500;

/** Finds a free port: all workers, later ones included, have to be given the same one, so it cannot be 0. */
export const freePort = async (host: string): Promise<number> => {
  const server = createServer().listen(0, host);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
};

export const createWorkers = (count: number, { services, problem, metrics, logger, clock }: WorkersNeeds): Workers => {
  const running = new Map<Worker, WorkerChannel>();
  const restarts = new Set<NodeJS.Timeout>();
  let stopping = false;
  /** True once all workers have listened. */
  let served = false;
  let problemTold: string | undefined;
  let watching: NodeJS.Timeout | undefined;

  const restart = (number: number, delay: number): void => {
    const timer = setTimeout(() => {
      restarts.delete(timer);
      run(number, delay);
    }, delay);
    restarts.add(timer);
  };

  const told = createWorkerMetrics<Worker>();
  const othersOf = async (asking: Worker, own: ProcessMetrics): Promise<ProcessMetrics[]> => {
    told.keep(asking, own);
    const others = [...running].filter(([worker]) => worker !== asking).map(([, channel]) => channel);
    const [ofNode, ...answers] = await Promise.all([metrics(), ...others.map((channel) => channel.askMetrics())]);
    return [ofNode, ...told.besides(asking, 1 + answers.filter((isTold) => isTold).length)];
  };

  /** Starts a worker. `delay`: milliseconds by which this start was delayed. */
  const run = (number: number, delay: number): { listening: Promise<void> } => {
    const began = clock.monotonic();
    const worker = cluster.fork();
    let [listens, failure] = [false, undefined as WorkerFailure | undefined];
    const reports = { failed: (why: WorkerFailure) => void (failure = why), metrics: (metrics: ProcessMetrics) => told.keep(worker, metrics) };
    const channel = answerWorker(worker, { ...services, otherMetrics: (own) => othersOf(worker, own) }, reports);
    running.set(worker, channel);
    // Not when it exits: what it has sent before may come only afterwards.
    worker.once("disconnect", () => told.end(worker));
    // Sending to a worker that is just ending fails; its end is logged below.
    worker.on("error", (error) => logger.debug(`worker ${number}: ${error.message}`));
    channel.tell(problemTold);
    const listening = new Promise<void>((resolve, reject) => {
      worker.once("listening", () => {
        listens = true;
        logger.info(`worker ${number} serves as process ${String(worker.process.pid)}`);
        resolve();
      });
      worker.once("exit", (code, signal) => {
        running.delete(worker);
        const why = failure?.message ?? (signal ? signal : `code ${code}`);
        reject(Object.assign(new Error(`worker ${number} ended before it was ready: ${why}`), { code: failure?.code }));
        // Until all have listened, a worker that ends before it listens makes `start` fail. Any other worker that ends is replaced.
        if (stopping || !(listens || served)) return;
        const next = clock.monotonic() - began > longLife ? 0 : Math.min(restartDelay.last, Math.max(restartDelay.first, delay * 2));
        logger.warn(`worker ${number} ended (${why}); starting another${next === 0 ? "" : ` in ${next} ms`}`);
        restart(number, next);
      });
    });
    listening.catch(() => undefined);
    return { listening };
  };

  const passOnHealth = (): void => {
    if (problem() === problemTold) return;
    problemTold = problem();
    for (const channel of running.values()) channel.tell(problemTold);
  };

  const end = async (worker: Worker): Promise<void> => {
    if (worker.isDead()) return;
    // Not with `once` of node:events, which rejects on an error event, such as of a message to a worker that is just ending.
    const exited = new Promise((resolve) => worker.once("exit", resolve));
    worker.process.kill("SIGTERM");
    const late = setTimeout(() => worker.process.kill("SIGKILL"), patience);
    await exited;
    clearTimeout(late);
  };

  return {
    start: async () => {
      // The worker's file is beside this one and has the same extension: .ts, or .js when compiled.
      const exec = fileURLToPath(new URL(`worker${extname(import.meta.url)}`, import.meta.url));
      cluster.setupPrimary({ exec, args: [], serialization: "advanced" });
      watching = setInterval(passOnHealth, healthInterval);
      await Promise.all(Array.from({ length: count }, (_, index) => run(index + 1, 0).listening));
      served = true;
    },
    stop: async () => {
      stopping = true;
      clearInterval(watching);
      for (const timer of restarts) clearTimeout(timer);
      await Promise.all([...running.keys()].map(end));
    },
  };
};
