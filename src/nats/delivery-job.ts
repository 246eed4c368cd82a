import { AckPolicy, DiscardPolicy, type JetStreamManager, RetentionPolicy, StorageType } from "@nats-io/jetstream";
import type { DeliveryAnswer, OutgoingDelivery } from "../../types/webhooks.js";
import { messageOf } from "../errors.js";
import type { queueOf } from "./connection.js";

/** A request for a worker to send. */
export interface DeliveryJob extends OutgoingDelivery {
  id: string;
}

/** A message of the queue: a message for each job would cost the node more than sending the request itself. */
export interface DeliveryJobs {
  jobs: DeliveryJob[];
  /** Subject for what comes of them. */
  results: string;
  /** Milliseconds since 1970 from which on they are not to be begun any more. */
  deadline: number;
  /** Milliseconds for each request. */
  timeout: number;
  /** Bytes of each answer that are read. */
  responseLimit: number;
}

/** Jobs in one message, at the most: those of a message go to one worker. */
export const mostJobs = 16;

/** What a worker tells: jobs that it has begun, and what came of others. */
export interface DeliveryResults {
  begun?: string[];
  answers?: { id: string; answer: DeliveryAnswer }[];
}

/** What workers say every `heartbeat` milliseconds. */
export interface WorkerSign {
  worker: string;
  leaves: boolean;
}

export const heartbeat = 500;
/** Milliseconds without a sign after which a worker is taken to be gone. */
export const goneAfter = 2_000;
/** The consumer that all workers share. */
export const consumerName = "workers";

const nanoseconds = (milliseconds: number): number => milliseconds * 1e6;
/** Nobody waits for older jobs. */
const oldestJob = 120_000;
const mostBytes = 268_435_456;
/** A worker that has not said what came of a job by then has lost it: another gets it. */
const lease = 45_000;

const isMissing = (error: unknown): boolean => /not found/i.test(messageOf(error));

/** Makes the queue and its consumer where there are none. In memory: a lost job is published again, and no body is on a disk. */
export const ensureQueue = async (manager: JetStreamManager, { name, jobs }: ReturnType<typeof queueOf>): Promise<void> => {
  try {
    await manager.streams.info(name);
  } catch (error) {
    if (!isMissing(error)) throw error;
    const bounds = { max_age: nanoseconds(oldestJob), max_bytes: mostBytes, discard: DiscardPolicy.New };
    await manager.streams.add({ name, subjects: [jobs], retention: RetentionPolicy.Workqueue, storage: StorageType.Memory, ...bounds });
  }
  try {
    await manager.consumers.info(name, consumerName);
  } catch (error) {
    if (!isMissing(error)) throw error;
    await manager.consumers.add(name, { durable_name: consumerName, ack_policy: AckPolicy.Explicit, ack_wait: nanoseconds(lease), max_ack_pending: 10_000 });
  }
};

/** What a worker or the node was sent; undefined if it is nothing of ours. */
export const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
};
