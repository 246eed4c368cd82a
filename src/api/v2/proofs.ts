import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import { Type } from "@sinclair/typebox";
import type { Block, Transaction } from "../../../types/chain.js";
import { isCoreType } from "../../chain/blocks/transaction-types.js";
import { roundOf, slotHeights } from "../../chain/rounds.js";
import { messageOf, PorticoError } from "../../errors.js";
import { Text, WholeNumber } from "../../http/input/schema.js";
import { type FileAnswer, type Route, routesOf } from "../../http/route.js";
import type { Exceptions } from "../../verify/exceptions.js";
import { blockIdOf, serializeHeader } from "../../verify/headers.js";
import { mostDescendants, type Proof, type ProofBlock } from "../../verify/proof.js";
import { serializeTransaction, transactionIdOf } from "../../verify/transactions.js";
import { blockNamed, DataOf } from "../fields.js";
import { createPaced, everyRow } from "../pages.js";
import { type ApiState, requireSupport } from "../state.js";
import { transactionNamed } from "./transactions.js";

const Hexadecimal = (description: string) => Type.String({ pattern: "^[0-9a-f]*$", description });

const ProofBlockResource = Type.Object(
  {
    id: Type.String(),
    height: Type.Integer(),
    header: Hexadecimal("What the block's generator signed."),
    signature: Hexadecimal("ECDSA on secp256k1, DER."),
  },
  { title: "ProofBlock" },
);

const blockProof = {
  block: ProofBlockResource,
  transactionIds: Type.Array(Type.String(), {
    description: "Ids of all transactions of the block, in the order that was hashed. Their SHA-256 is the payload hash in the header.",
  }),
  descendants: Type.Array(ProofBlockResource, { description: "The blocks after it: as many as `confirmations`, or up to the tip." }),
  round: Type.Object(
    {
      number: Type.Integer(),
      delegates: Type.Array(Type.String(), { description: "Public keys, by rank." }),
      slots: Type.Optional(
        Type.Array(Type.Object({ height: Type.Integer(), timestamp: Type.Integer() }), {
          description: "Times of the earlier blocks that decide the slots; only if milestones change `blocktime` or `activeDelegates`.",
        }),
      ),
    },
    { description: "The round of the block." },
  ),
};

const provenTransaction = Type.Object({
  id: Type.String(),
  serialized: Hexadecimal("The bytes with all signatures. Their SHA-256 is the id."),
});

const BlockProofResource = Type.Object(blockProof, { title: "BlockProof" });
const TransactionProofResource = Type.Object({ transaction: provenTransaction, ...blockProof }, { title: "TransactionProof" });

const exceptionsOf = ({ rules }: ApiState): Exceptions => rules.network.exceptions;

const unprovable = (what: string): PorticoError => new PorticoError("NOT_SUPPORTED", what);

/** @throws PorticoError NOT_SUPPORTED if its network writes blocks in a form of its own, so that its bytes do not give its id */
const proofBlock = (block: Block, state: ApiState): ProofBlock => {
  const { milestones } = state.rules;
  try {
    const header = serializeHeader(block, milestones);
    const id =
      block.height === 1 ? block.id : blockIdOf(header, hexToBytes(block.blockSignature), block.height, milestones, exceptionsOf(state));
    if (id === block.id) return { id, height: block.height, header: bytesToHex(header), signature: block.blockSignature };
  } catch {
    // It has a member that cannot be written.
  }
  throw unprovable("Blocks of this network cannot be proven, because they are not serialized as in ARK Core.");
};

/** A transaction's bytes. @throws PorticoError NOT_SUPPORTED if its type has no form, or they do not give its id */
const serialized = (transaction: Transaction, state: ApiState): string => {
  const row = state.rules.types.of(transaction);
  if (row.form === undefined && !isCoreType(row))
    throw unprovable(`Transactions of the type ${row.key} cannot be proven, because this node does not know how they are serialized.`);
  const rules = { network: state.rules.network.network, exceptions: exceptionsOf(state) };
  let bytes: Uint8Array | undefined;
  try {
    bytes = serializeTransaction(transaction, rules, row.form);
  } catch (error) {
    throw unprovable(`This transaction cannot be serialized as it was signed: ${messageOf(error)}.`);
  }
  if (bytes === undefined || transactionIdOf(bytes, rules.exceptions) !== transaction.id) {
    throw unprovable("This transaction cannot be proven, because this node's serialization of it has another id.");
  }
  return bytesToHex(bytes);
};

/** Ids of a block's transactions, in its order. */
const idsOf = async ({ id }: Block, { chain }: ApiState): Promise<string[]> => {
  const ask = createPaced()((offset, limit) =>
    chain.transactions({ filter: { blockId: id }, order: { field: "timestamp", direction: "asc" }, offset, limit }),
  );
  return (await everyRow(ask)).map((transaction) => transaction.id);
};

/** The blocks after a height, up to another. */
const blocksAfter = async (height: number, to: number, { chain }: ApiState): Promise<Block[]> => {
  if (to <= height) return [];
  return everyRow(createPaced()((offset, limit) => chain.blocks({ filter: { height: { from: height + 1, to } }, order: { field: "height", direction: "asc" }, offset, limit })));
};

const roundAt = async (height: number, to: number, { chain, rules: { milestones } }: ApiState): Promise<Proof["round"]> => {
  const { round } = roundOf(height, milestones);
  const delegates = await chain.round(round);
  if (delegates === undefined) throw new PorticoError("ROUND_NOT_FOUND");
  const slots = [];
  for (const needed of slotHeights(to, milestones)) {
    const block = needed < height ? await chain.block({ height: needed }) : undefined;
    if (block !== undefined) slots.push({ height: needed, timestamp: block.timestamp });
  }
  slots.sort((one, other) => one.height - other.height);
  return { number: round, delegates: delegates.map(({ publicKey }) => publicKey), ...(slots.length === 0 ? {} : { slots }) };
};

const proofOf = async (block: Block, confirmations: number, state: ApiState): Promise<Proof> => {
  requireSupport("rounds", state);
  const to = Math.min(block.height + confirmations, state.chain.tip.height);
  return {
    block: proofBlock(block, state),
    transactionIds: await idsOf(block, state),
    descendants: (await blocksAfter(block.height, to, state)).map((descendant) => proofBlock(descendant, state)),
    round: await roundAt(block.height, to, state),
  };
};

const fileOf = (text: string, lastHeight: number, state: ApiState): FileAnswer => ({
  file: Buffer.from(text),
  contentType: "application/json; charset=utf-8",
  // Of an earlier state, the descendants end at its height for ever.
  immutable: state.isFinal === true || lastHeight <= state.finalHeight(state.chain.tip.height),
});

const { body } = routesOf<ApiState>();
const common = { method: "GET", versions: [2], atHeight: true, errors: [404, 410, 501] } as const;
const query = Type.Object({
  confirmations: WholeNumber({ minimum: 0, maximum: mostDescendants, default: 51, description: "Number of blocks after it in the proof; fewer if the tip is nearer." }),
});

export const proofRoutes: Route<ApiState>[] = [
  body({
    ...common,
    path: "/blocks/{id}/proof",
    resource: "blocks",
    summary: "Returns a proof of a block, which can be checked without trusting the node.",
    params: Type.Object({ id: Text({ description: "Height or id." }) }),
    query,
    content: { "application/json": DataOf(BlockProofResource) },
    answer: async ({ params: { id }, query: { confirmations }, json }, state) => {
      const block = await blockNamed(id, state);
      if (block === undefined) throw new PorticoError("BLOCK_NOT_FOUND");
      return fileOf(json({ data: await proofOf(block, confirmations, state) }), block.height + confirmations, state);
    },
  }),
  body({
    ...common,
    path: "/transactions/{id}/proof",
    resource: "transactions",
    summary: "Returns a proof that a transaction is in a block, which can be checked without trusting the node.",
    params: Type.Object({ id: Text({ description: "Id of the transaction." }) }),
    query,
    content: { "application/json": DataOf(TransactionProofResource) },
    answer: async ({ params: { id }, query: { confirmations }, json }, state) => {
      const transaction = await transactionNamed(id, state);
      const block = transaction === undefined ? undefined : await state.chain.block({ height: transaction.blockHeight });
      if (transaction === undefined || block === undefined) throw new PorticoError("TRANSACTION_NOT_FOUND");
      const proven = { id: transaction.id, serialized: serialized(transaction, state) };
      return fileOf(json({ data: { transaction: proven, ...(await proofOf(block, confirmations, state)) } }), block.height + confirmations, state);
    },
  }),
];
