import type { Network } from "../../../types/node-context.js";
import type { BlockData, TransactionData } from "../../../types/events.js";
import type { Milestone } from "../../../types/node-context.js";
import { parseAmount } from "../../chain/amount.js";
import { createMilestones } from "../../chain/milestones.js";
import type { Actor } from "./actors.js";

/**
 * The network of the suite's chain: rounds of five blocks, and of four from height 16; a reward from height 6, and another from 16;
 * wire version 2 from height 11; block ids of 64 hexadecimal digits from height 26.
 */
export const milestones: Network["milestones"] = [
  {
    height: 1,
    reward: 0,
    activeDelegates: 5,
    blocktime: 8,
    block: { version: 0, maxTransactions: 50, maxPayload: 2_097_152 },
    epoch: "2017-03-21T13:00:00.000Z",
    fees: { staticFees: { transfer: 10_000_000, vote: 100_000_000 } },
    vendorFieldLength: 64,
  },
  { height: 6, reward: 200_000_000 },
  { height: 11, aip11: true, vendorFieldLength: 255 },
  { height: 16, reward: "300000001", activeDelegates: 4, block: { version: 1 } },
  { height: 26, block: { idFullSha256: true } },
];

export const networkOf = (genesisBlock: BlockData): Network => ({
  network: {
    name: "conformance",
    messagePrefix: "Conformance message:\n",
    bip32: { public: 70617039, private: 70615956 },
    pubKeyHash: 23,
    nethash: genesisBlock.payloadHash,
    wif: 186,
    slip44: 1,
    aip20: 0,
    client: { token: "CONF", symbol: "C", explorer: "http://explorer.invalid" },
  },
  milestones,
  exceptions: {},
  genesisBlock,
});

/**
 * Hex that looks like a hash and is always the same for the same text. The ids and signatures of the suite's chain only have to be
 * distinct, not secure.
 */
export const fakeHash = (text: string, digits: number): string => {
  let high = 0x811c9dc5;
  let low = 0x9747b28c;
  for (let i = 0; i < text.length; i++) {
    high = Math.imul(high ^ text.charCodeAt(i), 0x01000193);
    low = Math.imul(low ^ text.charCodeAt(i), 0x5bd1e995) ^ (low >>> 13);
  }
  let hex = "";
  while (hex.length < digits) {
    high = Math.imul(high ^ (high >>> 15), 0x2c1b3c6d) + low;
    low = Math.imul(low ^ (low >>> 12), 0x297a2d39) ^ high;
    hex += (high >>> 0).toString(16).padStart(8, "0") + (low >>> 0).toString(16).padStart(8, "0");
  }
  return hex.slice(0, digits);
};

/** Looks like a DER-encoded secp256k1 signature. */
const fakeSignature = (text: string): string => `3044022${fakeHash(text, 133)}`;

/** A transaction before it is put into a chain. The chain maker adds the id, the nonce or timestamp, and the signatures. */
export interface Draft {
  sender: Actor;
  version: 1 | 2;
  typeGroup: number;
  type: number;
  amount: bigint;
  fee: bigint;
  recipientId?: string;
  vendorField?: string;
  asset?: object;
  /** Determines the id, so that later transactions can refer to this one. */
  label?: string;
  /** Whether it has a second signature, which is named as its wire version does. */
  twice?: boolean;
  /** Number of signatures in a transaction of a multisignature wallet, which has no other signature. */
  signers?: number;
  expiration?: number;
}

type Rest = Partial<Omit<Draft, "sender" | "type" | "amount" | "recipientId">>;

const draft = (sender: Actor, type: number, fee: bigint, parts: Partial<Draft> = {}): Draft => ({
  sender,
  version: 2,
  typeGroup: 1,
  type,
  amount: 0n,
  fee,
  ...parts,
});

/** Id of the transaction with a label. */
export const labelled = (label: string): string => fakeHash(`transaction ${label}`, 64);

export const transfer = (sender: Actor, recipient: Actor, amount: bigint, rest: Rest = {}): Draft =>
  draft(sender, 0, 10_000_000n, { recipientId: recipient.address, amount, ...rest });

export const secondSignature = (sender: Actor, publicKey: string, rest: Rest = {}): Draft =>
  draft(sender, 1, 500_000_000n, { asset: { signature: { publicKey } }, ...rest });

export const registration = (sender: Actor, username: string, rest: Rest = {}): Draft =>
  draft(sender, 2, 2_500_000_000n, { asset: { delegate: { username } }, ...rest });

/** `votes`: "+" or "-", and the delegate. Version 1 names the sender as recipient, version 2 names no recipient. */
export const vote = (sender: Actor, votes: readonly (readonly ["+" | "-", Actor])[], rest: Rest = {}): Draft =>
  draft(sender, 3, 100_000_000n, {
    asset: { votes: votes.map(([sign, { publicKey }]) => sign + publicKey) },
    ...(rest.version === 1 ? { recipientId: sender.address } : {}),
    ...rest,
  });

export const multiSignature = (sender: Actor, min: number, participants: readonly Actor[], rest: Rest = {}): Draft =>
  draft(sender, 4, 500_000_000n * BigInt(participants.length + 1), {
    asset:
      rest.version === 1
        ? { multisignature: { min, lifetime: 24, keysgroup: participants.map(({ publicKey }) => `+${publicKey}`) } }
        : { multiSignature: { min, publicKeys: participants.map(({ publicKey }) => publicKey) } },
    ...rest,
  });

export const ipfs = (sender: Actor, hash: string, rest: Rest = {}): Draft =>
  draft(sender, 5, 500_000_000n, { asset: { ipfs: hash }, ...rest });

/** Version 1 only. Nobody ever used it, but it is one of the core's types. */
export const timelock = (sender: Actor, recipient: Actor, amount: bigint, rest: Rest = {}): Draft =>
  draft(sender, 6, 10_000_000n, { version: 1, recipientId: recipient.address, amount, ...rest });

export const multiPayment = (sender: Actor, payments: readonly (readonly [Actor, bigint])[], rest: Rest = {}): Draft =>
  draft(sender, rest.version === 1 ? 7 : 6, 10_000_000n, {
    asset: { payments: payments.map(([{ address }, amount]) => ({ recipientId: address, amount: String(amount) })) },
    ...rest,
  });

export const resignation = (sender: Actor, rest: Rest = {}): Draft =>
  draft(sender, rest.version === 1 ? 8 : 7, 2_500_000_000n, rest);

/** `expiration`: of type 1 an epoch time, of type 2 a height. */
export const htlcLock = (
  sender: Actor,
  recipient: Actor,
  amount: bigint,
  lock: { label: string; secret: string; expiration: { type: 1 | 2; value: number } },
  rest: Rest = {},
): Draft =>
  draft(sender, 8, 10_000_000n, {
    recipientId: recipient.address,
    amount,
    label: lock.label,
    asset: { lock: { secretHash: fakeHash(lock.secret, 64), expiration: lock.expiration } },
    ...rest,
  });

export const htlcClaim = (sender: Actor, label: string, rest: Rest = {}): Draft =>
  draft(sender, 9, 0n, {
    asset: { claim: { lockTransactionId: labelled(label), unlockSecret: fakeHash(`secret of ${label}`, 64) } },
    ...rest,
  });

export const htlcRefund = (sender: Actor, label: string, rest: Rest = {}): Draft =>
  draft(sender, 10, 0n, { asset: { refund: { lockTransactionId: labelled(label) } }, ...rest });

/** A kind that only a fork knows. */
export const foreign = (sender: Actor, type: number, rest: Rest = {}): Draft =>
  draft(sender, type, 5_000_000_000n, { typeGroup: 2, asset: { note: "theirs" }, ...rest });

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
