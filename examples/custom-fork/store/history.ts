import { type Page, PorticoError, type WalletChange, type WalletChangesQuery } from "portico";
import { amountOf } from "./amounts.js";
import type { Database } from "./database.js";
import { oldestTip, type State } from "./revisions.js";
import { alive } from "./schema.js";

/** Earlier heights are known as far back as the chain can be reverted. */
export const historyMissing = (database: Database): PorticoError =>
  new PorticoError("HISTORY_MISSING", "The state at that height is not kept.", { members: { oldest: oldestTip(database) } });

/** Whatever changed a wallet above the oldest state is known, and nothing of what did before. */
const requireFrom = (height: number, database: Database): void => {
  const oldest = oldestTip(database);
  if (oldest === undefined || oldest.height === 1 || height > oldest.height) return;
  throw new PorticoError("HISTORY_MISSING", `Changes of this wallet up to height ${oldest.height} are not kept. Ask from height ${oldest.height + 1} on.`, { members: { oldest } });
};

interface Row {
  height: number;
  balance: string | null;
  lockedBalance: string | null;
  nonce: string | null;
  vote: string | null;
}

type Figures = Pick<WalletChange, "balance" | "lockedBalance" | "nonce" | "vote">;

const nothing: Figures = { balance: 0n, lockedBalance: 0n, nonce: 0n, vote: null };

const figuresOf = ({ balance, lockedBalance, nonce, vote }: Row): Figures =>
  balance === null ? nothing : { balance: amountOf(balance), lockedBalance: amountOf(lockedBalance ?? "0"), nonce: amountOf(nonce ?? "0"), vote };

/** What the wallet had after each block of the branch, and the blocks at which that is not what it had before. */
export const walletChanges = (database: Database, { revision, tip }: State, { address, heights, direction, offset, limit }: WalletChangesQuery): Page<WalletChange> => {
  requireFrom(heights.from ?? 1, database);
  const rows = database.all(
    `SELECT branch.height AS height, balance, lockedBalance, nonce, vote
     FROM (SELECT height, max(revision) AS revision FROM states WHERE revision <= ?1 AND height <= ?2 GROUP BY height) AS branch
     LEFT JOIN wallets ON wallets.address = ?3 AND ${alive("wallets", "branch.revision")}
     ORDER BY branch.height`,
    [revision, tip.height, address],
  ) as unknown as Row[];
  let before = nothing;
  const changes = rows.flatMap((row): WalletChange[] => {
    const after = figuresOf(row);
    const isSame = after.balance === before.balance && after.lockedBalance === before.lockedBalance && after.nonce === before.nonce && after.vote === before.vote;
    const change = after.balance - before.balance;
    before = after;
    return isSame ? [] : [{ height: row.height, ...after, change }];
  });
  const { from = 1, to = Infinity } = heights;
  const found = changes.filter(({ height }) => height >= from && height <= to);
  if (direction === "desc") found.reverse();
  return { rows: found.slice(offset, offset + limit), total: found.length };
};
