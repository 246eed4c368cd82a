import type { Place, WebhookRow } from "../../../../types/webhook-store.js";
import { messageOf, PorticoError } from "../../../errors.js";
import { cursorText, type ReadOptions } from "../../../follow/index.js";
import { createLocateOne, type LocateNeeds, optionsOf } from "./locate.js";
import { heightOf, placesText, samePlace, toldOf } from "./place.js";
import { createReaders, nameOf, progressAfter, type Reader, type Readers, type ReadersNeeds, type Role } from "./readers.js";
import type { Seat } from "./seat.js";
import { createTold, takenBack, type Told } from "./told.js";

export interface Places extends Told {
  /** Finds the places of webhooks that have none yet. */
  locate(): Promise<void>;
  /** The webhooks that may have something to read, by their places. */
  seats(): Seat[];
  /** The webhooks of a seat that are there, and can go on. */
  present(seat: Seat, place: Place): Set<number>;
  /** Whether a webhook is there, and can go on: even if it is busy, where that is said. */
  isAt(seat: Seat, id: number, place: Place, evenIfBusy?: boolean): boolean;
  /** Whether a webhook is still enabled, and was not set elsewhere since the seat was made; within a transaction. */
  isCurrent(seat: Seat, id: number): boolean;
  /** Writes a place; within a transaction. */
  put(seat: Seat, id: number, place: Place): void;
  /** Moves on, without writing it at once. */
  move(seat: Seat, id: number, place: Place): void;
  /** At this place there is no room for the next event. */
  wait(seat: Seat, id: number, place: Place): void;
  busy(seat: Seat, id: number, is: boolean): void;
  /** The seat, as one whose webhooks are to be taken back from a block. */
  lose(seat: Seat, block: string): Seat;
  /** Of a replay's webhook: where that is, apart from the replay. */
  seen(seat: Seat): Place | undefined;
  /** The seat of a replay, as one that is read for up to a height. */
  upTo(seat: Seat, until: number): Seat;
  /** There is nothing after this place now. */
  rest(seat: Seat, place: Place): void;
  /** There may be something new. */
  stir(): void;
  /** Forgets what is known of a webhook, to read it again. */
  reload(webhookId: number): void;
  /** Writes some of what has moved, at most so many; within a transaction. Returns whether there is more. */
  keep(most: number): boolean;
  /** Writes where a webhook is, if it has moved; within a transaction. */
  keepOne(webhookId: number): void;
  hasMoved(): boolean;
  /** Whether reading goes on at another place after it failed. */
  recover(seat: Seat, error: unknown): Promise<boolean>;
}

export type PlacesNeeds = LocateNeeds & ReadersNeeds;

/** Ends a replay that has seen its last height. */
const createEndReplay = ({ store, logger }: PlacesNeeds, readers: Map<string, Reader>) =>
  ({ webhookId, role }: Reader): void => {
  void store
    .transactionSoon(() => {
      const progress = store.progress(webhookId);
      readers.delete(nameOf(webhookId, role));
      store.putProgress(webhookId, { ...progress, replays: (progress.replays ?? []).filter(({ id }) => id !== role) });
    })
    .catch((error: unknown) => logger.error(`webhooks: the end of a replay cannot be written: ${messageOf(error)}`));
};

/** Which readers sit where. */
const createSeating = ({ register, keepsChain }: PlacesNeeds, readers: Readers) => {
  const { all, find } = readers;
  const seated = new WeakMap<Seat, Map<number, Reader>>();
  const seat = (at: Seat, reader: Reader): void => {
    seated.set(at, (seated.get(at) ?? new Map<number, Reader>()).set(reader.webhookId, reader));
  };
  const optionsFor = (role: Role, webhook: WebhookRow): ReadOptions => (role === "live" ? optionsOf(webhook, keepsChain) : { hostEvents: false });
  return {
    /** One that was dropped since, and made anew, has left its seat. */
    readerOf: (at: Seat, id: number): Reader | undefined => {
      const reader = seated.get(at)?.get(id);
      return reader !== undefined && find(id, at.role) === reader ? reader : undefined;
    },
    /** Another seat of the same readers. */
    changed: (from: Seat, change: Pick<Seat, "lost" | "until">): Seat => {
      const at: Seat = { ...from, ...change };
      seated.set(at, seated.get(from) ?? new Map<number, Reader>());
      return at;
    },
    seats: (stirs: number): Seat[] => {
      const seats = new Map<string, Seat & { ids: Set<number> }>();
      const webhooks = register.rows();
      for (const [name, reader] of all) {
        const webhook = webhooks.get(reader.webhookId);
        if (webhook?.enabled !== true) {
          all.delete(name);
          continue;
        }
        const { place, told, role, until } = reader;
        if (reader.isResting || reader.isBusy || !readers.hasRoom(reader)) continue;
        const options = optionsFor(role, webhook);
        const key = `${placesText([place, ...told])} ${String(options.confirmations)} ${String(options.hostEvents)} ${typeof role === "number" ? name : role}`;
        const found = seats.get(key) ?? { ids: new Set<number>(), place, options, until, role, told, stirs };
        found.ids.add(reader.webhookId);
        seats.set(key, found);
        seat(found, reader);
      }
      return [...seats.values()];
    },
  };
};

/** Goes on after a reading that failed, where the place is to blame. */
const createRecover =
  ({ store, follow, logger }: PlacesNeeds, drop: (webhookId: number) => void): Places["recover"] =>
  async (seat, error) => {
    for (const id of seat.ids) drop(id);
    if (!(error instanceof PorticoError) || error.code !== "CURSOR_UNKNOWN") return false;
    // Below any fork. What a replay has not sent yet is above its height, whichever block is there now.
    const last = await follow.tip(seat.role === "live" ? { ...seat.options, confirmations: "final" } : seat.options);
    const named = heightOf(seat.place.cursor);
    const cursor = cursorText(last.block === undefined || named >= last.block.height ? last : await follow.locate(String(named), seat.options));
    const what = seat.role === "live" ? "" : "a replay of ";
    for (const id of seat.ids) logger.warn(`webhooks: ${what}webhook ${id} goes on from ${cursor}: the block of its cursor, ${seat.place.cursor}, is neither on the chain nor kept`);
    await store.transactionSoon(() => {
      for (const id of seat.ids) {
        const progress = store.progress(id);
        const after = progressAfter(progress, { role: seat.role, place: { cursor }, told: toldOf(progress) });
        store.putProgress(id, seat.role === "live" ? { ...after, replays: [] } : after);
      }
    });
    return true;
  };

/** How the reader of a webhook moves. */
const createMoves = (readerOf: (seat: Seat, id: number) => Reader | undefined, { write }: Readers): Pick<Places, "put" | "move" | "wait" | "busy"> => {
  const go = (reader: Reader, { lost }: Seat, to: Place): void => {
    Object.assign(reader, lost === undefined ? { place: to } : takenBack(reader, lost, to));
  };
  return {
    put: (seat, id, place) => {
      const reader = readerOf(seat, id);
      if (reader === undefined) return;
      go(reader, seat, place);
      write(reader);
    },
    move: (seat, id, place) => {
      const reader = readerOf(seat, id);
      if (reader === undefined || (seat.lost === undefined && samePlace(reader.place, place))) return;
      go(reader, seat, place);
      reader.isDirty = true;
    },
    wait: (seat, id, place) => {
      const reader = readerOf(seat, id);
      if (reader === undefined) return;
      reader.isFull = true;
      go(reader, seat, place);
      reader.isDirty = true;
    },
    busy: (seat, id, is) => {
      const reader = readerOf(seat, id);
      if (reader !== undefined) reader.isBusy = is;
    },
  };
};

export const createPlaces = (needs: PlacesNeeds): Places => {
  const { store, register } = needs;
  const readers = createReaders(needs);
  const locateOne = createLocateOne(needs);
  const endReplay = createEndReplay(needs, readers.all);
  const { readerOf, seats, changed } = createSeating(needs, readers);
  let stirs = 0;

  const isThere = (seat: Seat, webhook: WebhookRow | undefined, place: Place, evenIfBusy: boolean): boolean => {
    const reader = webhook?.enabled === true ? readerOf(seat, webhook.id) : undefined;
    if (reader === undefined || reader.isFull || (reader.isBusy && !evenIfBusy)) return false;
    return seat.lost === undefined ? samePlace(reader.place, place) : placesText([reader.place, ...reader.told]) === placesText([seat.place, ...seat.told]);
  };

  return {
    locate: async () => {
      const missing = [...register.rows().values()].filter(({ id, enabled }) => enabled && readers.find(id, "live") === undefined);
      // All at once: what comes meanwhile is after the tip for each of them.
      await Promise.all(missing.flatMap((webhook) => (store.progress(webhook.id).cursor === undefined ? [locateOne(webhook)] : [])));
      for (const { id } of missing) readers.load(id);
    },
    seats: () => seats(stirs),
    present: (seat, place) => {
      const webhooks = register.rows();
      return new Set([...seat.ids].filter((id) => isThere(seat, webhooks.get(id), place, false)));
    },
    isAt: (seat, id, place, evenIfBusy = false) => isThere(seat, register.find(id), place, evenIfBusy),
    isCurrent: (seat, id) => {
      const reader = readerOf(seat, id);
      return reader !== undefined && register.find(id)?.enabled === true && (store.progress(id).epoch ?? 0) === reader.epoch;
    },
    lose: (seat, block) => changed(seat, { lost: block }),
    upTo: (seat, until) => changed(seat, { until }),
    seen: ({ ids }) => {
      const [id = 0] = ids;
      return readers.find(id, "live")?.place;
    },
    ...createMoves(readerOf, readers),
    ...createTold(needs, readerOf, readers),
    rest: (seat, place) => {
      // There may be something new since it was read, of which nobody tells again.
      if (seat.stirs !== stirs && typeof seat.role !== "number") return;
      for (const id of seat.ids) {
        const reader = readerOf(seat, id);
        if (reader === undefined || !samePlace(reader.place, place)) continue;
        // A replay that its webhook is not beyond yet goes on when it is.
        if (seat.until !== reader.until) continue;
        reader.isResting = true;
        if (typeof reader.role === "number") endReplay(reader);
      }
    },
    stir: () => {
      stirs++;
      for (const reader of readers.all.values()) reader.isResting = false;
    },
    reload: readers.drop,
    keep: readers.keep,
    keepOne: readers.keepOne,
    hasMoved: readers.hasMoved,
    recover: createRecover(needs, readers.drop),
  };
};
