import type { Clock } from "../../../types/node-context.js";
import type { FullBlock } from "../../chain/block.js";
import { createEmittedPayloads } from "./emitted-payloads.js";
import { blockPayload, payloadJson, transactionPayload } from "../../follow/payload.js";
import type { Recorder } from "./recorder.js";
import type { Register } from "../registry/register.js";

/** A change of the chain: a block that was applied, or reverted. */
export interface ChainChange {
  kind: "applied" | "reverted";
  full: FullBlock;
}

/**
 * Records blocks and transactions as Portico's own store tells of them: each once, whatever the host emits, including those it missed
 * while the process was down. If the host has emitted one before, that is its payload.
 */
export interface ChainRecorder {
  /** Within a write transaction. */
  witness(change: ChainChange): void;
  /** Takes what the host emits of blocks and transactions before they are witnessed. */
  expect(event: string, payload: unknown): void;
}

/** Emitted payloads that are kept for the commit of their blocks, in characters: those of some ten full blocks. */
const emittedLimit = 4_194_304;

/** A host that says which block a transaction is in may emit it for several, when the chain forks. */
const nameOf = (id: string, blockId: unknown): string => (typeof blockId === "string" ? `${id} in ${blockId}` : id);

export const createChainRecorder = (recorder: Recorder, { register, clock }: { register: Register; clock: Clock }): ChainRecorder => {
  const emitted = createEmittedPayloads(emittedLimit);

  return {
    witness: ({ kind, full: { block, transactions } }) => {
      const { height } = block;
      const at = clock.now();
      const isApplied = kind === "applied";
      if (isApplied) recorder.release(height);
      else recorder.drop(height);
      for (const transaction of isApplied ? transactions : transactions.toReversed()) {
        const event = `transaction.${kind}`;
        const json = (): string => emitted.get(event, nameOf(transaction.id, block.id)) ?? emitted.get(event, transaction.id) ?? transactionPayload(transaction);
        recorder.record({ event, at, json, id: transaction.id, place: isApplied ? { subject: "transaction", height } : undefined });
      }
      const event = `block.${kind}`;
      const json = (): string => emitted.get(event, block.id) ?? blockPayload(block);
      recorder.record({ event, at, json, id: block.id, place: isApplied ? { subject: "block", height } : undefined });
    },
    expect: (event, payload) => {
      const { id, blockId } = (payload ?? {}) as { id?: unknown; blockId?: unknown };
      if (typeof id === "string" && register.matcher().listens(event)) emitted.put(event, nameOf(id, blockId), payloadJson(payload));
    },
  };
};
