import type { MaybePromise } from "../../../../types/chain-adapter.js";
import type { LockFilter, LockQuery, Range, Page } from "../../../../types/chain-queries.js";
import type { Lock, Tip } from "../../../../types/chain.js";
import { lockList } from "../../../chain/lists.js";
import { isExpired } from "../../../chain/locks.js";
import { createTester } from "../../../chain/tester.js";
import { sets } from "../../layout/keys.js";
import type { ReadSession } from "../../lmdb/read-session.js";
import { readLock, existing } from "../../records/records.js";
import {
  arraySequence,
  concatSequences,
  rankedSequence,
  directed,
  emptySequence,
  mapSequence,
  reverseSequence,
  type Sequence,
} from "../../records/sequence.js";
import { clocks, lockEqualitySets, lockOrderSets } from "../../write/account-indexes.js";
import { keyOfText } from "../chain-order.js";
import { type AccessPath, answerList, descendingBounds, type ListNeeds } from "../list-query.js";

type LockPath = AccessPath<string, LockFilter>;

type Needs = Pick<ListNeeds, "reading" | "state">;

/** Every access path from which a query about open locks could be answered. */
const accessPathsTo = (query: LockQuery, needs: Needs): LockPath[] => [
  ...ofOneId(query, needs.reading),
  ...ofOneValue(query, needs.reading),
  ...byExpiry(query, needs),
  ...inOwnOrder(query, needs.reading),
];

type Part = [from: Buffer | undefined, to: Buffer | undefined];

const idsIn = (reading: ReadSession, set: number, [from, to]: Part = [undefined, undefined]): Sequence<string> =>
  mapSequence(rankedSequence(reading, set, from, to), ({ value }) => value.toString("utf8"));

/** Sets of locks descend by value. */
const inDirection = (refs: Sequence<string>, { order }: LockQuery): Sequence<string> =>
  (order.direction === "desc" ? refs : reverseSequence(refs));

const ofOneId = ({ filter: { lockId } }: LockQuery, reading: ReadSession): LockPath[] => {
  if (lockId === undefined) return [];
  const known = readLock(reading, lockId)?.lockId === lockId;
  return [{ answers: ["lockId"], ordered: true, refs: known ? arraySequence([lockId]) : emptySequence }];
};

/** Locks of one value, by time; within a range of times, where one is asked for. */
const ofOneValue = (query: LockQuery, reading: ReadSession): LockPath[] =>
  lockEqualitySets.flatMap(({ filter: name, set }): LockPath[] => {
    const { filter, order } = query;
    const wanted = filter[name];
    if (wanted === undefined) return [];
    const value = keyOfText(String(wanted));
    const refs = value === undefined ? emptySequence : idsIn(reading, set, descendingBounds(exactly(filter.timestamp ?? {}), value));
    const ordered = order.field === "timestamp";
    return [{ answers: [name, "timestamp"], ordered, refs: ordered ? inDirection(refs, query) : refs }];
  });

/** Locks that have expired have a time or height up to the tip's, the others one beyond it. */
const byExpiry = (query: LockQuery, { reading, state: { tip } }: Needs): LockPath[] => {
  const { isExpired } = query.filter;
  if (isExpired === undefined) return [];
  const part = (clock: Buffer, now: number): Sequence<string> =>
    idsIn(reading, sets.locksByExpiry, descendingBounds(exactly(isExpired ? { to: now } : { from: now + 1 }), clock));
  const parts = [part(clocks.epochTime, tip.timestamp), part(clocks.height, tip.height)];
  const refs = concatSequences(parts);
  // Times and heights have no order in common, but most chains have locks of one kind.
  const ordered = query.order.field === "expirationValue" && parts.some(({ total }) => total === 0);
  return [{ answers: ["isExpired"], ordered, refs: ordered ? inDirection(refs, query) : refs }];
};

/** Ranges, and the order asked for. */
const inOwnOrder = (query: LockQuery, reading: ReadSession): LockPath[] => {
  const { filter, order } = query;
  const paths: LockPath[] = [];
  for (const { field, set } of lockOrderSets) {
    const ordered = order.field === field;
    if (!ordered && filter[field] === undefined) continue;
    const refs = idsIn(reading, set, descendingBounds(exactly(filter[field] ?? {})));
    paths.push({ answers: [field], ordered, refs: ordered ? inDirection(refs, query) : refs });
  }
  if (order.field === "lockId") paths.push({ answers: [], ordered: true, refs: directed(idsIn(reading, sets.locksById), order.direction) });
  return paths;
};

/** The integers of a range. */
const exactly = ({ from, to }: Range<number> | Range<bigint>): Range<bigint> => ({
  ...(from === undefined ? {} : { from: integer(from, Math.ceil) }),
  ...(to === undefined ? {} : { to: integer(to, Math.floor) }),
});

const integer = (value: number | bigint, round: (value: number) => number): bigint =>
  typeof value === "bigint" ? value : BigInt(Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, round(value))));

/** Answers a list query. References are ids. */
export const askLocks = (query: LockQuery, { search, ...needs }: Needs & Pick<ListNeeds, "search">): MaybePromise<Page<Lock>> =>
  answerList(
    {
      query,
      paths: accessPathsTo(query, needs),
      load: (id: string) => existing(readLock(needs.reading, id), `lock ${id}`),
      test: testerAt(needs.state.tip),
      value: lockOrderSets.find(({ field }) => field === query.order.field)?.value,
      ties: "asc",
    },
    search,
  );

const testerAt = (tip: Tip) =>
  createTester<LockFilter, Lock>(lockList.filters, {
    expirationType: ({ expiration }) => expiration.type,
    expirationValue: ({ expiration }) => expiration.value,
    isExpired: (lock) => isExpired(lock, tip),
  });
