import { createPostgresDatabase } from "../fixtures/lasting-databases.js";
import { openSqlite } from "../fixtures/sqlite.js";
import { created, inPostgres, inSqlite, type StoreUnderTest } from "./rows.js";

const withTables = async (opened: StoreUnderTest): Promise<StoreUnderTest> => {
  for (const sql of created) await opened.query(sql);
  return opened;
};

export const startSqlite = (): Promise<StoreUnderTest> => withTables(inSqlite(openSqlite()));

export const startInPostgres = async (): Promise<StoreUnderTest> => withTables(inPostgres((await createPostgresDatabase()).pool));
