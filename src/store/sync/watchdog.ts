import type { BlockSource } from "../../../types/events.js";
import type { FullClock } from "../../async/clock.js";

/** A block source, watched for reads that it does not answer. */
interface WatchedSource {
  readonly source: BlockSource | undefined;
  /** That the last read has had no answer for too long; undefined if nothing is wrong. */
  problem(): string | undefined;
}

/** Milliseconds that a source may take to answer before that is a problem: a busy database is none yet. */
const patience = 30_000;

/** A source that fails is tried again by its caller; one that never answers would be waited for in silence. */
export const watchSource = (source: BlockSource | undefined, clock: FullClock): WatchedSource => {
  let pending: { askedAt: number } | undefined;

  const watched = (of: BlockSource): BlockSource => ({
    read: async (fromHeight, limit) => {
      const own = { askedAt: clock.monotonic() };
      pending = own;
      try {
        return await of.read(fromHeight, limit);
      } finally {
        if (pending === own) pending = undefined;
      }
    },
    ...(of.height === undefined ? {} : { height: of.height.bind(of) }),
  });

  return {
    source: source === undefined ? undefined : watched(source),
    problem: () => {
      const waited = pending === undefined ? 0 : clock.monotonic() - pending.askedAt;
      return waited < patience ? undefined : `the block source has not answered for ${Math.floor(waited / 1000)} s`;
    },
  };
};
