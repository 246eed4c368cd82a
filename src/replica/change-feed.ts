import type { BlockData } from "../../types/events.js";
import type { FollowingChain } from "../../types/followed-node.js";
import type { Logger } from "../../types/node-context.js";
import { pause } from "../async/clock.js";
import { parseChange, type TipSource, type ChangeNotes } from "./changes.js";
import { createFailureLog, type NodeClient } from "./node-client.js";
import type { NodeWatch } from "./node-watch.js";

interface ChangeFeedNeeds {
  client: NodeClient;
  watch: NodeWatch;
  notes: ChangeNotes;
  emit(event: "block.applied" | "block.reverted", block: BlockData): void;
  /** Another way by which changes come, for the network of this `nethash`. */
  tip: TipSource | undefined;
  nethash: string;
  logger: Logger;
}

/** Hands over blocks as the node applies and reverts them. */
interface ChangeFeed {
  follow(chain: FollowingChain): void;
  stop(): Promise<void>;
}

/** Blocks that may be handed over and not written yet: beyond that the node waits, and with it nothing piles up here. */
const mostUnwritten = 50;
/** Milliseconds until a stream that ended is opened again. */
const retryDelay = 100;
/** Milliseconds that the node may be ahead of what the tip source has sent. */
const tolerated = 1_000;
const lookInterval = 100;

/** Hands over one line of changes. Only what the node itself has sent says that it is there, and where: others may publish, too. */
const createTake = ({ watch, notes, emit }: ChangeFeedNeeds) => {
  let unwritten = 0;
  return async (line: string, { settled }: FollowingChain, isOfNode: boolean): Promise<void> => {
    const change = parseChange(line);
    const { kind, block } = change;
    const known = watch.tip() ?? 0;
    if (isOfNode) watch.heard(kind === "applied" ? Math.max(known, block.height) : Math.min(known, block.height - 1));
    if (isOfNode) notes.put(change);
    else notes.putFromTip(change);
    emit(`block.${kind}`, block);
    if (++unwritten < mostUnwritten) return;
    unwritten = 0;
    await settled();
  };
};

/** Resolves when the tip source no longer sends all that the node has. */
const tipSourceFails = async (watch: NodeWatch, { tip }: FollowingChain, signal: AbortSignal): Promise<void> => {
  for (let behindFor = 0; !signal.aborted && behindFor < tolerated; await pause(lookInterval, signal)) {
    behindFor = watch.problem() === undefined && watch.distance(tip()?.height ?? 0).behind > 0 ? behindFor + lookInterval : 0;
  }
};

export const createChangeFeed = (needs: ChangeFeedNeeds): ChangeFeed => {
  const { client, watch, tip: tipSource, nethash, logger } = needs;
  const take = createTake(needs);
  let life: { ending: AbortController; ended: Promise<void>; other: { stop(): Promise<void> } | undefined } | undefined;
  /** Aborted when the tip source has sent something. */
  let tipSent = new AbortController();

  /**
   * From the replica's own tip; where the node does not know that, from the node's tip: the first block shows then that others are missing,
   * and the store reads them from the block source.
   */
  const stream = async (chain: FollowingChain, signal: AbortSignal): Promise<void> => {
    const own = chain.tip();
    const after = own === undefined ? "genesis" : `${own.height}-${own.id},tip`;
    for await (const line of client.lines(`/v2/changes?follow=true&times=true&after=${encodeURIComponent(after)}`, { signal }))
      await take(line, chain, true);
  };

  const streamUntilTip = async (chain: FollowingChain, signal: AbortSignal): Promise<void> => {
    tipSent = new AbortController();
    // A node that vanishes without a word leaves the connection open.
    const lost = new AbortController();
    const leave = watch.watch(() => {
      if (watch.problem() !== undefined) lost.abort();
    });
    try {
      await stream(chain, AbortSignal.any([signal, lost.signal, tipSent.signal]));
    } finally {
      leave();
    }
  };

  const followOnce = async (chain: FollowingChain, signal: AbortSignal): Promise<void> => {
    await watch.available(signal);
    // The node may have come back on a branch that does not have the replica's tip: the stream tells of it only with the next block.
    chain.look();
    // It goes on from the tip: what was handed over, or is still being read from the block source, is written first.
    await chain.settled();
    try {
      await streamUntilTip(chain, signal);
    } catch (error) {
      if (!tipSent.signal.aborted) throw error;
    }
    if (tipSent.signal.aborted) await tipSourceFails(watch, chain, signal);
  };

  const run = async (chain: FollowingChain, signal: AbortSignal): Promise<void> => {
    const failed = createFailureLog({ logger, say: (message) => `the node's changes: ${message}` });
    for (; !signal.aborted; await pause(retryDelay, signal)) await followOnce(chain, signal).catch(failed.note);
  };

  return {
    follow: (chain) => {
      if (life !== undefined) return;
      const ending = new AbortController();
      const other = tipSource?.start(nethash, (line) => {
        tipSent.abort();
        return take(line, chain, false);
      });
      life = { ending, other, ended: run(chain, ending.signal) };
    },
    stop: async () => {
      const stopping = life;
      life = undefined;
      stopping?.ending.abort();
      await stopping?.other?.stop();
      await stopping?.ended;
    },
  };
};
