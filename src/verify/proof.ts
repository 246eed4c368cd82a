/** A block of a proof. Bytes are hexadecimal, in lower case. */
export interface ProofBlock {
  id: string;
  height: number;
  /** What its generator signed. */
  header: string;
  signature: string;
}

/** What `/transactions/{id}/proof` and `/blocks/{id}/proof` reply as `data`. */
export interface Proof {
  /** Absent in the proof of a block. */
  transaction?: {
    id: string;
    /** The bytes whose hash is the id. */
    serialized: string;
  };
  block: ProofBlock;
  /** Ids of all transactions of the block, in the order that was hashed. */
  transactionIds: string[];
  /** The blocks after it, ascending. */
  descendants: ProofBlock[];
  /** The round of the block. */
  round: {
    number: number;
    /** Public keys, by rank. */
    delegates: string[];
    /** Times of the blocks that decide the slots, where milestones change `blocktime` or `activeDelegates`. */
    slots?: { height: number; timestamp: number }[];
  };
}

/** Descendants that a proof may have. */
export const mostDescendants = 200;
