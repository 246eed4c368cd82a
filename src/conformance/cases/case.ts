import type { Bench } from "../target.js";

export interface CaseDefinition {
  name: string;
  /** Resolves when the law holds. @throws AssertionError when not, Skipped when the adapter has no part for it. */
  run(bench: Bench): Promise<void>;
}
