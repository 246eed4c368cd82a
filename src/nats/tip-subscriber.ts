import { setTimeout as delay } from "node:timers/promises";
import { type ConsumerMessages, DeliverPolicy, jetstream } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import type { Logger } from "../../types/node-context.js";
import { messageOf } from "../errors.js";
import type { TipSource } from "../replica/tip-source.js";
import { type NatsOptions, openConnection, streamOf } from "./connection.js";

const retryDelay = 500;

/** The changes of a node as JetStream carries them. `followNode` takes it as `tip`, and asks the node for what it does not bring. */
export const natsTip = (options: NatsOptions, logger?: Pick<Logger, "warn" | "info">): TipSource => ({
  start: (nethash, take) => {
    const stream = streamOf(options, nethash);
    const ending = new AbortController();
    let problem: string | undefined;
    let connection: NatsConnection | undefined;
    let messages: ConsumerMessages | undefined;

    /** An ordered consumer makes itself anew where messages are missing or the server was away. */
    const consume = async (): Promise<void> => {
      if (connection === undefined || connection.isClosed()) connection = await openConnection(options, "portico replica");
      const consumer = await jetstream(connection).consumers.get(stream.name, { deliver_policy: DeliverPolicy.New });
      messages = await consumer.consume();
      if (problem !== undefined) logger?.info("changes come over NATS again");
      problem = undefined;
      for await (const message of messages) await take(message.string());
    };

    const failed = (error: unknown): void => {
      if (ending.signal.aborted) return;
      const message = messageOf(error);
      if (message !== problem) logger?.warn(`changes do not come over NATS, the node is asked: ${message}`);
      problem = message;
    };

    const run = async (): Promise<void> => {
      while (!ending.signal.aborted) {
        try {
          await consume();
        } catch (error) {
          failed(error);
        }
        await delay(retryDelay, undefined, { signal: ending.signal, ref: false }).catch(() => undefined);
      }
      await connection?.close();
    };

    const ended = run();
    return {
      stop: async () => {
        ending.abort();
        messages?.stop();
        await connection?.close();
        await ended;
      },
    };
  },
});
