import { inPostgres, inSqlite, type PostgresClient, type PostgresPool, type SqliteHandle, waitForOthers } from "../follower/databases.js";

/** Remembers which deliveries were handled. */
export interface Inbox<Tx> {
  /**
   * Runs `handle` unless it has run for this `webhook-id` before. `tx`: the database transaction in which the id is noted. What is written
   * in it stays if `handle` resolves, and is rolled back with the id if it rejects. While one is being handled, another call with its id waits.
   */
  once(id: string, handle: (tx: Tx) => Promise<void>): Promise<void>;
}

/** Calls one after the other. */
const createQueue = () => {
  let last: Promise<unknown> = Promise.resolve();
  return <T>(work: () => Promise<T>): Promise<T> => {
    const result = last.then(work);
    last = result.catch(() => undefined);
    return result;
  };
};

/**
 * Forgets everything when the process ends, and deliveries that 100,000 others have followed: for tests, and for handlers that may run twice.
 */
export const memoryInbox = (): Inbox<undefined> => {
  const handled = new Set<string>();
  const underWay = new Map<string, Promise<void>>();

  const once = async (id: string, handle: (tx: undefined) => Promise<void>): Promise<void> => {
    for (let other = underWay.get(id); other !== undefined; other = underWay.get(id)) await other.catch(() => undefined);
    if (handled.has(id)) return;
    const own = handle(undefined);
    underWay.set(id, own);
    try {
      await own;
      handled.add(id);
      const [oldest] = handled;
      if (handled.size > 100_000 && oldest !== undefined) handled.delete(oldest);
    } finally {
      underWay.delete(id);
    }
  };
  return { once };
};

export interface InboxOptions {
  /**
   * The table's name. It is created where it is missing, and grows by a row for each delivery; rows older than your replays can be deleted.
   * @default "portico_inbox"
   */
  table?: string;
}

const tableOf = ({ table = "portico_inbox" }: InboxOptions): string => {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(table)) throw new TypeError("A table's name has only letters, digits and _");
  return table;
};

/** Handlers get the handle as `tx`, in a transaction that is open. They run one after the other, as SQLite has one writer. */
export const sqliteInbox = <Handle extends SqliteHandle>(db: Handle, options: InboxOptions = {}): Inbox<Handle> => {
  const table = tableOf(options);
  const inTurn = createQueue();
  waitForOthers(db);
  db.exec(`CREATE TABLE IF NOT EXISTS ${table} (id TEXT PRIMARY KEY, handled_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP) WITHOUT ROWID`);
  const [find, insert] = [db.prepare(`SELECT 1 AS found FROM ${table} WHERE id = ?`), db.prepare(`INSERT INTO ${table} (id) VALUES (?)`)];

  const handleNow = (id: string, handle: (tx: Handle) => Promise<void>): Promise<void> =>
    inSqlite(db, async () => {
      if (find.get(id)) return;
      insert.run(id);
      await handle(db);
    });
  return { once: (id, handle) => inTurn(() => handleNow(id, handle)) };
};

/** Handlers get a client as `tx`, in a transaction that is open. Each delivery that is being handled takes one client of the pool. */
export const postgresInbox = <Client extends PostgresClient>(pool: PostgresPool<Client>, options: InboxOptions = {}): Inbox<Client> => {
  const table = tableOf(options);
  let created: Promise<void> | undefined;

  /** Two processes that create a table at once would get in each other's way. */
  const create = (): Promise<void> =>
    inPostgres(pool, async (client) => {
      await client.query("SELECT pg_advisory_xact_lock(hashtext($1))", [table]);
      await client.query(`CREATE TABLE IF NOT EXISTS ${table} (id text PRIMARY KEY, handled_at timestamptz NOT NULL DEFAULT now())`);
    });

  const once = async (id: string, handle: (tx: Client) => Promise<void>): Promise<void> => {
    await (created ??= create().catch((error: unknown) => {
      created = undefined;
      throw error;
    }));
    await inPostgres(pool, async (client) => {
      // Waits for another transaction that has inserted the id.
      const { rowCount } = await client.query(`INSERT INTO ${table} (id) VALUES ($1) ON CONFLICT DO NOTHING`, [id]);
      if (rowCount !== 0) await handle(client);
    });
  };
  return { once };
};
