/** `portico/verify`: checks a node's replies about the chain without trusting it. For browsers and Node.js, beside `@noble` alone. */
export { addressBytes, addressOf } from "../chain/address.js";
export { forgingOrder, roundOf, slotsAt } from "../chain/rounds.js";
export { createMilestones } from "../chain/milestones.js";
export { littleEndian } from "./bytes.js";
export type { Exceptions } from "./exceptions.js";
export { blockIdOf, type Header, isSignedBy, payloadHashOf, readHeader, serializeHeader } from "./headers.js";
export { mostDescendants, type Proof, type ProofBlock } from "./proof.js";
export { readTransaction, type WrittenTransaction } from "./read-transaction.js";
export { serializeTransaction, transactionIdOf, type WireRules } from "./transactions.js";
export { type Delegates, ProofError, type ProofOptions, type ProofStep, type VerifiedProof, verifyProof } from "./verify-proof.js";
export { type ShownTransaction, verifyTransaction } from "./verify-transaction.js";
