import { performance } from "node:perf_hooks";
import type { ChangesView, KeptBlock, OrphanBlock } from "../../../types/chain-adapter.js";
import type { RoundDelegate, Tip } from "../../../types/chain.js";
import type { StateView } from "../state/snapshot.js";
import { readBlock, readFullBlock, readRound } from "../records/records.js";
import { readDigest } from "../write/state-digest.js";
import { readOrphan, readTimes, withApplied } from "./orphans.js";

/** Milliseconds that blocks are read for in one piece. */
const longestRead = 5;

/** The store at one state, for readers that follow the chain. Answers at once. `release` frees the state. */
export interface StoreChangesView extends ChangesView {
  idAt(height: number): string | undefined;
  blocks(from: number, limit: number): readonly KeptBlock[];
  orphan(id: string): OrphanBlock | undefined;
  timesOf(kind: "applied" | "reverted", block: { height: number; id: string }): number;
  round(round: number): readonly RoundDelegate[] | undefined;
  release(): void;
}

export const createChangesView = ({ reading, state }: Pick<StateView, "reading" | "state">, release: () => void): StoreChangesView => {
  const tip: Tip = state.tip;
  return {
    tip,
    idAt: (height) => {
      if (height === tip.height) return tip.id;
      return height < 1 || height > tip.height ? undefined : readBlock(reading, height)?.id;
    },
    blocks: (from, limit) => {
      const begun = performance.now();
      const last = Math.min(tip.height, from + limit - 1);
      const found: KeptBlock[] = [];
      for (let height = Math.max(1, from); height <= last; height++) {
        const full = readFullBlock(reading, height);
        const digest = readDigest(reading, full.block)?.toString("hex");
        found.push({ ...withApplied(reading, full), ...(digest === undefined ? {} : { digest }) });
        if (performance.now() - begun > longestRead) break;
      }
      return found;
    },
    orphan: (id) => readOrphan(reading, id),
    timesOf: (kind, block) => readTimes(reading, kind, block),
    round: (round) => readRound(reading, round),
    release,
  };
};
