/** An epoch time in the three forms that the second generation writes. */
export interface Timestamp {
  /** Seconds since the network's epoch. */
  epoch: number;
  /** Whole seconds since 1970. */
  unix: number;
  /** ISO 8601, UTC, with milliseconds. */
  human: string;
}

const dayLength = 86_400;
const twoDigits = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, "0"));

/** More days than a chain has in fifty years, so no real chain exceeds it. */
const keptDays = 20_000;

/** An epoch with its zone, which is UTC where it names none: `Date.parse` would take that of the machine. */
export const withZone = (epoch: string): string => {
  const utc = Date.parse(`${epoch}Z`);
  return Number.isNaN(utc) ? epoch : new Date(utc).toISOString();
};

/**
 * Writes seconds since 1970, and the milliseconds that all times of a network have, as `Date` does, in a third of the time, by keeping the
 * text of each day: a page has up to a hundred times, many of them on the same day.
 */
const createTimeWriter = (milliseconds: number): ((unix: number) => string) => {
  const days = new Map<number, string>();
  const fraction = `.${String(milliseconds).padStart(3, "0")}Z`;
  const writeDay = (begin: number): string => {
    const written = new Date(begin * 1000).toISOString().slice(0, -"00:00:00.000Z".length);
    if (days.size >= keptDays) days.clear();
    days.set(begin, written);
    return written;
  };
  return (unix) => {
    if (unix < 0) return new Date(unix * 1000 + milliseconds).toISOString();
    const second = unix % dayLength;
    const day = days.get(unix - second) ?? writeDay(unix - second);
    return `${day}${twoDigits[Math.floor(second / 3600)] ?? ""}:${twoDigits[Math.floor(second / 60) % 60] ?? ""}:${twoDigits[second % 60] ?? ""}${fraction}`;
  };
};

/** Converts between epoch time and milliseconds since 1970, for a network whose time begins at `epoch` (ISO 8601 with its zone). */
export const createEpoch = (epoch: string) => {
  const start = Date.parse(epoch);
  const startSecond = Math.floor(start / 1000);
  const write = createTimeWriter(start - startSecond * 1000);
  return {
    toMilliseconds: (timestamp: number): number => start + timestamp * 1000,
    /** With the fraction. */
    fromMilliseconds: (time: number): number => (time - start) / 1000,
    timestamp: (timestamp: number): Timestamp => {
      const unix = startSecond + timestamp;
      return { epoch: timestamp, unix, human: write(unix) };
    },
  };
};

export type Epoch = ReturnType<typeof createEpoch>;
