import type { Place } from "../../../types/webhook-store.js";
import { cursorText, type Follow, type Group } from "../../follow/index.js";
import { beforeReversal } from "./places/place.js";
import type { Seat } from "./places/seat.js";
import { isReverted } from "./places/told.js";

/** What comes next for the webhooks of a seat. */
export interface Reading {
  groups: readonly Group[];
  /** Whether nothing more comes for now; of a replay: nothing up to its last height. */
  atEnd: boolean;
  /** Where they are before the groups. */
  place: Place;
  /** If the first group reverts a block of which only a part was looked at: how many of its transactions were. */
  seenTransactions: number | undefined;
}

/** What a replay sends again of what comes next: the blocks that are on the chain. Where only reversals come, it goes on after them. */
const replayed = ({ groups, atEnd, place, seenTransactions }: Reading, until: number): Reading => {
  const wanted = groups.filter(({ change }) => change?.kind === "applied" && change.full.block.height <= until);
  const last = groups.at(-1);
  const isBeyond = last !== undefined && !isReverted(last) && wanted.at(-1) !== last;
  const from = wanted.length === 0 && last !== undefined && !isBeyond ? { cursor: cursorText(last.after) } : place;
  return { groups: wanted, atEnd: atEnd || isBeyond, place: from, seenTransactions };
};

/** Reads for a seat, as far as one reading goes. @throws PorticoError as `Follow` does */
export const read = async (follow: Follow, { place, options, until }: Seat): Promise<Reading> => {
  const { part, cursor } = place;
  if (part !== undefined) {
    const [group] = (await follow.after(await follow.locate(part.before), { ...options, limit: 1 })).groups;
    if (group !== undefined && cursorText(group.after) === cursor) return { groups: [group], atEnd: false, place, seenTransactions: isReverted(group) ? part.transactions : undefined };
  }
  const { groups, atEnd } = await follow.after(await follow.locate(cursor), options);
  // While nothing comes, what is left of the group may be on the chain again.
  const [next] = groups;
  const isLost = part !== undefined && next !== undefined && isReverted(next) && cursorText(next.before) === cursor;
  const from = next === undefined ? place : isLost ? beforeReversal(cursor, cursorText(next.after), part.transactions) : { cursor };
  const reading = { groups, atEnd: atEnd || next === undefined, place: from, seenTransactions: part?.transactions };
  return until === undefined ? reading : replayed(reading, until);
};
