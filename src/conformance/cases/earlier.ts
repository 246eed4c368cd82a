import type { BlockData } from "../../../types/events.js";
import type { ChainSnapshot } from "../../../types/chain-adapter.js";
import type { WalletChange } from "../../../types/chain-queries.js";
import { rowOf, rowsOf, same } from "../comparing.js";
import { blockSpec, delegateSpec, everyRow, transactionSpec, walk, walletSpec } from "../lists.js";
import { type CaseDefinition, type ConformanceSubject, type Fixture, readingOf, Skipped } from "../target.js";

/** The state at a height of the whole chain. Skips the case if the adapter has none. */
const at = async <T>({ adapter }: ConformanceSubject, height: number, read: (snapshot: ChainSnapshot) => Promise<T>): Promise<T> => {
  const snapshot = await adapter.snapshotAt?.(height);
  if (snapshot === undefined) throw new Error(`snapshotAt(${height}) gives no snapshot`);
  try {
    return await read(snapshot);
  } finally {
    snapshot.release?.();
  }
};

const all = { offset: 0, limit: 1_000 };

/** All that may be asked of an earlier state, about the wallets of the whole chain. */
const answersOf =
  (addresses: readonly string[], keys: readonly string[], offers: { rounds: boolean; feeStatistics: boolean }) =>
  async (snapshot: ChainSnapshot): Promise<Record<string, unknown>> => {
    const { tip, supply } = snapshot;
    const answers: Record<string, unknown> = { tip: { id: tip.id, height: tip.height, timestamp: tip.timestamp }, supply };
    for (const address of addresses) answers[`wallet ${address}`] = rowOf("wallet", await snapshot.wallet(address));
    for (const key of keys) {
      answers[`wallet ${key}`] = rowOf("wallet", await snapshot.wallet(key));
      answers[`delegate ${key}`] = rowOf("delegate", await snapshot.delegate(key));
      for (const member of ["voteBalance", "rank", "balance"] as const)
        answers[`${member} of ${key}`] = (await snapshot.delegate(key, [member]))?.[member];
      const voters = await snapshot.wallets({ filter: { vote: key }, order: { field: "balance", direction: "desc" }, ...all });
      answers[`voters of ${key}`] = { total: voters.total, rows: rowsOf("wallet", voters.rows) };
    }
    answers["delegates"] = rowsOf("delegate", await everyRow(snapshot, delegateSpec));
    answers["blocks"] = rowsOf("block", await everyRow(snapshot, blockSpec));
    answers["transactions"] = rowsOf("transaction", await everyRow(snapshot, transactionSpec));
    for (const address of addresses) {
      const own = await walk(snapshot, transactionSpec, { filter: { ownerId: address }, order: { field: "timestamp", direction: "asc" } });
      answers[`transactions of ${address}`] = own.map(transactionSpec.keyOf);
    }
    const large = await walk(snapshot, transactionSpec, { filter: { amount: { from: 1_000n } }, order: transactionSpec.usual });
    answers["transactions of some amount"] = large.map(transactionSpec.keyOf);
    for (let round = 1; offers.rounds && round <= 12; round += 1)
      answers[`round ${round}`] = rowsOf("roundDelegate", await snapshot.round(round));
    if (offers.feeStatistics)
      answers["fees"] = rowsOf("feeStatistics", await snapshot.feeStatistics({ from: 0, to: Number.MAX_SAFE_INTEGER }));
    return answers;
  };

const requireHistory = async (fixture: Fixture, blocks: readonly BlockData[]): Promise<ConformanceSubject> => {
  const subject = await fixture.open(blocks);
  if (subject.adapter.snapshotAt === undefined || subject.adapter.supports?.history === false)
    throw new Skipped("the adapter does not offer history");
  return subject;
};

const sameAsThen: CaseDefinition = {
  name: "earlier heights: each state is the one that there was when its block was the tip",
  run: async (fixture) => {
    const { blocks } = fixture.chain;
    const whole = await requireHistory(fixture, blocks);
    const offers = { rounds: await fixture.offers("rounds"), feeStatistics: await fixture.offers("feeStatistics") };
    const wallets = await readingOf(whole, (snapshot) => everyRow(snapshot, walletSpec));
    const keys = wallets.flatMap(({ isDelegate, publicKey }) => (isDelegate && publicKey !== null ? [publicKey] : []));
    const ask = answersOf(wallets.map(({ address }) => address), keys, offers);
    for (const height of [1, 6, 12, blocks.length - 4, blocks.length]) {
      const then = await fixture.open(blocks.slice(0, height));
      const [found, expected] = [await at(whole, height, ask), await readingOf(then, ask)];
      for (const [what, answer] of Object.entries(expected)) same(found[what], answer, `at height ${height}: ${what}`);
    }
    const above = await whole.adapter.snapshotAt?.(blocks.length + 1);
    same(above, undefined, "the state above the tip");
  },
};

const changesAddUp: CaseDefinition = {
  name: "earlier heights: the changes of a wallet are the blocks that changed it, and add up to what it has",
  run: async (fixture) => {
    const { blocks } = fixture.chain;
    const subject = await requireHistory(fixture, blocks);
    const wallets = await readingOf(subject, (snapshot) => everyRow(snapshot, walletSpec));
    for (const { address, balance } of wallets) {
      const { rows, total } = await readingOf(subject, async (snapshot) => {
        if (snapshot.walletChanges === undefined) throw new Error("snapshots have no `walletChanges`");
        return snapshot.walletChanges({ address, heights: {}, direction: "asc", ...all });
      });
      same(rows.length, total, `changes of ${address}: rows, and their number`);
      same(rows.reduce((sum, { change }) => sum + change, 0n), balance, `changes of ${address}: their sum, and the balance`);
      for (const row of rows) {
        const wallet = await at(subject, row.height, async (snapshot) => snapshot.wallet(address));
        const { lockedBalance, vote, nonce } = wallet ?? {};
        const expected: Partial<WalletChange> = { height: row.height, balance: row.balance, change: row.change };
        same({ ...row }, { ...expected, balance: wallet?.balance, lockedBalance, vote, nonce }, `change of ${address} at height ${row.height}`);
      }
      const newest = await readingOf(subject, async (snapshot) =>
        snapshot.walletChanges?.({ address, heights: { from: 5 }, direction: "desc", offset: 1, limit: 3 }),
      );
      const part = rows.filter(({ height }) => height >= 5).reverse();
      same(newest, { rows: part.slice(1, 4), total: part.length }, `changes of ${address}, newest first, from height 5`);
    }
  },
};

export const earlierCases: readonly CaseDefinition[] = [sameAsThen, changesAddUp];
