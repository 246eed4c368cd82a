import { asBinary } from "lmdb";
import { entriesOf, type LogEntry } from "../../../src/store/entry-log.js";
import type { Environment } from "../../../src/store/environment.js";
import { databases } from "../../../src/store/keys.js";

/** What one write transaction puts and removes, in order: bytes. */
export type RecordedWrite = readonly LogEntry[];

/** Writes down all that a piece of work commits, and lets it through. */
export const recordWrite = async (environment: Environment, work: () => Promise<void>): Promise<RecordedWrite> => {
  const recorded: LogEntry[] = [];
  const { commit } = environment;
  const recording = (log: Buffer): Promise<void> => {
    recorded.push(...entriesOf(log));
    return commit(log);
  };
  Object.assign(environment, { commit: recording });
  try {
    await work();
  } finally {
    Object.assign(environment, { commit });
  }
  return recorded;
};

/** The same again, straight into LMDB: nothing is read, nothing is reckoned. */
export const replayWrite = ({ root, db }: Pick<Environment, "root" | "db">, operations: RecordedWrite): void => {
  root.transactionSync(() => {
    for (const { database, key, value } of operations) {
      if (value === null) db[database].removeSync(key);
      else db[database].putSync(key, databases[database] === "raw" ? value : asBinary(value));
    }
  });
};
