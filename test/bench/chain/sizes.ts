/** How large the chains of the bench are: everything in proportion to the number of transactions. */
export interface ChainSize {
  readonly name: SizeName;
  /** Genesis included. */
  readonly transactions: number;
  /** Genesis included. */
  readonly blocks: number;
  /** Blocks of `fullBlock` transactions each. */
  readonly fullBlocks: number;
  /** Blocks of one transaction; all other blocks are empty. */
  readonly singleBlocks: number;
  readonly wallets: number;
  readonly delegates: number;
  /** Transactions that the busiest wallet sends or receives. */
  readonly busiest: number;
  /** Locks that stay open. */
  readonly openLocks: number;
}

export const sizeNames = ["10k", "100k", "1m", "10m"] as const;
export type SizeName = (typeof sizeNames)[number];

/** Transactions of a full block. */
export const fullBlock = 150;
/** Those who forge. */
export const activeDelegates = 51;
/** The busiest wallet is handed its share; each active delegate is handed its own, registers, and votes for itself. */
export const genesisTransactions = 1 + activeDelegates * 3;

const sizeOf = (name: SizeName, transactions: number, delegates: number): ChainSize => {
  const fullBlocks = Math.floor((transactions * 0.99 - genesisTransactions) / fullBlock);
  return {
    name,
    transactions,
    blocks: transactions / 2,
    fullBlocks,
    singleBlocks: transactions - genesisTransactions - fullBlocks * fullBlock,
    wallets: transactions / 10,
    delegates,
    busiest: transactions / 40,
    openLocks: transactions / 1_000,
  };
};

/** At 10 million transactions: 5 million blocks, 1 million wallets, one of them with 250,000 transactions. */
export const sizes: Readonly<Record<SizeName, ChainSize>> = {
  "10k": sizeOf("10k", 10_000, 200),
  "100k": sizeOf("100k", 100_000, 300),
  "1m": sizeOf("1m", 1_000_000, 500),
  "10m": sizeOf("10m", 10_000_000, 1_000),
};

export const isSizeName = (name: string): name is SizeName => (sizeNames as readonly string[]).includes(name);

/** Whether the n-th (from 0) of `whole` things is one of `part` spread evenly over them. */
export const isSpread = (n: number, part: number, whole: number): boolean => Math.floor(((n + 1) * part) / whole) > Math.floor((n * part) / whole);

/** How many transactions the block at a height has, from 2 on; beyond the size's last block there is nothing. */
export const transactionsAt = (height: number, { blocks, fullBlocks, singleBlocks }: ChainSize): number => {
  const place = height - 2;
  const whole = blocks - 1;
  if (place < 0 || place >= whole) return 0;
  if (isSpread(place, fullBlocks, whole)) return fullBlock;
  const among = place - Math.floor((place * fullBlocks) / whole);
  return isSpread(among, singleBlocks, whole - fullBlocks) ? 1 : 0;
};
