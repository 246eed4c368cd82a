import { type Cursor, cursorText, type Group, parseCursor } from "../../follow/index.js";
import type { LedgerEntry, Position } from "../rows/rows.js";

/** Positions of readers, and how they lie to each other. */

/** Of a cursor's block. */
export const heightOf = (cursor: string): number => Number.parseInt(cursor, 10) || 0;

const cursorIn = (text: string): Cursor => {
  const parsed = parseCursor(text);
  return parsed.kind === "cursor" ? parsed.cursor : { block: undefined };
};

/** Whether a cursor has a place in the host's log. */
export const hasLog = (cursor: string): boolean => cursorIn(cursor).log !== undefined;

/** A cursor of one's block, and of another's place in the host's log. */
export const withLogOf = (cursor: string, other: string): string => cursorText({ block: cursorIn(cursor).block, log: cursorIn(other).log });

/** A cursor without its place in the host's log. */
export const blockOf = (cursor: string): string => cursorText({ block: cursorIn(cursor).block });

export const blockName = ({ height, id }: Pick<LedgerEntry, "height" | "id">): string => `${height}-${id}`;

/** The block that a group applies or reverts, as a cursor. */
export const changedBlock = ({ change, before, after }: Group): string | undefined => (change === undefined ? undefined : cursorText({ block: (change.kind === "applied" ? after : before).block }));

export const isReverted = ({ change }: Group): boolean => change?.kind === "reverted";

/** The same for the same positions. */
export const positionText = ({ cursor, part }: Position): string => (part === undefined ? cursor : `${cursor} ${part.block} ${part.isReversal ? "-" : "+"}${part.taken}`);

export const samePosition = (one: Position, other: Position): boolean => positionText(one) === positionText(other);

/** After some events of a group. `isBegun`: also where that is none, the ledger has taken notice of it. */
export const positionWithin = (group: Group, before: Position, taken: number, isBegun: boolean): Position => {
  const block = changedBlock(group);
  if (block === undefined || (taken === 0 && !isBegun)) return { cursor: before.cursor };
  const parent = withLogOf(cursorText(isReverted(group) ? group.after : group.before), before.cursor);
  return { cursor: parent, part: { block, isReversal: isReverted(group), taken } };
};
