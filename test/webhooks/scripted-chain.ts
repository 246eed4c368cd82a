import type { ChainChanges, KeptBlock, OrphanBlock } from "../../types/chain-adapter.js";
import type { FullBlock } from "../../src/chain/blocks/block.js";

/** A chain of a host that offers its changes, which a test moves by hand. */
export interface ScriptedChain {
  changes: ChainChanges;
  apply(full: FullBlock): void;
  /** Takes the tip off the chain. */
  revert(): void;
}

export const createScriptedChain = (blocks: readonly FullBlock[], now: () => number): ScriptedChain => {
  const chain: KeptBlock[] = blocks.map(({ block, transactions }) => ({ block, transactions }));
  const orphans = new Map<string, OrphanBlock>();
  const timesReverted = new Map<string, number>();
  const listeners = new Set<() => void>();
  const tell = (): void => listeners.forEach((listener) => listener());

  return {
    changes: {
      view: () => {
        // A view stays as it is while the chain goes on.
        const [seen, gone] = [[...chain], new Map(orphans)];
        const tip = seen.at(-1)?.block;
        if (tip === undefined) return undefined;
        return {
          tip,
          idAt: (height) => seen[height - 1]?.block.id,
          blocks: (from, limit) => seen.slice(from - 1, from - 1 + limit),
          orphan: (id) => gone.get(id),
          round: () => [],
        };
      },
      watch: (changed) => {
        listeners.add(changed);
        return () => void listeners.delete(changed);
      },
    },
    apply: ({ block, transactions }) => {
      const placed = { ...block, height: chain.length + 1, previousBlock: chain.at(-1)?.block.id ?? null };
      const times = timesReverted.get(block.id) ?? 0;
      orphans.delete(block.id);
      chain.push({ block: placed, transactions: transactions.map((one) => ({ ...one, blockId: block.id, blockHeight: placed.height })), appliedAt: now(), times });
      tell();
    },
    revert: () => {
      const last = chain.pop();
      if (last === undefined) throw new Error("there is no block");
      orphans.set(last.block.id, { ...last, revertedAt: now() });
      timesReverted.set(last.block.id, (timesReverted.get(last.block.id) ?? 0) + 1);
      tell();
    },
  };
};
