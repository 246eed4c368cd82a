import type { Place, WebhookStore } from "../../../../types/webhook-store.js";
import type { Logger } from "../../../../types/node-context.js";
import { PorticoError } from "../../../errors.js";
import { cursorText, type Follow, type Group } from "../../../follow/index.js";
import { beforeReversal, blockAt, cursorOf, distinctTold, heightOf, movedFrom, onChain, reversedAt, samePlace, wholeHeight } from "./place.js";
import type { Reader, Readers } from "./readers.js";
import type { Seat } from "./seat.js";

/**
 * What webhooks had been told before their cursors went back, as they were disabled: of how many branches, each up to where (`Progress.told`). What the
 * chain has lost of that is taken back before anything else is told, and what is on it needs no watching over once the cursor is there again.
 */

export const isReverted = ({ change }: Group): boolean => change?.kind === "reverted";

/** The highest block that is lost: what is reverted next, and from where. */
export interface Lost {
  block: string;
  group: Group;
  place: Place;
  /** If only a part of the block was looked at: how many of its transactions were. */
  seenTransactions: number | undefined;
}

/** The reversal of a block, if the chain has lost that. */
export const lostGroup = async (follow: Follow, block: string, { options }: Seat): Promise<Group | undefined> => {
  const reading = { ...options, hostEvents: false };
  const [group] = (await follow.after(await follow.locate(block, reading), { ...reading, limit: 1 })).groups;
  return group !== undefined && isReverted(group) ? group : undefined;
};

/**
 * Blocks are reverted one by one, the highest first: whoever is at a block goes on from its parent with all others of its webhook that are there. So
 * what is reverted for one is never below where another would go on if the chain came back. `{ unknown }`: a place whose block is no longer kept.
 */
export const findLost = async (follow: Follow, seat: Seat): Promise<Lost | { unknown: Place } | undefined> => {
  const { told, place: live } = seat;
  const highestFirst = [...told, live].sort((one, other) => heightOf(blockAt(other)) - heightOf(blockAt(one)) || reversedAt(one) - reversedAt(other));
  for (const place of highestFirst) {
    const block = blockAt(place);
    try {
      // Where the chain is Portico's own store, these answer at once: it does not change meanwhile.
      const group = await lostGroup(follow, block, seat);
      if (group === undefined) continue;
      const { part } = place;
      const from = part === undefined ? { cursor: block } : beforeReversal(block, cursorText(group.after), part.transactions);
      return { block, group, place: reversedAt(place) > 0 ? onChain(place) : from, seenTransactions: part?.transactions };
    } catch (error) {
      if (place === live || !(error instanceof PorticoError) || error.code !== "CURSOR_UNKNOWN") throw error;
      return { unknown: place };
    }
  }
  return undefined;
};

/** Where a webhook goes on, and what it had been told, once a block that the chain has lost is taken back as far as `to`. */
export const takenBack = ({ place, told }: Pick<Reader, "place" | "told">, lost: string, to: Place): Pick<Reader, "place" | "told"> => {
  // A transaction that is taken back with a branch may be on the chain in a block that the webhook is beyond: it is told of that again.
  const isBeyond = heightOf(lost) <= wholeHeight(place) && blockAt(place) !== lost;
  const live = movedFrom(lost, isBeyond ? { cursor: cursorOf(lost, place.cursor) } : place, to);
  const others = told.map((one) => movedFrom(lost, one, to));
  return { place: live, told: distinctTold(isBeyond ? [...others, place] : others, live) };
};

export interface Told {
  /** A block that the webhooks of a seat were told of is no longer kept. */
  forgetTold(seat: Seat, told: Place): Promise<void>;
  /** Nothing is lost: what they are told again of, up to there, needs no watching over any more. */
  endTold(seat: Seat): void;
  /** Whether a webhook may have been told of a block on the chain: before its cursor went back, or before it asked for a replay. */
  mayBeTold(seat: Seat, webhookId: number, height: number): boolean;
}

export interface ToldNeeds {
  store: WebhookStore;
  logger: Logger;
}

export const createTold = ({ store, logger }: ToldNeeds, readerOf: (seat: Seat, id: number) => Reader | undefined, { find, write }: Readers): Told => ({
  forgetTold: async (seat, told) => {
    for (const id of seat.ids) logger.warn(`webhooks: webhook ${id} is not told of what was reverted of what it had been told: the block of ${told.cursor} is no longer kept`);
    await store.transactionSoon(() => {
      for (const id of seat.ids) {
        const reader = readerOf(seat, id);
        if (reader === undefined) continue;
        // As it is in memory: it may have moved since it was written.
        reader.told = reader.told.filter((one) => !samePlace(one, told));
        write(reader);
      }
    });
  },
  endTold: (seat) => {
    for (const id of seat.ids) {
      const reader = readerOf(seat, id);
      if (reader === undefined) continue;
      const left = reader.told.filter((told) => heightOf(blockAt(told)) > wholeHeight(reader.place));
      if (left.length === reader.told.length) continue;
      reader.told = left;
      reader.isDirty = true;
    }
  },
  mayBeTold: ({ role }, webhookId, height) => role !== "live" || (find(webhookId, "live")?.told ?? []).some((told) => height <= heightOf(blockAt(told))),
});
