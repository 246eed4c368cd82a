import { type FollowerStore, postgresStore, type SqliteHandle, sqliteStore } from "../../src/follower/index.js";
import { type Pool, type Query, queryOfClient, queryOfHandle } from "../fixtures/databases.js";

/** The tables of a follower: a row for each transaction, and balances that are inserted, updated and deleted. */
export const tables = ["payments", "balances"];
export const created = [
  "CREATE TABLE payments (id TEXT PRIMARY KEY, height INTEGER NOT NULL, sender TEXT NOT NULL, amount TEXT NOT NULL)",
  "CREATE TABLE balances (address TEXT PRIMARY KEY, amount BIGINT NOT NULL, note TEXT)",
];

export interface StoreUnderTest {
  store(undoes: boolean): FollowerStore<Query>;
  query: Query;
}

/** A store whose handlers get a function in the place of the database's own handle. */
const withQuery = <Tx>(store: FollowerStore<Tx>, queryOf: (tx: Tx) => Query): FollowerStore<Query> => ({
  ...store,
  write: (before, work) => store.write(before, (writing) => work({ ...writing, tx: queryOf(writing.tx) })),
});

/** A store in a database, which has the tables. */
export const inPostgres = (pool: Pool): StoreUnderTest => ({
  store: (undoes) => withQuery(postgresStore(pool, undoes ? { tables } : {}), queryOfClient),
  query: queryOfClient(pool),
});

export const inSqlite = (db: SqliteHandle): StoreUnderTest => ({
  store: (undoes) => withQuery(sqliteStore(db, undoes ? { tables } : {}), queryOfHandle),
  query: queryOfHandle(db),
});

interface Booked {
  id: string;
  height: number;
  transactions: readonly { id: string; senderPublicKey: string; recipientId?: string; amount: bigint }[];
}

/** Rows of all kinds of changes: some are inserted, some updated, some deleted, some replaced. */
export const applyBlock = async (query: Query, { height, transactions }: Booked): Promise<void> => {
  for (const { id, senderPublicKey, recipientId = "", amount } of transactions) {
    await query("INSERT INTO payments VALUES (?, ?, ?, ?)", id, height, senderPublicKey, String(amount));
    await query("INSERT INTO balances VALUES (?, 0, NULL) ON CONFLICT DO NOTHING", recipientId);
    await query("UPDATE balances SET amount = amount + ?, note = ? WHERE address = ?", Number(amount), height % 3 === 0 ? null : `it's block ${height}`, recipientId);
    if (amount % 7n === 0n) await query("DELETE FROM balances WHERE address = ?", recipientId);
  }
};

export const rowsOf = async (query: Query): Promise<unknown> => ({
  payments: await query("SELECT * FROM payments ORDER BY id"),
  balances: (await query("SELECT * FROM balances ORDER BY address")).map((row) => ({ ...row, amount: String(row.amount) })),
});
