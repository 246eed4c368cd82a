import type { Block, Transaction, Wallet } from "../../../types/chain.js";
import type { ChainSnapshot, MaybePromise } from "../../../types/chain-adapter.js";
import type { Page, TransactionFilter, WalletChange } from "../../../types/chain-queries.js";
import { htlcClaimKind, htlcLockKind, htlcRefundKind } from "../../chain/blocks/transaction-types.js";
import { amountText, type Booking, bookingsOf, forgingOf } from "../../chain/bookings.js";
import { type EndedLock, lockEndedBy, lockOpenedBy } from "../../chain/locks.js";
import type { ChainRules } from "../../chain/rules.js";
import { PorticoError } from "../../errors.js";
import { everyRow, pageRows, rowsBelow } from "../resources/every-row.js";
import type { StatementRow } from "./row.js";
import type { Heights } from "./period.js";

export interface StatementNeeds {
  rules: ChainRules;
  wallet: Pick<Wallet, "address" | "publicKey">;
  heights: Heights;
  /** Opens the state that the statement is of, again and again, so that none is held while a client is slow. */
  open(): MaybePromise<ChainSnapshot>;
}

/** Rows in order, some at a time, each time from a state of its own. */
class Rows<Row> {
  private rows: Row[] = [];
  private place = 0;
  private isEnded = false;
  private readonly read: (chain: ChainSnapshot) => Promise<Row[]>;

  /** `read` returns those that come next; none: there are no more. */
  constructor(read: (chain: ChainSnapshot) => Promise<Row[]>) {
    this.read = read;
  }

  /** The next row, which stays the next until `take`. */
  async next(chain: ChainSnapshot): Promise<Row | undefined> {
    if (this.place >= this.rows.length && !this.isEnded) {
      this.rows = await this.read(chain);
      this.place = 0;
      this.isEnded = this.rows.length === 0;
    }
    return this.rows[this.place];
  }

  take(): void {
    this.place++;
  }
}

/** The pages of a list. */
const inPages = <Row>(ask: (chain: ChainSnapshot, offset: number, limit: number) => MaybePromise<Page<Row>>, offset = 0): Rows<Row> => {
  let total = Infinity;
  return new Rows(async (chain) => {
    if (offset >= total) return [];
    const page = await ask(chain, offset, pageRows);
    total = page.total;
    offset += page.rows.length;
    return page.rows;
  });
};

interface Sources {
  owned: Rows<Transaction>;
  forged: Rows<Block> | undefined;
  changes: Rows<WalletChange>;
  /** Ascending heights of `consumedLocks`. */
  consumed: number[];
}

const ownedBy =
  (address: string) =>
  (chain: ChainSnapshot, offset: number, limit: number): MaybePromise<Page<Transaction>> =>
    chain.transactions({ filter: { ownerId: address }, order: { field: "timestamp", direction: "asc" }, offset, limit });

const changesOf = (chain: ChainSnapshot, query: Parameters<NonNullable<ChainSnapshot["walletChanges"]>>[0]): MaybePromise<Page<WalletChange>> => {
  if (chain.walletChanges === undefined) throw new PorticoError("NOT_SUPPORTED");
  return chain.walletChanges(query);
};

/** Heights of the first window. */
const firstWindow = 1_000;
/** A window is larger than the one before it by at most this factor. */
const growth = 4;

/**
 * What changed a wallet, in windows of heights. A page of a list costs more the longer the list is, as it is counted; a window costs what is
 * in it, and is as wide as seems to hold a page.
 */
const changesIn = (address: string, { from, to }: Heights): Rows<WalletChange> => {
  let next = from;
  let width = firstWindow;
  return new Rows(async (chain) => {
    while (next <= to) {
      const window = { from: next, to: Math.min(to, next + width - 1) };
      const { rows, total } = await changesOf(chain, { address, heights: window, direction: "asc", offset: 0, limit: pageRows });
      const last = rows.at(-1);
      next = last === undefined || rows.length >= total ? window.to + 1 : last.height + 1;
      width = Math.ceil(Math.min(growth, pageRows / total) * (window.to - window.from + 1));
      if (last !== undefined) return rows;
    }
    return [];
  });
};

/**
 * Heights of claims and refunds of a wallet's locks whose fee is all that the lock had. They change no balance and name nobody, so neither the
 * wallet's changes nor its transactions tell of them.
 */
const consumedLocks = async (address: string, { from, to }: Heights, chain: ChainSnapshot): Promise<number[]> => {
  const order = { field: "timestamp", direction: "asc" } as const;
  const kindOf = (kind: Pick<TransactionFilter, "typeGroup" | "type">, filter: TransactionFilter): Promise<Transaction[]> =>
    everyRow((offset, limit) => chain.transactions({ filter: { ...kind, ...filter }, order, offset, limit }));
  const amounts = new Map((await kindOf(htlcLockKind, { ownerId: address })).map(({ id, amount }) => [id, amount]));
  const heights: number[] = [];
  for (const amount of new Set(amounts.values()))
    for (const kind of [htlcClaimKind, htlcRefundKind]) {
      const rows = await kindOf(kind, { fee: { from: amount, to: amount } });
      heights.push(...rows.filter((row) => amounts.get(lockEndedBy(row) ?? "") === amount).map(({ blockHeight }) => blockHeight));
    }
  return heights.filter((height) => height >= from && height <= to).sort((a, b) => a - b);
};

const sourcesOf = async ({ wallet: { address, publicKey }, heights }: StatementNeeds, chain: ChainSnapshot): Promise<Sources> => ({
  owned: inPages(ownedBy(address), await rowsBelow(heights.from, (offset, limit) => ownedBy(address)(chain, offset, limit))),
  forged:
    publicKey === null
      ? undefined
      : inPages((snapshot, offset, limit) =>
          snapshot.blocks({ filter: { generatorPublicKey: publicKey, height: heights }, order: { field: "height", direction: "asc" }, offset, limit }),
        ),
  changes: changesIn(address, heights),
  consumed: await consumedLocks(address, heights, chain),
});

/** The lock that a claim or refund ends, as its own transaction opened it. */
const lockEnded = async (transaction: Transaction, chain: ChainSnapshot): Promise<EndedLock | undefined> => {
  const id = lockEndedBy(transaction);
  const opened = id === undefined ? undefined : await chain.transaction(id);
  return opened && lockOpenedBy(opened);
};

/** What a transaction does to the statement's wallet; undefined where it does not concern it. */
const bookingBy = async (transaction: Transaction, { wallet: { address }, rules }: StatementNeeds, chain: ChainSnapshot): Promise<Booking | undefined> => {
  const lock = await lockEnded(transaction, chain);
  return bookingsOf(transaction, () => lock, rules).find((booking) => booking.address === address);
};

const netOf = (bookings: readonly Booking[]): bigint => bookings.reduce((sum, booking) => sum + booking.in - booking.out - booking.fee, 0n);

/**
 * The bookings of a block whose own do not come out at what the wallet had after it: transactions of others may pay a wallet without naming
 * it, as a claim that anybody sends does. What is still left then is one booking more.
 */
const completed = async (block: Block, own: readonly Booking[], change: bigint, needs: StatementNeeds, chain: ChainSnapshot): Promise<Booking[]> => {
  const bookings: Booking[] = [];
  for (let offset = 0; ; offset += pageRows) {
    const { rows, total } = await chain.transactions({ filter: { blockId: block.id }, order: { field: "timestamp", direction: "asc" }, offset, limit: pageRows });
    for (const transaction of rows) {
      const booking = own.find(({ id }) => id === transaction.id) ?? (await bookingBy(transaction, needs, chain));
      if (booking !== undefined) bookings.push(booking);
    }
    if (offset + rows.length >= total || rows.length === 0) break;
  }
  bookings.push(...own.filter(({ id }) => id === block.id));
  const left = change - netOf(bookings);
  if (left === 0n) return bookings;
  const { address } = needs.wallet;
  return [...bookings, { address, kind: "other", id: block.id, counterparty: "", memo: "", in: left > 0n ? left : 0n, out: left < 0n ? -left : 0n, fee: 0n }];
};

/** The next block that did something to the wallet, and what; undefined at the end. */
const nextBlock = async ({ owned, forged, changes, consumed }: Sources, needs: StatementNeeds, chain: ChainSnapshot): Promise<{ block: Block; bookings: Booking[]; balance: bigint | undefined } | undefined> => {
  const heads = [(await owned.next(chain))?.blockHeight, (await forged?.next(chain))?.height, (await changes.next(chain))?.height, consumed[0]];
  const height = Math.min(...heads.map((head) => head ?? Infinity));
  if (height > needs.heights.to) return undefined;
  const bookings: Booking[] = [];
  for (let row = await owned.next(chain); row?.blockHeight === height; row = await owned.next(chain)) {
    const booking = await bookingBy(row, needs, chain);
    if (booking !== undefined) bookings.push(booking);
    owned.take();
  }
  const made = await forged?.next(chain);
  const block = made?.height === height ? made : await chain.block({ height });
  if (block === undefined) throw new Error(`the chain has no block ${height}`);
  if (made?.height === height) {
    forged?.take();
    bookings.push(...forgingOf({ block }, needs.rules));
  }
  const change = await changes.next(chain);
  const isChanged = change?.height === height;
  if (isChanged) changes.take();
  const expected = isChanged ? change.change : 0n;
  const isWhole = netOf(bookings) === expected && consumed[0] !== height;
  while (consumed[0] === height) consumed.shift();
  return { block, bookings: isWhole ? bookings : await completed(block, bookings, expected, needs, chain), balance: isChanged ? change.balance : undefined };
};

const rowOf = (booking: Booking, { height }: Block, time: string, balance: bigint): StatementRow => {
  const { kind, id, counterparty, memo } = booking;
  const amounts = { in: amountText(booking.in), out: amountText(booking.out), fee: amountText(booking.fee), balance: balance.toString() };
  return { time, height, kind, id, counterparty, memo, ...amounts };
};

/** Where the period changed nothing, the first change after it tells what the balance was. */
const openingBalance = async ({ wallet: { address }, heights: { to } }: StatementNeeds, { changes }: Sources, chain: ChainSnapshot): Promise<bigint> => {
  const first = (await changes.next(chain)) ?? (await changesIn(address, { from: to + 1, to: chain.tip.height }).next(chain));
  return first === undefined ? ((await chain.wallet(address))?.balance ?? 0n) : first.balance - first.change;
};

/** Every booking of a wallet in a period, oldest first, some at a time: balance = balance before + in − out − fee, to the digit. */
export async function* statement(needs: StatementNeeds): AsyncGenerator<StatementRow[]> {
  const reading = async <T>(read: (chain: ChainSnapshot) => Promise<T>): Promise<T> => {
    const chain = await needs.open();
    try {
      return await read(chain);
    } finally {
      chain.release?.();
    }
  };
  const sources = await reading((chain) => sourcesOf(needs, chain));
  let balance = await reading((chain) => openingBalance(needs, sources, chain));
  for (let isMore = true; isMore; ) {
    const rows: StatementRow[] = [];
    isMore = await reading(async (chain) => {
      while (rows.length < pageRows) {
        const next = await nextBlock(sources, needs, chain);
        if (next === undefined) return false;
        const time = needs.rules.epoch.timestamp(next.block.timestamp).human;
        for (const booking of next.bookings) {
          balance += booking.in - booking.out - booking.fee;
          rows.push(rowOf(booking, next.block, time, balance));
        }
      }
      return true;
    });
    if (rows.length > 0) yield rows;
  }
}
