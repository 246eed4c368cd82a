import { runSliced, type Pace, type Sliced } from "../../../async/time-slicing.js";

export interface CommitQueueNeeds {
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

type Work = () => Promise<void>;

/** One piece of work at a time. `failed` is called before one that failed lets others begin. */
const createTurns = (failed: Work) => {
  let isTaken = false;
  /** Resolves when the work that was begun last is done, however it went. */
  let current: Promise<void> = Promise.resolve();
  let between: Promise<void> | undefined;

  const take = async (work: Work): Promise<void> => {
    if (isTaken) throw new Error("the store is already being written");
    isTaken = true;
    let done = (): void => undefined;
    current = new Promise((resolve) => (done = resolve));
    try {
      await work();
    } catch (error) {
      await failed();
      throw error;
    } finally {
      isTaken = false;
      done();
    }
  };

  return {
    /** Begins at once, and fails if other work is under way; but waits for what was put between. */
    take: async (work: Work): Promise<void> => {
      while (between !== undefined) await between;
      return take(work);
    },
    /** Waits for its turn, and what comes meanwhile waits for it. */
    putBetween: async (work: Work): Promise<void> => {
      const before = between;
      const own = (async () => {
        await before;
        await current;
        await take(work);
      })();
      const settled = own.catch(() => undefined);
      between = settled;
      try {
        await own;
      } finally {
        if (between === settled) between = undefined;
      }
    },
  };
};

export const createCommitQueue = ({ commit, giveUp }: CommitQueueNeeds): CommitQueue => {
  /** The commit that is under way, until a caller has been told how it went. */
  let committing: Promise<void> | undefined;

  const heard = async (): Promise<void> => {
    try {
      await committing;
    } finally {
      committing = undefined;
    }
  };

  /** Work that fails leaves nothing behind. */
  const turns = createTurns(async () => {
    giveUp();
    // If the commit before has failed, that is the cause.
    await heard();
  });

  const workOut = async (work: Sliced<void>, pace: Pace): Promise<void> => {
    await runSliced(work, pace);
    await heard();
    committing = commit();
    committing.catch(() => undefined);
  };

  const whole = (work: Sliced<void>): Work => async () => {
    await heard();
    await workOut(work, "background");
    await heard();
  };

  return {
    write: (work) => turns.take(whole(work)),
    writeBetween: (work) => turns.putBetween(whole(work)),
    writeAhead: (work) => turns.take(() => workOut(work, "cooperative")),
    written: () => turns.take(heard),
    idle: async () => {
      await committing?.catch(() => undefined);
    },
  };
};
