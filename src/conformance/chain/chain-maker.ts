import type { BlockData, TransactionData } from "../../../types/events.js";
import type { Milestone } from "../../../types/node-context.js";
import { parseAmount } from "../../chain/amount.js";
import { createMilestones } from "../../chain/milestones.js";
import type { Draft } from "./drafts.js";
import { labelled } from "./drafts.js";
import type { Actor } from "./actors.js";
import { fakeHash, fakeSignature } from "./fake-hash.js";

/** SHA-256 of no bytes: the payload hash of a block without transactions. */
const emptyPayloadHash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

export interface BlockDraft {
  generator: Actor;
  transactions?: readonly Draft[];
  /** Number of slots without a block before this one. Default 0. */
  missed?: number;
}

/** Builds blocks from transactions, and a chain from blocks. It signs nothing, and does not check whether a sender can pay. */
export interface ChainMaker {
  /** Genesis first. */
  readonly blocks: readonly BlockData[];
  add(draft: BlockDraft): BlockData;
  /** Another chain with the same blocks so far. */
  fork(): ChainMaker;
}

interface Progress {
  blocks: BlockData[];
  /** Nonce of the last transaction, by public key. */
  nonces: Map<string, bigint>;
  /** Makes the ids of a fork differ. */
  branch: string;
}

/** Slots between genesis and the first block after it. */
const firstGap = 999;

const sumOf = (amounts: readonly bigint[]): bigint => amounts.reduce((sum, amount) => sum + amount, 0n);

const transactionData = (draft: Draft, { id, nonce, timestamp }: { id: string; nonce: bigint; timestamp: number }): TransactionData => {
  const { sender, version, typeGroup, type, amount, fee, recipientId, vendorField, asset, twice, signers, expiration } = draft;
  return {
    id,
    version,
    type,
    ...(version === 2 ? { network: 23, nonce: String(nonce) } : { timestamp: Math.max(0, timestamp - 5) }),
    ...(version === 2 || typeGroup !== 1 ? { typeGroup } : {}),
    senderPublicKey: sender.publicKey,
    amount: String(amount),
    fee: String(fee),
    ...(recipientId === undefined ? {} : { recipientId }),
    ...(vendorField === undefined ? {} : { vendorField }),
    ...(asset === undefined ? {} : { asset }),
    ...(expiration === undefined ? {} : { expiration }),
    ...(signers === undefined
      ? { signature: fakeSignature(id) }
      : { signatures: Array.from({ length: signers }, (_, index) => `0${index}${fakeHash(`${id} ${index}`, 128)}`) }),
    ...(twice === true ? { [version === 1 ? "signSignature" : "secondSignature"]: fakeSignature(`second of ${id}`) } : {}),
  };
};

const createMaker = (milestones: readonly Milestone[], progress: Progress): ChainMaker => {
  const constants = createMilestones([...milestones]);
  const { blocks, nonces, branch } = progress;

  const transactionOf = (draft: Draft, at: string, timestamp: number): TransactionData => {
    const { sender, label } = draft;
    const id = label === undefined ? fakeHash(`transaction ${branch} ${at}`, 64) : labelled(label);
    const nonce = (nonces.get(sender.publicKey) ?? 0n) + 1n;
    nonces.set(sender.publicKey, nonce);
    return transactionData(draft, { id, nonce, timestamp });
  };

  const idOf = (height: number): string => {
    const hex = fakeHash(`block ${branch} ${height}`, 64);
    return constants.at(height).block?.idFullSha256 === true ? hex : BigInt(`0x${hex.slice(0, 16)}`).toString();
  };

  const add: ChainMaker["add"] = ({ generator, transactions: drafts = [], missed = 0 }) => {
    const previous = blocks.at(-1);
    const height = (previous?.height ?? 0) + 1;
    const { reward, blocktime, block: rules } = constants.at(height);
    const skipped = height === 2 ? firstGap : missed;
    const timestamp = previous === undefined ? 0 : previous.timestamp + constants.at(height - 1).blocktime + skipped * blocktime;
    const transactions = drafts.map((draft, sequence) => transactionOf(draft, `${height}/${sequence}`, timestamp));
    const block: BlockData = {
      id: idOf(height),
      version: rules?.version ?? 0,
      height,
      timestamp,
      previousBlock: previous?.id ?? null,
      numberOfTransactions: transactions.length,
      totalAmount: String(sumOf(drafts.map(({ amount }) => amount))),
      totalFee: String(sumOf(drafts.map(({ fee }) => fee))),
      reward: String(parseAmount(reward)),
      payloadLength: 32 * transactions.length,
      payloadHash: transactions.length === 0 ? emptyPayloadHash : fakeHash(`payload ${branch} ${height}`, 64),
      generatorPublicKey: generator.publicKey,
      blockSignature: fakeSignature(`block ${branch} ${height}`),
      transactions,
    };
    blocks.push(block);
    return block;
  };

  return {
    blocks,
    add,
    fork: () => createMaker(milestones, { blocks: [...blocks], nonces: new Map(nonces), branch: `${branch}'` }),
  };
};

export const createChainMaker = (milestones: readonly Milestone[]): ChainMaker =>
  createMaker(milestones, { blocks: [], nonces: new Map(), branch: "" });
