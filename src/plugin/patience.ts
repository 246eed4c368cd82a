import { PorticoError } from "../errors.js";
import { type Cursor, type CursorField, parseCursors } from "../follow/cursor.js";
import type { FollowRoom } from "../follow/create-follow.js";

/** What a replica lacks that others behind the same balancer may have shown already. */
export interface Patience {
  /**
   * Resolves when the tip has the height of `at`, or the node does not have it either; undefined where there is nothing to wait for.
   * @throws PorticoError NOT_READY if it does not come in time
   */
  reach(at: string): Promise<void> | undefined;
  /** Following, where a cursor that is not known yet is waited for. */
  patient(follow: FollowRoom): FollowRoom;
}

interface PatienceNeeds {
  /** Height of the tip. */
  height(): number;
  /** Height of the node's tip; undefined while it is not known. */
  nodeHeight(): number | undefined;
  /** Calls `changed` with each new tip. Returns what ends it. */
  watch(changed: () => void): () => void;
}

/** Milliseconds: far longer than a block is on its way. */
const longest = 3_000;
/** Blocks that may come within that time, or that others may have before this replica has heard that the node has them. */
const near = 100;

const isMissing = (error: unknown): boolean => error instanceof PorticoError && (error.code === "CURSOR_UNKNOWN" || error.code === "BAD_REQUEST");

/** It is not gone: it has not come yet. */
const notYet = (): PorticoError => new PorticoError("NOT_READY", "This replica does not have that block yet.");

/** A height asked for. That of a block with its id was seen somewhere; another may be anyone's guess. */
interface Wanted {
  height: number;
  wasSeen: boolean;
}

const wantedBy = (text: string, field: CursorField | undefined): Wanted[] =>
  parseCursors(text, field).map((one) => (one.kind === "height" ? { height: one.height, wasSeen: false } : { height: one.kind === "cursor" ? (one.cursor.block?.height ?? 0) : 0, wasSeen: true }));

/** Replicas get a block one after the other: a reader who has seen it at one may ask the next before that has it. */
export const createPatience = ({ height, nodeHeight, watch }: PatienceNeeds): Patience => {
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

  const isNear = (wanted: Wanted): boolean => Math.abs(wanted.height - height()) <= near;

  /** Whether the node may have a block at this height that has not come here: one above the tip, or the chain near the tip is another. */
  const mayCome = ({ height: wanted, wasSeen }: Wanted): boolean => {
    const [own, node] = [height(), nodeHeight()];
    if (wanted <= own) return wanted > own - near && (node === undefined || node > own);
    return node === undefined || wanted <= Math.max(own, node) + (wasSeen ? near : 0);
  };

  const waitFor = async (wanted: Wanted): Promise<void> => {
    const until = performance.now() + longest;
    while (height() < wanted.height && isNear(wanted) && performance.now() < until) await nextTip(until);
    if (height() < wanted.height && mayCome(wanted)) throw notYet();
  };

  const locate = async (follow: FollowRoom, text: string, options: Parameters<FollowRoom["locate"]>[1]): Promise<Cursor> => {
    const until = performance.now() + longest;
    for (;;) {
      try {
        return await follow.locate(text, options);
      } catch (error) {
        if (!isMissing(error)) throw error;
        // A malformed text ends here.
        const wanted = wantedBy(text, options?.field);
        if (wanted.some(isNear) && performance.now() < until) await nextTip(until);
        else if (wanted.some(mayCome)) throw notYet();
        else throw error;
      }
    }
  };

  return {
    reach: (at) => {
      const wanted: Wanted = { height: /^\d{1,10}$/.test(at) ? Number(at) : 0, wasSeen: false };
      return wanted.height > height() && (isNear(wanted) || mayCome(wanted)) ? waitFor(wanted) : undefined;
    },
    patient: (follow) => ({ ...follow, locate: (text, options) => locate(follow, text, options) }),
  };
};
