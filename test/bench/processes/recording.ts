import { asBinary } from "lmdb";
import { entriesOf, type LogBytes, type LogEntry } from "../../../src/store/layout/write-log.js";
import type { Environment } from "../../../src/store/lmdb/environment.js";
import { databases } from "../../../src/store/layout/keys.js";
import { pieceKeyOf } from "../../../src/store/layout/posting-pieces.js";

/** What one write transaction puts and removes, in order, as bytes. */
export type RecordedWrite = readonly LogEntry[];

/** What committing a log has just written: the numbers of appended lists are replaced by the pieces that have them. */
const asWritten = ({ root, db }: Pick<Environment, "root" | "db">, log: Buffer): LogEntry[] => {
  const entries = entriesOf(log);
  const named = entries.filter(({ database }) => database === "lists").map(({ key }) => pieceKeyOf(key));
  const pieces = new Map(named.map((key) => [key.toString("latin1"), key]));
  root.resetReadTxn();
  const written = [...pieces.values()].map((key): LogEntry => ({ database: "lists", key, value: (db.lists.get(key) as Buffer | undefined) ?? null }));
  return [...entries.filter(({ database }) => database !== "lists"), ...written];
};

/** Records all that some work commits, and commits it. */
export const recordWrite = async (environment: Environment, work: () => Promise<void>): Promise<RecordedWrite> => {
  const recorded: LogEntry[] = [];
  const { commit } = environment;
  const recording = async (log: LogBytes): Promise<void> => {
    await commit(log);
    recorded.push(...asWritten(environment, log));
  };
  Object.assign(environment, { commit: recording });
  try {
    await work();
  } finally {
    Object.assign(environment, { commit });
  }
  return recorded;
};

/** Writes the same again, straight into LMDB: nothing is read, nothing is computed. */
export const replayWrite = ({ root, db }: Pick<Environment, "root" | "db">, operations: RecordedWrite): void => {
  root.transactionSync(() => {
    for (const { database, key, value } of operations) {
      if (value === null) db[database].removeSync(key);
      else db[database].putSync(key, databases[database] === "raw" ? value : asBinary(value));
    }
  });
};
