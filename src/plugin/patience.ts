import { PorticoError } from "../errors.js";
import { type Cursor, parseCursors } from "../follow/cursor.js";
import type { FollowRoom } from "../follow/create-follow.js";

/** What a replica lacks that others behind the same balancer may have shown already. */
export interface Patience {
  /** Resolves when the tip has the height of `at`, or it does not come; undefined where there is nothing to wait for. */
  reach(at: string): Promise<void> | undefined;
  /** Following, where a cursor that is not known yet is waited for. */
  patient(follow: FollowRoom): FollowRoom;
}

export interface PatienceNeeds {
  /** Height of the tip. */
  height(): number;
  /** Calls `changed` with each new tip. Returns what ends it. */
  watch(changed: () => void): () => void;
}

/** Milliseconds: far longer than a block is on its way. */
const longest = 3_000;
/** Blocks that another replica may be ahead. */
const ahead = 100;

const isMissing = (error: unknown): boolean => error instanceof PorticoError && (error.code === "CURSOR_UNKNOWN" || error.code === "BAD_REQUEST");

/** Replicas get a block one after the other: a reader who has seen it at one may ask the next before that has it. */
export const createPatience = ({ height, watch }: PatienceNeeds): Patience => {
  const nextTip = (until: number): Promise<void> =>
    new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        leave();
        resolve();
      };
      const timer = setTimeout(end, Math.max(0, until - performance.now()));
      const leave = watch(end);
    });

  const waitFor = async (isThere: () => boolean): Promise<void> => {
    const until = performance.now() + longest;
    while (!isThere() && performance.now() < until) await nextTip(until);
  };

  /** Heights that a text names, which may still come. */
  const isNear = (text: string): boolean => {
    const heights = parseCursors(text).map((one) => (one.kind === "height" ? one.height : one.kind === "cursor" ? (one.cursor.block?.height ?? 0) : 0));
    return heights.some((one) => Math.abs(one - height()) <= ahead);
  };

  const isAbove = (text: string): boolean => parseCursors(text).every((one) => one.kind === "cursor" && (one.cursor.block?.height ?? 0) > height());

  const locate = async (follow: FollowRoom, text: string, options: Parameters<FollowRoom["locate"]>[1]): Promise<Cursor> => {
    const until = performance.now() + longest;
    for (;;) {
      try {
        return await follow.locate(text, options);
      } catch (error) {
        if (!isMissing(error) || !isNear(text)) throw error;
        if (performance.now() < until) await nextTip(until);
        // It is not gone: it has not come yet.
        else if (isAbove(text)) throw new PorticoError("NOT_READY", "This replica does not have that block yet.");
        else throw error;
      }
    }
  };

  return {
    reach: (at) => {
      const wanted = /^\d{1,10}$/.test(at) ? Number(at) : 0;
      return wanted <= height() || wanted > height() + ahead ? undefined : waitFor(() => height() >= wanted);
    },
    patient: (follow) => ({ ...follow, locate: (text, options) => locate(follow, text, options) }),
  };
};
