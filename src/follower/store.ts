/** What the stores of `runFollower` have in common. */

/** Why a follower ends: another one writes to its store, a table has other columns, or the chain left blocks that were final. */
export class FollowerError extends Error {
  override readonly name = "FollowerError";
  readonly code: "FOLLOWER_CONFLICT" | "FOLLOWER_SCHEMA_CHANGED" | "FOLLOWER_TOO_DEEP";

  constructor(code: FollowerError["code"], message: string) {
    super(message);
    this.code = code;
  }
}

/** A block, as a store knows it. */
export interface Place {
  height: number;
  /** Where to go on after it. */
  cursor: string;
}

/** Blocks whose places are kept. */
export const mostPlaces = 32;

/** A transaction in which the rows of some blocks and the new cursor are written. */
export interface Writing<Tx> {
  readonly tx: Tx;
  /** Has what is written until `applied` logged for a block, so that it can be undone. */
  log(height: number): Promise<void>;
  /** Notes that a block is applied, and all before it. Logs up to `finalHeight` are removed. */
  applied(place: Place, finalHeight: number): Promise<void>;
  /** Undoes what was written to the tables for a block. @throws FollowerError FOLLOWER_TOO_DEEP */
  undo(height: number): Promise<void>;
  /** Notes that a block is reverted. `before`: where to go on now. */
  reverted(height: number, before: Place): Promise<void>;
}

export interface FollowerStore<Tx> {
  /** Whether it can undo. */
  readonly undoes: boolean;
  /** Makes what it needs. Returns the last places, the newest first; none where nothing was written yet. */
  open(): Promise<Place[]>;
  /**
   * Writes in one transaction, if the store's cursor is `before` (undefined: there is none yet).
   * @throws FollowerError FOLLOWER_CONFLICT, and whatever `work` throws: then nothing is written
   */
  write<T>(before: string | undefined, work: (writing: Writing<Tx>) => Promise<T>): Promise<T>;
}

export interface StoreOptions {
  /** Tables that `apply` writes to. Without `revert`, each needs a primary key (in SQLite a rowid will do). @default none */
  tables?: readonly string[];
}

export const conflict = (before: string | undefined, found: string | undefined): FollowerError =>
  new FollowerError("FOLLOWER_CONFLICT", `Another follower writes to this store, which is at ${found ?? "no block"}, not at ${before ?? "no block"}.`);

export const tooDeep = (height: number): FollowerError =>
  new FollowerError("FOLLOWER_TOO_DEEP", `Block ${height} is reverted, but was final when it was written, so no log exists to undo it. Build the tables anew.`);

export const schemaChanged = (table: string): FollowerError =>
  new FollowerError(
    "FOLLOWER_SCHEMA_CHANGED",
    `The columns of ${table} have changed while blocks can still be undone. Change them back, or build the tables anew.`,
  );

/** Names are quoted, so that any will do. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** Keeps its cursor in memory, and no rows: `revert` has to take back what `apply` has done. */
export const memoryStore = (): FollowerStore<undefined> => {
  let places: Place[] = [];
  return {
    undoes: false,
    open: () => Promise.resolve([...places]),
    write: async (before, work) => {
      const found = places[0]?.cursor;
      if (found !== before) throw conflict(before, found);
      let written = [...places];
      const result = await work({
        tx: undefined,
        log: () => Promise.resolve(),
        applied: (place) => {
          written = [place, ...written].slice(0, mostPlaces);
          return Promise.resolve();
        },
        undo: (height) => Promise.reject(tooDeep(height)),
        reverted: (height, left) => {
          written = written.filter((place) => place.height < height);
          if (written[0]?.cursor !== left.cursor) written = [left, ...written];
          return Promise.resolve();
        },
      });
      places = written;
      return result;
    },
  };
};
