import type { Place, Progress, WebhookStore } from "../../../../types/webhook-store.js";
import type { Register } from "../../registry/register.js";
import { countOpen } from "../record/earlier.js";
import { toldOf } from "./place.js";

/** What is read for: `live`, what comes after a webhook's cursor; or a replay, by its id. */
export type Role = "live" | number;

/** What reads the chain for a webhook, or a replay of it, and where that is. */
export interface Reader {
  webhookId: number;
  role: Role;
  /** Of a replay: the last height. */
  until: number | undefined;
  place: Place;
  /** Of `live`: how far the webhook had been told before its cursor went back, the highest first: what the chain loses of that is reverted before anything else. */
  told: readonly Place[];
  isResting: boolean;
  isFull: boolean;
  isBusy: boolean;
  isDirty: boolean;
  epoch: number;
}

/** The progress of a webhook whose reader has moved. */
export const progressAfter = (progress: Progress, { role, place, told }: Pick<Reader, "role" | "place" | "told">): Progress => {
  if (role === "live") return { ...progress, cursor: place.cursor, part: place.part, from: undefined, told: told.length === 0 ? undefined : [...told] };
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

  const add = (webhookId: number, epoch: number, place: Place, { role = "live", told = [], until }: Partial<Pick<Reader, "role" | "told" | "until">>): void => {
    const name = nameOf(webhookId, role);
    if (!all.has(name)) all.set(name, { webhookId, role, until, place, told, isResting: false, isFull: false, isBusy: false, isDirty: false, epoch });
  };

  const load = (webhookId: number): void => {
    const progress = store.progress(webhookId);
    const { cursor, part, replays = [], epoch = 0 } = progress;
    if (cursor !== undefined) add(webhookId, epoch, { cursor, part }, { told: keepsChain ? toldOf(progress) : [] });
    for (const { id, cursor: at, part: left, to } of replays) add(webhookId, epoch, { cursor: at, part: left }, { role: id, until: to });
  };

  const find = (webhookId: number, role: Role): Reader | undefined => all.get(nameOf(webhookId, role));

  const write = (reader: Reader): void => {
    const { webhookId, role, epoch } = reader;
    const progress = store.progress(webhookId);
    reader.isDirty = false;
    // It was set elsewhere meanwhile, or its webhook was removed.
    if ((progress.epoch ?? 0) !== epoch || register.find(webhookId) === undefined) all.delete(nameOf(webhookId, role));
    else store.putProgress(webhookId, progressAfter(progress, reader));
  };

  const hasRoom = (reader: Reader): boolean => {
    if (!reader.isFull) return true;
    reader.isFull = countOpen(store, reader.webhookId) > Math.floor(window / 2);
    return !reader.isFull;
  };

  const drop = (webhookId: number): void => {
    for (const [name, reader] of all) if (reader.webhookId === webhookId) all.delete(name);
  };

  const keep = (most: number): boolean => {
    let left = most;
    for (const reader of all.values()) {
      if (!reader.isDirty) continue;
      if (left-- <= 0) return true;
      write(reader);
    }
    return false;
  };

  const keepOne = (webhookId: number): void => {
    for (const reader of all.values()) if (reader.webhookId === webhookId && reader.isDirty) write(reader);
  };

  const hasMoved = (): boolean => [...all.values()].some(({ isDirty }) => isDirty);

  return { all, find, load, write, hasRoom, drop, keep, keepOne, hasMoved };
};

export type Readers = ReturnType<typeof createReaders>;
