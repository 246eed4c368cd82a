import { setImmediate as nextTurn } from "node:timers/promises";
import type { Logger } from "../../../types/node-context.js";
import { messageOf, PorticoError } from "../../errors.js";
import { derivedEvents } from "../../follow/derive.js";
import { namesEvent } from "../../follow/event-names.js";
import { type Cursor, type CursorField, cursorText, type Follow, type ReadOptions } from "../../follow/index.js";
import type { Register } from "../register/register.js";
import { isOwnEvent, type Position, type Progress, type WebhookRow } from "../rows/rows.js";
import type { WebhookStore } from "../rows/store.js";
import { heightOf, positionText, samePosition } from "./match.js";

export interface PositionsNeeds {
  store: WebhookStore;
  follow: Follow;
  register: Register;
  logger: Logger;
  /** Whether events of an index are taken from the chain: webhooks that ask for no other need no log of the host. */
  keepsChain: boolean;
  window: number;
}

/** What is read for: `live`, what comes after a webhook's cursor; or a replay, by its id. */
export type Role = "live" | number;

/** The reader of a webhook, or of a replay of it, and its position. */
interface Reader {
  webhookId: number;
  role: Role;
  /** Of a replay: the last height. */
  until: number | undefined;
  position: Position;
  /** See `Progress`. */
  isBeyond: boolean;
  floor: number;
  /** Whether its ledger has blocks that were reverted. */
  hasReverted: boolean;
  isResting: boolean;
  isFull: boolean;
  isBusy: boolean;
  isDirty: boolean;
  epoch: number;
}

/** Webhooks at one position, which share a read. */
export interface Cohort {
  ids: ReadonlySet<number>;
  position: Position;
  options: ReadOptions;
  role: Role;
  until: number | undefined;
  /** See `Progress`. Such a cohort has one webhook. */
  isBeyond: boolean;
  readers: ReadonlyMap<number, Reader>;
  /** Number of `stir` calls before it was made. */
  stirs: number;
}

/** Where a client says that a webhook begins. */
export const fromField: CursorField = { source: "payload", key: "from" };

export const isNotReady = (error: unknown): boolean => error instanceof PorticoError && error.code === "NOT_READY";

export const isUnknown = (error: unknown): boolean => error instanceof PorticoError && error.code === "CURSOR_UNKNOWN";

/** Whether a webhook may be told of events that only the host emits. */
const wantsHostEvents = ({ events }: Pick<WebhookRow, "events">): boolean => events.some((name) => !derivedEvents.includes(name) && !isOwnEvent(name));

/** Whether a webhook may be told of events that follow from the chain. */
export const wantsChainEvents = ({ events }: Pick<WebhookRow, "events">): boolean => derivedEvents.some((event) => namesEvent(events, event));

/** How the chain is read for a webhook. */
export const optionsOf = (webhook: Pick<WebhookRow, "events" | "confirmations">, keepsChain: boolean): ReadOptions =>
  keepsChain ? { confirmations: webhook.confirmations, hostEvents: wantsHostEvents(webhook) } : {};

const nameOf = (webhookId: number, role: Role): string => `${webhookId} ${role}`;

/** The progress of a webhook whose reader has moved. */
const progressAfter = (progress: Progress, { role, position: { cursor, part }, isBeyond, floor }: Reader): Progress => {
  if (role === "live") return { ...progress, cursor, part, from: undefined, isBeyond, floor };
  return { ...progress, replays: (progress.replays ?? []).map((one) => (one.id === role ? { id: one.id, to: one.to, cursor, part } : one)) };
};

/** Finds where webhooks begin that have no cursor yet. */
const createLocate = ({ store, follow, logger, keepsChain }: PositionsNeeds) => {
  const cursorFor = async (webhook: WebhookRow, from: string): Promise<Cursor | undefined> => {
    const options = optionsOf(webhook, keepsChain);
    try {
      return await (from === "tip" ? follow.tip(options) : follow.locate(from, { ...options, field: fromField }));
    } catch (error) {
      if (isNotReady(error)) return undefined;
      // A chain that is being imported again may reach it.
      const height = (await follow.height()) ?? 0;
      if (heightOf(from) > height) return undefined;
      logger.error(`webhooks: webhook ${webhook.id} begins at the tip, as ${JSON.stringify(from)} is not known: ${messageOf(error)}`);
      return follow.tip(options);
    }
  };

  return async (webhook: WebhookRow): Promise<void> => {
    const cursor = await cursorFor(webhook, store.progress(webhook.id).from ?? "tip");
    if (cursor === undefined) return;
    await store.transactionSoon(() => {
      const progress = store.progress(webhook.id);
      if (progress.cursor === undefined && store.webhook(webhook.id) !== undefined) store.putProgress(webhook.id, { ...progress, cursor: cursorText(cursor), floor: cursor.block?.height ?? 0, from: undefined });
    });
  };
};

/** The readers of all enabled webhooks and their replays, as they are in memory and in the store. */
const createReaders = ({ store, register, window, keepsChain }: PositionsNeeds) => {
  const all = new Map<string, Reader>();

  const find = (webhookId: number, role: Role): Reader | undefined => all.get(nameOf(webhookId, role));

  const write = (reader: Reader): void => {
    const progress = store.progress(reader.webhookId);
    reader.isDirty = false;
    // A client has moved the cursor meanwhile, or removed the webhook.
    if ((progress.epoch ?? 0) !== reader.epoch || register.find(reader.webhookId) === undefined) all.delete(nameOf(reader.webhookId, reader.role));
    else store.putProgress(reader.webhookId, progressAfter(progress, reader));
  };

  return {
    all,
    find,
    write,
    load: (webhookId: number): void => {
      const { cursor, part, isBeyond = false, floor = 0, replays = [], epoch = 0 } = store.progress(webhookId);
      const hasReverted = store.ledger(webhookId, true).length > 0;
      const add = (role: Role, position: Position, until: number | undefined): void => {
        const flags = { isResting: false, isFull: false, isBusy: false, isDirty: false };
        // The host's log tells all reversals: there is no chain to compare the ledger with.
        const walks = keepsChain && role === "live" && isBeyond;
        const reader: Reader = { webhookId, role, until, position, isBeyond: walks, floor, hasReverted, epoch, ...flags };
        if (find(webhookId, role) === undefined) all.set(nameOf(webhookId, role), reader);
      };
      if (cursor !== undefined) add("live", { cursor, part }, undefined);
      for (const { id, cursor: at, part: left, to } of replays) add(id, { cursor: at, part: left }, to);
    },
    hasRoom: (reader: Reader): boolean => {
      if (reader.isFull) reader.isFull = store.countOpen(reader.webhookId) > Math.floor(window / 2);
      return !reader.isFull;
    },
    /** Forgets the readers of a webhook. They are loaded from the store again. */
    drop: (webhookId: number): void => {
      for (const [name, reader] of all) if (reader.webhookId === webhookId) all.delete(name);
    },
    /** Writes at most `most` moved positions; within a transaction. Returns whether there are more. */
    keep: (most: number): boolean => {
      let left = most;
      for (const reader of all.values()) {
        if (!reader.isDirty) continue;
        if (left-- <= 0) return true;
        write(reader);
      }
      return false;
    },
    /** Writes where a webhook is, if it has moved; within a transaction. */
    keepOne: (webhookId: number): void => {
      for (const reader of all.values()) if (reader.webhookId === webhookId && reader.isDirty) write(reader);
    },
    hasMoved: (): boolean => [...all.values()].some(({ isDirty }) => isDirty),
    noteReverted: (id: number): void => {
      for (const reader of all.values()) if (reader.webhookId === id) reader.hasReverted = true;
    },
  };
};

type Readers = ReturnType<typeof createReaders>;

/** Undefined if the reader was dropped since the cohort was made, even if it was loaded again. */
const readerIn = ({ find }: Readers, { readers, role }: Cohort, id: number): Reader | undefined => {
  const reader = readers.get(id);
  return reader !== undefined && find(id, role) === reader ? reader : undefined;
};

/** How the readers of a cohort move. */
const createMoves = (readers: Readers) => {
  const change = (cohort: Cohort, id: number, to: (reader: Reader) => void): void => {
    const reader = readerIn(readers, cohort, id);
    if (reader !== undefined) to(reader);
  };
  return {
    /** Writes a position; within a transaction. `floor`: of its ledger, if that is higher than before. */
    put: (cohort: Cohort, id: number, position: Position | undefined, floor = 0): void =>
      change(cohort, id, (reader) => {
        if (position !== undefined) reader.position = position;
        reader.floor = Math.max(reader.floor, floor);
        readers.write(reader);
      }),
    /** Moves on, without writing it at once. */
    move: (cohort: Cohort, id: number, position: Position): void =>
      change(cohort, id, (reader) => {
        if (!samePosition(reader.position, position)) Object.assign(reader, { position, isDirty: true });
      }),
    /** Its window is full at this position. */
    wait: (cohort: Cohort, id: number, position: Position): void => change(cohort, id, (reader) => void Object.assign(reader, { isFull: true, position, isDirty: true })),
    busy: (cohort: Cohort, id: number, isBusy: boolean): void => change(cohort, id, (reader) => void Object.assign(reader, { isBusy })),
    /** Nothing of the ledger is beyond the position any more. */
    endBeyond: (cohort: Cohort): void => {
      for (const id of cohort.ids) change(cohort, id, (reader) => void Object.assign(reader, { isBeyond: false, isDirty: true }));
    },
    floorOf: (cohort: Cohort, id: number): number => readerIn(readers, cohort, id)?.floor ?? 0,
    hasReverted: (cohort: Cohort, id: number): boolean => readerIn(readers, cohort, id)?.hasReverted === true,
  };
};

/** Loads the webhooks that have no reader yet; finds where they begin. */
const createLoading = (needs: PositionsNeeds, { find, load }: Readers) => {
  const { store, register } = needs;
  const locate = createLocate(needs);
  return async (): Promise<void> => {
    const missing = [...register.rows().values()].filter(({ id, enabled }) => enabled && find(id, "live") === undefined);
    // In parallel, so that all that begin at the tip begin at the same one.
    await Promise.all(missing.flatMap((webhook) => (store.progress(webhook.id).cursor === undefined ? [locate(webhook)] : [])));
    for (const [index, { id }] of missing.entries()) {
      load(id);
      if (index % 500 === 499) await nextTurn();
    }
  };
};

/** The webhooks that may have something to read, by their positions. */
const createCohorts = ({ register, keepsChain }: PositionsNeeds, { all, hasRoom }: Readers) => (stirs: number): Cohort[] => {
  const cohorts = new Map<string, Cohort & { ids: Set<number>; readers: Map<number, Reader> }>();
  const webhooks = register.rows();
  for (const [name, reader] of all) {
    const webhook = webhooks.get(reader.webhookId);
    if (webhook === undefined || !webhook.enabled) {
      all.delete(name);
      continue;
    }
    if (reader.isResting || reader.isBusy || !hasRoom(reader)) continue;
    const { position, role, until, isBeyond } = reader;
    const options = role === "live" ? optionsOf(webhook, keepsChain) : { hostEvents: false };
    const key = `${positionText(position)} ${String(options.confirmations)} ${String(options.hostEvents)} ${isBeyond || role !== "live" ? name : role}`;
    const found = cohorts.get(key) ?? { ids: new Set<number>(), readers: new Map<number, Reader>(), position, options, until, role, isBeyond, stirs };
    found.ids.add(reader.webhookId);
    found.readers.set(reader.webhookId, reader);
    cohorts.set(key, found);
  }
  return [...cohorts.values()];
};

/** Ends a replay that has seen its last height. */
const createEndReplay = ({ store, logger }: PositionsNeeds, { all }: Readers) => ({ webhookId, role }: Reader): void => {
  const end = (): void => {
    const progress = store.progress(webhookId);
    all.delete(nameOf(webhookId, role));
    store.putProgress(webhookId, { ...progress, replays: (progress.replays ?? []).filter(({ id }) => id !== role) });
  };
  store.transactionSoon(end).catch((error: unknown) => logger.error(`webhooks: the end of a replay cannot be written: ${messageOf(error)}`));
};

/** The positions of all enabled webhooks and their replays. */
export const createPositions = (needs: PositionsNeeds) => {
  const { store, register } = needs;
  const readers = createReaders(needs);
  const cohorts = createCohorts(needs, readers);
  const endReplay = createEndReplay(needs, readers);
  const { drop, keep, keepOne, hasMoved, noteReverted } = readers;
  let stirs = 0;

  const isThere = (cohort: Cohort, webhook: WebhookRow | undefined, position: Position): Reader | undefined => {
    const reader = webhook?.enabled === true ? readerIn(readers, cohort, webhook.id) : undefined;
    return reader !== undefined && !reader.isFull && samePosition(reader.position, position) ? reader : undefined;
  };

  return {
    drop,
    keep,
    keepOne,
    hasMoved,
    noteReverted,
    ...createMoves(readers),
    locate: createLoading(needs, readers),
    cohorts: (): Cohort[] => cohorts(stirs),
    /** The webhooks of a cohort that are at a position, and can go on. */
    present: (cohort: Cohort, position: Position): Set<number> => {
      const webhooks = register.rows();
      return new Set([...cohort.ids].filter((id) => isThere(cohort, webhooks.get(id), position)?.isBusy === false));
    },
    isAt: (cohort: Cohort, id: number, position: Position): boolean => isThere(cohort, register.find(id), position) !== undefined,
    /** Whether a webhook is still enabled, and was not set elsewhere since the cohort was made; within a transaction. */
    isCurrent: (cohort: Cohort, id: number): boolean => {
      const reader = readerIn(readers, cohort, id);
      return reader !== undefined && register.find(id)?.enabled === true && (store.progress(id).epoch ?? 0) === reader.epoch;
    },
    /** Of a replay's webhook: where that is, apart from the replay. */
    liveOf: ({ ids }: Cohort): Position | undefined => {
      const [id = 0] = ids;
      return readers.find(id, "live")?.position;
    },
    /** Nothing comes after this position now. `isOver`: a replay has reached its last height. */
    rest: (cohort: Cohort, position: Position, isOver: boolean): void => {
      // Something came after the read, and is not announced again.
      if (cohort.stirs !== stirs && cohort.role === "live") return;
      for (const id of cohort.ids) {
        const reader = readerIn(readers, cohort, id);
        if (reader === undefined || !samePosition(reader.position, position)) continue;
        reader.isResting = true;
        if (cohort.role !== "live" && isOver) endReplay(reader);
      }
    },
    /** There may be something new. */
    stir: (): void => {
      stirs++;
      for (const reader of readers.all.values()) reader.isResting = false;
    },
  };
};

export type ReaderPositions = ReturnType<typeof createPositions>;
