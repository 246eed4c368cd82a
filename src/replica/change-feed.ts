import { setTimeout as delay } from "node:timers/promises";
import type { BlockData } from "../../types/events.js";
import type { FollowingChain, Logger } from "../../types/node-context.js";
import { messageOf } from "../errors.js";
import { parseChange } from "./change-line.js";
import type { NodeClient } from "./node-client.js";
import type { NodeWatch } from "./node-watch.js";
import type { ToldChanges } from "./told-changes.js";

export interface ChangeFeedNeeds {
  client: NodeClient;
  watch: NodeWatch;
  told: ToldChanges;
  emit(event: "block.applied" | "block.reverted", block: BlockData): void;
  logger: Logger;
}

/** Hands over blocks as the node applies and reverts them. */
export interface ChangeFeed {
  follow(chain: FollowingChain): void;
  stop(): Promise<void>;
}

/** Blocks that may be handed over and not written yet: beyond that the node waits, and with it nothing piles up here. */
const mostUnwritten = 50;
/** Milliseconds until a stream that ended is opened again. */
const retryDelay = 100;

export const createChangeFeed = ({ client, watch, told, emit, logger }: ChangeFeedNeeds): ChangeFeed => {
  let life: { ending: AbortController; ended: Promise<void> } | undefined;

  const take = (line: string): void => {
    const change = parseChange(line);
    const { kind, block } = change;
    const { height } = block;
    const known = watch.tip() ?? 0;
    watch.heard(kind === "applied" ? Math.max(known, height) : Math.min(known, height - 1));
    told.put(change);
    emit(`block.${kind}`, block);
  };

  /**
   * From the replica's own tip; where the node does not know that, from the node's tip: the first block shows then that others are missing,
   * and the store reads them from the block source.
   */
  const stream = async ({ tip, settled }: FollowingChain, signal: AbortSignal): Promise<void> => {
    const own = tip();
    const after = own === undefined ? "genesis" : `${own.height}-${own.id},tip`;
    let unwritten = 0;
    for await (const line of client.lines(`/v2/changes?follow=true&times=true&after=${encodeURIComponent(after)}`, { signal })) {
      take(line);
      if (++unwritten < mostUnwritten) continue;
      await settled();
      unwritten = 0;
    }
  };

  const run = async (chain: FollowingChain, signal: AbortSignal): Promise<void> => {
    let logged: string | undefined;
    while (!signal.aborted) {
      await watch.available(signal);
      // It goes on from the tip: what was handed over, or is still being read from the block source, is written first.
      await chain.settled();
      // A node that vanishes without a word leaves the connection open.
      const lost = new AbortController();
      const leave = watch.watch(() => {
        if (watch.problem() !== undefined) lost.abort();
      });
      try {
        await stream(chain, AbortSignal.any([signal, lost.signal]));
      } catch (error) {
        const message = messageOf(error);
        if (message !== logged) logger.debug(`the node's changes: ${message}`);
        logged = message;
      } finally {
        leave();
      }
      await delay(retryDelay, undefined, { signal, ref: false }).catch(() => undefined);
    }
  };

  return {
    follow: (chain) => {
      if (life !== undefined) return;
      const ending = new AbortController();
      life = { ending, ended: run(chain, ending.signal) };
    },
    stop: async () => {
      const stopping = life;
      life = undefined;
      stopping?.ending.abort();
      await stopping?.ended;
    },
  };
};
