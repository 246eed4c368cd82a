import type { BlockData, Lock, Transaction } from "portico";
import { applyBlock, type BlockChanges, type ChainRules, emptyWallet, endsRound, type FullBlock } from "portico/chain";
import { missedTurns, productivityOf, rankDelegates, roundOf } from "portico/chain";
import { amountText } from "./amounts.js";
import { blockColumns, lockColumns, rowFrom, transactionColumns, valuesOf, walletColumns, type WalletRow } from "./columns.js";
import type { Database, SqlRow, SqlValue } from "./database.js";
import { readState, returnTo, type State, writeState } from "./revisions.js";
import { never, type TableName, tables } from "./schema.js";

const insert = (database: Database, name: TableName, born: number, values: readonly SqlValue[]): void => {
  const columns = ["born", "gone", ...tables[name].columns];
  const quoted = columns.map((column) => `"${column}"`).join(", ");
  database.run(`INSERT INTO ${name} (${quoted}) VALUES (${columns.map(() => "?").join(", ")})`, [born, never, ...values]);
};

const walletFrom = (row: SqlRow): WalletRow => rowFrom(walletColumns, row, "null");

const noDelegate = {
  voteBalance: 0n,
  voters: 0,
  rank: null,
  producedBlocks: 0,
  missedBlocks: 0,
  productivity: null,
  forgedFees: 0n,
  forgedRewards: 0n,
  forgedTotal: 0n,
  lastBlock: null,
};

/** The wallets that a block touches: read once, changed in memory, and written as new rows at the end of the block. */
const createWallets = (database: Database, rules: ChainRules) => {
  const touched = new Map<string, WalletRow>();
  const find = (address: string): WalletRow | undefined => {
    const row = database.get("SELECT * FROM wallets WHERE address = ? AND gone = ?", [address, never]);
    return row === undefined ? undefined : walletFrom(row);
  };
  const touch = (address: string): WalletRow => {
    const known = touched.get(address) ?? find(address) ?? { ...emptyWallet(address), ...noDelegate };
    touched.set(address, known);
    return known;
  };
  return {
    find,
    touch,
    touchKey: (publicKey: string): WalletRow => touch(rules.addressOf(publicKey)),
    /** Every delegate, as this block leaves it. */
    delegates: (): WalletRow[] => {
      const before = database.all("SELECT * FROM wallets WHERE username IS NOT NULL AND gone = ?", [never]).map(walletFrom);
      const untouched = before.filter(({ address }) => !touched.has(address));
      return [...touched.values(), ...untouched].filter(({ username }) => username !== null);
    },
    write: (revision: number): void => {
      for (const [address, row] of touched) {
        database.run("UPDATE wallets SET gone = ? WHERE address = ? AND gone = ?", [revision, address, never]);
        insert(database, "wallets", revision, valuesOf(walletColumns, row));
      }
    },
  };
};

type Wallets = ReturnType<typeof createWallets>;

/** The turns that passed without a block before this one. */
const turnsBefore = (block: FullBlock["block"], { database, rules: { milestones } }: Needs): Map<string, number> =>
  missedTurns(block, {
    milestones,
    round: (round) => {
      const rows = database.all("SELECT publicKey FROM rounds WHERE round = ? AND gone = ? ORDER BY position", [round, never]);
      return rows as unknown as { publicKey: string }[];
    },
    timeOf: (height) => database.get("SELECT timestamp FROM blocks WHERE height = ? AND gone = ?", [height, never])?.timestamp as number,
  });

const changeWallets = ({ block }: FullBlock, changes: BlockChanges, wallets: Wallets, needs: Needs): void => {
  for (const [address, { after }] of changes.wallets) Object.assign(wallets.touch(address), after);
  for (const publicKey of new Set([...changes.votes.keys(), ...changes.voters.keys()])) {
    const delegate = wallets.touchKey(publicKey);
    if (delegate.username === null) throw new Error(`block ${block.height} contains a vote for ${publicKey}, which is not a delegate`);
    delegate.voteBalance += changes.votes.get(publicKey) ?? 0n;
    delegate.voters += changes.voters.get(publicKey) ?? 0;
  }
  for (const [publicKey, turns] of turnsBefore(block, needs)) {
    const delegate = wallets.touchKey(publicKey);
    delegate.missedBlocks += turns;
    delegate.productivity = productivityOf(delegate.producedBlocks, delegate.missedBlocks);
  }
  const generator = wallets.touchKey(block.generatorPublicKey);
  if (generator.username === null) return;
  generator.producedBlocks += 1;
  generator.productivity = productivityOf(generator.producedBlocks, generator.missedBlocks);
  generator.forgedFees += block.totalFee;
  generator.forgedRewards += block.reward;
  generator.forgedTotal += block.totalFee + block.reward;
  generator.lastBlock = { id: block.id, height: block.height, timestamp: block.timestamp };
};

/** Writes the ranks at the end of a round, and the delegates of the next one. */
const endRound = (height: number, revision: number, wallets: Wallets, { database, rules }: Needs): void => {
  const candidates = wallets.delegates().map(({ address, publicKey, username, voteBalance, resigned }) => ({
    address,
    publicKey: publicKey ?? "",
    username: username ?? "",
    voteBalance,
    resigned,
  }));
  const ranked = rankDelegates(candidates);
  const ranks = new Map(ranked.map(({ address }, index) => [address, index + 1]));
  for (const { address } of candidates) {
    const rank = ranks.get(address) ?? null;
    if ((wallets.find(address)?.rank ?? null) !== rank) wallets.touch(address).rank = rank;
  }
  const begun = new Map((height === 1 ? [1, 2] : [height + 1]).map((at) => roundOf(at, rules.milestones)).map((round) => [round.round, round]));
  for (const { round, activeDelegates } of begun.values()) {
    for (const [position, { publicKey, username, voteBalance }] of ranked.slice(0, activeDelegates).entries()) {
      insert(database, "rounds", revision, [round, position, publicKey, username, amountText(voteBalance)]);
    }
  }
};

const writeTransactions = ({ block, transactions }: FullBlock, revision: number, { database, rules }: Needs): void => {
  for (const transaction of transactions) {
    const { vendorField } = transaction;
    const hex = vendorField === undefined ? null : Buffer.from(vendorField, "utf8").toString("hex");
    insert(database, "transactions", revision, [...valuesOf<Transaction>(transactionColumns, transaction), hex, block.timestamp]);
    for (const address of rules.recipientsOf(transaction)) {
      database.run("INSERT INTO recipients (number, address) SELECT max(number), ? FROM transactions", [address]);
    }
  }
};

const findLock = (database: Database, id: string): Lock | undefined => {
  const row = database.get("SELECT * FROM locks WHERE lockId = ? AND gone = ?", [id, never]);
  return row === undefined ? undefined : rowFrom(lockColumns, row, "absent");
};

const writeLocks = ({ locks }: BlockChanges, revision: number, database: Database): void => {
  for (const [id, { before, after }] of locks) {
    if (before === after) continue;
    database.run("UPDATE locks SET gone = ? WHERE lockId = ? AND gone = ?", [revision, id, never]);
    if (after !== undefined) {
      insert(database, "locks", revision, [...valuesOf(lockColumns, after), after.expiration.type, after.expiration.value]);
    }
  }
};

interface Needs {
  database: Database;
  rules: ChainRules;
}

const requireChained = ({ block }: FullBlock, before: State | undefined): void => {
  const follows = before === undefined ? block.height === 1 : block.height === before.tip.height + 1 && block.previousBlock === before.tip.id;
  if (!follows) throw new Error(`block ${block.height} (${block.id}) does not follow the tip`);
};

/** Writes a block as the next revision, within the caller's transaction, and returns the state it leads to. @throws Error if it does not follow the tip */
export const writeBlock = (data: BlockData, needs: Needs): State => {
  const { database, rules } = needs;
  const full = rules.parseBlock(data);
  const { block } = full;
  const state = readState(database);
  requireChained(full, state);
  const before = state?.revision ?? 0;
  const revision = before + 1;

  const wallets = createWallets(database, rules);
  const changes = applyBlock(full, { wallet: wallets.find, lock: (id) => findLock(database, id) }, rules);
  changeWallets(full, changes, wallets, needs);
  if (endsRound(block.height, rules.milestones)) endRound(block.height, revision, wallets, needs);
  wallets.write(revision);
  writeLocks(changes, revision, database);
  insert(database, "blocks", revision, valuesOf(blockColumns, block));
  writeTransactions(full, revision, needs);
  const supply = (state?.supply ?? block.totalAmount) + block.reward;
  const after = { revision, tip: { id: block.id, height: block.height, timestamp: block.timestamp }, supply, before };
  writeState(database, after);
  return after;
};

/** Reverts the tip, as a further revision, within the caller's transaction. @throws Error if the state before it is no longer kept */
export const revertBlock = (database: Database): void => {
  const now = readState(database);
  if (now === undefined) return;
  const revision = now.revision + 1;
  const row = database.get("SELECT revision FROM states WHERE revision = ?", [now.before]);
  if (row === undefined) throw new Error(`block ${now.tip.height} cannot be reverted: the state before it is no longer kept`);
  returnTo(database, now.before, revision);
  database.run("INSERT INTO states SELECT ?, id, height, timestamp, supply, before FROM states WHERE revision = ?", [revision, now.before]);
};
