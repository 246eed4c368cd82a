import type { ChainSnapshot, MaybePromise } from "../../../types/chain-adapter.js";
import { blocktime } from "../chain/network.js";
import type { ChainSize } from "../chain/sizes.js";
import { filters, type ListKind, listKinds } from "./filters.js";
import { lists } from "./lists.js";
import { busiestAddress, forger, walletAddress } from "./parties.js";

/** `totals`: how many there are, and no row of them. `filters`: a page by one filter. `searches`: a page by several, or by ranges. */
export type QuestionGroup = "totals" | "filters" | "searches";

/** One thing to ask of a chain of any size. */
export interface Question {
  readonly group: QuestionGroup;
  /** What it is about: `transactions`. */
  readonly of: string;
  readonly name: string;
  ask(snapshot: ChainSnapshot): MaybePromise<{ total: number }>;
}

const defaultOrder = {
  transactions: { field: "timestamp", direction: "desc" },
  blocks: { field: "height", direction: "desc" },
  wallets: { field: "balance", direction: "desc" },
  delegates: { field: "rank", direction: "asc" },
  locks: { field: "timestamp", direction: "desc" },
} as const;

/** A page beyond the end has no rows to read: only the total has to be found. */
const beyond = { offset: Number.MAX_SAFE_INTEGER - 1, limit: 1 };
const firstPage = { offset: 0, limit: 100 };

const ask = (kind: ListKind, filter: object, page: { offset: number; limit: number }): Question["ask"] => {
  const query = { filter, order: defaultOrder[kind], ...page };
  return (snapshot) => snapshot[kind](query as never);
};

const byOneFilter = (group: "totals" | "filters", size: ChainSize, page: { offset: number; limit: number }): Question[] =>
  listKinds.flatMap((kind) =>
    (Object.entries(filters[kind](size)) as [string, unknown][]).map(([name, value]): Question => ({ group, of: kind, name, ask: ask(kind, { [name]: value }, page) })),
  );

/** The total of every list, and of every list under each of its filters by itself. */
const totals = (size: ChainSize): Question[] => [
  ...lists.map(({ name, orders, ask: askList }): Question => {
    const [order = { field: "timestamp", direction: "desc" as const }] = orders;
    return { group: "totals", of: "lists", name, ask: (snapshot) => askList(snapshot, order, beyond.offset, beyond.limit) };
  }),
  ...byOneFilter("totals", size, beyond),
];

const token = 100_000_000n;

const searchesOf = ({ blocks }: ChainSize): [ListKind, string, object][] => [
  ["wallets", "by a narrow range of balance", { balance: { from: token, to: 2n * token } }],
  ["wallets", "by a wide range of balance", { balance: { from: 1n } }],
  ["wallets", "by vote", { vote: forger.publicKey }],
  ["wallets", "by vote and range of balance", { vote: forger.publicKey, balance: { from: token, to: 100n * token } }],
  ["delegates", "by range of vote balance", { voteBalance: { from: token, to: 1_000_000n * token } }],
  ["delegates", "by ranges of approval and blocks", { approval: { from: 0, to: 5 }, producedBlocks: { from: 1 } }],
  ["transactions", "by address, type and time", { ownerId: walletAddress(100), type: 0, typeGroup: 1, timestamp: { from: (blocks / 2) * blocktime } }],
  [
    "transactions",
    "by the busiest address, type and a day",
    { ownerId: busiestAddress, type: 0, typeGroup: 1, timestamp: { from: (blocks / 2) * blocktime, to: (blocks / 2) * blocktime + 86_400 } },
  ],
  [
    "transactions",
    "by the busiest address, type and half of all time",
    { ownerId: busiestAddress, type: 0, typeGroup: 1, timestamp: { from: (blocks / 2) * blocktime } },
  ],
  ["transactions", "by type and a day", { type: 3, typeGroup: 1, timestamp: { from: (blocks / 2) * blocktime, to: (blocks / 2) * blocktime + 86_400 } }],
  ["transactions", "by type and range of amount", { type: 3, typeGroup: 1, amount: { from: 1n } }],
];

const searches = (size: ChainSize): Question[] =>
  searchesOf(size).map(([kind, name, filter]): Question => ({ group: "searches", of: kind, name, ask: ask(kind, filter, firstPage) }));

export const questionsOf = (size: ChainSize): Question[] => [...totals(size), ...byOneFilter("filters", size, firstPage), ...searches(size)];
