import pg from "pg";
import { type SqliteHandle, sqliteStore } from "../../src/follower/index.js";
import { atEnd, atEndOfTest } from "../at-end.js";
import { startPostgres } from "../fixtures/postgres.js";
import { openSqlite } from "../fixtures/sqlite.js";
import { created, openPostgres, type Query, type StoreUnderTest, tables, withQuery } from "./rows.js";

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
