import type { Place, Progress, WebhookStore } from "../../../types/webhook-store.js";
import type { Register } from "../registry/register.js";
import { countOpen } from "./earlier.js";

/**
 * What is read for: `live`, what comes after a webhook's cursor; `told`, what the chain has lost of what the webhook had been told before its cursor
 * went back (`Progress.told`): that goes first; or a replay, by its id.
 */
export type Role = "live" | "told" | number;

/** What reads the chain for a webhook, or a replay of it, and where that is. */
export interface Reader {
  webhookId: number;
  role: Role;
  /** Of a replay: the last height. */
  until: number | undefined;
  place: Place;
  isResting: boolean;
  isFull: boolean;
  isBusy: boolean;
  isDirty: boolean;
  epoch: number;
  /** Of `told`: set once `live` has been there again; then, the last delivery that had been written. */
  passed?: true | number | undefined;
}

export const samePlace = (a: Place, b: Place): boolean => a.cursor === b.cursor && a.part?.before === b.part?.before && a.part?.taken === b.part?.taken;

/** Of a cursor's block. */
export const heightOf = (cursor: string): number => Number.parseInt(cursor, 10) || 0;

/** The height of the last block that all is taken of. */
const wholeHeightOf = ({ cursor, part }: Place): number => heightOf(part?.before ?? cursor);

const progressAfter = (progress: Progress, { role, place }: Reader, told: Place | undefined): Progress => {
  if (role === "live") return Object.assign({ ...progress }, { cursor: place.cursor, part: place.part, from: undefined, told });
  if (role === "told") return { ...progress, told };
  return { ...progress, replays: (progress.replays ?? []).map((one) => (one.id === role ? { id: one.id, to: one.to, ...place } : one)) };
};

export const nameOf = (webhookId: number, role: Role): string => `${webhookId} ${role}`;

export interface ReadersNeeds {
  store: WebhookStore;
  register: Register;
  keepsChain: boolean;
  window: number;
}

/** The readers, as they are in memory and in the store. */
export const createReaders = ({ store, register, window, keepsChain }: ReadersNeeds) => {
  const all = new Map<string, Reader>();

  const add = (webhookId: number, epoch: number, place: Place, role: Role, until?: number): void => {
    const name = nameOf(webhookId, role);
    if (!all.has(name)) all.set(name, { webhookId, role, until, place, isResting: false, isFull: false, isBusy: false, isDirty: false, epoch });
  };

  const load = (webhookId: number): void => {
    const { cursor, part, told, replays = [], epoch = 0 } = store.progress(webhookId);
    if (cursor !== undefined) add(webhookId, epoch, { cursor, part }, "live");
    if (keepsChain && cursor !== undefined && told !== undefined) add(webhookId, epoch, told, "told");
    for (const { id, cursor: at, part: left, to } of replays) add(webhookId, epoch, { cursor: at, part: left }, id, to);
  };

  const find = (webhookId: number, role: Role): Reader | undefined => all.get(nameOf(webhookId, role));

  const write = (reader: Reader): void => {
    const { webhookId, role, epoch } = reader;
    const progress = store.progress(webhookId);
    reader.isDirty = false;
    // It was set elsewhere meanwhile, or its webhook was removed.
    if ((progress.epoch ?? 0) !== epoch || register.find(webhookId) === undefined) all.delete(nameOf(webhookId, role));
    else store.putProgress(webhookId, progressAfter(progress, reader, find(webhookId, "told")?.place));
  };

  /** Moves a reader. */
  const move = (reader: Reader, place: Place): void => {
    const before = reader.place;
    reader.place = place;
    if (reader.role !== "live") return;
    const told = find(reader.webhookId, "told");
    const hasRisen = wholeHeightOf(place) > wholeHeightOf(before);
    if (told?.isResting === true && hasRisen && wholeHeightOf(place) >= heightOf(told.place.cursor)) told.passed ??= true;
  };

  const isOpen = (webhookId: number, upTo: number): boolean => (["pending", "retrying"] as const).some((state) => (store.deliveryIds(webhookId, state, 0, 1)[0] ?? Infinity) <= upTo);

  /** Ends what takes back for a webhook that was told of all again: nothing of that is open any more, which may be dropped though it was told of before. */
  const endTold = (): void => {
    for (const [name, reader] of all) {
      if (reader.passed === undefined) continue;
      if (reader.passed === true) reader.passed = store.lastDelivery();
      if (isOpen(reader.webhookId, reader.passed)) continue;
      all.delete(name);
      const live = find(reader.webhookId, "live");
      if (live !== undefined) live.isDirty = true;
    }
  };

  const hasRoom = (reader: Reader): boolean => {
    if (!reader.isFull) return true;
    reader.isFull = countOpen(store, reader.webhookId) > Math.floor(window / 2);
    return !reader.isFull;
  };

  const drop = (webhookId: number): void => {
    for (const [name, reader] of all) if (reader.webhookId === webhookId) all.delete(name);
  };

  return { all, find, load, move, write, endTold, hasRoom, drop };
};

export type Readers = ReturnType<typeof createReaders>;
