import { hexToBytes } from "@noble/hashes/utils.js";
import type { Milestone } from "../../types/node-context.js";
import { createMilestones, type Milestones } from "../chain/milestones.js";
import { forgingOrder, roundOf, slotHeights, slotsAt } from "../chain/rounds.js";
import type { Exceptions } from "./exceptions.js";
import { blockIdOf, type Header, isSignedBy, payloadHashOf, readHeader } from "./headers.js";
import { mostDescendants, type Proof, type ProofBlock } from "./proof.js";
import { transactionIdOf } from "./transactions.js";

/** What did not hold. */
export type ProofStep =
  /** A member is missing, unknown or not of its form. */
  | "shape"
  /** Its bytes give another id. */
  | "transaction"
  /** Not as many as the header says, or without the transaction. */
  | "transactionIds"
  /** The ids have another hash. */
  | "payloadHash"
  /** A header is not of its height, or has another length. */
  | "header"
  /** Header and signature give another id. */
  | "id"
  /** It is not the generator's, or not strict. */
  | "signature"
  /** They do not build on one another, or are more than 200. */
  | "descendants"
  /** It was another delegate's turn. */
  | "generator"
  /** Its number, its delegates or its slots are wrong. */
  | "round"
  /** Too few delegates have built on the block. */
  | "threshold"
  /** What the node shows is not what was proven (`verifyTransaction`). */
  | "shown";

export class ProofError extends Error {
  readonly step: ProofStep;

  constructor(step: ProofStep, message: string) {
    super(message);
    this.name = "ProofError";
    this.step = step;
  }
}

/** Public keys of a round's delegates, by rank. */
export type Delegates = readonly string[];

export interface ProofOptions {
  /** The content of network.json. */
  network: {
    /** Version byte of addresses. */
    pubKeyHash: number;
  };
  /** The content of milestones.json. */
  milestones: Milestone[];
  /** The content of exceptions.json. @default {} */
  exceptions?: Exceptions;
  /**
   * The delegates of the block's round, or of any round by its number, from a source that is trusted. In rounds that are not given (undefined)
   * the forging order is not checked.
   */
  delegates: Delegates | ((round: number) => Delegates | undefined);
  /** How many delegates must have built on the block. @default 0 */
  threshold?: number;
}

export interface VerifiedProof {
  transaction?: { id: string; serialized: string };
  /** The block, as its header says. */
  block: Header & { id: string };
  /** How many of the given delegates made descendants of the block. */
  confirmedBy: number;
  /** What follows from the bytes, in words. */
  proven: string[];
  /** What was taken as given, in words. */
  trusted: string[];
}

/** A block of the proof with its header. */
interface CheckedBlock extends ProofBlock {
  says: Header;
}

const refuse = (step: ProofStep, message: string): never => {
  throw new ProofError(step, message);
};

type Members = Readonly<Record<string, unknown>>;

/** An object that has all of the members, and no others beside the optional ones. */
const membersOf = (value: unknown, name: string, required: readonly string[], optional: readonly string[] = []): Members => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return refuse("shape", `${name} is not an object`);
  const missing = required.find((member) => !Object.hasOwn(value, member));
  if (missing !== undefined) refuse("shape", `${name}.${missing} is missing`);
  const unknown = Object.keys(value).find((member) => !required.includes(member) && !optional.includes(member));
  if (unknown !== undefined) refuse("shape", `${name}.${unknown} is not a member of a proof`);
  return value as Members;
};

const listOf = (value: unknown, name: string): readonly unknown[] => (Array.isArray(value) ? value : refuse("shape", `${name} is not a list`));

/** Without repetition: a text may have any length. */
const requireBytes = (value: unknown, name: string): void => {
  if (typeof value !== "string" || value.length === 0 || value.length % 2 === 1 || /[^0-9a-f]/.test(value)) refuse("shape", `${name} is not hexadecimal`);
};

const requireText = (value: unknown, form: RegExp, name: string, what: string): void => {
  if (typeof value !== "string" || !form.test(value)) refuse("shape", `${name} is not ${what}`);
};

const requireWhole = (value: unknown, name: string): void => {
  if (!Number.isSafeInteger(value) || Number(value) < 0) refuse("shape", `${name} is not a whole number`);
};

const hash = /^[0-9a-f]{64}$/;

const requireBlock = (value: unknown, name: string): void => {
  const block = membersOf(value, name, ["id", "height", "header", "signature"]);
  requireText(block.id, /^(?:[0-9a-f]{64}|0|[1-9]\d{0,19})$/, `${name}.id`, "the id of a block");
  requireBytes(block.header, `${name}.header`);
  requireBytes(block.signature, `${name}.signature`);
  requireWhole(block.height, `${name}.height`);
};

const requireRound = (value: unknown): void => {
  const round = membersOf(value, "round", ["number", "delegates"], ["slots"]);
  requireWhole(round.number, "round.number");
  for (const [index, key] of listOf(round.delegates, "round.delegates").entries()) requireText(key, /^0[23][0-9a-f]{64}$/, `round.delegates[${index}]`, "a public key");
  for (const [index, slot] of (round.slots === undefined ? [] : listOf(round.slots, "round.slots")).entries()) {
    const { height, timestamp } = membersOf(slot, `round.slots[${index}]`, ["height", "timestamp"]);
    requireWhole(height, `round.slots[${index}].height`);
    requireWhole(timestamp, `round.slots[${index}].timestamp`);
  }
};

const readProof = (value: unknown): Proof => {
  const { transaction, block, transactionIds, descendants, round } = membersOf(value, "proof", ["block", "transactionIds", "descendants", "round"], ["transaction"]);
  if (transaction !== undefined) {
    const { id, serialized } = membersOf(transaction, "transaction", ["id", "serialized"]);
    requireText(id, hash, "transaction.id", "the id of a transaction");
    requireBytes(serialized, "transaction.serialized");
  }
  requireBlock(block, "block");
  for (const [index, id] of listOf(transactionIds, "transactionIds").entries()) requireText(id, hash, `transactionIds[${index}]`, "the id of a transaction");
  for (const [index, descendant] of listOf(descendants, "descendants").entries()) requireBlock(descendant, `descendants[${index}]`);
  requireRound(round);
  return value as Proof;
};

interface Rules {
  milestones: Milestones;
  exceptions: Exceptions;
}

/** Reads a block's header, which must be of its height, and give its id; genesis has an id of its own. */
const checkBlock = (block: ProofBlock, { milestones, exceptions }: Rules): CheckedBlock => {
  const [header, signature] = [hexToBytes(block.header), hexToBytes(block.signature)];
  const says = (() => {
    try {
      return readHeader(header, block.height, milestones);
    } catch (error) {
      return refuse("header", `block ${block.height}: ${error instanceof Error ? error.message : String(error)}`);
    }
  })();
  if (says.height !== block.height || block.height < 1) refuse("header", `the header of block ${block.height} is that of block ${says.height}`);
  const id = block.height === 1 ? block.id : blockIdOf(header, signature, block.height, milestones, exceptions);
  if (id !== block.id) refuse("id", `header and signature of block ${block.height} give the id ${id}, not ${block.id}`);
  return { ...block, says };
};

/** @throws TypeError for promises, rows of `/rounds/{id}/delegates`, or whatever else is no list of public keys */
const checkDelegates = (given: unknown): Delegates | undefined => {
  if (given === undefined || (Array.isArray(given) && given.every((key) => typeof key === "string"))) return given;
  throw new TypeError("`delegates` must be a list of public keys, or a function that returns one. Await promises before.");
};

const isListed = (ids: readonly string[], listed: readonly string[] | undefined): boolean =>
  listed !== undefined && [...ids].sort().join() === [...listed].sort().join();

/** The transactions of the block are those of its header. Of genesis, they are taken as given. */
const checkPayload = ({ id, height, says }: CheckedBlock, transactionIds: readonly string[], { blocksTransactions, wrongTransactionOrder }: Exceptions): void => {
  const { length } = transactionIds;
  if (length !== says.numberOfTransactions) refuse("transactionIds", `the header declares ${says.numberOfTransactions} transactions, not ${length}`);
  if (height === 1 || payloadHashOf(transactionIds) === says.payloadHash) return;
  if (isListed(transactionIds, blocksTransactions?.[id]) || isListed(transactionIds, wrongTransactionOrder?.[id])) return;
  refuse("payloadHash", `the ids of the transactions, in this order, have another hash than the header's ${says.payloadHash}`);
};

const checkTransaction = ({ transaction, transactionIds }: Proof, exceptions: Exceptions): void => {
  if (transaction === undefined) return;
  const id = transactionIdOf(hexToBytes(transaction.serialized), exceptions);
  if (id !== transaction.id) refuse("transaction", `the bytes of transaction ${transaction.id} give the id ${id}`);
  if (!transactionIds.includes(transaction.id)) refuse("transactionIds", `transaction ${transaction.id} is not among those of the block`);
};

const checkDescendants = (chain: readonly CheckedBlock[]): void => {
  for (const [index, { height, says }] of chain.entries()) {
    const parent = chain[index - 1];
    if (parent === undefined) continue;
    if (height !== parent.height + 1) refuse("descendants", `block ${height} does not come after block ${parent.height}`);
    if (says.previousBlock !== parent.id) refuse("descendants", `block ${height} is built on block ${says.previousBlock}, not on ${parent.id}`);
  }
  if (chain.length > mostDescendants + 1) refuse("descendants", `there are more than ${mostDescendants} descendants`);
};

const checkSignatures = (blocks: readonly CheckedBlock[]): void => {
  for (const { height, header, signature, says } of blocks) {
    if (isSignedBy(says.generatorPublicKey, hexToBytes(header), hexToBytes(signature))) continue;
    refuse("signature", `the signature of block ${height} is not that of ${says.generatorPublicKey}`);
  }
};

/** Times of the blocks that decide the slots: those given in the round, and those in the proof. */
const timesOf = ({ block, round: { slots } }: Proof, chain: readonly CheckedBlock[], milestones: Milestones): ReadonlyMap<number, number> => {
  const deciding = slotHeights(Infinity, milestones).filter((height) => height < block.height);
  if (slots?.length === 0 || slots?.some(({ height }) => !deciding.includes(height))) refuse("round", "round.slots has a block that decides no slot");
  const times = [...(slots ?? []), ...chain.map(({ says }) => says)].sort((one, other) => one.height - other.height);
  const wrong = times.find(({ height, timestamp }, index) => {
    const before = times[index - 1];
    return before !== undefined && (before.height === height || before.timestamp > timestamp);
  });
  if (wrong !== undefined) refuse("round", `the time of block ${wrong.height} is not after that of the block before`);
  return new Map(times.map(({ height, timestamp }) => [height, timestamp]));
};

/** Each block was made by the delegate whose turn it was, in the rounds that are given. */
const checkGenerators = (blocks: readonly CheckedBlock[], times: ReadonlyMap<number, number>, milestones: Milestones, given: (round: number) => Delegates | undefined): void => {
  for (const { height, says } of blocks) {
    const { round } = roundOf(height, milestones);
    const delegates = given(round);
    if (delegates === undefined) continue;
    const timeOf = (needed: number): number => times.get(needed) ?? refuse("round", `round.slots has no time of block ${needed}`);
    const { slotOf, forgerOf } = slotsAt(height, milestones, timeOf);
    const forger = forgerOf(slotOf(says.timestamp), forgingOrder(delegates, round));
    if (forger !== says.generatorPublicKey) refuse("generator", `block ${height} was made by ${says.generatorPublicKey} in the turn of ${String(forger)}`);
  }
};

const checkRound = ({ block, round: { number, delegates } }: Proof, milestones: Milestones, given: (round: number) => Delegates | undefined): void => {
  const { round } = roundOf(block.height, milestones);
  if (number !== round) refuse("round", `block ${block.height} is in round ${round}, not in ${number}`);
  const own = given(round);
  if (own !== undefined && own.join() !== delegates.join()) refuse("round", `the delegates of round ${round} are not those that were given`);
};

/** What was proven, and what was taken as given, in words. */
const tell = (chain: readonly CheckedBlock[], isExempt: (block: CheckedBlock) => boolean, isOrdered: (height: number) => boolean, proof: Proof): Pick<VerifiedProof, "proven" | "trusted"> => {
  const { block, transaction, round } = proof;
  const isGenesis = block.height === 1;
  const descendants = chain.length - 1;
  const ordered = chain.filter((each) => each.height > 1 && !isExempt(each) && isOrdered(each.height));
  const unordered = chain.filter((each) => each.height > 1 && !isOrdered(each.height));
  const exempt = chain.filter(isExempt);
  return {
    proven: [
      ...(transaction === undefined ? [] : [`Transaction ${transaction.id} has these bytes${isGenesis ? "" : `, and is one of the ${proof.transactionIds.length} of block ${block.id}`}.`]),
      isGenesis
        ? "The header of block 1 has the signature of its generator."
        : `Block ${block.id} at height ${block.height} has this header, these transactions in this order, and the signature of its generator.`,
      ...(descendants === 0 ? [] : [`${descendants} signed block${descendants === 1 ? " was" : "s were"} built on it, one on the other.`]),
      ...(ordered.length === 0 ? [] : [`${ordered.length} of these ${chain.length} blocks are in a given round, and made by the delegate whose turn it was.`]),
    ],
    trusted: [
      "Who the delegates are.",
      ...(unordered.length === 0 ? [] : [`Who made ${unordered.length} of these ${chain.length} blocks: the delegates of their round were not given.`]),
      ...(round.slots === undefined ? [] : [`The times of the blocks that decide the slots: ${round.slots.map(({ height }) => height).join(", ")}.`]),
      ...(isGenesis ? ["The id of block 1, and what it holds."] : []),
      ...(exempt.length === 0 ? [] : [`Blocks that the network has as exceptions: ${exempt.map(({ id }) => id).join(", ")}.`]),
      ...(transaction === undefined ? [] : ["The transaction's own signatures: whoever made the block checked them."]),
    ],
  };
};

/**
 * Checks a proof from a node that need not be trusted: what `/transactions/{id}/proof` or `/blocks/{id}/proof` replies as `data`.
 * @throws ProofError that names what does not hold
 */
export const verifyProof = (untrusted: unknown, { milestones: all, exceptions = {}, delegates, threshold = 0 }: ProofOptions): VerifiedProof => {
  const milestones = createMilestones(all);
  const proof = readProof(untrusted);
  const own = roundOf(proof.block.height, milestones).round;
  const given = (round: number): Delegates | undefined =>
    checkDelegates(typeof delegates === "function" ? delegates(round) : round === own ? delegates : undefined);

  const block = checkBlock(proof.block, { milestones, exceptions });
  const descendants = proof.descendants.map((descendant) => checkBlock(descendant, { milestones, exceptions }));
  const chain = [block, ...descendants];
  checkPayload(block, proof.transactionIds, exceptions);
  checkTransaction(proof, exceptions);
  checkDescendants(chain);
  checkRound(proof, milestones, given);
  const times = timesOf(proof, chain, milestones);
  const isExempt = ({ id }: { id: string }): boolean => exceptions.blocks?.includes(id) === true;
  const checked = chain.filter((each) => !isExempt(each));
  checkGenerators(checked.filter(({ height }) => height > 1), times, milestones, given);
  checkSignatures(checked);

  const isGiven = new Set([own, ...chain.map(({ height }) => roundOf(height, milestones).round)].flatMap((round) => given(round) ?? []));
  const confirmedBy = new Set(checked.filter((each) => each !== block).map(({ says }) => says.generatorPublicKey).filter((key) => isGiven.has(key))).size;
  if (confirmedBy < threshold) refuse("threshold", `${confirmedBy} delegates have built on the block, fewer than ${threshold}`);
  return {
    ...(proof.transaction === undefined ? {} : { transaction: proof.transaction }),
    block: { id: block.id, ...block.says },
    confirmedBy,
    ...tell(chain, isExempt, (height) => given(roundOf(height, milestones).round) !== undefined, proof),
  };
};
