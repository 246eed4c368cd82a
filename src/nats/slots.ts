/** Work under way, of which there may be so much at a time. */
export interface Slots {
  /** Resolves when it has ended, or failed. */
  begin(work: Promise<unknown>): Promise<void>;
  /** Resolves when there is room for more. */
  room(): Promise<void>;
  /** Resolves when nothing is under way. */
  ended(): Promise<void>;
}

/** `failed` is told of work that fails. */
export const createSlots = (most: number, failed: (error: unknown) => void): Slots => {
  let count = 0;
  let waiting: (() => void)[] = [];

  /** Not by `Promise.race`, which adds something to all work that lasts for long each time that other work ends. */
  const until = async (isSo: () => boolean): Promise<void> => {
    while (!isSo()) await new Promise<void>((resolve) => waiting.push(resolve));
  };

  const end = (): void => {
    count--;
    waiting.forEach((resolve) => resolve());
    waiting = [];
  };

  return {
    begin: (work) => {
      count++;
      return work.catch(failed).then(end);
    },
    room: () => until(() => count < most),
    ended: () => until(() => count === 0),
  };
};
