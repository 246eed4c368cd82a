import { inTurns, type Pace, type Steps } from "../steps.js";

export interface WriteLineNeeds {
  /** Before anything is worked out that may change what was written: what is owed to it is done. */
  begin(): Promise<void>;
  /** Commits what was worked out, and all that follows from that. */
  commit(): Promise<void>;
  /** Forgets what was worked out and not committed. */
  giveUp(): void;
}

/** Writes one after the other, each worked out in turns and then committed: beside the working out of the next, where that is wanted. */
export interface WriteLine {
  /** Resolves when it is committed. */
  write(steps: Steps<void>): Promise<void>;
  /** Resolves when it is worked out, in a hurry, and what was worked out before is committed. How its own commit went, the next call tells. */
  writeAhead(steps: Steps<void>): Promise<void>;
  /** Resolves when all is committed. */
  written(): Promise<void>;
  /** Resolves when no commit is under way, however it went. */
  idle(): Promise<void>;
}

export const createWriteLine = ({ begin, commit, giveUp }: WriteLineNeeds): WriteLine => {
  let isTaken = false;
  /** The commit that is under way, until somebody has heard how it went. */
  let committing: Promise<void> | undefined;

  const heard = async (): Promise<void> => {
    try {
      await committing;
    } finally {
      committing = undefined;
    }
  };

  /** One at a time. Leaves nothing behind where it fails. */
  const taken = async (work: () => Promise<void>): Promise<void> => {
    if (isTaken) throw new Error("the store is being written already");
    isTaken = true;
    try {
      await work();
    } catch (error) {
      giveUp();
      // Where the commit before has failed, that is why.
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
