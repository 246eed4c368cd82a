/** An epoch time in the three forms that the second generation writes. */
export interface Timestamp {
  /** Seconds since the network's epoch. */
  epoch: number;
  /** Seconds since 1970. */
  unix: number;
  /** ISO 8601, UTC, with milliseconds. */
  human: string;
}

const dayLength = 86_400;
const twoDigits = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, "0"));

/** More days than a chain has in fifty years, so no real chain exceeds it. */
const keptDays = 20_000;

/**
 * Writes seconds since 1970 as `Date` does, in a third of the time, by keeping the text of each day: a page has up to a hundred times,
 * many of them on the same day.
 */
const createTimeWriter = (): ((unix: number) => string) => {
  const days = new Map<number, string>();
  const writeDay = (begin: number): string => {
    const written = new Date(begin * 1000).toISOString().slice(0, -"00:00:00.000Z".length);
    if (days.size >= keptDays) days.clear();
    days.set(begin, written);
    return written;
  };
  return (unix) => {
    if (!Number.isInteger(unix) || unix < 0) return new Date(unix * 1000).toISOString();
    const second = unix % dayLength;
    const day = days.get(unix - second) ?? writeDay(unix - second);
    return `${day}${twoDigits[Math.floor(second / 3600)] ?? ""}:${twoDigits[Math.floor(second / 60) % 60] ?? ""}:${twoDigits[second % 60] ?? ""}.000Z`;
  };
};

/** Converts between epoch time and Unix time in seconds, for a network whose time begins at `epoch` (ISO 8601). */
export const createEpoch = (epoch: string) => {
  const start = Date.parse(epoch) / 1000;
  const write = createTimeWriter();
  return {
    toUnix: (timestamp: number): number => start + timestamp,
    /** As `fromUnix`, with the fraction. */
    toEpoch: (unix: number): number => unix - start,
    fromUnix: (unix: number): number => Math.floor(unix - start),
    timestamp: (timestamp: number): Timestamp => {
      const unix = start + timestamp;
      return { epoch: timestamp, unix, human: write(unix) };
    },
  };
};

export type Epoch = ReturnType<typeof createEpoch>;
