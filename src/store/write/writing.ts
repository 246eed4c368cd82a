import type { Digest } from "../../chain/digest.js";
import type { ChainRules } from "../../chain/rules.js";
import type { DelegateStandings } from "./delegate-standings.js";
import type { RankedSetWriter } from "./ranked-set-writer.js";
import type { HistoryRows } from "./history.js";
import type { Journal } from "./batch/journal.js";
import type { WriterReading } from "../lmdb/reading.js";

/** What the writing of one block uses. */
export interface Writing {
  journal: Journal;
  reading: WriterReading;
  rules: ChainRules;
  rankedSets: RankedSetWriter;
  standings: DelegateStandings;
  digest: Digest;
  /** Undefined where no history is kept. */
  history: HistoryRows | undefined;
}
