import { type ConsumerMessages, DeliverPolicy, jetstream } from "@nats-io/jetstream";
import type { Logger } from "../../types/node-context.js";
import type { TipSource } from "../replica/tip-source.js";
import { keepLink, type NatsOptions, requireFiles, streamOf } from "./connection.js";

/**
 * The changes of a node as JetStream carries them. `followNode` takes it as `tip`, and asks the node for what it does not bring.
 * @throws PorticoError OPTION_INVALID for a file that cannot be read
 */
export const natsTip = (options: NatsOptions, logger?: Pick<Logger, "warn" | "info">): TipSource => {
  requireFiles(options);
  return {
    start: (nethash, take) => {
      const stream = streamOf(options, nethash);
      let messages: ConsumerMessages | undefined;
      const link = keepLink(options, {
        name: "portico replica",
        retryDelay: 500,
        logger,
        says: { fails: "changes do not come over NATS, the node is asked", works: "changes come over NATS again" },
        // An ordered consumer makes itself anew where messages are missing or the server was away.
        work: async (connection, working) => {
          const consumer = await jetstream(connection).consumers.get(stream.name, { deliver_policy: DeliverPolicy.New });
          messages = await consumer.consume();
          working();
          for await (const message of messages) await take(message.string());
        },
      });
      return { stop: () => link.stop(() => Promise.resolve(messages?.stop())) };
    },
  };
};
