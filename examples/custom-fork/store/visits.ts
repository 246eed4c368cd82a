import type { Block, BlockData, ChangesView, OrphanBlock, Transaction } from "portico";
import { type ChainRules, type EndedLock, locksEndedBy } from "portico/chain";
import { blockColumns, rowFrom, transactionColumns } from "./columns.js";
import type { Database } from "./database.js";
import type { State } from "./revisions.js";
import { alive, never } from "./schema.js";

/**
 * What readers are told of blocks that came and went: when each was applied and reverted, how often, and of those that have left the chain
 * the whole block. A visit lasts from the revision at which the block was applied until the one at which it was reverted.
 */
const visits = "CREATE TABLE IF NOT EXISTS visits (born INTEGER PRIMARY KEY, gone INTEGER NOT NULL, id TEXT NOT NULL, appliedAt INTEGER, revertedAt INTEGER, block TEXT)";

export const createVisits = (database: Database): void => {
  database.run(visits);
  database.run("CREATE INDEX IF NOT EXISTS visits_id ON visits(id)");
  database.run("CREATE INDEX IF NOT EXISTS visits_revertedAt ON visits(revertedAt) WHERE revertedAt IS NOT NULL");
};

type Named = Pick<Block, "height" | "id">;

/** To be called with the state that a block has led to. */
export const noteApplied = (database: Database, { revision, tip }: State, now: number): void =>
  database.run("INSERT INTO visits (born, gone, id, appliedAt) VALUES (?, ?, ?, ?)", [revision, never, tip.id, now]);

const amountsAsTexts = (_name: string, value: unknown): unknown => (typeof value === "bigint" ? String(value) : value);

const blockAt = (database: Database, { revision }: Pick<State, "revision">, height: number): Block | undefined => {
  const row = database.get(`SELECT * FROM blocks WHERE ${alive("blocks", "?1")} AND height = ?2`, [revision, height]);
  return row && rowFrom<Block>(blockColumns, row, "null");
};

const transactionsOf = (database: Database, { revision }: Pick<State, "revision">, { id }: Named): Transaction[] =>
  database
    .all(`SELECT * FROM transactions WHERE ${alive("transactions", "?1")} AND blockId = ?2 ORDER BY sequence`, [revision, id])
    .map((row) => rowFrom<Transaction>(transactionColumns, row, "absent"));

/** The locks that a block's claims and refunds end. */
const locksOf = (database: Database, { revision }: Pick<State, "revision">, transactions: readonly Transaction[]): EndedLock[] =>
  locksEndedBy(transactions, (id) => {
    const row = database.get(`SELECT * FROM transactions WHERE ${alive("transactions", "?1")} AND id = ?2`, [revision, id]);
    return row && rowFrom<Transaction>(transactionColumns, row, "absent");
  });

/** To be called with the state whose tip is about to be reverted, and the revision that makes. */
export const noteReverted = (database: Database, state: State, gone: number, now: number): void => {
  const { tip } = state;
  const transactions = transactionsOf(database, state, tip);
  const block = JSON.stringify({ ...blockAt(database, state, tip.height), transactions, locks: locksOf(database, state, transactions) }, amountsAsTexts);
  // A chain that is older than this table has blocks without a visit.
  const known = database.get("SELECT born FROM visits WHERE id = ? AND gone = ?", [tip.id, never]);
  if (known === undefined) database.run("INSERT INTO visits (born, gone, id) VALUES (?, ?, ?)", [state.revision, never, tip.id]);
  database.run("UPDATE visits SET gone = ?, revertedAt = ?, block = ? WHERE id = ? AND gone = ?", [gone, now, block, tip.id, never]);
};

/** Forgets blocks that were reverted before a time: readers that stand on one of them cannot go on. */
export const forgetReverted = (database: Database, before: number): void => database.run("DELETE FROM visits WHERE revertedAt < ?", [before]);

interface Visit {
  gone: number;
  appliedAt: number | null;
  revertedAt: number | null;
  block: string | null;
  times: number;
}

/** The last visit of a block, as it is at a revision. */
const lastVisit = (database: Database, revision: number, id: string): Visit | undefined => {
  const row = database.get(
    `SELECT gone, appliedAt, revertedAt, block, (SELECT count(*) FROM visits WHERE id = ?1 AND born <= ?2) - 1 AS times
     FROM visits WHERE id = ?1 AND born <= ?2 ORDER BY born DESC LIMIT 1`,
    [id, revision],
  );
  return row as Visit | undefined;
};

const orphanOf = (visit: Visit | undefined, revision: number, rules: ChainRules): OrphanBlock | undefined => {
  if (visit === undefined || visit.gone > revision || visit.block === null) return undefined;
  const { appliedAt, revertedAt, times, block } = visit;
  const data = JSON.parse(block) as BlockData & { locks: (Omit<EndedLock, "amount"> & { amount: string })[] };
  const locks = data.locks.map((lock) => ({ ...lock, amount: BigInt(lock.amount) }));
  return { ...rules.parseBlock(data), locks, times, revertedAt: revertedAt ?? 0, ...(appliedAt === null ? {} : { appliedAt }) };
};

/** The chain at one revision, for readers that follow it. */
export const changesViewOf = (database: Database, state: State, rules: ChainRules, { round, release }: Pick<ChangesView, "round" | "release">): ChangesView => {
  const { revision, tip } = state;
  const visitOf = (id: string): Visit | undefined => lastVisit(database, revision, id);
  const keptBlock = (block: Block) => {
    const { appliedAt, times } = visitOf(block.id) ?? {};
    const transactions = transactionsOf(database, state, block);
    return { block, transactions, locks: locksOf(database, state, transactions), times: times ?? 0, ...(typeof appliedAt === "number" ? { appliedAt } : {}) };
  };
  return {
    tip,
    idAt: (height) => blockAt(database, state, height)?.id,
    blocks: (from, limit) =>
      database
        .all(`SELECT * FROM blocks WHERE ${alive("blocks", "?1")} AND height >= ?2 ORDER BY height LIMIT ?3`, [revision, from, limit])
        .map((row) => keptBlock(rowFrom<Block>(blockColumns, row, "null"))),
    orphan: (id) => orphanOf(visitOf(id), revision, rules),
    timesOf: (_kind, { id }) => visitOf(id)?.times ?? 0,
    round,
    ...(release === undefined ? {} : { release }),
  };
};
