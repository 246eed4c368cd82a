import type { Lock, Tip } from "../../../../types/chain.js";
import type { MaybePromise } from "../../../../types/chain-adapter.js";
import type { LockFilter, LockQuery, Page } from "../../../../types/chain-queries.js";
import { isExpired } from "../../../chain/locks.js";
import type { StateRecord } from "../../layout/codec.js";
import { accessPathsTo } from "./lock-access-paths.js";
import { lockOrderSets } from "../../write/lock-index.js";
import { lockTester } from "../filters.js";
import { answerList } from "../list-query.js";
import type { Reading } from "../../lmdb/reading.js";
import { existing, readLock } from "../../records/records.js";
import type { Search } from "../search.js";

interface LockNeeds {
  reading: Reading;
  state: StateRecord;
  search: Search;
}

/** Answers a list query. References are ids. */
export const askLocks = (query: LockQuery, { search, ...needs }: LockNeeds): MaybePromise<Page<Lock>> =>
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

const testerAt =
  (tip: Tip) =>
  (filter: LockFilter, answered: ReadonlySet<keyof LockFilter>): ((lock: Lock) => boolean) | undefined => {
    const passes = lockTester(filter, answered);
    return passes === undefined ? undefined : (lock) => passes({ lock, expired: isExpired(lock, tip) });
  };
