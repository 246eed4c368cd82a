import type { Fixture } from "../target.js";

export interface CaseDefinition {
  name: string;
  /** Resolves if the adapter conforms. @throws AssertionError if it does not, Skipped if it does not support the part */
  run(fixture: Fixture): Promise<void>;
}
