import { blockColumns, type Columns, lockColumns, transactionColumns, walletColumns } from "./columns.js";
import type { Database } from "./database.js";

/**
 * Every row is valid from one revision of the chain (`born`) until another (`gone`, exclusive); each block applied or reverted makes
 * a revision. Rows are never overwritten: a snapshot is a revision number that all its queries use, so it does not change while the
 * chain moves on, and reverting a block makes the rows of the state before it valid again.
 */
export const never = Number.MAX_SAFE_INTEGER;

export const alive = (table: string, revision: string): string => `${table}.born <= ${revision} AND ${table}.gone > ${revision}`;

const types = { text: "TEXT", number: "INTEGER", amount: "TEXT", flag: "INTEGER", json: "TEXT" };

const namesOf = (columns: Readonly<Record<string, keyof typeof types>>): string[] => Object.keys(columns);

interface Table {
  columns: readonly string[];
  sql: string;
}

const table = <Row>(name: string, columns: Columns<Row>, also: readonly string[] = []): Table => {
  const kinds = columns as Readonly<Record<string, keyof typeof types>>;
  const typed = namesOf(kinds).map((column) => `"${column}" ${types[kinds[column] ?? "text"]}`);
  return {
    columns: [...namesOf(kinds), ...also.map((column) => column.split(" ")[0] ?? column)],
    sql: `CREATE TABLE IF NOT EXISTS ${name} (number INTEGER PRIMARY KEY, born INTEGER NOT NULL, gone INTEGER NOT NULL, ${[...typed, ...also].join(", ")})`,
  };
};

export const tables = {
  wallets: table("wallets", walletColumns),
  blocks: table("blocks", blockColumns),
  transactions: table("transactions", transactionColumns, ["vendorFieldHex TEXT", "blockTimestamp INTEGER"]),
  locks: table("locks", lockColumns, ["expirationType INTEGER", "expirationValue INTEGER"]),
  rounds: table("rounds", { round: "number", position: "number", publicKey: "text", username: "text", voteBalance: "amount" }),
} as const;

export type TableName = keyof typeof tables;
export const tableNames = Object.keys(tables) as TableName[];

const indexes = [
  "wallets(address, gone)",
  "wallets(publicKey)",
  "wallets(username) WHERE username IS NOT NULL",
  "wallets(vote) WHERE vote IS NOT NULL",
  "wallets(balance, address)",
  "blocks(id)",
  "blocks(height)",
  "blocks(generatorPublicKey)",
  "transactions(id)",
  "transactions(blockId)",
  "transactions(senderId)",
  "transactions(blockHeight, sequence)",
  "transactions(blockTimestamp)",
  "locks(lockId)",
  "rounds(round)",
  "recipients(address)",
  "recipients(number)",
  ...tableNames.map((name) => `${name}(gone)`),
];

/** The states of the chain: tip and supply of each revision, and the revision to which a revert returns. */
const states = "CREATE TABLE IF NOT EXISTS states (revision INTEGER PRIMARY KEY, id TEXT, height INTEGER, timestamp INTEGER, supply TEXT, before INTEGER)";
/** Recipients by the `number` of their transaction's row; valid as long as that row is. */
const recipients = "CREATE TABLE IF NOT EXISTS recipients (number INTEGER, address TEXT)";

export const createTables = (database: Database): void => {
  for (const { sql } of Object.values(tables)) database.run(sql);
  database.run(states);
  database.run(recipients);
  for (const [index, on] of indexes.entries()) database.run(`CREATE INDEX IF NOT EXISTS index_${index} ON ${on}`);
};
