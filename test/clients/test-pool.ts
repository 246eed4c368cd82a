import type { TransactionData } from "../../types/events.js";
import type { PoolResult, TransactionPool } from "../../types/node-context.js";

/** A host's pool whose contents tests can see. */
export interface TestPool extends Required<TransactionPool> {
  /** How many transactions each call of `submit` has passed so far. */
  readonly submissions: number[];
  /** Restores the initial contents. */
  clear(): void;
}

/**
 * Accepts transactions in the order they arrive, up to `size`. One with a fee of 0 is refused; one already held is a duplicate.
 * Signatures are not checked: the example host's tests do that.
 */
export const createTestPool = (held: readonly TransactionData[] = [], size = held.length + 45): TestPool => {
  const waiting = new Map(held.map((transaction) => [transaction.id, transaction]));
  const submissions: number[] = [];

  const refusalOf = ({ id, fee }: TransactionData): { type: string; message: string } | undefined => {
    if (waiting.has(id)) return { type: "ERR_DUPLICATE", message: "Already in cache." };
    if (BigInt(String(fee)) === 0n) return { type: "ERR_LOW_FEE", message: "The fee is too low to be accepted." };
    return undefined;
  };

  const submit = (transactions: TransactionData[]): PoolResult => {
    submissions.push(transactions.length);
    const accept: string[] = [];
    const excess: string[] = [];
    const errors: NonNullable<PoolResult["errors"]> = {};
    for (const transaction of transactions) {
      const refusal = refusalOf(transaction);
      if (refusal !== undefined) {
        errors[transaction.id] = [refusal];
      } else if (waiting.size >= size) {
        excess.push(transaction.id);
      } else {
        waiting.set(transaction.id, transaction);
        accept.push(transaction.id);
      }
    }
    const invalid = Object.keys(errors);
    return { accept, broadcast: accept, excess, invalid, ...(invalid.length === 0 ? {} : { errors }) };
  };

  return {
    submissions,
    list: () => [...waiting.values()],
    get: (id) => waiting.get(id),
    submit,
    clear: () => {
      waiting.clear();
      for (const transaction of held) waiting.set(transaction.id, transaction);
      submissions.length = 0;
    },
  };
};

const refuse = (): never => {
  throw new Error("the pool is on fire");
};
/** Every method throws. */
export const refusingPool: TransactionPool = { list: refuse, get: () => Promise.reject(new Error("the pool is on fire")), submit: refuse };
