import type { Tip } from "portico";
import { amountOf, amountText } from "./amounts.js";
import type { Database, SqlValue } from "./database.js";
import { alive, never, tableNames, tables } from "./schema.js";

/** The chain's state at a revision. */
export interface State {
  revision: number;
  tip: Tip;
  supply: bigint;
  /** The revision before the tip was applied, to which reverting the tip returns. */
  before: number;
}

const stateFrom = (row: Readonly<Record<string, unknown>> | undefined): State | undefined => {
  if (row === undefined) return undefined;
  const { revision, id, height, timestamp, supply, before } = row as { [Member in keyof Tip]: Tip[Member] } & Omit<State, "tip" | "supply"> & { supply: string };
  return { revision, tip: { id, height, timestamp }, supply: amountOf(supply), before };
};

/** The current state; undefined before genesis. */
export const readState = (database: Database): State | undefined =>
  stateFrom(database.get("SELECT * FROM states ORDER BY revision DESC LIMIT 1"));

/** The state when the current branch was at a height, for heights to which the chain can be reverted. */
export const readStateAt = (database: Database, height: number): State | undefined =>
  stateFrom(database.get("SELECT * FROM states WHERE height = ? ORDER BY revision DESC LIMIT 1", [height]));

/** The lowest height that the chain can be reverted to. */
export const oldestTip = (database: Database): Pick<Tip, "height" | "id"> | undefined =>
  database.get("SELECT height, id FROM states ORDER BY height LIMIT 1") as Pick<Tip, "height" | "id"> | undefined;

export const writeState = (database: Database, { revision, tip, supply, before }: State): void =>
  database.run("INSERT INTO states (revision, id, height, timestamp, supply, before) VALUES (?, ?, ?, ?, ?, ?)", [
    revision,
    tip.id,
    tip.height,
    tip.timestamp,
    amountText(supply),
    before,
  ]);

/** Makes what was true at `then` true again from `now` on, in every table. */
export const returnTo = (database: Database, then: number, now: number): void => {
  for (const name of tableNames) {
    const columns = tables[name].columns.map((column) => `"${column}"`).join(", ");
    database.run(`UPDATE ${name} SET gone = ?1 WHERE born > ?2 AND gone = ?3`, [now, then, never]);
    database.run(`INSERT INTO ${name} (born, gone, ${columns}) SELECT ?1, ?2, ${columns} FROM ${name} WHERE ${alive(name, "?3")} AND gone < ?2`, [
      now,
      never,
      then,
    ]);
  }
};

/**
 * The revision of a height on the current branch, for heights to which the chain can be reverted. A chain moves one block at a time, so
 * its last visit to a height is the one on the current branch.
 */
export const revisionOf = (database: Database, height: number): number | undefined =>
  database.get("SELECT max(revision) AS revision FROM states WHERE height = ?", [height])?.revision as number | undefined;

/** Deletes what no query at revision `oldest` or later can see. */
export const forgetBefore = (database: Database, oldest: number): void => {
  const values: SqlValue[] = [oldest];
  database.run("DELETE FROM recipients WHERE number IN (SELECT number FROM transactions WHERE gone <= ?)", values);
  for (const name of tableNames) database.run(`DELETE FROM ${name} WHERE gone <= ?`, values);
  database.run("DELETE FROM states WHERE revision < ?", values);
};
