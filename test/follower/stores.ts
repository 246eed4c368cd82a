import pg from "pg";
import sqlite from "node-sqlite3-wasm";
import { type SqliteHandle, sqliteStore } from "../../src/follower/index.js";
import { atEnd, atEndOfTest } from "../at-end.js";
import { startPostgres } from "../fixtures/postgres.js";
import { created, openPostgres, type Query, type StoreUnderTest, tables, withQuery } from "./rows.js";

/** SQLite as WebAssembly, whose statements take their values as a list. */
const openSqlite = (): SqliteHandle => {
  const db = new sqlite.Database(":memory:");
  atEndOfTest(() => void db.close());
  return {
    exec: (sql) => db.exec(sql),
    prepare: (sql) => {
      const statement = db.prepare(sql);
      return { run: (...values) => statement.run(values), get: (...values) => statement.get(values), all: (...values) => statement.all(values) };
    },
  };
};

export const startSqlite = (): Promise<StoreUnderTest> => {
  const db = openSqlite();
  db.exec(created);
  const queryOf = (handle: SqliteHandle): Query => (sql, ...values) => Promise.resolve(handle.prepare(sql).all(...values) as Record<string, unknown>[]);
  const store = (undoes: boolean) => withQuery(sqliteStore(db, undoes ? { tables } : {}), queryOf);
  return Promise.resolve({ store, query: queryOf(db) });
};

let postgres: Promise<{ port: number; user: string }> | undefined;

/** PostgreSQL of this file's tests. */
const postgresServer = (): Promise<{ port: number; user: string }> =>
  (postgres ??= startPostgres().then((started) => {
    atEnd(() => started.stop());
    return started;
  }));

export const startInPostgres = async (): Promise<StoreUnderTest> => {
  const { port, user } = await postgresServer();
  const name = `test_${Math.random().toString(36).slice(2)}`;
  const first = new pg.Pool({ host: "127.0.0.1", port, user, database: "postgres" });
  await first.query(`CREATE DATABASE ${name}`);
  await first.end();
  const pool = new pg.Pool({ host: "127.0.0.1", port, user, database: name });
  atEndOfTest(() => pool.end());
  await pool.query(created);
  return openPostgres(pool);
};
