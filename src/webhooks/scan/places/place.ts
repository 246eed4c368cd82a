import type { Place, Progress } from "../../../../types/webhook-store.js";
import { type Cursor, cursorText, parseCursor } from "../../../follow/index.js";

/** Places of readers, and how they lie to each other. */

/** Of a cursor's block. */
export const heightOf = (cursor: string): number => Number.parseInt(cursor, 10) || 0;

const cursorIn = (text: string): Cursor => {
  const parsed = parseCursor(text);
  return parsed.kind === "cursor" ? parsed.cursor : { block: undefined };
};

/** A cursor without its place in the host's log. */
const withoutLog = (cursor: string): string => cursorText({ block: cursorIn(cursor).block });

/** Whether a cursor has a place in the host's log. */
export const hasLog = (cursor: string): boolean => cursorIn(cursor).log !== undefined;

/** A cursor of one's block, and of another's place in the host's log. */
export const cursorOf = (block: string, log: string): string => cursorText({ block: cursorIn(block).block, log: cursorIn(log).log });

const atLog = ({ cursor, part }: Place, log: string): Place => (part === undefined ? { cursor: cursorOf(cursor, log) } : { cursor: cursorOf(cursor, log), part: { ...part, before: cursorOf(part.before, log) } });

/** Without the place in the host's log. */
export const onChain = (place: Place): Place => atLog(place, "genesis");

/** Whether a part is taken of the reversal of a block. */
const isReversing = ({ cursor, part }: Place): boolean => part !== undefined && heightOf(part.before) > heightOf(cursor);

/** Before the reversal of a block of which a part was looked at: if the block is on the chain again, it is told from its beginning. */
export const beforeReversal = (block: string, parent: string, transactions: number): Place => ({ cursor: parent, part: { before: block, taken: 0, transactions } });

/** The block up to which all, or a part, was seen, and not taken back as a whole: a cursor without a place in the log. */
export const blockAt = (place: Place): string => withoutLog(isReversing(place) && place.part !== undefined ? place.part.before : place.cursor);

/** How many events of its block's reversal are taken. */
export const reversedAt = (place: Place): number => (isReversing(place) ? (place.part?.taken ?? 0) : 0);

/** The height of the last block that all is taken of. */
export const wholeHeight = ({ cursor, part }: Place): number => Math.min(heightOf(cursor), part === undefined ? Infinity : heightOf(part.before));

const textOf = ({ cursor, part }: Place): string => `${cursor} ${part?.before ?? ""} ${part?.taken ?? 0}`;

/** The same for the same places. */
export const placesText = (places: readonly Place[]): string => places.map(textOf).join(" ");

export const samePlace = (a: Place, b: Place): boolean => textOf(a) === textOf(b);

/** A reader moves to `to` with its block, if it is at that. */
export const movedFrom = (block: string, place: Place, to: Place): Place => (blockAt(place) === block ? atLog(to, place.cursor) : place);

/** How far a webhook had been told, by its progress. */
export const toldOf = ({ told = [] }: Pick<Progress, "told">): readonly Place[] => (Array.isArray(told) ? (told as readonly Place[]) : [told as Place]);

/** Places of what a webhook was told, the highest first, but for those that others, or the place from which it goes on, say as well. */
export const distinctTold = (told: readonly Place[], live: Place): readonly Place[] => {
  const byBlock = new Map<string, Place>();
  // Of a block that is told in part, all may have been told of: if not now, then when it was applied before.
  for (const place of told.map((one) => (isReversing(one) ? onChain(one) : { cursor: blockAt(one) }))) {
    const known = byBlock.get(blockAt(place));
    if (known === undefined || reversedAt(place) < reversedAt(known)) byBlock.set(blockAt(place), place);
  }
  if (live.part === undefined) byBlock.delete(blockAt(live));
  return [...byBlock.values()].sort((one, other) => heightOf(blockAt(other)) - heightOf(blockAt(one)));
};
