import { existsSync, rmSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { EventEmitter } from "eventemitter3";
import type { BlockData } from "../../types/events.js";
import type { BlockMark, FollowedNode } from "../../types/followed-node.js";
import type { Logger, Network, NodeContext } from "../../types/node-context.js";
import type { FullClock } from "../async/clock.js";
import { createSharedAbort } from "../async/close-all.js";
import { messageOf, PorticoError } from "../errors.js";
import type { LakeFiles } from "../lake/index.js";
import { createChangeFeed } from "./change-feed.js";
import { type ChangeNotes, createChangeNotes, parseChange, type TipSource } from "./changes.js";
import { type AnswerStore, openAnswerStore } from "./answers.js";
import { createNodeBlocks, createReplicaLake } from "./node-blocks.js";
import { createNodeClient, type NodeClient, NodeRefusal } from "./node-client.js";
import { askNetwork, createNodeHost, type NodeHost } from "./node-host.js";
import { createNodeWatch } from "./node-watch.js";

interface FollowedNodeOptions {
  url: string;
  dataDir: string | undefined;
  /** Folder or URL of a lake of the node's blocks. Default: the node's own. */
  lake: string | undefined;
  lakeKey: string | undefined;
  signal: AbortSignal | undefined;
  tip: TipSource | undefined;
  logger: Logger;
  clock: FullClock;
}

interface FollowedNodeNeeds {
  /** Makes a lake's newest snapshot the store of a data folder that has none. */
  restore(files: LakeFiles, network: Network): Promise<void>;
  /** Removes the store of a data folder. */
  removeStore(dataDir: string): void;
}

/** Milliseconds that a node is waited for whose network is not known yet. */
const patience = 60_000;
const retryInterval = 500;
/** Milliseconds between two lines of the log while it is waited for. */
const logInterval = 10_000;
/** Milliseconds for the answer whether it tells changes. */
const changesPatience = 2_000;
/** Milliseconds between two looks at what the node says of itself. */
const renewInterval = 2_000;
/** In the data folder: the store beside it is not to be opened again. */
const discardFile = "discard-store";

/** The URL may be that of something else: of one route, or a page of the node's. */
const hintOf = (error: unknown): string =>
  error instanceof NodeRefusal && error.status === 404
    ? " (the URL to follow is the node's origin, or that of its interface, such as http://10.0.0.5:4003/api)"
    : "";

/** The network as the node says, or as it said before. @throws Error if it cannot be had */
const findNetwork = async (
  client: NodeClient,
  answers: AnswerStore,
  { logger, signal, clock: { monotonic: now } }: Pick<FollowedNodeOptions, "logger" | "signal" | "clock">,
): Promise<Network> => {
  const last = answers.get("network") as Network | undefined;
  const begun = now();
  for (let loggedAt = -Infinity; ;) {
    try {
      const network = await askNetwork(client);
      answers.put("network", network);
      return network;
    } catch (error) {
      if (last !== undefined) return last;
      const isFinal = error instanceof PorticoError || (error instanceof NodeRefusal && error.status !== 503 && error.status !== 429);
      if (isFinal || now() - begun > patience)
        throw new PorticoError("HOST_SILENT", `the node to follow does not return its network: ${messageOf(error)}${hintOf(error)}`, {
          cause: error,
        });
      if (now() - loggedAt >= logInterval) {
        logger.info(
          `waiting for the node to follow, at ${client.url}, for ${Math.round((now() - begun) / 1000)} of ${patience / 1000} s: ${messageOf(error)}`,
        );
        loggedAt = now();
      }
      await delay(retryInterval, undefined, { signal });
    }
  }
};

/** That it offers no changes is said at once; whatever else keeps it from telling them is waited for. @throws PorticoError NOT_SUPPORTED */
const requireChanges = async (client: NodeClient, signal: AbortSignal | undefined): Promise<void> => {
  try {
    await client.json("/v2/changes?after=tip&limit=1", { timeout: changesPatience, signal });
  } catch (error) {
    if (!(error instanceof NodeRefusal) || error.status !== 501) return;
    throw new PorticoError(
      "NOT_SUPPORTED",
      `the node at ${client.url} cannot be followed: ${error.said?.replace(/\.$/, "") ?? "it offers no changes"}`,
      { cause: error },
    );
  }
};

/** What the node says of itself, as far as it answers. Leaves no connection open. @throws PorticoError NOT_SUPPORTED */
const meet = async (
  client: NodeClient,
  host: NodeHost,
  { logger, signal }: Pick<FollowedNodeOptions, "logger" | "signal">,
): Promise<void> => {
  const renewed = host.renew().catch((error: unknown) => logger.warn(`the node does not return its configuration: ${messageOf(error)}`));
  try {
    await Promise.all([renewed, requireChanges(client, signal)]);
  } finally {
    await client.close();
  }
};

/** The mark in a data folder that its store is not to be opened again. */
const createDiscardMark = (dataDir: string, logger: Logger) => {
  const marker = join(dataDir, discardFile);
  return {
    set: (reason: string | undefined): void => {
      try {
        if (reason === undefined) rmSync(marker, { force: true });
        else writeFileSync(marker, `${reason}\n`);
      } catch (error) {
        logger.error(`${marker} cannot be written: ${messageOf(error)}`);
      }
    },
    /** The mark goes last: a process that ends in between begins again. */
    obey: async (removeStore: FollowedNodeNeeds["removeStore"]): Promise<void> => {
      if (!existsSync(marker)) return;
      logger.warn("the store's state differed from the node's, so the store is rebuilt from a snapshot or the blocks");
      removeStore(dataDir);
      await rm(marker, { force: true });
    },
  };
};

/** Milliseconds for an answer. */
const reversalPatience = 5_000;

/** A node that no longer knows the block, or is away, cannot say when it left it: the replica's own time stands then. */
const askReversals = async (
  { height, id }: BlockMark,
  { client, notes, signal }: { client: NodeClient; notes: ChangeNotes; signal: AbortSignal },
): Promise<void> => {
  try {
    for await (const line of client.lines(`/v2/changes?times=true&after=${height}-${id}`, {
      signal: AbortSignal.any([signal, AbortSignal.timeout(reversalPatience)]),
    })) {
      const change = parseChange(line);
      if (change.kind !== "reverted") return;
      notes.put(change);
    }
  } catch {
    return;
  }
};

type NodeParts = Required<Pick<NodeContext, "network" | "events" | "blocks" | "peers" | "sync" | "pool" | "node" | "follows">>;

/** A node context whose parts are another node's. Nothing is kept open until `createApiPlugin` starts with it. */
export const createFollowedNode = async (options: FollowedNodeOptions, needs: FollowedNodeNeeds): Promise<NodeParts> => {
  const { url, dataDir, lake: where, lakeKey: key, signal: giveUp, tip, logger, clock } = options;
  const client = createNodeClient(url);
  const answers = openAnswerStore(dataDir, client.url, logger);
  const network = await findNetwork(client, answers, { logger, signal: giveUp, clock });
  const events = new EventEmitter();
  const watch = createNodeWatch({ client, now: clock.monotonic });
  const notes = createChangeNotes(watch.tell);
  const host = createNodeHost({ client, watch, answers, now: clock.monotonic });
  await meet(client, host, { logger, signal: giveUp });
  const discardMark = dataDir === undefined ? undefined : createDiscardMark(dataDir, logger);
  let ending = createSharedAbort();
  const stopping = (): AbortSignal => ending.signal;
  const { nethash } = network.network;
  const restoreFrom = (files: LakeFiles): Promise<void> => needs.restore(files, network);
  const lake = createReplicaLake({ where: where ?? `${client.url}/lake`, nethash, key, dataDir, signal: stopping, restoreFrom, logger });
  const emit = (event: string, block: BlockData): void => {
    host.moved();
    events.emit(event, block);
  };
  const feed = createChangeFeed({ client, watch, notes, emit, tip, nethash, logger });
  const blocks = createNodeBlocks({ client, watch, notes, lake, signal: stopping, logger });
  let renewing: NodeJS.Timeout | undefined;

  const follows: FollowedNode = {
    url: client.url,
    prepare: async (signal) => {
      ending = createSharedAbort();
      watch.start();
      renewing = setInterval(() => void host.renew().catch(() => undefined), renewInterval).unref();
      if (dataDir === undefined) return;
      await discardMark?.obey(needs.removeStore);
      await lake.restore(AbortSignal.any([signal, ending.signal]));
    },
    follow: feed.follow,
    end: async () => {
      ending.abort();
      clearInterval(renewing);
      await feed.stop();
      await watch.stop();
      await lake.close();
      await answers.settled();
      await client.close();
    },
    digestOf: notes.digestOf,
    timesOf: notes.timesOf,
    askReversals: (block) => askReversals(block, { client, notes, signal: ending.signal }),
    watch: watch.watch,
    problem: watch.problem,
    height: () => (watch.problem() === undefined ? watch.tip() : undefined),
    distance: watch.distance,
    takeBack: (block) => {
      const tipBlock = notes.takeFromTip(block);
      if (tipBlock !== undefined) emit("block.reverted", tipBlock);
      return tipBlock !== undefined;
    },
    discardStore: (reason) => discardMark?.set(reason),
  };
  return { network, events, blocks, peers: host.peers, sync: host.sync, pool: host.pool, node: host.node, follows };
};
