import { type ConsumerMessages, DeliverPolicy, jetstream } from "@nats-io/jetstream";
import type { Logger } from "../../types/node-context.js";
import type { TipSource } from "../replica/changes.js";
import { keepLink, type Link, type NatsOptions, requireFiles, streamOf } from "./connection.js";

/** Changes that come over JetStream. */
export interface NatsTip extends TipSource {
  /** Messages that have come so far, one for each change. */
  received(): number;
  /** Whether a server is there, and the stream of changes is read. Otherwise changes are read from the node. */
  isConnected(): boolean;
}

/**
 * The changes of a node, read from JetStream. `followNode` takes this as `tip`, and reads from the node what is missing there.
 * @throws PorticoError OPTION_INVALID for a file that cannot be read
 */
export const natsTip = (options: NatsOptions, logger?: Pick<Logger, "warn" | "info">): NatsTip => {
  requireFiles(options);
  let received = 0;
  let link: Link | undefined;
  return {
    start: (nethash, take) => {
      const stream = streamOf(options, nethash);
      let messages: ConsumerMessages | undefined;
      const own = keepLink(options, {
        name: "portico replica",
        retryDelay: 500,
        logger,
        says: { fails: "no changes arrive over NATS, so they are read from the node", works: "changes arrive over NATS again" },
        // An ordered consumer makes itself anew where messages are missing or the server was away.
        work: async (connection, working) => {
          const consumer = await jetstream(connection).consumers.get(stream.name, { deliver_policy: DeliverPolicy.New });
          messages = await consumer.consume();
          working();
          for await (const message of messages) {
            received++;
            await take(message.string());
          }
        },
      });
      link = own;
      return { stop: () => own.stop(() => Promise.resolve(messages?.stop())) };
    },
    received: () => received,
    isConnected: () => link?.isConnected() === true,
  };
};
