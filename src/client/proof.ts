import type { ProofOptions, ShownTransaction } from "../verify/index.js";

export interface WithProof {
  /**
   * Has the transaction proven: the call rejects with a `ProofError` of `portico/verify`, which is loaded for it, unless all members but
   * `confirmations` follow from blocks that these delegates signed. The node is asked for `network` and `milestones` that are not given.
   * @default none: the node is believed
   */
  proof?: (Pick<ProofOptions, "delegates"> & Partial<ProofOptions>) | undefined;
}

interface Asks {
  proof(): Promise<unknown>;
  /** What the node says of the network. */
  crypto(): Promise<unknown>;
}

/** @throws ProofError if the node does not prove what it shows */
export const checkTransaction = async (shown: unknown, options: NonNullable<WithProof["proof"]>, ask: Asks): Promise<void> => {
  const isWhole = options.network !== undefined && options.milestones !== undefined;
  const asked = isWhole ? Promise.resolve({}) : ask.crypto();
  const [{ verifyTransaction }, proof, crypto] = await Promise.all([import("../verify/index.js"), ask.proof(), asked]);
  // Exceptions are never the node's: they are what is not checked.
  const { network, milestones } = { ...(crypto as Pick<ProofOptions, "network" | "milestones">), ...options };
  verifyTransaction(shown as ShownTransaction, proof, { ...options, network, milestones });
};
