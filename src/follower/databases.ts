/** SQLite and PostgreSQL, as far as followers and inboxes need them: whoever calls hands in a handle or a pool. */

export type SqliteValue = string | number | null;

/** A handle of `node:sqlite`, `better-sqlite3` or alike. */
export interface SqliteHandle {
  exec(sql: string): unknown;
  prepare(sql: string): {
    run(...values: SqliteValue[]): unknown;
    get(...values: SqliteValue[]): unknown;
    all(...values: SqliteValue[]): unknown[];
  };
}

/**
 * Lets a handle wait up to five seconds for other processes that read or write the file, unless it has a time limit of its own. Without one,
 * as `node:sqlite` opens it, somebody who looks at the tables would make a transaction fail.
 */
export const waitForOthers = (db: SqliteHandle): void => {
  const { timeout } = db.prepare("PRAGMA busy_timeout").get() as { timeout: number };
  if (timeout === 0) db.exec("PRAGMA busy_timeout = 5000");
};

/** Commits if `work` resolves, rolls back if it rejects. Another process waits for the end. */
export const inSqlite = async <T>(db: SqliteHandle, work: () => T | Promise<T>): Promise<T> => {
  db.exec("BEGIN IMMEDIATE");
  try {
    const result = await work();
    db.exec("COMMIT");
    return result;
  } catch (error) {
    db.exec("ROLLBACK");
    throw error;
  }
};

/** A client of `pg` or alike. */
export interface PostgresClient {
  // oxlint-disable-next-line typescript/no-explicit-any -- as `pg` declares its rows
  query(text: string, values?: unknown[]): Promise<{ rows: any[]; rowCount?: number | null }>;
}

export interface PostgresPool<Client extends PostgresClient> {
  connect(): Promise<Client & { release(error?: Error | boolean): void }>;
}

/** Commits if `work` resolves, rolls back if it rejects. */
export const inPostgres = async <Client extends PostgresClient, T>(
  pool: PostgresPool<Client>,
  work: (client: Client) => Promise<T>,
): Promise<T> => {
  const client = await pool.connect();
  try {
    await client.query("BEGIN");
    const result = await work(client);
    await client.query("COMMIT");
    client.release();
    return result;
  } catch (error) {
    // A connection whose transaction cannot be ended is closed.
    const ended = await client.query("ROLLBACK").then(() => true, () => false);
    client.release(!ended);
    throw error;
  }
};
