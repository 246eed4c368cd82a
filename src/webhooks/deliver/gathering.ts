/**
 * Outcomes that may wait are written when there are so many, or when the first has waited so many milliseconds. One transaction takes no more of
 * them: everybody else waits until it ends, about a millisecond.
 */
const gather = { most: 64, wait: 10 };

/** Gathers what is to be written, so that much of it goes into one transaction. */
export interface Gathering<Entry> {
  add(entry: Entry, mayWait: boolean): void;
  /** How many are not written yet. */
  count(): number;
  /** Writes what there is, also what could not be written before. */
  begin(): void;
  /** Resolves when everything is written, or cannot be. */
  end(): Promise<void>;
}

/** `write`: one batch after another; never rejects; resolves to false if nothing of it could be written, which is then tried again with what comes next. */
export const createGathering = <Entry>(write: (batch: readonly Entry[]) => Promise<boolean>): Gathering<Entry> => {
  let entries: Entry[] = [];
  let writing: Promise<void> | undefined;
  let underWay = 0;
  let isUrgent = false;
  let waiting: NodeJS.Timeout | undefined;

  const isDue = (): boolean => entries.length > 0 && (isUrgent || entries.length >= gather.most);

  const writeAll = async (): Promise<void> => {
    let isWritten = true;
    while (isWritten && isDue()) {
      const batch = entries.splice(0, gather.most);
      isUrgent = isUrgent && entries.length > 0;
      underWay = batch.length;
      isWritten = await write(batch);
      underWay = 0;
      if (!isWritten) entries = [...batch, ...entries];
    }
    writing = undefined;
    if (isWritten) expect();
  };

  const begin = (): void => {
    clearTimeout(waiting);
    waiting = undefined;
    isUrgent = true;
    if (entries.length > 0) writing ??= writeAll();
  };

  /** What waits is written after a moment. */
  const expect = (): void => {
    if (entries.length > 0) waiting ??= setTimeout(begin, gather.wait);
  };

  return {
    add: (entry, mayWait) => {
      entries.push(entry);
      if (mayWait && entries.length < gather.most) expect();
      else begin();
    },
    count: () => entries.length + underWay,
    begin,
    end: async () => {
      begin();
      await writing;
    },
  };
};
