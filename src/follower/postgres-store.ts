import { inPostgres, type PostgresClient, type PostgresPool } from "./databases.js";
import { conflict, type FollowerStore, mostPlaces, quoted, schemaChanged, type StoreOptions, tooDeep, type Writing } from "./store.js";

const tables = `
CREATE TABLE IF NOT EXISTS portico_follower (only_row integer PRIMARY KEY CHECK (only_row = 1), cursor text, logging integer, undo_from integer NOT NULL);
INSERT INTO portico_follower VALUES (1, NULL, NULL, 0) ON CONFLICT DO NOTHING;
CREATE TABLE IF NOT EXISTS portico_follower_places (height integer PRIMARY KEY, cursor text NOT NULL);
CREATE TABLE IF NOT EXISTS portico_follower_undo (
  place bigserial PRIMARY KEY, height integer NOT NULL, of text NOT NULL, change text NOT NULL, before jsonb, after jsonb);
CREATE INDEX IF NOT EXISTS portico_follower_undo_height ON portico_follower_undo (height);
CREATE TABLE IF NOT EXISTS portico_follower_tables (name text PRIMARY KEY, columns text NOT NULL);
CREATE OR REPLACE FUNCTION portico_follower_log() RETURNS trigger LANGUAGE plpgsql AS $log$
BEGIN
  INSERT INTO portico_follower_undo (height, of, change, before, after)
    SELECT logging, TG_ARGV[0], TG_OP, CASE WHEN TG_OP <> 'INSERT' THEN to_jsonb(OLD) END, CASE WHEN TG_OP <> 'DELETE' THEN to_jsonb(NEW) END
    FROM portico_follower WHERE logging IS NOT NULL;
  RETURN NULL;
END $log$;`;

/** Columns that can be written, and those of the primary key. */
interface Columns {
  all: string[];
  key: string[];
}

const columnsOf = async (client: PostgresClient, table: string): Promise<Columns & { described: string }> => {
  const { rows } = await client.query(
    `SELECT a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type, coalesce(a.attnum = ANY (i.indkey), false) AS is_key, a.attidentity AS identity
     FROM pg_attribute a LEFT JOIN pg_index i ON i.indrelid = a.attrelid AND i.indisprimary
     WHERE a.attrelid = $1::regclass AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '' ORDER BY a.attnum`,
    [quoted(table)],
  );
  const columns = rows as { name: string; type: string; is_key: boolean; identity: string }[];
  const key = columns.filter((column) => column.is_key).map(({ name }) => name);
  if (key.length === 0) throw new TypeError(`The table ${table} needs a primary key, by which its changes are undone`);
  return { all: columns.map(({ name }) => name), key, described: JSON.stringify(columns) };
};

/** Makes the log's trigger, unless it is there for these columns. */
const watchTable = async (client: PostgresClient, table: string): Promise<Columns> => {
  const { described, ...columns } = await columnsOf(client, table);
  const { rows } = await client.query("SELECT columns FROM portico_follower_tables WHERE name = $1", [table]);
  const [before] = rows as { columns: string }[];
  if (before?.columns === described) return columns;
  const { rowCount } = await client.query("SELECT 1 FROM portico_follower_undo LIMIT 1");
  if (before !== undefined && rowCount !== 0) throw schemaChanged(table);
  await client.query(`DROP TRIGGER IF EXISTS portico_follower ON ${quoted(table)}`);
  await client.query(
    `CREATE TRIGGER portico_follower AFTER INSERT OR UPDATE OR DELETE ON ${quoted(table)}
     FOR EACH ROW EXECUTE FUNCTION portico_follower_log('${table.replaceAll("'", "''")}')`,
  );
  await client.query("INSERT INTO portico_follower_tables VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET columns = $2", [table, described]);
  return columns;
};

interface LoggedChange {
  of: string;
  change: "INSERT" | "UPDATE" | "DELETE";
  before: string | null;
  after: string | null;
}

/** The statement that undoes a change. Rows are made of JSON by the database, which loses nothing of them. */
const undoing = ({ of, change, before, after }: LoggedChange, { all, key }: Columns): [sql: string, values: (string | null)[]] => {
  const [table, listed, keys] = [quoted(of), all.map(quoted).join(", "), key.map(quoted).join(", ")];
  const rowOf = (place: number): string => `jsonb_populate_record(NULL::${table}, $${place}::jsonb)`;
  const isRow = (place: number): string => `WHERE (${keys}) = (SELECT ${keys} FROM ${rowOf(place)})`;
  if (change === "INSERT") return [`DELETE FROM ${table} ${isRow(1)}`, [after]];
  if (change === "DELETE") return [`INSERT INTO ${table} (${listed}) OVERRIDING SYSTEM VALUE SELECT ${listed} FROM ${rowOf(1)}`, [before]];
  return [`UPDATE ${table} SET (${listed}) = (SELECT ${listed} FROM ${rowOf(1)}) ${isRow(2)}`, [before, after]];
};

const createWriting = <Client extends PostgresClient>(client: Client, columns: ReadonlyMap<string, Columns>): Writing<Client> => {
  let isLogged = false;
  const query = async (sql: string, ...values: unknown[]): Promise<void> => void (await client.query(sql, values));
  const put = ({ height, cursor }: { height: number; cursor: string }): Promise<void> =>
    query("INSERT INTO portico_follower_places VALUES ($1, $2) ON CONFLICT (height) DO UPDATE SET cursor = $2", height, cursor);
  return {
    tx: client,
    log: async (height) => {
      isLogged = columns.size > 0;
      if (isLogged) await query("UPDATE portico_follower SET logging = $1", height);
    },
    applied: async (place, finalHeight) => {
      const { height, cursor } = place;
      const from = isLogged ? Math.min(finalHeight, height) + 1 : height + 1;
      await query("UPDATE portico_follower SET cursor = $1, logging = NULL, undo_from = greatest(undo_from, $2)", cursor, from);
      await put(place);
      await query("DELETE FROM portico_follower_places WHERE height <= $1", height - mostPlaces);
      await query("DELETE FROM portico_follower_undo WHERE height <= $1", finalHeight);
      isLogged = false;
    },
    undo: async (height) => {
      const { rows } = await client.query("SELECT undo_from FROM portico_follower");
      if (height < (rows[0] as { undo_from: number }).undo_from) throw tooDeep(height);
      const logged = await client.query(
        "SELECT of, change, before::text, after::text FROM portico_follower_undo WHERE height = $1 ORDER BY place DESC",
        [height],
      );
      for (const change of logged.rows as LoggedChange[]) {
        const of = columns.get(change.of);
        if (of === undefined) throw schemaChanged(change.of);
        await client.query(...undoing(change, of));
      }
      await query("DELETE FROM portico_follower_undo WHERE height = $1", height);
    },
    reverted: async (height, before) => {
      await query("DELETE FROM portico_follower_places WHERE height >= $1", height);
      await put(before);
      await query("UPDATE portico_follower SET cursor = $1", before.cursor);
    },
  };
};

/** Keeps a follower's cursor in PostgreSQL. `apply` and `revert` get a client, in a transaction that is open. */
export const postgresStore = <Client extends PostgresClient>(
  pool: PostgresPool<Client>,
  { tables: watched = [] }: StoreOptions = {},
): FollowerStore<Client> => {
  const columns = new Map<string, Columns>();

  return {
    undoes: watched.length > 0,
    open: () =>
      inPostgres(pool, async (client) => {
        // Two that make tables at once would get in each other's way.
        await client.query("SELECT pg_advisory_xact_lock(hashtext('portico_follower'))");
        await client.query(tables);
        for (const table of watched) columns.set(table, await watchTable(client, table));
        const { rows } = await client.query("SELECT height, cursor FROM portico_follower_places ORDER BY height DESC");
        return rows as { height: number; cursor: string }[];
      }),
    write: (before, work) =>
      inPostgres(pool, async (client) => {
        const { rows } = await client.query("SELECT cursor FROM portico_follower FOR UPDATE");
        const found = (rows[0] as { cursor: string | null }).cursor ?? undefined;
        if (found !== before) throw conflict(before, found);
        return work(createWriting(client, columns));
      }),
  };
};
