import { asBinary } from "lmdb";
import type { Environment } from "../../../src/store/environment.js";
import { type DatabaseName, databases } from "../../../src/store/keys.js";

/** One put, or one removal (null), as it reached LMDB: bytes. */
interface Operation {
  database: DatabaseName;
  key: Buffer;
  value: Buffer | null;
}

/** What one write transaction did, in order. */
export type RecordedWrite = readonly Operation[];

interface Encoder {
  encoder: { encode(value: unknown): Uint8Array };
}

const names = Object.keys(databases) as DatabaseName[];

/** Writes down all that a piece of work puts into an environment's databases, and lets it through. */
export const recordWrite = ({ db }: Pick<Environment, "db">, work: () => void): RecordedWrite => {
  const operations: Operation[] = [];
  for (const database of names) {
    const of = db[database];
    const [putSync, removeSync] = [of.putSync.bind(of), of.removeSync.bind(of)];
    const bytesOf = (value: unknown): Uint8Array => (databases[database] === "raw" ? (value as Uint8Array) : (of as unknown as Encoder).encoder.encode(value));
    // Own members hide those of the class until they are deleted again.
    Object.assign(of, {
      putSync: (key: Buffer, value: unknown) => {
        operations.push({ database, key: Buffer.from(key), value: Buffer.from(bytesOf(value)) });
        return putSync(key, value);
      },
      removeSync: (key: Buffer) => {
        operations.push({ database, key: Buffer.from(key), value: null });
        return removeSync(key);
      },
    });
  }
  try {
    work();
  } finally {
    for (const database of names) for (const member of ["putSync", "removeSync"]) Reflect.deleteProperty(db[database], member);
  }
  return operations;
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
