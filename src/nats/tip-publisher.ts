import { jetstream, jetstreamManager, type JetStreamManager, RetentionPolicy, StorageType, DiscardPolicy } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import type { Logger } from "../../types/node-context.js";
import { messageOf } from "../errors.js";
import { parseChange } from "../replica/changes.js";
import { createNodeClient } from "../replica/node-client.js";
import { addStream, extendStream, keepLink, type NatsOptions, requireFiles, streamOf } from "./connection.js";

/** Carries the changes of a node into a stream of JetStream, for its replicas. */
export interface TipPublisher {
  /** Changes published since it was started. */
  published(): number;
  /** Why changes are not published; undefined while they are. For `warning` of the node context. */
  problem(): string | undefined;
  stop(): Promise<void>;
}

export interface TipPublisherNeeds {
  /** The node's interface. */
  url: string;
  /** Hash of the network's payload, by which its stream is named. */
  nethash: string;
  /** Where log lines go. */
  logger: Logger;
}

/** What a stream keeps: replicas that were away for longer read the rest from the node. */
const keptMessages = 10_000;
const keptNanoseconds = 3_600e9;
/** Bytes of a message besides its payload. */
const overhead = 1_024;

const notPublished = "changes are not published to NATS, so replicas read them from the node";

interface Place {
  /** Sequence number of the last message. */
  sequence: number;
  cursor: string | undefined;
}

/** A block too large for a message is announced without its transactions: replicas read it from the node. */
const fitting = (line: string, most: number): string => {
  if (Buffer.byteLength(line) + overhead <= most) return line;
  const change = parseChange(line);
  return JSON.stringify({ ...change, block: { ...change.block, transactions: [] } });
};

/** What a publisher is refused with whose message is not the next one. */
const isOvertaken = (error: unknown): boolean => /wrong last sequence/i.test(messageOf(error));

const isMissing = (error: unknown): boolean => /not found|no message/i.test(messageOf(error));

/** Makes the stream where there is none: a server that lost it begins again. */
const ensureStream = async (manager: JetStreamManager, connection: NatsConnection, options: NatsOptions, { name, subject }: ReturnType<typeof streamOf>): Promise<Place> => {
  try {
    const found = await manager.streams.info(name);
    await extendStream(manager, connection, options, found);
    const { state } = found;
    if (state.messages === 0) return { sequence: state.last_seq, cursor: undefined };
    const last = await manager.streams.getMessage(name, { seq: state.last_seq });
    return { sequence: state.last_seq, cursor: last === null ? undefined : parseChange(last.string()).cursor };
  } catch (error) {
    if (!isMissing(error)) throw error;
    const bounds = { discard: DiscardPolicy.Old, max_msgs: keptMessages, max_age: keptNanoseconds };
    const { state } = await addStream(manager, connection, options, { name, subjects: [subject], retention: RetentionPolicy.Limits, storage: StorageType.File, ...bounds });
    return { sequence: state.last_seq, cursor: undefined };
  }
};

/**
 * Publishes each change with the sequence number that the last message must have. Of two publishers, one is therefore refused. It reads what
 * the stream has and continues after that, so the stream has no gaps or duplicates. Replicas read from the node what the server loses.
 * @throws PorticoError OPTION_INVALID for a file that cannot be read
 */
export const startTipPublisher = (options: NatsOptions, { url, nethash, logger }: TipPublisherNeeds): TipPublisher => {
  requireFiles(options);
  const client = createNodeClient(url);
  const stream = streamOf(options, nethash);
  let published = 0;
  let isAlone = true;

  /** The stream has it from another: it is read where that has come to. */
  const stepBack = (error: unknown): void => {
    if (!isOvertaken(error)) throw error;
    if (isAlone) logger.info("another node, or a replica, publishes changes to the same NATS stream");
    isAlone = false;
  };

  const publishAll = async (connection: NatsConnection, working: () => void, signal: AbortSignal): Promise<void> => {
    const place = await ensureStream(await jetstreamManager(connection), connection, options, stream);
    const js = jetstream(connection);
    const most = connection.info?.max_payload ?? 1_048_576;
    const after = place.cursor === undefined ? "tip" : `${place.cursor},tip`;
    for await (const line of client.lines(`/v2/changes?follow=true&times=true&after=${encodeURIComponent(after)}`, { signal })) {
      const { seq } = await js.publish(stream.subject, fitting(line, most), { expect: { lastSequence: place.sequence } });
      place.sequence = seq;
      published++;
      working();
    }
  };

  const link = keepLink(options, {
    name: "portico node",
    retryDelay: 250,
    logger,
    says: { fails: notPublished, works: "changes are published to NATS again" },
    work: (connection, working, signal) => publishAll(connection, working, signal).catch(stepBack),
  });

  return {
    published: () => published,
    problem: () => {
      const problem = link.problem();
      return problem === undefined ? undefined : `${notPublished}: ${problem}`;
    },
    stop: async () => {
      await link.stop();
      await client.close();
    },
  };
};
