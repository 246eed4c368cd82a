import type { MaybePromise } from "../../../types/chain-adapter.js";
import type { Page, WalletChange, WalletChangesQuery } from "../../../types/chain-queries.js";
import { andThen } from "../../async/maybe-promise.js";
import type { Sliced } from "../../async/time-slicing.js";
import type { StateRecord, WalletRecord } from "../layout/codec.js";
import {
  heightOfRow,
  historyBounds,
  historyKinds,
  unpackFigures,
  unpackHeight,
  unpackTraits,
  type WalletFigures,
} from "../write/history-rows.js";
import type { KeyBounds, ReadSession } from "../lmdb/read-session.js";
import type { Search } from "../query/search.js";
import { firstWhere } from "../../text/first-where.js";
import { readWallet } from "../records/records.js";
import { changesMissing, heightRowAt, walletAt } from "./past-records.js";

interface Needs {
  reading: ReadSession;
  /** Up to which changes are told; those after it are known, too, if there are any. */
  state: StateRecord;
  /** The first height whose state the store has: there is a row for whatever a block above it has overwritten. */
  oldest: number;
  search: Pick<Search, "run">;
  /** Rows counted in one slice. */
  stride?: number;
}

/** Height of the block that created a wallet; the oldest height of which there is history if that was at or below it. */
const createdAt = ({ number }: WalletRecord, { reading, state, oldest }: Needs): number =>
  firstWhere(oldest, state.tip.height, (height) => unpackHeight(heightRowAt(reading, height)).wallets > number);

const hasNothing = ({ balance, lockedBalance, nonce, vote }: Pick<WalletRecord, "balance" | "lockedBalance" | "nonce" | "vote">): boolean =>
  balance === 0n && lockedBalance === 0n && nonce === 0n && vote === null;

/**
 * Rows counted in one slice, in about half a millisecond. A delegate has a row for each block that it forged: half a million in seven
 * years.
 */
const usualStride = 10_000;

/** How many rows a range has, and where every so many of them begin. */
interface Survey {
  total: number;
  stride: number;
  begins: [Buffer, ...Buffer[]];
}

function* survey({ start, end }: Required<KeyBounds>, stride: number, reading: ReadSession): Sliced<Survey> {
  const begins: Survey["begins"] = [start];
  for (let [begin, next] = [start, undefined as Buffer | undefined]; ; begin = next) {
    [next] = reading.keys("history", { start: begin, end, offset: stride, limit: 1 });
    if (next === undefined)
      return { total: (begins.length - 1) * stride + reading.count("history", { start: begin, end }), stride, begins };
    // LMDB may use its memory again.
    begins.push((next = Buffer.from(next)));
    yield;
  }
}

/** Rows that are counted one by one: an offset costs LMDB as many steps as it is large, also where a range ends before. */
const few = 200;

/** At once where they are not many. */
const surveyed = (bounds: Required<KeyBounds>, { reading, search, stride = usualStride }: Needs): MaybePromise<Survey> => {
  const most = Math.min(few, stride);
  const total = [...reading.keys("history", { ...bounds, limit: most })].length;
  if (total < most) return { total, stride, begins: [bounds.start] };
  const [next] = reading.keys("history", { offset: stride, limit: 1, ...bounds });
  return next === undefined
    ? { total: reading.count("history", bounds), stride, begins: [bounds.start] }
    : search.run(survey(bounds, stride, reading));
};

/** A row in the database: what a block overwrote. */
interface Overwritten {
  height: number;
  before: WalletFigures;
}

/** What stood before the first overwriting above a height; undefined where there was none. */
const figuresAt = (number: number, height: number, reading: ReadSession): WalletFigures | undefined => {
  const row = reading.first("history", historyBounds(historyKinds.figures, number, height + 1)) as Buffer | undefined;
  return row && unpackFigures(row);
};

/** The vote after each height; heights are asked for in ascending order. A row says how it was until then, for all heights below it. */
const createVotes = (now: WalletRecord, reading: ReadSession): ((height: number) => string | null) => {
  let [vote, until] = [now.vote, 0];
  return (height) => {
    if (height < until) return vote;
    [vote, until] = [now.vote, Infinity];
    for (const { key, value } of reading.range("history", { ...historyBounds(historyKinds.traits, now.number, height + 1), limit: 1 })) {
      [vote, until] = [unpackTraits(value as Buffer).vote, heightOfRow(key)];
    }
    return vote;
  };
};

/**
 * The blocks that changed a wallet, in a range of heights; the creation counts if the wallet then had anything.
 * @throws PorticoError HISTORY_MISSING if the range begins where history does not reach, unless the wallet was created after that
 */
export const walletChanges = (query: WalletChangesQuery, needs: Needs): MaybePromise<Page<WalletChange>> => {
  const { address, heights } = query;
  const { reading, state, oldest } = needs;
  const now = readWallet(reading, address);
  if (now === undefined || now.number >= state.wallets) return { rows: [], total: 0 };
  const from = Math.max(1, heights.from ?? 1);
  const to = Math.min(state.tip.height, heights.to ?? Infinity);
  if (from > to) return { rows: [], total: 0 };
  const creation = createdAt(now, needs);
  // The first block overwrites nothing: history that begins with it is whole.
  if (oldest > 1 && from <= oldest && creation <= oldest) throw changesMissing(oldest, reading);
  const isCreatedThere =
    creation >= from && creation <= to && !hasNothing(walletAt(address, { reading, height: creation, wallets: state.wallets }) ?? now);
  const bounds = historyBounds(historyKinds.figures, now.number, from, to + 1);
  const created = isCreatedThere ? creation : undefined;
  return andThen(surveyed(bounds, needs), (rows) => pageOf(query, now, { end: bounds.end, created, ...rows }, reading));
};

/** `created`: height of the wallet's creation, if that counts. */
const pageOf = ({ direction, offset, limit }: WalletChangesQuery, now: WalletRecord, { total: rows, stride, begins, end, created }: Survey & { end: Buffer; created: number | undefined }, reading: ReadSession): Page<WalletChange> => {
  const isCreatedThere = created !== undefined;
  const total = rows + Number(isCreatedThere);
  const ascending = direction === "asc";
  // In ascending order, offsets count from the other end; the creation, if it counts, is the very first.
  const take = Math.max(0, Math.min(limit, total - offset));
  const first = ascending ? offset : total - offset - take;
  const begin = first - Number(isCreatedThere);
  const overwritten: Overwritten[] = [];
  if (take > 0) {
    const place = Math.max(0, begin);
    const start = begins[Math.floor(place / stride)] ?? begins[0];
    for (const { key, value } of reading.range("history", { start, end, offset: place % stride, limit: take })) {
      overwritten.push({ height: heightOfRow(key), before: unpackFigures(value as Buffer) });
    }
  }
  if (take > 0 && begin < 0 && created !== undefined) {
    overwritten.unshift({ height: created, before: { balance: 0n, nonce: 0n, lockedBalance: 0n } });
    overwritten.length = take;
  }
  const voteAt = createVotes(now, reading);
  const changes = overwritten.map(({ height, before }, place): WalletChange => {
    const after = overwritten[place + 1]?.before ?? figuresAt(now.number, height, reading) ?? now;
    const { balance, lockedBalance, nonce } = after;
    return { height, balance, change: balance - before.balance, lockedBalance, vote: voteAt(height), nonce };
  });
  return { rows: ascending ? changes : changes.reverse(), total };
};
