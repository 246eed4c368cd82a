import type { Place } from "../../../../types/webhook-store.js";
import type { ReadOptions } from "../../../follow/index.js";
import type { Role } from "./readers.js";

/** Webhooks at one place, which are read for together. */
export interface Seat {
  ids: ReadonlySet<number>;
  place: Place;
  options: ReadOptions;
  /** Of a replay: the last height. */
  until?: number | undefined;
  role: Role;
  /** Of `live`: how far they had been told before their cursors went back, the highest first. What the chain loses of that is reverted before anything is read. */
  told: readonly Place[];
  /** A block that the chain has lost, of which some of their places are to be moved back. */
  lost?: string | undefined;
  /** How often there may have been something new before it was made. */
  stirs: number;
}
