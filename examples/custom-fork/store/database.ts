import { rmSync } from "node:fs";
import sqlite, { type Database as SqliteDatabase, type Statement } from "node-sqlite3-wasm";
import { approvalOf } from "portico/chain";
import { amountOf } from "./amounts.js";

export type SqlValue = number | bigint | string | null;
export type SqlRow = Readonly<Record<string, unknown>>;

/** Everything that the store needs from SQLite. Only this file knows the package; to use Node 22's `node:sqlite`, change it here. */
export interface Database {
  all(sql: string, values?: readonly SqlValue[]): SqlRow[];
  get(sql: string, values?: readonly SqlValue[]): SqlRow | undefined;
  run(sql: string, values?: readonly SqlValue[]): void;
  /** Runs `work` in a transaction, which a throw rolls back. */
  transaction(work: () => void): void;
  close(): void;
}

/** Most prepared statements that are kept, since filters can be combined in many ways. */
const keptStatements = 200;

/**
 * Characters that no stored text contains and that SQLite cannot represent, or takes for the end of a text. A value with one is bound as
 * NULL, which equals nothing.
 */
const unstorable = /[\0\p{Cs}]/u;

const bound = (values: readonly SqlValue[]): SqlValue[] => values.map((value) => (typeof value === "string" && unstorable.test(value) ? null : value));

/**
 * Opens the file for this process alone: reads then need no lock, and WAL needs no shared memory, which WebAssembly lacks.
 * The package locks by a folder beside the file, which a killed process leaves behind. The node's own lock on its data folder already
 * ensures that there is only one process, so a lock folder found here is stale and is removed.
 */
export const openDatabase = (path: string): Database => {
  rmSync(`${path}.lock`, { recursive: true, force: true });
  const database: SqliteDatabase = new sqlite.Database(path);
  database.exec("PRAGMA locking_mode = EXCLUSIVE");
  // In this encoding, SQLite's comparison by bytes is by UTF-16 code units, as the contract demands.
  database.exec("PRAGMA encoding = 'UTF-16be'");
  database.get("PRAGMA journal_mode = WAL");
  database.exec("PRAGMA synchronous = NORMAL");
  database.function(
    "approval",
    (voteBalance, supply) => approvalOf(amountOf(voteBalance as string), amountOf(supply as string)),
    { deterministic: true },
  );

  const statements = new Map<string, Statement>();
  const prepared = (sql: string): Statement => {
    let statement = statements.get(sql);
    if (statement === undefined) {
      const [oldest] = statements;
      if (oldest !== undefined && statements.size >= keptStatements) {
        statements.delete(oldest[0]);
        oldest[1].finalize();
      }
      statement = database.prepare(sql);
      statements.set(sql, statement);
    }
    return statement;
  };

  return {
    all: (sql, values = []) => prepared(sql).all(bound(values)),
    get: (sql, values = []) => prepared(sql).all(bound(values))[0],
    run: (sql, values = []) => void prepared(sql).run(bound(values)),
    transaction: (work) => {
      database.exec("BEGIN IMMEDIATE");
      try {
        work();
        database.exec("COMMIT");
      } catch (error) {
        if (database.inTransaction) database.exec("ROLLBACK");
        throw error;
      }
    },
    close: () => {
      for (const statement of statements.values()) statement.finalize();
      statements.clear();
      database.close();
    },
  };
};
