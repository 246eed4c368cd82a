import type { Block } from "../../types/chain.js";
import type { BlockFilter, BlockOrder, BlockQuery, Page, Range } from "../../types/chain-adapter.js";
import type { ChainRules } from "../chain/rules.js";
import { listSequence } from "./appended-list.js";
import type { StateRecord } from "./codec.js";
import { lists, sets } from "./keys.js";
import { blockTester } from "./match.js";
import { type Access, amountBounds, answerList, numberBounds, sortRows } from "./question.js";
import type { Reading } from "./reading.js";
import { existing, heightOf, readBlock, readDelegate, readWallet } from "./records.js";
import { arraySequence, countedSequence, directed, emptySequence, mapSequence, numberSequence, type Sequence } from "./sequence.js";

type BlockAccess = Access<number, BlockFilter>;

export const askBlocks = (query: BlockQuery, reading: Reading, state: StateRecord, rules: ChainRules): Page<Block> => {
  const { order } = query;
  return answerList<number, Block, BlockFilter, BlockOrder>({
    query,
    accesses: [...inChainOrder(query, reading, state, rules), ...inOwnOrder(query, reading)],
    load: (height) => existing(readBlock(reading, height), `block ${height}`),
    test: blockTester,
    sort: (blocks) => sortRows(blocks, order.direction, (block) => block[order.field], ({ height }) => height, "desc"),
  });
};

const inChainOrder = ({ filter, order }: BlockQuery, reading: Reading, state: StateRecord, rules: ChainRules): BlockAccess[] => {
  const accesses: BlockAccess[] = [];
  const add = (answers: (keyof BlockFilter)[], refs: Sequence<number>): void => {
    const ordered = order.field === "height" || order.field === "timestamp";
    accesses.push({ answers, ordered, refs: ordered ? directed(refs, order.direction) : refs });
  };
  const atHeight = (height: number | undefined): Sequence<number> =>
    height === undefined || height < 1 || height > state.tip.height ? emptySequence : arraySequence([height]);

  add([], heightSequence({}, state));
  if (filter.height !== undefined) add(["height"], heightSequence(filter.height, state));
  if (filter.timestamp !== undefined) add(["timestamp"], heightSequence(heightsAt(filter.timestamp, reading, state), state));
  if (filter.id !== undefined) add(["id"], atHeight(heightOf(reading, filter.id)));
  if (filter.previousBlock !== undefined) {
    const previous = heightOf(reading, filter.previousBlock);
    add(["previousBlock"], atHeight(previous === undefined ? undefined : previous + 1));
  }
  if (filter.generatorPublicKey !== undefined) {
    const refs = forgedSequence(filter.generatorPublicKey, reading, rules);
    if (refs !== undefined) add(["generatorPublicKey"], refs);
  }
  return accesses;
};

const heightSequence = ({ from = 1, to = Infinity }: Range<number>, state: StateRecord): Sequence<number> => {
  const first = Math.max(1, Math.ceil(from));
  const last = Math.min(state.tip.height, Math.floor(to));
  return mapSequence(numberSequence(Math.max(0, last - first + 1)), (number) => first + number);
};

/** Blocks never go back in time, so a range of times is a range of heights. */
export const heightsAt = ({ from, to }: Range<number>, reading: Reading, state: StateRecord): Range<number> => {
  const firstNotBefore = (timestamp: number): number => {
    let [low, high] = [1, state.tip.height + 1];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if ((readBlock(reading, middle)?.timestamp ?? Infinity) < timestamp) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  return { from: from === undefined ? 1 : firstNotBefore(from), to: to === undefined ? state.tip.height : firstNotBefore(Math.floor(to) + 1) - 1 };
};

/** Undefined for a generator that was no delegate when it forged (as that of genesis): no list was kept for it. */
const forgedSequence = (publicKey: string, reading: Reading, rules: ChainRules): Sequence<number> | undefined => {
  if (readBlock(reading, 1)?.generatorPublicKey === publicKey) return undefined;
  const delegate = readDelegate(reading, publicKey);
  if (delegate === undefined) return emptySequence;
  const wallet = readWallet(reading, rules.addressOf(publicKey));
  return wallet === undefined ? emptySequence : listSequence(reading, lists.forged, wallet.number, delegate.producedBlocks);
};

interface BlockSet {
  set: number;
  field: BlockOrder & keyof BlockFilter;
  bounds(filter: BlockFilter): [Buffer | undefined, Buffer | undefined];
}

const numberSet = (set: number, field: "numberOfTransactions" | "payloadLength"): BlockSet => ({
  set,
  field,
  bounds: (filter) => numberBounds(filter[field] ?? {}),
});

const amountSet = (set: number, field: "totalAmount" | "totalFee" | "reward"): BlockSet => ({
  set,
  field,
  bounds: (filter) => amountBounds(filter[field] ?? {}),
});

const blockSets: readonly BlockSet[] = [
  {
    set: sets.blocksByVersion,
    field: "version",
    bounds: ({ version }) => numberBounds(version === undefined ? {} : { from: version, to: version }),
  },
  numberSet(sets.blocksByNumberOfTransactions, "numberOfTransactions"),
  numberSet(sets.blocksByPayloadLength, "payloadLength"),
  amountSet(sets.blocksByTotalAmount, "totalAmount"),
  amountSet(sets.blocksByTotalFee, "totalFee"),
  amountSet(sets.blocksByReward, "reward"),
];

const inOwnOrder = ({ filter, order }: BlockQuery, reading: Reading): BlockAccess[] => {
  const accesses: BlockAccess[] = [];
  for (const { set, field, bounds } of blockSets) {
    const ordered = order.field === field;
    if (!ordered && filter[field] === undefined) continue;
    const refs = mapSequence(countedSequence(reading, set, ...bounds(filter)), ({ key }) => key.readUInt32BE(key.length - 4));
    accesses.push({ answers: [field], ordered, refs: ordered ? directed(refs, order.direction) : refs });
  }
  if (order.field === "id") {
    const refs = mapSequence(countedSequence(reading, sets.blocksById), ({ value }) => value.readUInt32BE(0));
    accesses.push({ answers: [], ordered: true, refs: directed(refs, order.direction) });
  }
  return accesses;
};
