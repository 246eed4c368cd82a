/** What of exceptions.json matters to proofs: ids by which a network accepted what breaks its rules. */
export interface Exceptions {
  /** Blocks that are not checked. */
  blocks?: readonly string[];
  /** By block: the ids of its transactions, in any order. */
  blocksTransactions?: Readonly<Record<string, readonly string[]>>;
  /** By block: the ids of its transactions in another order than the one that was hashed. */
  wrongTransactionOrder?: Readonly<Record<string, readonly string[]>>;
  /** By hash of the bytes: the id that a transaction has instead. */
  transactionIdFixTable?: Readonly<Record<string, string>>;
  /** By the id that its bytes give: the id that a block has instead. */
  outlookTable?: Readonly<Record<string, string>>;
  readonly [rule: string]: unknown;
}
