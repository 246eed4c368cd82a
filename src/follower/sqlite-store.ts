import { inSqlite, type SqliteHandle, waitForOthers } from "./databases.js";
import { conflict, type FollowerStore, mostPlaces, quoted, schemaChanged, type StoreOptions, tooDeep, type Writing } from "./store.js";

const tables = `
CREATE TABLE IF NOT EXISTS portico_follower (only_row INTEGER PRIMARY KEY CHECK (only_row = 1), cursor TEXT, logging INTEGER, undo_from INTEGER NOT NULL);
INSERT OR IGNORE INTO portico_follower VALUES (1, NULL, NULL, 0);
CREATE TABLE IF NOT EXISTS portico_follower_places (height INTEGER PRIMARY KEY, cursor TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS portico_follower_undo (place INTEGER PRIMARY KEY AUTOINCREMENT, height INTEGER NOT NULL, sql TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS portico_follower_undo_height ON portico_follower_undo (height);
CREATE TABLE IF NOT EXISTS portico_follower_tables (name TEXT PRIMARY KEY, columns TEXT NOT NULL);`;

const text = (sql: string): string => `'${sql.replaceAll("'", "''")}'`;

/** SQL for `name = value, …`, whose values are those of a row that a trigger sees. */
const pairs = (columns: readonly string[], row: "OLD" | "NEW", between: string, is: string): string =>
  columns.map((name) => `${text(`${quoted(name)} ${is} `)} || quote(${row}.${quoted(name)})`).join(` || ${text(between)} || `);

interface Column {
  name: string;
  pk: number;
}

/** Triggers that log, for each change of a row, the statement that undoes it. */
const triggersOf = (table: string, columns: readonly Column[]): string => {
  const names = columns.map(({ name }) => name);
  const primary = columns.filter(({ pk }) => pk > 0).map(({ name }) => name);
  // Without a primary key, the rowid has to stay as long as the log: nobody may vacuum meanwhile.
  const [key, all] = primary.length > 0 ? [primary, names] : [["rowid"], ["rowid", ...names]];
  const of = quoted(table);
  const undoing = {
    INSERT: `${text(`DELETE FROM ${of} WHERE `)} || ${pairs(key, "NEW", " AND ", "IS")}`,
    UPDATE: `${text(`UPDATE ${of} SET `)} || ${pairs(all, "OLD", ", ", "=")} || ' WHERE ' || ${pairs(key, "NEW", " AND ", "IS")}`,
    DELETE: `${text(`INSERT INTO ${of} (${all.map(quoted).join(", ")}) VALUES (`)} || ${all.map((name) => `quote(OLD.${quoted(name)})`).join(" || ', ' || ")} || ')'`,
  };
  return Object.entries(undoing)
    .map(([change, sql]) => {
      const name = quoted(`portico_follower_${table}_${change.toLowerCase()}`);
      return `DROP TRIGGER IF EXISTS ${name};
CREATE TRIGGER ${name} AFTER ${change} ON ${of} WHEN (SELECT logging FROM portico_follower) IS NOT NULL BEGIN
  INSERT INTO portico_follower_undo (height, sql) SELECT logging, ${sql} FROM portico_follower; END;`;
    })
    .join("\n");
};

/** Makes the log's triggers, unless they are there for these columns. */
const watchTable = (db: SqliteHandle, table: string): void => {
  const columns = db.prepare("SELECT name, pk FROM pragma_table_info(?)").all(table) as Column[];
  if (columns.length === 0) throw new TypeError(`There is no table ${table}`);
  const described = JSON.stringify(columns.map(({ name, pk }) => [name, pk]));
  const before = db.prepare("SELECT columns FROM portico_follower_tables WHERE name = ?").get(table) as { columns: string } | null | undefined;
  if (before?.columns === described) return;
  const isLogged = Boolean(db.prepare("SELECT 1 FROM portico_follower_undo LIMIT 1").get());
  if (before && isLogged) throw schemaChanged(table);
  db.exec(triggersOf(table, columns));
  db.prepare("INSERT OR REPLACE INTO portico_follower_tables VALUES (?, ?)").run(table, described);
};

const createWriting = <Handle extends SqliteHandle>(db: Handle, isWatching: boolean): Writing<Handle> => {
  const log = db.prepare("UPDATE portico_follower SET logging = ?");
  const logged = db.prepare("SELECT sql FROM portico_follower_undo WHERE height = ? ORDER BY place DESC");
  const move = db.prepare("UPDATE portico_follower SET cursor = ?, logging = NULL, undo_from = max(undo_from, ?)");
  const put = db.prepare("INSERT OR REPLACE INTO portico_follower_places VALUES (?, ?)");
  const forget = db.prepare("DELETE FROM portico_follower_places WHERE height <= ?");
  const forgetLog = db.prepare("DELETE FROM portico_follower_undo WHERE height <= ?");
  const now = (work: () => void): Promise<void> => Promise.resolve().then(work);
  let isLogged = false;
  return {
    tx: db,
    log: (height) =>
      now(() => {
        isLogged = isWatching;
        if (isLogged) log.run(height);
      }),
    applied: ({ height, cursor }, finalHeight) =>
      now(() => {
        move.run(cursor, isLogged ? Math.min(finalHeight, height) + 1 : height + 1);
        put.run(height, cursor);
        forget.run(height - mostPlaces);
        forgetLog.run(finalHeight);
        isLogged = false;
      }),
    undo: (height) =>
      now(() => {
        const { undo_from: from } = db.prepare("SELECT undo_from FROM portico_follower").get() as { undo_from: number };
        if (height < from) throw tooDeep(height);
        // What a cascade has changed comes back in another order than foreign keys ask for.
        db.exec("PRAGMA defer_foreign_keys = ON");
        for (const { sql } of logged.all(height) as { sql: string }[]) db.exec(sql);
        db.prepare("DELETE FROM portico_follower_undo WHERE height = ?").run(height);
      }),
    reverted: (height, before) =>
      now(() => {
        db.prepare("DELETE FROM portico_follower_places WHERE height >= ?").run(height);
        put.run(before.height, before.cursor);
        move.run(before.cursor, 0);
      }),
  };
};

/**
 * Keeps a follower's cursor in SQLite. `apply` and `revert` get the handle, in a transaction that is open: until it ends, nothing else may use
 * the handle.
 */
export const sqliteStore = <Handle extends SqliteHandle>(db: Handle, { tables: watched = [] }: StoreOptions = {}): FollowerStore<Handle> => {
  return {
    undoes: watched.length > 0,
    open: async () => {
      waitForOthers(db);
      // Rows that an INSERT OR REPLACE replaces are logged, too.
      db.exec("PRAGMA recursive_triggers = ON");
      await inSqlite(db, () => {
        db.exec(tables);
        for (const table of watched) watchTable(db, table);
      });
      return db.prepare("SELECT height, cursor FROM portico_follower_places ORDER BY height DESC").all() as { height: number; cursor: string }[];
    },
    write: (before, work) =>
      inSqlite(db, async () => {
        const { cursor } = db.prepare("SELECT cursor FROM portico_follower").get() as { cursor: string | null };
        if ((cursor ?? undefined) !== before) throw conflict(before, cursor ?? undefined);
        return work(createWriting(db, watched.length > 0));
      }),
  };
};
