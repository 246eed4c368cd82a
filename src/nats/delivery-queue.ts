import { AckPolicy, DiscardPolicy, type JetStreamManager, RetentionPolicy, StorageType } from "@nats-io/jetstream";
import { messageOf } from "../errors.js";
import type { queueOf } from "./connection.js";

/** The consumer that all workers share. */
export const consumerName = "workers";

const nanoseconds = (milliseconds: number): number => milliseconds * 1e6;
/** Nobody waits for older requests. */
const oldestRequest = 120_000;
const mostBytes = 268_435_456;
/** A worker that has not said what came of a bundle by then has lost it: another gets it. */
const lease = 45_000;

const isMissing = (error: unknown): boolean => /not found/i.test(messageOf(error));

/** Makes the queue and its consumer where there are none. In memory: a lost request is published again, and no body is on a disk. */
export const ensureQueue = async (manager: JetStreamManager, { name, requests }: ReturnType<typeof queueOf>): Promise<void> => {
  try {
    await manager.streams.info(name);
  } catch (error) {
    if (!isMissing(error)) throw error;
    const bounds = { max_age: nanoseconds(oldestRequest), max_bytes: mostBytes, discard: DiscardPolicy.New };
    await manager.streams.add({ name, subjects: [requests], retention: RetentionPolicy.Workqueue, storage: StorageType.Memory, ...bounds });
  }
  try {
    await manager.consumers.info(name, consumerName);
  } catch (error) {
    if (!isMissing(error)) throw error;
    await manager.consumers.add(name, { durable_name: consumerName, ack_policy: AckPolicy.Explicit, ack_wait: nanoseconds(lease), max_ack_pending: 10_000 });
  }
};
