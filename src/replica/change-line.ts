import type { BlockData } from "../../types/events.js";
import { PorticoError } from "../errors.js";

/** A line of `/changes`. */
export interface ChangeLine {
  kind: "applied" | "reverted";
  block: BlockData;
  cursor: string;
  /** Digest of the state after the block, if the node has one. */
  digest?: string;
  /** When the node applied or reverted the block: milliseconds since 1970. */
  timestamp?: number;
  /** How often it had applied it before. */
  times?: number;
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

/** @throws PorticoError BLOCK_INVALID */
export const parseChange = (line: string): ChangeLine => {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    value = undefined;
  }
  const isChange = isObject(value) && (value["kind"] === "applied" || value["kind"] === "reverted") && isObject(value["block"]) && Number.isInteger(value["block"]["height"]) && typeof value["block"]["id"] === "string";
  if (!isChange) throw new PorticoError("BLOCK_INVALID", `the node sent ${JSON.stringify(line.slice(0, 100))} for a change`);
  return value as ChangeLine;
};
