import fc from "fast-check";
import { turnsAfter } from "../src/chain/rounds.js";
import { createChainRules } from "../src/chain/rules.js";
import {
  type ChainMaker, createChainMaker, type Draft, foreign, htlcClaim, htlcLock, htlcRefund, ipfs, labelled, multiPayment, multiSignature,
  networkOf, registration, resignation, secondSignature, timelock, transfer, vote,
} from "../src/conformance/chain/chain-maker.js";
import { type Actor, actors, secondKeys } from "../src/conformance/chain/actors.js";
import type { ChainSnapshot } from "../types/chain-adapter.js";
import type { BlockData } from "../types/events.js";
import type { Network } from "../types/node-context.js";
import { firstMilestone } from "./first-milestone.js";
import { createMemoryAdapter, type MemoryAdapter } from "./memory-adapter/adapter.js";

/**
 * Random chains that a network could have made: every core type in both versions, each transaction one that its sender can pay
 * and its network would accept, every block forged by the delegate whose turn it is.
 *
 * The random parts are wishes; for each wish the builder makes what is possible when its turn comes, or nothing. So every list
 * of wishes gives a valid chain, and fast-check can shrink it freely.
 */
export interface RandomChain {
  network: Network;
  /** From genesis on. */
  blocks: readonly BlockData[];
  /** The height of the last block that both branches share. */
  forkHeight: number;
  /** The other branch's blocks, from `forkHeight` + 1 on. */
  otherBranch: readonly BlockData[];
}

const kinds = [
  "transfer",
  "transfer",
  "transfer",
  "secondSignature",
  "registration",
  "vote",
  "vote",
  "unvote",
  "switch",
  "multiSignature",
  "ipfs",
  "timelock",
  "multiPayment",
  "resignation",
  "lock",
  "lock",
  "claim",
  "refund",
  "foreign",
] as const;

export type Kind = (typeof kinds)[number];

interface Wish {
  kind: Kind;
  version: 1 | 2;
  /** Numbers that select from what exists at the time. */
  sender: number;
  other: number;
  third: number;
  amount: bigint;
  fee: bigint;
  vendorField: string | undefined;
}

interface BlockWish {
  missed: number;
  wishes: Wish[];
}

/** Few values, so that rows tie; some of them are not exact as doubles. */
const amounts = fc.constantFrom(1n, 1n, 777n, 777n, 100_000_000n, 9_007_199_254_740_992n, 9_007_199_254_740_993n, 2n ** 62n);
const fees = fc.constantFrom(0n, 1n, 10_000_000n, 10_000_000n, 10_000_001n);
const pick = fc.nat({ max: 1_000 });

const wishOf = (among: readonly Kind[]): fc.Arbitrary<Wish> =>
  fc.record({
    kind: fc.constantFrom(...among),
    version: fc.constantFrom(1, 2),
    sender: pick,
    other: pick,
    third: pick,
    amount: amounts,
    fee: fees,
    vendorField: fc.constantFrom(undefined, undefined, "rent", "Rent", "Grüße, 世界", "r"),
  });

const blockWishOf = (among: readonly Kind[]): fc.Arbitrary<BlockWish> =>
  fc.record({
    missed: fc.constantFrom(0, 0, 0, 1, 5),
    wishes: fc.array(wishOf(among), { maxLength: 6 }),
  });

const shared: readonly Actor[] = [actors.council, actors.pair];
const everybody: readonly Actor[] = Object.values(actors).filter(({ name }) => name !== "origin");
const byPublicKey = new Map<string, Actor>(Object.values(actors).map((actor) => [actor.publicKey, actor]));
const byAddress = new Map<string, Actor>(Object.values(actors).map((actor) => [actor.address, actor]));

const at = <T>(list: readonly T[], index: number): T | undefined => (list.length === 0 ? undefined : list[index % list.length]);

/** One block's transactions in preparation: what earlier ones spent and did, on top of the state before the block. */
interface Draftsman {
  snapshot: ChainSnapshot | undefined;
  drafts: Draft[];
  spent: Map<string, bigint>;
  /** What a wallet can do only once, and did in this block. */
  done: Set<string>;
  endedLocks: Set<string>;
  height: number;
  timestamp: number;
  branch: string;
  /** Labels by lock id. */
  labels: Map<string, string>;
}

const all = { offset: 0, limit: 1_000 };

const openLocks = async ({ snapshot, endedLocks }: Draftsman) => {
  const page = await snapshot?.locks({ filter: {}, order: { field: "lockId", direction: "asc" }, ...all });
  return (page?.rows ?? []).filter(({ lockId }) => !endedLocks.has(lockId));
};

const standing = async ({ snapshot }: Draftsman): Promise<Actor[]> => {
  const page = await snapshot?.delegates({ filter: {}, order: { field: "username", direction: "asc" }, ...all });
  return (page?.rows ?? []).filter(({ resigned }) => !resigned).flatMap(({ publicKey }) => byPublicKey.get(publicKey) ?? []);
};

/** Everyone who exists and can sign; multisignature wallets once they are registered. */
const senders = async ({ snapshot }: Draftsman): Promise<Actor[]> => {
  const page = await snapshot?.wallets({ filter: {}, order: { field: "address", direction: "asc" }, ...all });
  return (page?.rows ?? []).flatMap(({ address, balance, multiSignature: registered }) => {
    const actor = byAddress.get(address);
    if (actor === undefined || balance <= 0n) return [];
    return shared.includes(actor) && registered === null ? [] : [actor];
  });
};

/** The transaction that fulfils a wish, or undefined. */
const fulfil = async (given: Wish, block: Draftsman): Promise<Draft | undefined> => {
  const { kind, version, fee, amount, vendorField } = given;
  const sender = at(await senders(block), given.sender);
  const other = at(everybody, given.other);
  const third = at(everybody, given.third);
  if (sender === undefined || other === undefined || third === undefined) return undefined;
  const wallet = await block.snapshot?.wallet(sender.address);
  if (wallet === undefined) return undefined;
  const signers = wallet.multiSignature === null ? {} : { signers: wallet.multiSignature.min };
  const twice = wallet.secondPublicKey === null ? {} : { twice: true };
  const rest = {
    version: wallet.multiSignature === null ? version : 2,
    fee,
    ...(vendorField === undefined ? {} : { vendorField }),
    ...signers,
    ...twice,
  } as const;
  const second = { ...rest, version: 2 } as const;
  /** What moves nothing may name somebody all the same, who may have no wallet. */
  const named = given.third % 2 === 0 ? {} : { recipientId: other.address };
  const delegates = await standing(block);
  const chosen = at(delegates, given.other);
  const current = wallet.vote === null ? undefined : byPublicKey.get(wallet.vote);

  const once = (what: string, draft: () => Draft): Draft | undefined => {
    if (block.done.has(`${sender.name} ${what}`)) return undefined;
    block.done.add(`${sender.name} ${what}`);
    return draft();
  };

  switch (kind) {
    case "transfer":
      return transfer(sender, given.other % 7 === 0 ? sender : other, amount, rest);
    case "timelock":
      return wallet.multiSignature === null ? timelock(sender, other, amount, { ...rest, version: 1 }) : undefined;
    case "secondSignature":
      if (wallet.secondPublicKey !== null) return undefined;
      return once("signs twice", () => secondSignature(sender, given.other % 2 === 0 ? secondKeys.kim : secondKeys.joe, rest));
    case "registration":
      if (wallet.isDelegate || wallet.multiSignature !== null) return undefined;
      return once("registers", () => registration(sender, sender.name, rest));
    case "resignation":
      if (!wallet.isDelegate || wallet.resigned || delegates.length < 3) return undefined;
      return once("resigns", () => resignation(sender, rest));
    case "vote":
      if (chosen === undefined || current !== undefined) return undefined;
      return once("votes", () => vote(sender, [["+", chosen]], rest));
    case "unvote":
      return current === undefined ? undefined : once("votes", () => vote(sender, [["-", current]], rest));
    case "switch":
      if (chosen === undefined || current === undefined) return undefined;
      return once("votes", () =>
        vote(
          sender,
          [
            ["-", current],
            ["+", chosen],
          ],
          rest,
        ),
      );
    case "multiSignature":
      return given.other % 2 === 0
        ? multiSignature(sender, 2, [actors.ivy, actors.joe, actors.kim], { ...second, fee })
        : multiSignature(sender, 1, [actors.ada, actors.bob], { ...rest, fee });
    case "ipfs":
      return { ...ipfs(sender, "Qm", rest), ...named };
    case "multiPayment":
      return multiPayment(
        sender,
        [[other, amount], [third, 1n], [other, 2n], ...(given.third % 3 === 0 ? [[sender, amount] as const] : [])],
        rest,
      );
    case "lock": {
      const type = given.third % 2 === 0 ? 1 : 2;
      const value = type === 1 ? block.timestamp + 8 * (given.third % 9) : block.height + (given.third % 9);
      const label = `lock ${block.branch} ${block.height}/${block.drafts.length}`;
      block.labels.set(labelled(label), label);
      return htlcLock(
        sender,
        other,
        amount,
        { label, secret: given.other % 2 === 0 ? "same" : label, expiration: { type, value } },
        second,
      );
    }
    case "claim":
    case "refund": {
      const lock = at(await openLocks(block), given.other);
      const label = lock === undefined ? undefined : block.labels.get(lock.lockId);
      if (lock === undefined || label === undefined) return undefined;
      block.endedLocks.add(lock.lockId);
      const cheap = { ...second, fee: fee > lock.amount ? 0n : fee };
      return kind === "claim" ? htlcClaim(sender, label, cheap) : htlcRefund(sender, label, cheap);
    }
    case "foreign":
      return { ...foreign(sender, given.other % 8, { ...second, asset: { note: "theirs" } }), ...named };
  }
};

/** Everything that a transaction takes from its sender. */
const costOf = ({ type, typeGroup, amount, fee, asset }: Draft): bigint => {
  if (typeGroup === 1 && (type === 9 || type === 10)) return 0n;
  const payments = (asset as { payments: { amount: string }[] | undefined } | undefined)?.payments ?? [];
  return payments.reduce((sum, payment) => sum + BigInt(payment.amount), amount + fee);
};

const supplyEach = 2n ** 63n + 12_345_678_901n;

const genesisOf = ({ delegates, debtor }: Pick<ChainWish, "delegates" | "debtor">): Draft[] => {
  const free = { version: 1, fee: 0n } as const;
  const founders = everybody.slice(0, delegates);
  const chosen = debtor === undefined ? undefined : at(founders, debtor);
  return [
    ...everybody.slice(0, 10).map((actor) => transfer(actors.origin, actor, supplyEach, free)),
    ...founders.map((actor) => registration(actor, actor.name, free)),
    ...founders.map((actor) => vote(actor, [["+", actor]], free)),
    ...(chosen === undefined ? [] : [vote(actors.origin, [["+", chosen]], free)]),
  ];
};

interface Branch {
  name: string;
  network: Network;
  maker: ChainMaker;
  /** The state of this branch. */
  adapter: MemoryAdapter;
  labels: Map<string, string>;
}

/** Appends a block to a branch. */
const extend = async ({ name, network, maker, adapter, labels }: Branch, block: BlockWish): Promise<void> => {
  const snapshot = await adapter.snapshot();
  const rules = createChainRules(network);
  const height = maker.blocks.length + 1;
  const previous = maker.blocks.at(-1)?.timestamp ?? 0;
  const draftsman: Draftsman = {
    snapshot,
    drafts: [],
    spent: new Map(),
    done: new Set(),
    endedLocks: new Set(),
    height,
    timestamp: previous + rules.milestones.at(Math.max(1, height - 1)).blocktime,
    branch: name,
    labels,
  };
  for (const one of block.wishes) {
    const draft = await fulfil(one, draftsman);
    if (draft === undefined) continue;
    const { address } = draft.sender;
    const spent = (draftsman.spent.get(address) ?? 0n) + costOf(draft);
    if (spent > ((await snapshot?.wallet(address))?.balance ?? 0n)) continue;
    draftsman.spent.set(address, spent);
    draftsman.drafts.push(draft);
  }

  const turns = snapshot && (await turnsAfter(snapshot, rules.milestones));
  const probe = maker.fork().add({ generator: actors.origin, missed: block.missed });
  const forger = turns?.forgerOf(turns.slotOf(probe.timestamp));
  const generator = byPublicKey.get(forger?.publicKey ?? "") ?? actors.origin;
  adapter.apply(maker.add({ generator, transactions: draftsman.drafts, missed: block.missed }));
};

/** The ingredients of a random chain. */
export interface ChainWish {
  /** The number of active delegates at first, the later number, and after how many rounds it changes. */
  first: number;
  then: number;
  rounds: number;
  /** Seconds from height 3 on, and from the change of the number of delegates on. */
  blocktimes: [number, number];
  delegates: number;
  /** Selects the delegate for whom the genesis sender votes, whose balance is negative; undefined: nobody. */
  debtor: number | undefined;
  blocks: BlockWish[];
  /** How many of the last blocks differ on another branch, and what that branch has instead. */
  reverted: number;
  otherBranch: BlockWish[];
}

const milestonesOf = ({ first, then, rounds, blocktimes }: ChainWish): Network["milestones"] => {
  const change = 1 + first * rounds;
  const [second, third] = blocktimes;
  const later = { height: change, activeDelegates: then, blocktime: third, reward: "300000001", block: { version: 1, idFullSha256: true } };
  return [firstMilestone(first), ...[{ height: 3, reward: 200_000_000, blocktime: second }, later].sort((a, b) => a.height - b.height)];
};

export const buildRandomChain = async (given: ChainWish): Promise<RandomChain> => {
  const milestones = milestonesOf(given);
  const maker = createChainMaker(milestones);
  const genesisBlock = maker.add({ generator: actors.origin, transactions: genesisOf(given) });
  const network: Network = { ...networkOf(genesisBlock), milestones };
  const adapter = createMemoryAdapter(network);
  adapter.apply(genesisBlock);
  const labels = new Map<string, string>();
  const main: Branch = { name: "main", network, maker, adapter, labels };
  const forkHeight = Math.max(1, 1 + given.blocks.length - given.reverted);
  let fork = maker.fork();
  for (const block of given.blocks) {
    if (maker.blocks.length === forkHeight) fork = maker.fork();
    await extend(main, block);
  }
  if (maker.blocks.length === forkHeight) fork = maker.fork();

  const other: Branch = { ...main, name: "other", maker: fork, adapter: createMemoryAdapter(network) };
  for (const block of fork.blocks) other.adapter.apply(block);
  for (const block of given.otherBranch) await extend(other, block);
  return { network, blocks: maker.blocks, forkHeight, otherBranch: fork.blocks.slice(forkHeight) };
};

interface WishOptions {
  maxBlocks?: number;
  /** Transaction types, weighted by repetition. All by default. */
  among?: readonly Kind[];
}

/** Wishes for a chain; `buildRandomChain` builds it. */
export const chainWish = ({ maxBlocks = 24, among = kinds }: WishOptions = {}): fc.Arbitrary<ChainWish> =>
  fc.record({
    first: fc.integer({ min: 2, max: 4 }),
    then: fc.integer({ min: 2, max: 5 }),
    rounds: fc.integer({ min: 1, max: 4 }),
    blocktimes: fc.tuple(fc.constantFrom(8, 8, 5), fc.constantFrom(8, 8, 11)),
    delegates: fc.integer({ min: 4, max: 7 }),
    debtor: fc.option(pick, { nil: undefined }),
    blocks: fc.array(blockWishOf(among), { minLength: 1, maxLength: maxBlocks, size: "max" }),
    reverted: fc.nat({ max: 12 }),
    otherBranch: fc.array(blockWishOf(among), { maxLength: 6 }),
  });
