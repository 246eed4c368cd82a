import { runSliced, type Pace, type Sliced } from "../../async/time-slicing.js";

export interface CommitQueueNeeds {
  /** Called before a `write`, which may undo what was written: finishes what still depends on it. */
  begin(): Promise<void>;
  /** Commits what was prepared, and does all that follows from that. */
  commit(): Promise<void>;
  /** Discards what was prepared and not committed. */
  giveUp(): void;
}

/** Writes one after the other. Each is prepared in turns and then committed, with `writeAhead` while the next is being prepared. */
export interface CommitQueue {
  /** Resolves when it is committed. */
  write(work: Sliced<void>): Promise<void>;
  /** Resolves when it is prepared, in a hurry, and the write before is committed. If its own commit fails, the next call rejects. */
  writeAhead(work: Sliced<void>): Promise<void>;
  /** As `write`, but waits for its turn, and those that come meanwhile wait for it. */
  writeBetween(work: Sliced<void>): Promise<void>;
  /** Resolves when all is committed. */
  written(): Promise<void>;
  /** Resolves when no commit is under way, however it went. */
  idle(): Promise<void>;
}

export const createCommitQueue = ({ begin, commit, giveUp }: CommitQueueNeeds): CommitQueue => {
  let isTaken = false;
  /** Resolves when the work that was begun last is done, however it went. */
  let current: Promise<void> = Promise.resolve();
  let between: Promise<void> | undefined;
  /** The commit that is under way, until a caller has been told how it went. */
  let committing: Promise<void> | undefined;

  const heard = async (): Promise<void> => {
    try {
      await committing;
    } finally {
      committing = undefined;
    }
  };

  /** One at a time. Leaves nothing behind if it fails. */
  const taken = async (work: () => Promise<void>): Promise<void> => {
    while (between !== undefined) await between;
    return take(work);
  };

  const take = async (work: () => Promise<void>): Promise<void> => {
    if (isTaken) throw new Error("the store is already being written");
    isTaken = true;
    let done = (): void => undefined;
    current = new Promise((resolve) => (done = resolve));
    try {
      await work();
    } catch (error) {
      giveUp();
      // If the commit before has failed, that is the cause.
      await heard();
      throw error;
    } finally {
      isTaken = false;
      done();
    }
  };

  const workOut = async (work: Sliced<void>, pace: Pace): Promise<void> => {
    await runSliced(work, pace);
    await heard();
    committing = commit();
    committing.catch(() => undefined);
  };

  const whole = (work: Sliced<void>) => async (): Promise<void> => {
    await heard();
    await begin();
    await workOut(work, "background");
    await heard();
  };

  return {
    write: (work) => taken(whole(work)),
    writeBetween: async (work) => {
      const before = between;
      const own = (async () => {
        await before;
        await current;
        await take(whole(work));
      })();
      const settled = own.then(
        () => undefined,
        () => undefined,
      );
      between = settled;
      try {
        await own;
      } finally {
        if (between === settled) between = undefined;
      }
    },
    writeAhead: (work) => taken(() => workOut(work, "cooperative")),
    written: () => taken(heard),
    idle: async () => {
      await committing?.catch(() => undefined);
    },
  };
};
