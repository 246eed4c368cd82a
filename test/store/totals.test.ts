import { expect } from "chai";
import {
  createChainMaker,
  type Draft,
  fakeHash,
  htlcLock,
  networkOf,
  registration,
  secondSignature,
  transfer,
  vote,
} from "../../src/conformance/chain/chain-maker.js";
import type { Surroundings } from "../../src/conformance/filters.js";
import { blockSpec, delegateSpec, everyRow, type ListSpec, lockSpec, transactionSpec, walletSpec } from "../../src/conformance/lists.js";
import { type Actor, actors, secondKeys } from "../../src/conformance/chain/actors.js";
import { readDelegates } from "../../src/store/query/lists/delegate-list.js";
import { atOnce } from "../../src/async/time-slicing.js";
import { createReadSession, type ReadSession } from "../../src/store/lmdb/read-session.js";
import { readState } from "../../src/store/records/records.js";
import { createSearches } from "../../src/store/query/search.js";
import { createSnapshot } from "../../src/store/state/views.js";
import type { Block, Lock, Transaction } from "../../types/chain.js";
import type { ChainSnapshot } from "../../types/chain-adapter.js";
import type { BlockFilter, DelegateFilter, LockFilter, TransactionFilter, WalletFilter } from "../../types/chain-queries.js";
import type { BlockData } from "../../types/events.js";
import { firstMilestone } from "../first-milestone.js";
import { closeTemporaryStores, openTemporaryStore } from "./temporary-store.js";

const { origin, ada, bob, cyd, kim } = actors;

const someone = (n: number): Actor => ({ name: `nobody ${n}`, publicKey: `02${fakeHash(`key ${n}`, 64)}`, address: `Anybody${n}` });

/** One transaction a block beside locks, two thirds of them transfers and one third votes for ada, to and from wallets not seen before. */
const transactionAt = (height: number): Draft => {
  if (height === 2) return secondSignature(kim, secondKeys.kim);
  const rest = { fee: BigInt(10_000_000 + (height % 3)), vendorField: height % 2 === 0 ? "rent" : `rent ${height}` };
  return height % 3 === 0 ? vote(someone(height), [["+", ada]], { ...rest, fee: 0n }) : transfer(bob, someone(height), BigInt(1 + (height % 7)), rest);
};

/** A lock in every second block: half of them open until a time, half until a height; half of each kind have expired at the tip. */
const lockAt = (height: number, last: number): Draft[] => {
  if (height % 2 === 1) return [];
  const even = height % 4 === 0;
  const expired = height % 8 < 4;
  const expiration = even ? { type: 1 as const, value: expired ? height : 2 ** 33 + height } : { type: 2 as const, value: expired ? 3 : last + height };
  const lock = { label: `lock ${height}`, secret: even ? "same" : `secret ${height}`, expiration };
  return [htlcLock(bob, even ? ada : someone(-height), BigInt(1 + (height % 7)), lock, even ? { vendorField: "rent" } : {})];
};

const makeChain = (height: number): readonly BlockData[] => {
  const maker = createChainMaker([firstMilestone(2, 1)]);
  const first = { version: 1, fee: 0n } as const;
  maker.add({
    generator: origin,
    transactions: [
      ...[ada, bob, cyd, kim].map((actor) => transfer(origin, actor, 2n ** 60n, first)),
      registration(ada, "ada", first),
      registration(bob, "bob", first),
      vote(ada, [["+", ada]], first),
      vote(bob, [["+", bob]], first),
    ],
  });
  while (maker.blocks.length < height) {
    const next = maker.blocks.length + 1;
    maker.add({ generator: next % 2 === 0 ? ada : bob, transactions: [transactionAt(next), ...lockAt(next, height)] });
  }
  return maker.blocks;
};

/** Counts reads: keys looked up, iterated, skipped or counted. */
const createCountingReading = (reading: ReadSession): { reading: ReadSession; read: () => number; reset: () => void } => {
  let read = 0;
  function* counted<T>(items: Iterable<T>): Iterable<T> {
    for (const item of items) {
      read++;
      yield item;
    }
  }
  const skipped = ({ offset = 0 }: { offset?: number }): number => (read += offset);
  return {
    reading: {
      get: (database, key) => {
        read++;
        return reading.get(database, key);
      },
      bytes: (database, key) => {
        read++;
        return reading.bytes(database, key);
      },
      range: (database, options) => {
        skipped(options);
        return counted(reading.range(database, options));
      },
      keys: (database, options) => {
        skipped(options);
        return counted(reading.keys(database, options));
      },
      first: (database, bounds) => {
        read++;
        return reading.first(database, bounds);
      },
      count: (database, options) => {
        const count = reading.count(database, options);
        read += count;
        return count;
      },
    },
    read: () => read,
    reset: () => (read = 0),
  };
};

interface Opened {
  snapshot: ChainSnapshot;
  around: Surroundings;
  block: Block;
  transaction: Transaction;
  lock: Lock;
  read(): number;
  reset(): void;
}

const open = async (height: number): Promise<Opened> => {
  const blocks = makeChain(height);
  const { store, rules } = openTemporaryStore(networkOf(blocks[0]!), { undoBlocks: 1 });
  for (let from = 0; from < blocks.length; from += 200) await store.apply(blocks.slice(from, from + 200).map(rules.parseBlock), blocks.length);
  const { reading, ...counting } = createCountingReading(createReadSession(store.environment));
  const state = readState(reading)!;
  const delegates = atOnce(readDelegates(reading, state));
  const search = createSearches().begin(Infinity);
  const snapshot = createSnapshot({ reading, state, rules, delegates: () => delegates }, search, () => undefined);
  const block = (await snapshot.block({ height: height - 1 }))!;
  const page = await snapshot.transactions({ filter: { blockId: block.id }, order: transactionSpec.usual, offset: 0, limit: 1 });
  const locks = await snapshot.locks({ filter: {}, order: lockSpec.usual, offset: 20, limit: 1 });
  const around: Surroundings = { height, timestamp: state.tip.timestamp, secondPublicKeys: new Map([[kim.address, secondKeys.kim]]) };
  return { snapshot, around, block, transaction: page.rows[0]!, lock: locks.rows[0]!, ...counting };
};

/** A value for each filter alone; where possible, one that matches the same share of a long chain as of a short one. */
type Values<Filter> = { [Name in keyof Filter]-?: NonNullable<Filter[Name]> };

const transactionFilters = ({ block, transaction, around }: Opened): Omit<Values<TransactionFilter>, "vendorFieldHex"> => ({
  id: transaction.id,
  blockId: block.id,
  version: 2,
  typeGroup: 1,
  type: 3,
  senderPublicKey: bob.publicKey,
  senderId: bob.address,
  recipientId: transaction.recipientId ?? "",
  ownerId: bob.address,
  addresses: [bob.address],
  vendorField: "rent",
  timestamp: { from: Math.floor(around.timestamp / 3), to: around.timestamp - 80 },
  amount: { from: 2n, to: 5n },
  fee: { from: 10_000_001n },
  nonce: 1n,
});

const blockFilters = ({ block, around }: Opened): Values<BlockFilter> => ({
  id: block.id,
  version: 0,
  previousBlock: block.previousBlock ?? "",
  payloadHash: block.payloadHash,
  generatorPublicKey: ada.publicKey,
  blockSignature: block.blockSignature,
  timestamp: { from: Math.floor(around.timestamp / 3), to: around.timestamp - 80 },
  height: { from: 10, to: around.height - 10 },
  numberOfTransactions: { from: 1, to: 1 },
  totalAmount: { from: 2n, to: 5n },
  totalFee: { from: 10_000_001n },
  reward: { from: 1n },
  payloadLength: { from: 1 },
});

const walletFilters = (): Values<WalletFilter> => ({
  address: bob.address,
  addresses: [bob.address, ada.address],
  publicKey: bob.publicKey,
  secondPublicKey: secondKeys.kim,
  vote: ada.publicKey,
  username: "ada",
  balance: { from: 2n, to: 5n },
  voteBalance: { to: 5n },
  producedBlocks: { to: 5 },
  nonce: { to: 1n },
});

const delegateFilters = (): Values<DelegateFilter> => ({
  address: bob.address,
  publicKey: bob.publicKey,
  username: "a",
  usernames: ["ada", "bob"],
  secondPublicKey: secondKeys.kim,
  vote: ada.publicKey,
  balance: { from: 1n },
  approval: { from: 0.01 },
  forgedFees: { from: 1n },
  forgedRewards: { from: 1n },
  forgedTotal: { from: 1n },
  producedBlocks: { from: 1 },
  missedBlocks: { to: 0 },
  productivity: { from: 1 },
  voteBalance: { from: 1n },
  voters: { from: 1 },
  resigned: false,
});

const lockFilters = ({ lock, around }: Opened): Values<LockFilter> => ({
  lockId: lock.lockId,
  senderPublicKey: bob.publicKey,
  senderId: bob.address,
  recipientId: ada.address,
  secretHash: fakeHash("same", 64),
  vendorField: "rent",
  expirationType: 2,
  amount: { from: 2n, to: 5n },
  expirationValue: { from: 4, to: 2 ** 33 + around.height },
  timestamp: { from: Math.floor(around.timestamp / 3), to: around.timestamp - 80 },
  isExpired: true,
});

const sizes = { short: 300, long: 3_000 };
/** About how many keys finding two positions in a set reads, whatever its size; on the long chain, most filters match at least as many rows. */
const mostKeys = 900;

/** Not covered: `vendorFieldHex`, whose matches are counted, and several addresses, which have rows in common. */
describe("totals", function () {
  this.timeout(300_000);
  let short: Opened;
  let long: Opened;

  before(async () => {
    short = await open(sizes.short);
    long = await open(sizes.long);
  });
  after(closeTemporaryStores);

  const describeList = <Row extends object, Filter extends object, Field extends string>(spec: ListSpec<Row, Filter, Field>, valuesOf: (opened: Opened) => object): void => {
    const expectTotal = async (opened: Opened, rows: Row[], name: string | undefined): Promise<number> => {
      const value = name === undefined ? undefined : (valuesOf(opened) as Record<string, unknown>)[name];
      const filter = (name === undefined ? {} : { [name]: value }) as Filter;
      opened.reset();
      const { total } = await spec.ask(opened.snapshot, { filter, order: spec.usual, offset: 0, limit: 0 });
      const read = opened.read();
      const found = spec.filters.find((one) => one.name === name);
      expect(total, name).to.equal(rows.filter((row) => found?.passes(row, value, opened.around) ?? true).length);
      return read;
    };

    it(`of ${spec.name}, unfiltered and by each filter, are looked up, not counted`, async () => {
      const rows = { short: await everyRow(short.snapshot, spec), long: await everyRow(long.snapshot, spec) };
      for (const name of [undefined, ...Object.keys(valuesOf(short))]) {
        const [less, more] = [await expectTotal(short, rows.short, name), await expectTotal(long, rows.long, name)];
        expect(more, `${spec.name} by ${String(name)}: keys read, after ${less}`).to.be.below(mostKeys);
      }
    });
  };

  describeList(transactionSpec, transactionFilters);
  describeList(blockSpec, blockFilters);
  describeList(walletSpec, walletFilters);
  describeList(delegateSpec, delegateFilters);
  describeList(lockSpec, lockFilters);
});
