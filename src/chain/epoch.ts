/** An epoch time in the three forms that the second generation writes. */
export interface Timestamp {
  /** Seconds since the network's epoch. */
  epoch: number;
  /** Seconds since 1970. */
  unix: number;
  /** ISO 8601, UTC, with milliseconds. */
  human: string;
}

/** Converts between epoch time and the clock, for a network whose time begins at `epoch` (ISO 8601). */
export const createEpoch = (epoch: string) => {
  const start = Date.parse(epoch) / 1000;
  return {
    toUnix: (timestamp: number): number => start + timestamp,
    fromUnix: (unix: number): number => Math.floor(unix - start),
    timestamp: (timestamp: number): Timestamp => {
      const unix = start + timestamp;
      return { epoch: timestamp, unix, human: new Date(unix * 1000).toISOString() };
    },
  };
};

export type Epoch = ReturnType<typeof createEpoch>;
