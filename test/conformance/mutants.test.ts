import { AssertionError } from "node:assert";
import { expect } from "chai";
import type { Delegate, Lock, Transaction, Wallet } from "../../types/chain.js";
import type { ChainAdapter, ChainSnapshot } from "../../types/chain-adapter.js";
import type { ListQuery, Page } from "../../types/chain-queries.js";
import { createConformanceSuite, describeConformance } from "../../src/conformance/index.js";
import { createMemoryAdapter, feeStatisticsOf } from "../memory-adapter/adapter.js";
import { appliedOnce } from "../memory-adapter/applied.js";

/** One fault in an otherwise correct adapter, and the case of the suite that must notice it. */
interface Mutant {
  fault: string;
  noticedBy: RegExp;
  /** The members of the snapshot that are faulty. */
  answers(sound: ChainSnapshot): Partial<ChainSnapshot>;
}

type Ask<Row, Query> = (query: Query) => Page<Row>;

// The in-memory adapter answers synchronously.
const walletsOf = (sound: ChainSnapshot) => sound.wallets as Ask<Wallet, Parameters<ChainSnapshot["wallets"]>[0]>;
const delegatesOf = (sound: ChainSnapshot) => sound.delegates as Ask<Delegate, Parameters<ChainSnapshot["delegates"]>[0]>;
const transactionsOf = (sound: ChainSnapshot) =>
  sound.transactions as Ask<Transaction, Parameters<ChainSnapshot["transactions"]>[0]>;
const locksOf = (sound: ChainSnapshot) => sound.locks as Ask<Lock, Parameters<ChainSnapshot["locks"]>[0]>;

const changed = <Row, Query>(ask: Ask<Row, Query>, change: (page: Page<Row>) => Page<Row>): Ask<Row, Query> => {
  return (query) => change(ask(query));
};

/** The whole list in another order, sliced as asked. */
const resorted = <Row, Query extends ListQuery<object, string>>(
  ask: Ask<Row, Query>,
  sort: (rows: Row[], query: Query) => Row[],
): Ask<Row, Query> => {
  return (query) => {
    const { rows, total } = ask({ ...query, offset: 0, limit: 1_000 });
    return { rows: sort(rows, query).slice(query.offset, query.offset + query.limit), total };
  };
};

const without = <Query extends { filter: object }>(query: Query, name: string): Query => ({
  ...query,
  filter: Object.fromEntries(Object.entries(query.filter).filter(([key]) => key !== name)),
});

/** Answers one filter by comparing the row's texts in lower case. */
const caseBlind = <Row, Query extends ListQuery<object, string>>(
  ask: Ask<Row, Query>,
  name: string,
  passes: (row: Row, value: string) => boolean,
): Ask<Row, Query> => {
  return (query) => {
    const asked = (query.filter as Record<string, string | string[] | undefined>)[name];
    if (asked === undefined) return ask(query);
    const values = [asked].flat().map((value) => value.toLowerCase());
    const { rows } = ask({ ...without(query, name), offset: 0, limit: 1_000 });
    const found = rows.filter((row) => values.some((value) => passes(row, value)));
    return { rows: found.slice(query.offset, query.offset + query.limit), total: found.length };
  };
};

const is =
  <Row>(...of: ((row: Row) => string | null | undefined)[]) =>
  (row: Row, value: string): boolean =>
    of.some((text) => text(row)?.toLowerCase() === value);

type CaseBlind = [list: string, filter: string, answers: Mutant["answers"]];

const caseBlindWallets = (name: string, passes: (row: Wallet, value: string) => boolean): CaseBlind => [
  "wallets",
  name,
  (sound) => ({ wallets: caseBlind(walletsOf(sound), name, passes) }),
];

const caseBlindDelegates = (name: string, passes: (row: Delegate, value: string) => boolean): CaseBlind => [
  "delegates",
  name,
  (sound) => ({ delegates: caseBlind(delegatesOf(sound), name, passes) }),
];

const caseBlindTransactions = (name: string, passes: (row: Transaction, value: string) => boolean): CaseBlind => [
  "transactions",
  name,
  (sound) => ({ transactions: caseBlind(transactionsOf(sound), name, passes) }),
];

const caseBlindLocks = (name: string, passes: (row: Lock, value: string) => boolean): CaseBlind => [
  "locks",
  name,
  (sound) => ({ locks: caseBlind(locksOf(sound), name, passes) }),
];

const address = is<{ address: string }>((row) => row.address);
const username = is<{ username: string | null }>((row) => row.username);
const senderId = is<{ senderId: string }>((row) => row.senderId);
const recipientId = is<{ recipientId?: string }>((row) => row.recipientId);
const vendorField = is<{ vendorField?: string }>((row) => row.vendorField);

const caseBlindFilters: CaseBlind[] = [
  caseBlindWallets("address", address),
  caseBlindWallets("addresses", address),
  caseBlindWallets("username", username),
  caseBlindDelegates("address", address),
  caseBlindDelegates("username", (row, part) => row.username.toLowerCase().includes(part)),
  caseBlindDelegates("usernames", username),
  caseBlindTransactions("senderId", senderId),
  caseBlindTransactions("vendorField", vendorField),
  caseBlindLocks("senderId", senderId),
  caseBlindLocks("recipientId", recipientId),
  caseBlindLocks("vendorField", vendorField),
];

const everyWallet = { filter: {}, order: { field: "balance", direction: "desc" }, offset: 0, limit: 1_000 } as const;

const alterWallets = (sound: ChainSnapshot, alter: (wallet: Wallet) => Wallet): Partial<ChainSnapshot> => ({
  wallets: changed(walletsOf(sound), (page) => ({ ...page, rows: page.rows.map(alter) })),
});

const alterDelegates = (sound: ChainSnapshot, alter: (delegate: Delegate) => Delegate): Partial<ChainSnapshot> => ({
  delegates: changed(delegatesOf(sound), (page) => ({ ...page, rows: page.rows.map(alter) })),
});

const alterTransactions = (sound: ChainSnapshot, alter: (transaction: Transaction) => Transaction): Partial<ChainSnapshot> => ({
  transactions: changed(transactionsOf(sound), (page) => ({ ...page, rows: page.rows.map(alter) })),
  transaction: async (id) => {
    const found = await sound.transaction(id);
    return found === undefined ? undefined : alter(found);
  },
});

const dropped = <Row extends object>(row: Row, key: keyof Row): Row =>
  Object.fromEntries(Object.entries(row).filter(([name]) => name !== key)) as Row;

const mutants: Mutant[] = [
  {
    fault: "ties among wallets are reversed",
    noticedBy: /^wallets: each order/,
    answers: (sound) => ({
      wallets: resorted(walletsOf(sound), (rows, { order }) =>
        order.field === "balance" && order.direction === "desc"
          ? [...rows].sort((a, b) => (a.balance === b.balance ? (a.address < b.address ? 1 : -1) : 0))
          : rows,
      ),
    }),
  },
  {
    fault: "ascending order is not the reverse of descending order",
    noticedBy: /^delegates: by voteBalance, asc/,
    answers: (sound) => ({
      delegates: resorted(delegatesOf(sound), (rows, { order }) =>
        order.direction === "asc" && order.field === "voteBalance"
          ? [...rows].sort((a, b) => (a.voteBalance === b.voteBalance ? (a.username < b.username ? -1 : 1) : 0))
          : rows,
      ),
    }),
  },
  {
    fault: "usernames are ordered as a language would",
    noticedBy: /^delegates: by username, asc/,
    answers: (sound) => ({
      delegates: resorted(delegatesOf(sound), (rows, { order }) =>
        order.field === "username" && order.direction === "asc" ? [...rows].sort((a, b) => a.username.localeCompare(b.username, "en")) : rows,
      ),
    }),
  },
  {
    fault: "delegates without a rank come first",
    noticedBy: /^delegates: by rank, asc/,
    answers: (sound) => ({
      delegates: resorted(delegatesOf(sound), (rows, { order }) =>
        order.field === "rank"
          ? [...rows.filter(({ rank }) => rank === null), ...rows.filter(({ rank }) => rank !== null)]
          : rows,
      ),
    }),
  },
  {
    fault: "balances are ordered as doubles",
    noticedBy: /^wallets: by balance, desc/,
    answers: (sound) => ({
      wallets: resorted(walletsOf(sound), (rows, { order }) =>
        order.field === "balance"
          ? [...rows].sort((a, b) => Number(b.balance) - Number(a.balance) || (a.address < b.address ? 1 : -1))
          : rows,
      ),
    }),
  },
  {
    fault: "wallets of delegates with a negative vote balance come before those of 0",
    noticedBy: /^wallets: by voteBalance, desc, a negative one/,
    answers: (sound) => ({
      wallets: resorted(walletsOf(sound), (rows, { order: { field, direction } }) =>
        field === "voteBalance" && direction === "desc" ? [...rows].sort((a, b) => Number(a.voteBalance === 0n) - Number(b.voteBalance === 0n)) : rows,
      ),
    }),
  },
  {
    fault: "the total counts only the page",
    noticedBy: /^blocks: any offset/,
    answers: (sound) => ({
      blocks: async (query) => {
        const page = await sound.blocks(query);
        return { ...page, total: page.rows.length };
      },
    }),
  },
  {
    fault: "every page is the first",
    noticedBy: /^transactions: each order/,
    answers: (sound) => ({ transactions: (query) => sound.transactions({ ...query, offset: 0 }) }),
  },
  {
    fault: "an offset is rounded down to whole pages",
    noticedBy: /^wallets: any offset/,
    answers: (sound) => ({
      wallets: (query) => sound.wallets({ ...query, offset: query.offset - (query.offset % query.limit) }),
    }),
  },
  ...["vote", "balance", "addresses", "secondPublicKey", "producedBlocks"].map((name) => ({
    fault: `the wallet filter ${name} is ignored`,
    noticedBy: /^wallets: each filter alone/,
    answers: (sound: ChainSnapshot): Partial<ChainSnapshot> => ({ wallets: (query) => sound.wallets(without(query, name)) }),
  })),
  ...["recipientId", "ownerId", "vendorFieldHex", "nonce", "timestamp", "typeGroup"].map((name) => ({
    fault: `the transaction filter ${name} is ignored`,
    noticedBy: /^transactions: each filter alone/,
    answers: (sound: ChainSnapshot): Partial<ChainSnapshot> => ({
      transactions: (query) => sound.transactions(without(query, name)),
    }),
  })),
  ...caseBlindFilters.map(([list, name, answers]) => ({
    fault: `letter case is ignored in ${name} of ${list}`,
    noticedBy: new RegExp(`^${list}: each filter alone`),
    answers,
  })),
  {
    fault: "a second filter is ignored beside a range",
    noticedBy: /^delegates: each pair of filters/,
    answers: (sound) => ({
      delegates: (query) => sound.delegates(query.filter.producedBlocks === undefined ? query : without(query, "usernames")),
    }),
  },
  {
    fault: "the upper end of a range is excluded",
    noticedBy: /^blocks: each filter alone/,
    answers: (sound) => ({
      blocks: (query) => {
        const { height } = query.filter;
        return sound.blocks(
          height?.to === undefined ? query : { ...query, filter: { ...query.filter, height: { ...height, to: height.to - 1 } } },
        );
      },
    }),
  },
  {
    fault: "a range of amounts is read as doubles",
    noticedBy: /^transactions: an exact amount that no double holds/,
    answers: (sound) => ({
      transactions: (query) => {
        const { amount } = query.filter;
        const inexact = (value: bigint) => BigInt(Number(value));
        return sound.transactions(
          amount?.from === undefined || amount.to === undefined
            ? query
            : { ...query, filter: { ...query.filter, amount: { from: inexact(amount.from), to: inexact(amount.to) } } },
        );
      },
    }),
  },
  {
    fault: "a balance loses its last digits",
    noticedBy: /^figures: the whole chain/,
    answers: (sound) => alterWallets(sound, (wallet) => ({ ...wallet, balance: BigInt(Number(wallet.balance)) })),
  },
  {
    fault: "locked balances do not count for the delegate",
    noticedBy: /^figures: the whole chain/,
    answers: (sound) =>
      alterDelegates(sound, (delegate) => ({
        ...delegate,
        voteBalance: delegate.voteBalance - (delegate.username === "dan" ? 777n : 0n),
      })),
  },
  {
    fault: "a delegate of whom some members are asked for comes without the last of them",
    noticedBy: /^look-ups: a delegate/,
    answers: (sound) => ({
      delegate: (name, only) => {
        const found = sound.delegate(name) as Delegate | undefined;
        return found && { ...found, ...(only === undefined ? {} : { [only.at(-1) ?? "rank"]: undefined }) };
      },
    }),
  },
  {
    fault: "a delegate loses its rank when it resigns, not when the round ends",
    noticedBy: /^figures: the chain up to height 12/,
    answers: (sound) => alterDelegates(sound, (delegate) => ({ ...delegate, rank: delegate.resigned ? null : delegate.rank })),
  },
  {
    fault: "approval is truncated, not rounded",
    noticedBy: /^figures: the whole chain/,
    answers: (sound) => alterDelegates(sound, (delegate) => ({ ...delegate, approval: Math.floor(delegate.approval * 10) / 10 })),
  },
  {
    fault: "a round without a block by the delegate is not counted as missed",
    noticedBy: /^figures: the whole chain/,
    answers: (sound) => alterDelegates(sound, (delegate) => ({ ...delegate, missedRounds: 0 })),
  },
  {
    fault: "rounds without a block are given as missed blocks",
    noticedBy: /^figures: the whole chain/,
    answers: (sound) => alterDelegates(sound, (delegate) => ({ ...delegate, missedBlocks: delegate.missedRounds ?? 0 })),
  },
  {
    fault: "productivity is 0, not null, before the first block",
    noticedBy: /^figures: the whole chain/,
    answers: (sound) => alterDelegates(sound, (delegate) => ({ ...delegate, productivity: delegate.productivity ?? 0 })),
  },
  {
    fault: "voters without a balance are not counted",
    noticedBy: /^figures: the whole chain/,
    answers: (sound) => alterDelegates(sound, (delegate) => ({ ...delegate, voters: delegate.voteBalance === 0n ? 0 : (delegate.voters ?? 0) - 1 })),
  },
  {
    fault: "a vote of the second version names its sender as recipient",
    noticedBy: /^transactions: both wire versions/,
    answers: (sound) =>
      alterTransactions(sound, (row) => (row.version === 2 && row.type === 3 ? { ...row, recipientId: row.senderId } : row)),
  },
  {
    fault: "a transaction of the first version has its block's time",
    noticedBy: /^transactions: both wire versions/,
    answers: (sound) => alterTransactions(sound, (row) => (row.version === 1 ? { ...row, timestamp: row.timestamp + 5 } : row)),
  },
  {
    fault: "a second signature of the first version is lost",
    noticedBy: /^transactions: both wire versions/,
    answers: (sound) => alterTransactions(sound, (row) => (row.version === 1 ? dropped(row, "secondSignature") : row)),
  },
  {
    fault: "a list's rows have fewer members than a look-up",
    noticedBy: /^transactions: rows are what look-ups give/,
    answers: (sound) => ({
      transactions: changed(transactionsOf(sound), (page) => ({ ...page, rows: page.rows.map((row) => dropped(row, "asset")) })),
    }),
  },
  {
    fault: "payments do not count as received",
    noticedBy: /^transactions: what pia received/,
    answers: (sound) => ({
      transactions: resorted(transactionsOf(sound), (rows, { filter }) =>
        filter.recipientId === undefined ? rows : rows.filter((row) => row.recipientId === filter.recipientId),
      ),
    }),
  },
  {
    fault: "a wallet is not found by its username",
    noticedBy: /^look-ups: a wallet by/,
    answers: (sound) => ({ wallet: async (name) => (name.length < 30 ? undefined : sound.wallet(name)) }),
  },
  {
    fault: "any wallet is found as a delegate",
    noticedBy: /^look-ups: what is not there/,
    answers: (sound) => ({
      delegate: async (name) => (await sound.delegate(name)) ?? (name === "joe" ? sound.delegate("ada") : undefined),
    }),
  },
  {
    fault: "a block above the tip is the tip",
    noticedBy: /^look-ups: what is not there/,
    answers: (sound) => ({
      block: (key) => sound.block("height" in key ? { height: Math.min(key.height, sound.tip.height) } : key),
    }),
  },
  {
    fault: "a round that has not begun is answered with the current one",
    noticedBy: /^figures: the whole chain/,
    answers: (sound) => ({ round: async (round) => (await sound.round(round)) ?? (round > 1 ? sound.round(7) : undefined) }),
  },
  {
    fault: "a round is in forging order",
    noticedBy: /^figures: the whole chain/,
    answers: (sound) => ({ round: async (round) => (await sound.round(round))?.toReversed() }),
  },
  {
    fault: "fee averages are truncated, not rounded",
    noticedBy: /^fee statistics: the whole chain$/,
    answers: (sound) => ({
      feeStatistics: async (window) =>
        (await sound.feeStatistics(window)).map((row) => (row.type === 9 ? { ...row, avg: row.sum / 2n } : row)),
    }),
  },
  {
    fault: "fees below the bound count",
    noticedBy: /^fee statistics: the whole chain without/,
    answers: (sound) => ({ feeStatistics: ({ from, to }) => sound.feeStatistics({ from, to }) }),
  },
  {
    fault: "the end of a fee window is excluded",
    noticedBy: /^fee statistics: a window whose ends are/,
    answers: (sound) => ({ feeStatistics: ({ from, to }) => sound.feeStatistics({ from, to: to - 1 }) }),
  },
  ...["the time of one block of older transactions", "times at which transactions were made, but no block"].map((window) => ({
    fault: `fees are counted by the transaction's own time (${window})`,
    noticedBy: new RegExp(`^fee statistics: ${window}`),
    answers: (sound: ChainSnapshot): Partial<ChainSnapshot> => ({
      feeStatistics: (timestamp) => {
        const order = { field: "timestamp", direction: "desc" } as const;
        return feeStatisticsOf(transactionsOf(sound)({ filter: { timestamp }, order, offset: 0, limit: 1_000 }).rows);
      },
    }),
  })),
  {
    fault: "a wallet is found whatever the letter case of its address",
    noticedBy: /^look-ups: what is not there/,
    answers: (sound) => ({
      wallet: (name) => walletsOf(sound)(everyWallet).rows.find((row) => address(row, name.toLowerCase())),
    }),
  },
  {
    fault: "the filter for expired locks finds none",
    noticedBy: /^locks: each filter alone/,
    answers: (sound) => ({
      locks: (query) =>
        query.filter.isExpired === true
          ? sound.locks({ ...query, filter: { ...query.filter, lockId: "none" } })
          : sound.locks(query),
    }),
  },
];

/** The suite on an adapter whose snapshots have the faulty members in place of their own. */
const suiteOf = (answers: (sound: ChainSnapshot) => object): ReturnType<typeof createConformanceSuite> =>
  createConformanceSuite({
    createAdapter: (chain) => {
      const sound = appliedOnce(chain);
      const snapshot = async (): Promise<ChainSnapshot | undefined> => {
        const found = await sound.snapshot();
        return found === undefined ? undefined : { ...found, ...answers(found) };
      };
      return { adapter: { snapshot } };
    },
  });

/** What the cases that fail say, by their names. */
const failed = async (suite: ReturnType<typeof createConformanceSuite>, among: RegExp): Promise<Map<string, string>> => {
  const failures = new Map<string, string>();
  for (const { name, run } of suite.cases) {
    if (!among.test(name)) continue;
    try {
      await run();
    } catch (error) {
      if (!(error instanceof AssertionError)) throw error;
      failures.set(name, error.message);
    }
  }
  await suite.close();
  return failures;
};

const failuresOf = async (suite: ReturnType<typeof createConformanceSuite>, among: RegExp): Promise<string[]> => [...(await failed(suite, among)).keys()];

describe("the conformance suite notices", () => {
  for (const { fault, noticedBy, answers } of mutants) {
    it(`when ${fault}`, async () => {
      const suite = suiteOf(answers);
      expect(suite.cases.filter(({ name }) => noticedBy.test(name)).length, "cases of that name").to.equal(1);
      expect(await failuresOf(suite, noticedBy)).to.have.length(1);
    });
  }

  it("when an answer is not a page, and says what was asked", async () => {
    const pages: [string, (page: Page<Wallet>) => unknown][] = [
      ["type of `total`", ({ rows, total }) => ({ rows, total: BigInt(total) })],
      ["type of `total`", ({ rows }) => ({ rows })],
      ["type of `rows`", ({ rows }) => rows],
      ["type of `rows`", () => undefined],
    ];
    for (const [what, change] of pages) {
      const suite = suiteOf((sound) => ({ wallets: changed(walletsOf(sound), change as (page: Page<Wallet>) => Page<Wallet>) }));
      const [message = ""] = (await failed(suite, /^wallets: each order/)).values();
      expect(message.split("\n")[0]).to.equal(`wallets {"filter":{},"order":{"field":"balance","direction":"desc"},"offset":0,"limit":100}: ${what}`);
    }
  });

  it("when a round or the fee statistics are no list, and says which", async () => {
    const answers: [RegExp, string, (sound: ChainSnapshot) => object][] = [
      [/^figures: the whole chain/, "round 1", () => ({ round: () => null })],
      [/^fee statistics: the whole chain/, "fee statistics of 0..8248", () => ({ feeStatistics: () => undefined })],
    ];
    for (const [among, what, change] of answers) {
      const suite = suiteOf(change);
      const [message = ""] = (await failed(suite, among)).values();
      expect(message.split("\n")[0]).to.match(new RegExp(`^${what}`));
    }
  });

  const adapters = {
    /** Reads the latest state at each call. */
    restless: (sound: ChainAdapter): ChainAdapter => ({
      snapshot: async () => {
        const now = async () => {
          const found = await sound.snapshot();
          if (found === undefined) throw new Error("no state");
          return found;
        };
        const first = await now();
        return { ...first, wallets: async (query) => (await now()).wallets(query) };
      },
    }),
    /** Returns the same snapshot every time. */
    frozen: (sound: ChainAdapter): ChainAdapter => {
      let only: ReturnType<ChainAdapter["snapshot"]>;
      return { snapshot: () => (only ??= sound.snapshot()) };
    },
  };

  const moving = (adapterOf: (sound: ChainAdapter) => ChainAdapter) =>
    createConformanceSuite({
      createAdapter: ({ network, blocks }) => {
        const sound = createMemoryAdapter(network);
        for (const block of blocks) sound.apply(block);
        return { adapter: adapterOf(sound), apply: sound.apply, revert: sound.revert };
      },
    });

  it("when a snapshot changes", async () => {
    expect(await failuresOf(moving(adapters.restless), /^snapshots: one/)).to.have.length(2);
  });

  it("when the snapshot never changes", async () => {
    expect(await failuresOf(moving(adapters.frozen), /^(moving|snapshots)/)).to.have.length(7);
  });

  it("when a revert does not restore the wallets", async () => {
    const suite = createConformanceSuite({
      createAdapter: ({ network, blocks }) => {
        const sound = createMemoryAdapter(network);
        const forgetful = createMemoryAdapter(network);
        const apply = (block: (typeof blocks)[number]): void => {
          sound.apply(block);
          if (((forgetful.snapshot() as ChainSnapshot | undefined)?.tip.height ?? 0) < block.height) forgetful.apply(block);
        };
        for (const block of blocks) apply(block);
        const snapshot = async (): Promise<ChainSnapshot | undefined> => {
          const [found, old] = [await sound.snapshot(), await forgetful.snapshot()];
          return found === undefined || old === undefined ? undefined : { ...found, wallets: old.wallets, wallet: old.wallet };
        };
        return { adapter: { snapshot }, apply, revert: sound.revert };
      },
    });
    expect(await failuresOf(suite, /^moving: (reverting|another branch)/)).to.have.length(2);
  });
});

describe("the conformance suite skips", () => {
  const skippedOf = async (supports: NonNullable<ChainAdapter["supports"]>): Promise<Map<string, string>> => {
    const suite = createConformanceSuite({
      createAdapter: ({ network, blocks }) => {
        const sound = createMemoryAdapter(network);
        for (const block of blocks) sound.apply(block);
        const refuse = (): never => {
          throw new Error("was asked for what it does not offer");
        };
        const snapshot = async (): Promise<ChainSnapshot | undefined> => {
          const found = await sound.snapshot();
          if (found === undefined) return undefined;
          return {
            ...found,
            ...(supports.locks === false ? { lock: refuse, locks: refuse } : {}),
            ...(supports.rounds === false ? { round: refuse } : {}),
            ...(supports.feeStatistics === false ? { feeStatistics: refuse } : {}),
          };
        };
        return { adapter: { supports, snapshot, ...(supports.history === false ? {} : { snapshotAt: sound.snapshotAt }) }, apply: sound.apply, revert: sound.revert };
      },
    });
    const skipped = new Map<string, string>();
    for (const { name, run } of suite.cases) {
      const outcome = await run();
      if (outcome.skipped !== undefined) skipped.set(name, outcome.skipped);
    }
    await suite.close();
    return skipped;
  };

  it("what an adapter does not support, and gives the reason", async () => {
    const skipped = await skippedOf({ locks: false, rounds: false, feeStatistics: false, delegateFigures: false, history: false });
    const rooms = [...new Set([...skipped.keys()].map((name) => name.split(":")[0]))];
    expect(rooms).to.have.members(["look-ups", "locks", "delegates", "fee statistics", "following", "earlier heights"]);
    expect([...new Set(skipped.values())]).to.have.members([
      "the adapter does not offer locks",
      "the adapter does not offer feeStatistics",
      "the adapter does not offer rounds",
      "the adapter does not offer delegateFigures",
      "the adapter does not offer history",
      "the adapter has no `changes`",
    ]);
  });

  it("figures of delegates that an adapter does not count", async () => {
    const figures = ["voters", "missedBlocks", "productivity"] as const;
    const bare = (delegate: Delegate): Delegate => [...figures, "missedRounds" as const].reduce(dropped, delegate);
    const suite = createConformanceSuite({
      createAdapter: ({ network, blocks }) => {
        const sound = createMemoryAdapter(network);
        for (const block of blocks) sound.apply(block);
        const uncounted = (found: ChainSnapshot): ChainSnapshot => ({
          ...found,
          delegate: async (name) => {
            const delegate = await found.delegate(name);
            return delegate && bare(delegate);
          },
          delegates: async (query) => {
            if (figures.some((name) => query.order.field === name || name in query.filter)) throw new Error("was asked for what it does not offer");
            const { rows, total } = await found.delegates(query);
            return { rows: rows.map(bare), total };
          },
        });
        return { adapter: { supports: { delegateFigures: false }, snapshot: async () => uncounted((await sound.snapshot()) as ChainSnapshot) } };
      },
    });
    expect(await failuresOf(suite, /^(?:figures|delegates|look-ups)/)).to.deep.equal([]);
  });

  it("nothing if an adapter supports everything", async () => {
    const skipped = [...(await skippedOf({ locks: true })).keys()];
    // The adapter in memory keeps no changes.
    expect(skipped.filter((name) => !name.startsWith("following"))).to.deep.equal([]);
  });

  it("moves for which the target has no hook", async () => {
    const suite = createConformanceSuite({
      createAdapter: ({ network, blocks }) => {
        const adapter = createMemoryAdapter(network);
        for (const block of blocks) adapter.apply(block);
        return { adapter, apply: adapter.apply };
      },
    });
    const outcomes = new Map<string, string | undefined>();
    for (const { name, run } of suite.cases.filter((one) => one.name.startsWith("moving")))
      outcomes.set(name, (await run()).skipped);
    await suite.close();
    expect([...outcomes.values()]).to.deep.equal([undefined, ...Array<string>(3).fill("the target has no `revert`")]);
  });
});

describe("describeConformance", () => {
  /** A runner that records what is registered. */
  const record = () => {
    const cases: { name: string; body: (...context: unknown[]) => Promise<void> }[] = [];
    const afters: (() => Promise<void>)[] = [];
    const names: string[] = [];
    const runner = {
      describe: (name: string, body: () => void) => {
        names.push(name);
        body();
      },
      it: (name: string, body: () => Promise<void>) => cases.push({ name, body }),
      after: (body: () => Promise<void>) => afters.push(body),
    };
    return { cases, afters, names, runner };
  };

  it("gives each case a name of its own, skips by the runner's means, and closes what it opened", async () => {
    const { cases, afters, names, runner } = record();
    let open = 0;
    describeConformance(
      "an adapter",
      {
        createAdapter: ({ network, blocks }) => {
          const adapter = createMemoryAdapter(network);
          for (const block of blocks) adapter.apply(block);
          open += 1;
          return { adapter: { supports: { locks: false }, snapshot: adapter.snapshot }, close: () => void (open -= 1) };
        },
      },
      runner,
    );
    expect(names).to.deep.equal(["an adapter: conformance"]);
    expect(new Set(cases.map(({ name }) => name)).size).to.equal(cases.length);

    const reasons: unknown[] = [];
    const context = { skip: (reason: unknown) => reasons.push(reason) };
    const lockCases = cases.filter(({ name }) => name.startsWith("locks:"));
    for (const { body } of lockCases) await body(context);
    expect(reasons).to.deep.equal(lockCases.map(() => "the adapter does not offer locks"));
    for (const { body } of cases.filter(({ name }) => name.startsWith("snapshots:"))) await body.call(context);
    expect(reasons).to.have.length(lockCases.length + 3);
    // vitest's context is a function with a `skip`.
    for (const { body } of lockCases) await body(Object.assign(() => undefined, context));
    expect(reasons).to.have.length(2 * lockCases.length + 3);
    expect(open).to.equal(1);
    for (const close of afters) await close();
    expect(open).to.equal(0);
  });
});
