/** Counts what has begun and not ended, and tells when there is none. */
export interface OpenCount {
  readonly count: number;
  enter(): void;
  /** Ends what `enter` began. */
  leave(): void;
  /** Resolves as soon as there is none. */
  none(): Promise<void>;
}

export const createOpenCount = (): OpenCount => {
  let count = 0;
  let waiting: (() => void)[] = [];
  return {
    get count() {
      return count;
    },
    enter: () => {
      count += 1;
    },
    leave: () => {
      count -= 1;
      if (count > 0) return;
      waiting.forEach((resolve) => resolve());
      waiting = [];
    },
    none: () => (count === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
  };
};
