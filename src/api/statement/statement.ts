import type { Block, Transaction, Wallet } from "../../../types/chain.js";
import type { ChainSnapshot, MaybePromise } from "../../../types/chain-adapter.js";
import type { Page, TransactionFilter, WalletChange } from "../../../types/chain-queries.js";
import { htlcClaimKind, htlcLockKind, htlcRefundKind } from "../../chain/blocks/transaction-types.js";
import { amountText, type Booking, bookingsOf, forgingOf } from "../../chain/bookings.js";
import { type EndedLock, lockEndedBy, lockOpenedBy } from "../../chain/locks.js";
import type { ChainRules } from "../../chain/rules.js";
import { PorticoError } from "../../errors.js";
import { everyRow, pageRows, rowsBelow } from "../pages.js";
import type { StatementRow } from "./row.js";
import type { Heights } from "./period.js";

export interface StatementNeeds {
  rules: ChainRules;
  wallet: Pick<Wallet, "address" | "publicKey">;
  heights: Heights;
  /** Oldest first, or newest first. */
  direction: "asc" | "desc";
  /** Whether a row says what the balance was before the period: the oldest row. */
  opening: boolean;
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
  /** Heights of `consumedLocks`, in order. */
  consumed: number[];
}

type Direction = StatementNeeds["direction"];

const ownedBy =
  (address: string, direction: Direction) =>
  (chain: ChainSnapshot, offset: number, limit: number): MaybePromise<Page<Transaction>> =>
    chain.transactions({ filter: { ownerId: address }, order: { field: "timestamp", direction }, offset, limit });

const changesOf = (
  chain: ChainSnapshot,
  query: Parameters<NonNullable<ChainSnapshot["walletChanges"]>>[0],
): MaybePromise<Page<WalletChange>> => {
  if (chain.walletChanges === undefined) throw new PorticoError("NOT_SUPPORTED");
  return chain.walletChanges(query);
};

/** Heights of the first window. */
const firstWindow = 1_000;
/** A window is larger than the one before it by at most this factor. */
const growth = 4;

/**
 * What changed a wallet, in windows of heights. A page of a list costs more the longer the list is, as it is counted; a window costs what
 * is in it, and is as wide as seems to hold a page.
 */
const changesIn = (address: string, heights: Heights, direction: Direction): Rows<WalletChange> => {
  let { from, to } = heights;
  let width = firstWindow;
  return new Rows(async (chain) => {
    while (from <= to) {
      const window = direction === "asc" ? { from, to: Math.min(to, from + width - 1) } : { from: Math.max(from, to - width + 1), to };
      const { rows, total } = await changesOf(chain, { address, heights: window, direction, offset: 0, limit: pageRows });
      const last = rows.at(-1);
      const isRead = last === undefined || rows.length >= total;
      if (direction === "asc") from = isRead ? window.to + 1 : last.height + 1;
      else to = isRead ? window.from - 1 : last.height - 1;
      width = Math.ceil(Math.min(growth, pageRows / total) * (window.to - window.from + 1));
      if (last !== undefined) return rows;
    }
    return [];
  });
};

/**
 * Heights of claims and refunds of a wallet's locks whose fee is all that the lock had. They change no balance and name nobody, so neither
 * the wallet's changes nor its transactions tell of them.
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

const sourcesOf = async (
  { wallet: { address, publicKey }, heights, direction }: StatementNeeds,
  chain: ChainSnapshot,
): Promise<Sources> => {
  const owned = ownedBy(address, direction);
  const oldestFirst = ownedBy(address, "asc");
  const below = (height: number): Promise<number> => rowsBelow(height, (offset, limit) => oldestFirst(chain, offset, limit));
  const { total } = await oldestFirst(chain, 0, 1);
  const order = { field: "height", direction } as const;
  const forgedBy = (generatorPublicKey: string): Rows<Block> =>
    inPages((snapshot, offset, limit) => snapshot.blocks({ filter: { generatorPublicKey, height: heights }, order, offset, limit }));
  const consumed = await consumedLocks(address, heights, chain);
  return {
    owned: inPages(owned, direction === "asc" ? await below(heights.from) : total - (await below(heights.to + 1))),
    forged: publicKey === null ? undefined : forgedBy(publicKey),
    changes: changesIn(address, heights, direction),
    consumed: direction === "asc" ? consumed : consumed.reverse(),
  };
};

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
  return [
    ...bookings,
    { address, kind: "other", id: block.id, counterparty: "", memo: "", in: left > 0n ? left : 0n, out: left < 0n ? -left : 0n, fee: 0n },
  ];
};

/** Height of the next block that did something to the wallet; undefined at the end. */
const nextHeight = async ({ owned, forged, changes, consumed }: Sources, { heights, direction }: StatementNeeds, chain: ChainSnapshot): Promise<number | undefined> => {
  const heads = [(await owned.next(chain))?.blockHeight, (await forged?.next(chain))?.height, (await changes.next(chain))?.height, consumed[0]];
  const found = heads.filter((head) => head !== undefined && head >= heights.from && head <= heights.to) as number[];
  if (found.length === 0) return undefined;
  return direction === "asc" ? Math.min(...found) : Math.max(...found);
};

/** What the next block did to the wallet, oldest first; undefined at the end. */
const nextBlock = async (sources: Sources, needs: StatementNeeds, chain: ChainSnapshot): Promise<{ block: Block; bookings: Booking[] } | undefined> => {
  const { owned, forged, changes, consumed } = sources;
  const height = await nextHeight(sources, needs, chain);
  if (height === undefined) return undefined;
  const bookings: Booking[] = [];
  for (let row = await owned.next(chain); row?.blockHeight === height; row = await owned.next(chain)) {
    const booking = await bookingBy(row, needs, chain);
    if (booking !== undefined) bookings.push(booking);
    owned.take();
  }
  if (needs.direction === "desc") bookings.reverse();
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
  return { block, bookings: isWhole ? bookings : await completed(block, bookings, expected, needs, chain) };
};

const rowOf = (booking: Booking, { height }: Block, time: string, balance: bigint): StatementRow => {
  const { kind, id, counterparty, memo } = booking;
  const amounts = { in: amountText(booking.in), out: amountText(booking.out), fee: amountText(booking.fee), balance: balance.toString() };
  return { time, height, kind, id, counterparty, memo, ...amounts };
};

/** What the wallet had before a block: the first change from there on tells. */
const balanceBefore = async (height: number, { address }: Pick<Wallet, "address">, chain: ChainSnapshot): Promise<bigint> => {
  const first = await changesIn(address, { from: height, to: chain.tip.height }, "asc").next(chain);
  return first === undefined ? ((await chain.wallet(address))?.balance ?? 0n) : first.balance - first.change;
};

const openingRow = (height: number, balance: bigint): StatementRow => ({
  time: "",
  height,
  kind: "opening",
  id: "",
  counterparty: "",
  memo: "",
  in: "",
  out: "",
  fee: "",
  balance: balance.toString(),
});

/** Every booking of a wallet in a period, in order, some at a time: balance = balance before + in − out − fee, to the digit. */
export async function* statement(needs: StatementNeeds): AsyncGenerator<StatementRow[]> {
  const { wallet, heights, direction, opening, rules } = needs;
  const reading = async <T>(read: (chain: ChainSnapshot) => Promise<T>): Promise<T> => {
    const chain = await needs.open();
    try {
      return await read(chain);
    } finally {
      chain.release?.();
    }
  };
  const sources = await reading((chain) => sourcesOf(needs, chain));
  let balance = await reading((chain) => balanceBefore(direction === "asc" ? heights.from : heights.to + 1, wallet, chain));
  if (opening && direction === "asc") yield [openingRow(heights.from, balance)];
  for (let isMore = true; isMore; ) {
    const rows: StatementRow[] = [];
    isMore = await reading(async (chain) => {
      while (rows.length < pageRows) {
        const next = await nextBlock(sources, needs, chain);
        if (next === undefined) return false;
        const time = rules.epoch.timestamp(next.block.timestamp).human;
        for (const booking of direction === "asc" ? next.bookings : next.bookings.reverse()) {
          const net = netOf([booking]);
          if (direction === "asc") balance += net;
          rows.push(rowOf(booking, next.block, time, balance));
          if (direction === "desc") balance -= net;
        }
      }
      return true;
    });
    if (rows.length > 0) yield rows;
  }
  if (opening && direction === "desc") yield [openingRow(heights.from, balance)];
}
