import { blockColumns, type Columns, lockColumns, transactionColumns, walletColumns } from "./columns.js";
import type { Database } from "./database.js";

/**
 * Every row says from which revision of the chain it is true (`born`) and from which no longer (`gone`); each block applied or
 * reverted makes a revision. Nothing is written over: a snapshot is a number that all questions carry along, it keeps still
 * while the chain moves on, and reverting a block brings back what was true before it.
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

/** The states that the chain went through: the tip and the supply of each revision, and the revision that a revert goes back to. */
const states = "CREATE TABLE IF NOT EXISTS states (revision INTEGER PRIMARY KEY, id TEXT, height INTEGER, timestamp INTEGER, supply TEXT, before INTEGER)";
/** Who receives by a transaction: as true as the transaction, whose number it bears. */
const recipients = "CREATE TABLE IF NOT EXISTS recipients (number INTEGER, address TEXT)";

export const createTables = (database: Database): void => {
  for (const { sql } of Object.values(tables)) database.run(sql);
  database.run(states);
  database.run(recipients);
  for (const [index, on] of indexes.entries()) database.run(`CREATE INDEX IF NOT EXISTS index_${index} ON ${on}`);
};
