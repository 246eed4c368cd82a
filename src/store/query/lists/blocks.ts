import type { Block } from "../../../../types/chain.js";
import { blockList } from "../../../chain/lists.js";
import { createTester } from "../../../chain/tester.js";
import type { MaybePromise } from "../../../../types/chain-adapter.js";
import type { BlockFilter, BlockOrder, BlockQuery, Page, Range } from "../../../../types/chain-queries.js";
import {
  listSequence,
  arraySequence,
  concatSequences,
  rankedNumbers,
  rankedSequence,
  directed,
  emptySequence,
  mapSequence,
  type Sequence,
} from "../../records/sequence.js";
import {
  betweenKeys,
  heightsAt,
  keyOfNumber,
  keyOfText,
  onlyValue,
  underValue,
  type Window,
  windowSequence,
  withinWindow,
} from "../chain-order.js";
import { amountKey, lists, sets } from "../../layout/keys.js";
import { type AccessPath, amountBounds, answerList, type ListNeeds, numberBounds, towards } from "../list-query.js";
import { existing, heightOf, readBlock, readWallet } from "../../records/records.js";

type Name = keyof BlockFilter;
type BlockPath = AccessPath<number, BlockFilter>;

const blockTester = createTester<BlockFilter, Block>(blockList.filters);

export const askBlocks = (query: BlockQuery, needs: ListNeeds): MaybePromise<Page<Block>> => {
  const { reading, search } = needs;
  const { field } = query.order;
  const inChainOrder = field === "height" || field === "timestamp";
  const window = windowOf(query.filter, needs);
  return answerList(
    {
      query,
      paths: accessPathsTo(query, needs, inChainOrder, window),
      load: (height: number) => existing(readBlock(reading, height), `block ${height}`),
      test: (asked, answered) => {
        const passes = blockTester(asked, answered);
        return passes && ((block) => block.height <= needs.state.tip.height && passes(block));
      },
      value: inChainOrder ? undefined : (block) => block[field],
      ties: "desc",
      window: { ...window, answers: ofWindow },
    },
    search,
  );
};

const ofWindow = ["height", "timestamp"] as const;

const accessPathsTo = (query: BlockQuery, needs: ListNeeds, inChainOrder: boolean, window: Window): BlockPath[] => {
  const { filter, order } = query;
  const { reading } = needs;
  const paths: BlockPath[] = [];
  /** Adds references that ascend by height, all within the window of times and heights. */
  const add = (name: Name | undefined, refs: Sequence<number>): void => {
    const ordered = inChainOrder || order.field === name;
    const answers: Name[] = [...(name === undefined ? [] : [name]), ...ofWindow];
    paths.push(towards(order.direction, { answers, ordered, refs }));
  };
  const addHeight = (name: Name, height: number | undefined): void =>
    add(name, height !== undefined && height >= window.from && height < window.below ? arraySequence([height]) : emptySequence);

  if (filter.id !== undefined) addHeight("id", heightOf(reading, filter.id));
  if (filter.previousBlock !== undefined) {
    const previous = heightOf(reading, filter.previousBlock);
    addHeight("previousBlock", previous === undefined ? undefined : previous + 1);
  }
  if (filter.generatorPublicKey !== undefined) {
    const refs = forgedBy(filter.generatorPublicKey, needs);
    if (refs !== undefined) add("generatorPublicKey", withinWindow(refs, window));
  }
  for (const { name, set, key } of ofOneValue(filter)) {
    add(name, key === undefined ? emptySequence : underValue(reading, set, key, window));
  }
  add(undefined, windowSequence(window));
  return [...paths, ...inOwnOrder(query, needs)];
};

/** Heights that pass the ranges of heights and times. */
const windowOf = ({ height = {}, timestamp }: BlockFilter, { reading, state }: ListNeeds): Window => {
  const { from = 1, to = Infinity }: Range<number> = height;
  const end = state.tip.height + 1;
  const window = { from: Math.min(end, Math.max(1, Math.ceil(from))), below: Math.min(end, Math.floor(to) + 1) };
  const times = timestamp === undefined ? window : heightsAt(timestamp, reading, state);
  const first = Math.max(window.from, times.from);
  return { from: first, below: Math.max(first, Math.min(window.below, times.below)) };
};

/**
 * Blocks of a generator. Lists are kept for delegates only: undefined if the chain has a block that is in none of them, other than
 * genesis, whose generator need not be a delegate.
 */
const forgedBy = (publicKey: string, { reading, delegates }: ListNeeds): Sequence<number> | undefined => {
  const { byPublicKey, producedBlocks, tip } = delegates();
  const listOf = (key: string): Sequence<number> => {
    const delegate = byPublicKey.get(key);
    const number = delegate === undefined ? undefined : readWallet(reading, delegate.address)?.number;
    return delegate === undefined || number === undefined
      ? emptySequence
      : listSequence(reading, lists.forged, number, delegate.producedBlocks);
  };
  const unlisted = tip.height - producedBlocks;
  if (unlisted === 0) return listOf(publicKey);
  const genesisGenerator = existing(readBlock(reading, 1), "block 1").generatorPublicKey;
  if (unlisted > 1 || listOf(genesisGenerator).slice(0, 1)[0] === 1) return undefined;
  return publicKey === genesisGenerator ? concatSequences([arraySequence([1]), listOf(publicKey)]) : listOf(publicKey);
};

interface OneValue {
  name: Name;
  set: number;
  /** Undefined for a value that no block has. */
  key: Buffer | undefined;
}

/** Filters that ask for one value: the set keeps the blocks of each value in order of height. */
const ofOneValue = (filter: BlockFilter): OneValue[] => {
  const found: OneValue[] = [];
  if (filter.version !== undefined) found.push({ name: "version", set: sets.blocksByVersion, key: keyOfNumber(filter.version) });
  if (filter.payloadHash !== undefined)
    found.push({ name: "payloadHash", set: sets.blocksByPayloadHash, key: keyOfText(filter.payloadHash) });
  if (filter.blockSignature !== undefined)
    found.push({ name: "blockSignature", set: sets.blocksBySignature, key: keyOfText(filter.blockSignature) });
  for (const { name, set } of numberSets) {
    const only = onlyValue(filter[name] ?? {});
    if (only !== undefined) found.push({ name, set, key: keyOfNumber(only) });
  }
  for (const { name, set } of amountSets) {
    const only = onlyValue(filter[name] ?? {});
    if (only !== undefined) found.push({ name, set, key: amountKey(only) });
  }
  return found;
};

const numberSets = [
  { name: "numberOfTransactions", set: sets.blocksByNumberOfTransactions },
  { name: "payloadLength", set: sets.blocksByPayloadLength },
] as const;

const amountSets = [
  { name: "totalAmount", set: sets.blocksByTotalAmount },
  { name: "totalFee", set: sets.blocksByTotalFee },
  { name: "reward", set: sets.blocksByReward },
] as const;

/** Ranges that a set can answer, and sets in the order asked for. */
const inOwnOrder = ({ filter, order }: BlockQuery, { reading, isPast }: ListNeeds): BlockPath[] => {
  const paths: BlockPath[] = [];
  const add = (name: Name & BlockOrder, set: number, bounds: [Buffer | undefined, Buffer | undefined]): void => {
    const ordered = order.field === name;
    if (!ordered && filter[name] === undefined) return;
    const { refs, others } = betweenKeys(reading, set, bounds);
    paths.push(towards(order.direction, { answers: [name], ordered, beyond: isPast, refs, others: { answers: [name], refs: others } }));
  };
  for (const { name, set } of numberSets) add(name, set, numberBounds(filter[name] ?? {}));
  for (const { name, set } of amountSets) add(name, set, amountBounds(filter[name] ?? {}));
  const addWhole = (name: BlockOrder, refs: () => Sequence<number>): void => {
    if (order.field === name) paths.push({ answers: [], ordered: true, refs: directed(refs(), order.direction) });
  };
  addWhole("version", () => rankedNumbers(reading, sets.blocksByVersion));
  addWhole("id", () => mapSequence(rankedSequence(reading, sets.blocksById), ({ value }) => value.readUInt32BE(0)));
  return paths;
};
