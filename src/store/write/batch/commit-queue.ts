import { runSliced, type Pace, type Sliced } from "../../../async/time-slicing.js";

interface CommitQueueNeeds {
  /** Commits what was prepared, and does all that follows from that. */
  commit(): Promise<void>;
  /** Discards what was prepared and not committed. */
  giveUp(): void;
}

/** Writes one after the other. Each is prepared in turns and then committed, with `writeAhead` while the next is being prepared. */
interface CommitQueue {
  /** Resolves when it is committed. */
  write(work: Sliced<void>): Promise<void>;
  /** Resolves when it is prepared, in a hurry, and the write before is committed. If its own commit fails, the next call rejects. */
  writeAhead(work: Sliced<void>): Promise<void>;
  /** Resolves when all is committed. */
  written(): Promise<void>;
  /** Resolves when no commit is under way, however it went. */
  idle(): Promise<void>;
}

export const createCommitQueue = ({ commit, giveUp }: CommitQueueNeeds): CommitQueue => {
  /** The commit that is under way, until a caller has been told how it went. */
  let committing: Promise<void> | undefined;
  let isTaken = false;

  const heard = async (): Promise<void> => {
    try {
      await committing;
    } finally {
      committing = undefined;
    }
  };

  /** One piece of work at a time; one that fails leaves nothing behind. */
  const take = async (work: () => Promise<void>): Promise<void> => {
    if (isTaken) throw new Error("the store is already being written");
    isTaken = true;
    try {
      await work();
    } catch (error) {
      giveUp();
      // If the commit before has failed, that is the cause.
      await heard();
      throw error;
    } finally {
      isTaken = false;
    }
  };

  const workOut = async (work: Sliced<void>, pace: Pace): Promise<void> => {
    await runSliced(work, pace);
    await heard();
    committing = commit();
    committing.catch(() => undefined);
  };

  return {
    write: (work) =>
      take(async () => {
        await heard();
        await workOut(work, "background");
        await heard();
      }),
    writeAhead: (work) => take(() => workOut(work, "cooperative")),
    written: () => take(heard),
    idle: async () => {
      await committing?.catch(() => undefined);
    },
  };
};
