import { inTurns, type Pace, type Steps } from "../../async/time-slicing.js";

export interface WriteLineNeeds {
  /** Called before a `write`, which may undo what was written: finishes what still depends on it. */
  begin(): Promise<void>;
  /** Commits what was prepared, and does all that follows from that. */
  commit(): Promise<void>;
  /** Discards what was prepared and not committed. */
  giveUp(): void;
}

/** Writes one after the other. Each is prepared in turns and then committed, with `writeAhead` while the next is being prepared. */
export interface WriteLine {
  /** Resolves when it is committed. */
  write(steps: Steps<void>): Promise<void>;
  /** Resolves when it is prepared, in a hurry, and the write before is committed. If its own commit fails, the next call rejects. */
  writeAhead(steps: Steps<void>): Promise<void>;
  /** Resolves when all is committed. */
  written(): Promise<void>;
  /** Resolves when no commit is under way, however it went. */
  idle(): Promise<void>;
}

export const createWriteLine = ({ begin, commit, giveUp }: WriteLineNeeds): WriteLine => {
  let isTaken = false;
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

  const workOut = async (steps: Steps<void>, pace: Pace): Promise<void> => {
    await inTurns(steps, pace);
    await heard();
    committing = commit();
    committing.catch(() => undefined);
  };

  return {
    write: (steps) =>
      taken(async () => {
        await heard();
        await begin();
        await workOut(steps, "patient");
        await heard();
      }),
    writeAhead: (steps) => taken(() => workOut(steps, "hurried")),
    written: () => taken(heard),
    idle: async () => {
      await committing?.catch(() => undefined);
    },
  };
};
