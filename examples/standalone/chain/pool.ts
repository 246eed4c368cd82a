import type { ChainAdapter } from "../../../types/chain-adapter.js";
import type { TransactionData } from "../../../types/events.js";
import type { PoolResult, TransactionPool } from "../../../types/node-context.js";
import { blockIds, type ChainCrypto, idOf, type SignedBlock, type SignedTransaction, transactionData } from "./crypto.js";
import { dynamicFees } from "./dynamic-fees.js";
import type { HostEmitter } from "./host-events.js";
import { messageOf } from "../program/host-error.js";
import { createLedger } from "./ledger.js";
import type { ChainState, Ledger } from "./ledger-state.js";

/** Transactions that wait to be forged, in memory only: a restart loses them. */
export interface Pool extends Required<TransactionPool> {
  /** At most `limit` transactions for the next block, in order, that the ledger admits. They stay in the pool until a block has them. */
  offer(ledger: Ledger, limit: number): Promise<SignedTransaction[]>;
  /** Removes the transactions that are in the new tip, and those that it makes invalid. */
  settle(block: SignedBlock): Promise<void>;
}

export interface PoolLimits {
  size: number;
  perSender: number;
}

/** Why a transaction is refused, with the predecessor's names for the reasons. */
interface Refusal {
  type:
    | "ERR_APPLY"
    | "ERR_BAD_DATA"
    | "ERR_DUPLICATE"
    | "ERR_EXCEEDS_MAX_COUNT"
    | "ERR_EXPIRED"
    | "ERR_FORGED"
    | "ERR_LOW_FEE"
    | "ERR_PENDING"
    | "ERR_POOL_FULL"
    | "ERR_WRONG_NETWORK";
  message: string;
}

const defaultLimits: PoolLimits = { size: 1_500, perSender: 150 };

const leastFee = (transaction: SignedTransaction): bigint => {
  const addon = (dynamicFees.addonBytes as Record<string, number>)[transaction.key] ?? 0;
  // A lower static fee of the network (a claim costs nothing) takes precedence.
  const byBytes = BigInt((addon + transaction.serialized.length) * dynamicFees.minFeePool);
  const fixed = transaction.staticFee.toBigInt();
  return byBytes < fixed ? byBytes : fixed;
};

/** Types of which a sender may have only one waiting, because whether a second is valid depends on the first. */
const onePerSender = new Set([1, 2, 4, 7]);

const lockOf = ({ data }: SignedTransaction): string | undefined => data.asset?.claim?.lockTransactionId ?? data.asset?.refund?.lockTransactionId;

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

interface Needs {
  crypto: ChainCrypto;
  chain: ChainAdapter;
  events: HostEmitter;
}

export const createPool = ({ crypto, chain, events }: Needs, limits: PoolLimits = defaultLimits): Pool => {
  /** By id, oldest first. */
  const waiting = new Map<string, SignedTransaction>();
  let turn: Promise<unknown> = Promise.resolve();

  /** Runs work one at a time, so that two requests are not both accepted on the basis of the same state. */
  const serially = <T>(work: () => Promise<T>): Promise<T> => {
    const done = turn.then(work);
    turn = done.catch(() => undefined);
    return done;
  };

  const withState = async <T>(work: (state: ChainState) => Promise<T>): Promise<T> => {
    const snapshot = await chain.snapshot();
    if (snapshot === undefined) throw new Error("The chain's state is not ready yet.");
    try {
      return await work(snapshot);
    } finally {
      snapshot.release?.();
    }
  };

  const conflict = (transaction: SignedTransaction): string | undefined => {
    const { type, senderPublicKey, asset } = transaction.data;
    for (const other of waiting.values()) {
      if (other.data.type === type && onePerSender.has(type) && other.data.senderPublicKey === senderPublicKey) {
        return `The sender has a transaction of type ${type} waiting.`;
      }
      if (type === 2 && other.data.type === 2 && other.data.asset?.delegate?.username === asset?.delegate?.username) {
        return `A registration of ${String(asset?.delegate?.username)} is waiting.`;
      }
      const lock = lockOf(transaction);
      if (lock !== undefined && lock === lockOf(other)) return `A claim or refund of lock ${lock} is waiting.`;
    }
    return undefined;
  };

  /** The checks that do not need the chain's state. */
  const judgeAlone = (transaction: SignedTransaction, given: TransactionData, tipHeight: number): Refusal | undefined => {
    const id = idOf(transaction);
    const { data } = transaction;
    if (typeof given.id === "string" && given.id !== id) return { type: "ERR_BAD_DATA", message: `Its id is ${id}, not ${given.id}.` };
    if (waiting.has(id)) return { type: "ERR_DUPLICATE", message: `Transaction ${id} is already in the pool.` };
    if (!transaction.verified && data.signatures === undefined) return { type: "ERR_BAD_DATA", message: "Its signature is not valid." };
    if (data.expiration !== undefined && data.expiration > 0 && data.expiration <= tipHeight + 1) {
      return { type: "ERR_EXPIRED", message: `It expired at height ${data.expiration}.` };
    }
    const least = leastFee(transaction);
    if (data.fee.toBigInt() < least) return { type: "ERR_LOW_FEE", message: `Its fee is below this pool's minimum, ${least}.` };
    const ofSender = [...waiting.values()].filter((other) => other.data.senderPublicKey === data.senderPublicKey).length;
    if (ofSender >= limits.perSender) return { type: "ERR_EXCEEDS_MAX_COUNT", message: `The sender has ${limits.perSender} transactions waiting, the most allowed.` };
    if (waiting.size >= limits.size) return { type: "ERR_POOL_FULL", message: `The pool is full: it holds ${limits.size} transactions.` };
    const pending = conflict(transaction);
    return pending === undefined ? undefined : { type: "ERR_PENDING", message: pending };
  };

  const read = (given: TransactionData, tipHeight: number): SignedTransaction | Refusal => {
    if (!isRecord(given)) return { type: "ERR_BAD_DATA", message: "A transaction must be an object." };
    const { pubKeyHash } = crypto.network.network;
    if (given.network !== undefined && given.network !== pubKeyHash) {
      return { type: "ERR_WRONG_NETWORK", message: `Its network is ${String(given.network)}; this node's is ${pubKeyHash}.` };
    }
    try {
      return crypto.parse(given, tipHeight);
    } catch (error) {
      // These are not about the transaction, but about the code that could not read it.
      const isInternal = [TypeError, RangeError, SyntaxError].some((kind) => error instanceof kind);
      return { type: "ERR_BAD_DATA", message: isInternal ? "It does not have the form of a transaction." : messageOf(error) };
    }
  };

  const judge = async (given: TransactionData, ledger: Ledger): Promise<SignedTransaction | Refusal> => {
    const { height } = ledger.chain.tip;
    const transaction = read(given, height);
    if ("type" in transaction && "message" in transaction) return transaction;
    const refusal = judgeAlone(transaction, given, height);
    if (refusal !== undefined) return refusal;
    if ((await ledger.chain.transaction(idOf(transaction))) !== undefined) return { type: "ERR_FORGED", message: "It has already been forged." };
    const wrong = await ledger.admit(transaction);
    return wrong === undefined ? transaction : { type: "ERR_APPLY", message: wrong };
  };

  const submitAll = (given: TransactionData[]) =>
    withState(async (state): Promise<PoolResult> => {
      const ledger = createLedger(crypto, state);
      for (const transaction of waiting.values()) await ledger.admit(transaction);
      const result: PoolResult = { accept: [], broadcast: [], excess: [], invalid: [] };
      const added: TransactionData[] = [];
      const rejected: TransactionData[] = [];
      for (const [index, data] of given.entries()) {
        const verdict = await judge(data, ledger);
        if ("message" in verdict) {
          const id = isRecord(data) && typeof data.id === "string" ? data.id : String(index);
          result.invalid.push(id);
          if (verdict.type === "ERR_EXCEEDS_MAX_COUNT") result.excess.push(id);
          result.errors = { ...result.errors, [id]: [...(result.errors?.[id] ?? []), verdict] };
          rejected.push(data);
          continue;
        }
        const id = idOf(verdict);
        waiting.set(id, verdict);
        result.accept.push(id);
        // There are no peers to broadcast to, but the transaction qualifies.
        result.broadcast.push(id);
        added.push(transactionData(verdict));
      }
      if (added.length > 0) events.emit("transaction.pool.added", added);
      if (rejected.length > 0) events.emit("transaction.pool.rejected", rejected);
      return result;
    });

  const offer: Pool["offer"] = async (ledger, limit) => {
    const offered: SignedTransaction[] = [];
    for (const transaction of waiting.values()) {
      if (offered.length >= limit) break;
      if ((await ledger.admit(transaction)) === undefined) offered.push(transaction);
    }
    return offered;
  };

  /** Removes what the current tip no longer admits. */
  const prune = async (): Promise<void> => {
    await withState(async (state) => {
      const ledger = createLedger(crypto, state);
      for (const [id, transaction] of waiting) {
        if ((await ledger.admit(transaction)) === undefined) continue;
        waiting.delete(id);
        const { expiration } = transaction.data;
        if (expiration !== undefined && expiration > 0 && expiration <= state.tip.height + 1) events.emit("transaction.expired", transactionData(transaction));
        events.emit("transaction.pool.removed", id);
      }
    });
  };

  const settle: Pool["settle"] = (block) =>
    serially(async () => {
      for (const id of blockIds(block)) if (waiting.delete(id)) events.emit("transaction.pool.removed", id);
      if (waiting.size > 0) await prune();
    });

  return {
    list: () => [...waiting.values()].map(transactionData),
    get: (id) => {
      const found = waiting.get(id);
      return found === undefined ? undefined : transactionData(found);
    },
    submit: (transactions) => serially(() => submitAll(transactions)),
    offer: (ledger, limit) => serially(() => offer(ledger, limit)),
    settle,
  };
};
