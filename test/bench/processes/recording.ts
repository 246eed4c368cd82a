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

const names = Object.keys(databases) as DatabaseName[];

/** Bytes, as the store hands them to lmdb-js: as they are, or marked as what is not to be encoded again. */
const bytesOf = (value: unknown): Buffer => {
  if (Buffer.isBuffer(value)) return Buffer.from(value);
  const [bytes] = Object.values(value as Record<string, unknown>);
  if (!Buffer.isBuffer(bytes)) throw new Error("the store put something that is no bytes");
  return Buffer.from(bytes);
};

/** Writes down all that a piece of work puts into an environment's databases, and lets it through. */
export const recordWrite = async ({ db }: Pick<Environment, "db">, work: () => Promise<void>): Promise<RecordedWrite> => {
  const operations: Operation[] = [];
  for (const database of names) {
    const of = db[database];
    const [put, remove] = [of.put.bind(of), of.remove.bind(of)];
    // Own members hide those of the class until they are deleted again.
    Object.assign(of, {
      put: (key: Buffer, value: unknown) => {
        operations.push({ database, key: Buffer.from(key), value: bytesOf(value) });
        return put(key, value);
      },
      remove: (key: Buffer) => {
        operations.push({ database, key: Buffer.from(key), value: null });
        return remove(key);
      },
    });
  }
  try {
    await work();
  } finally {
    for (const database of names) for (const member of ["put", "remove"]) Reflect.deleteProperty(db[database], member);
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
