/** An event of the host as the log keeps it. */
export interface LoggedEvent {
  /** Place in the log, from 1; consecutive. */
  sequence: number;
  /** Milliseconds since 1970. */
  at: number;
  /** The canonical name. */
  event: string;
  /** The payload as JSON text. */
  json: string;
  /** The tip when it arrived; null where the chain is a host's own that offers no changes, or has no block yet. */
  position: { height: number; id: string } | null;
}

/** The log of the host's own events, for readers that follow. One process writes it; others may read. */
export interface HostLog {
  /** Random, made with the log: cursors name it. */
  readonly node: string;
  /** Sequence of the newest event; 0 where there never was one. */
  last(): number;
  /** Events above a sequence, ascending. */
  read(after: number, limit: number): LoggedEvent[];
  /** Resolves when the events are committed. Those that the log has already are left out. */
  append(events: readonly LoggedEvent[]): Promise<void>;
  /**
   * Removes some of the events that arrived before a time (milliseconds since 1970), and of the oldest where all take more than so many
   * bytes. The newest stays, so that numbers go on. Returns whether there are more to remove.
   */
  trim(bounds: { before: number; bytes: number }): boolean;
}

/** An event of the host that is to be written to the store. */
export interface HeardEvent {
  /** Consecutive: one more than that of the previous event. */
  number: number;
  at: number;
  event: string;
  json: string;
}

/** Holds events of the host until they are in the store: an append is immediate, so that the host never waits for the disk. */
export interface EventJournal {
  /** When this returns, the event survives the end of the process. */
  append(event: HeardEvent): void;
  /** The events not yet forgotten, in order. After opening: those that the previous process left. */
  kept(): readonly HeardEvent[];
  /** Drops the events up to this number, which the store now has. */
  forget(number: number): void;
  close(): void;
}
