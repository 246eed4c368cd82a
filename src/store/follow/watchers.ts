/** Who is to be told when the tip moves. */
interface Watchers {
  /** Returns what ends it. */
  add(changed: () => void): () => void;
  tell(): void;
}

export const createWatchers = (): Watchers => {
  const all = new Set<{ changed: () => void }>();
  return {
    add: (changed) => {
      const watcher = { changed };
      all.add(watcher);
      return () => void all.delete(watcher);
    },
    tell: () => all.forEach(({ changed }) => changed()),
  };
};

/** Milliseconds between two looks at a store that another process writes. */
const lookInterval = 25;

/** Watchers of something that only looking shows: it is looked at while somebody watches. */
export const createPolling = (look: () => string): Pick<Watchers, "add"> => {
  const watchers = createWatchers();
  let [count, last, timer] = [0, "", undefined as NodeJS.Timeout | undefined];
  const compare = (): void => {
    const now = look();
    if (now === last) return;
    last = now;
    watchers.tell();
  };
  return {
    add: (changed) => {
      const remove = watchers.add(changed);
      if (count++ === 0) {
        last = look();
        timer = setInterval(compare, lookInterval).unref();
      }
      let watching = true;
      return () => {
        if (!watching) return;
        watching = false;
        remove();
        if (--count === 0) clearInterval(timer);
      };
    },
  };
};
