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
export interface Reader {
  readonly webhookId: number;
  readonly role: Role;
  /** Of a replay: the last height. */
  readonly until: number | undefined;
  /** See `Progress`. */
  readonly epoch: number;
  position: Position;
  /** `Progress.isBeyond`. */
  ledgerMayBeOffChain: boolean;
  /** Whether the chain was read for it since it last changed, and had no more. */
  isResting: boolean;
  isFull: boolean;
  isBusy: boolean;
  /** Whether the store does not have its position yet. */
  isDirty: boolean;
  /** Whether it is to be loaded again, from what the store has. */
  isGone: boolean;
}

/** The readers at one position, which share a read. */
export interface Cohort {
  /** By webhook. */
  readers: ReadonlyMap<number, Reader>;
  position: Position;
  options: ReadOptions;
  role: Role;
  until: number | undefined;
  /** `Progress.isBeyond`. Such a cohort has one webhook. */
  ledgerMayBeOffChain: boolean;
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

const nameOf = ({ webhookId, role }: Pick<Reader, "webhookId" | "role">): string => `${webhookId} ${role}`;

/** The progress of a webhook whose reader has moved. */
const progressAfter = (progress: Progress, { role, position: { cursor, part }, ledgerMayBeOffChain }: Reader): Progress => {
  if (role === "live") return { ...progress, cursor, part, from: undefined, isBeyond: ledgerMayBeOffChain };
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
      logger.error(`webhooks: webhook ${webhook.id} begins at the tip, because ${JSON.stringify(from)} is not known: ${messageOf(error)}`);
      return follow.tip(options);
    }
  };

  return async (webhook: WebhookRow): Promise<void> => {
    const { from = "tip", epoch } = store.progress(webhook.id);
    const cursor = await cursorFor(webhook, from);
    if (cursor === undefined) return;
    await store.transactionSoon(() => {
      const progress = store.progress(webhook.id);
      // A client may have said otherwise meanwhile.
      if (progress.cursor !== undefined || progress.epoch !== epoch || store.webhook(webhook.id) === undefined) return;
      store.putProgress(webhook.id, { ...progress, cursor: cursorText(cursor), floor: cursor.block?.height ?? 0, from: undefined });
    });
  };
};

/** The readers of all enabled webhooks and their replays, as they are in memory and in the store. */
const createReaders = ({ store, register, keepsChain }: PositionsNeeds) => {
  const all = new Map<string, Reader>();

  const remove = (reader: Reader): void => {
    reader.isGone = true;
    all.delete(nameOf(reader));
  };

  /** Whether a webhook is still enabled and in the store where its reader is; within a transaction. */
  const isCurrent = (reader: Reader): boolean =>
    !reader.isGone && register.find(reader.webhookId)?.enabled === true && (store.progress(reader.webhookId).epoch ?? 0) === reader.epoch;

  const write = (reader: Reader, floor = 0): void => {
    reader.isDirty = false;
    if (!isCurrent(reader)) return remove(reader);
    const progress = store.progress(reader.webhookId);
    store.putProgress(reader.webhookId, progressAfter({ ...progress, floor: Math.max(progress.floor ?? 0, floor) }, reader));
  };

  return {
    all,
    remove,
    isCurrent,
    write,
    live: (webhookId: number): Reader | undefined => all.get(nameOf({ webhookId, role: "live" })),
    load: (webhookId: number): void => {
      const { cursor, part, isBeyond = false, replays = [], epoch = 0 } = store.progress(webhookId);
      const add = (role: Role, position: Position, until: number | undefined): void => {
        const flags = { isResting: false, isFull: false, isBusy: false, isDirty: false, isGone: false };
        // The host's log tells all reversals: there is no chain to compare the ledger with.
        const ledgerMayBeOffChain = keepsChain && role === "live" && isBeyond;
        const name = nameOf({ webhookId, role });
        Object.assign(all.get(name) ?? {}, { isGone: true });
        all.set(name, { webhookId, role, until, position, ledgerMayBeOffChain, epoch, ...flags });
      };
      if (cursor === undefined) return;
      add("live", { cursor, part }, undefined);
      for (const { id, cursor: at, part: left, to } of replays) add(id, { cursor: at, part: left }, to);
    },
    /** Forgets the readers of a webhook. They are loaded from the store again. */
    drop: (webhookId: number): void => {
      for (const reader of all.values()) if (reader.webhookId === webhookId) remove(reader);
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
  };
};

type Readers = ReturnType<typeof createReaders>;

/** Loads the webhooks that have no reader yet; finds where they begin. */
const createLoadMissing = (needs: PositionsNeeds, { live, load }: Readers) => {
  const { store, register } = needs;
  const locate = createLocate(needs);
  return async (): Promise<void> => {
    const missing = [...register.rows().values()].filter(({ id, enabled }) => enabled && live(id) === undefined);
    // In parallel, so that all that begin at the tip begin at the same one.
    await Promise.all(missing.flatMap((webhook) => (store.progress(webhook.id).cursor === undefined ? [locate(webhook)] : [])));
    for (const [index, { id }] of missing.entries()) {
      load(id);
      if (index % 500 === 499) await nextTurn();
    }
  };
};

/** The webhooks that may have something to read, by their positions. */
const createCohorts = ({ store, register, window, keepsChain }: PositionsNeeds, { all, remove }: Readers) => {
  /** One whose window was full waits until half of it is free. */
  const hasRoom = (reader: Reader): boolean => {
    if (reader.isFull) reader.isFull = store.countOpen(reader.webhookId) > Math.floor(window / 2);
    return !reader.isFull;
  };

  return (): Cohort[] => {
    const cohorts = new Map<string, Cohort & { readers: Map<number, Reader> }>();
    const webhooks = register.rows();
    for (const reader of all.values()) {
      const webhook = webhooks.get(reader.webhookId);
      if (webhook?.enabled !== true) remove(reader);
      else if (!reader.isResting && !reader.isBusy && hasRoom(reader)) {
        const { position, role, until, ledgerMayBeOffChain } = reader;
        const options = role === "live" ? optionsOf(webhook, keepsChain) : { hostEvents: false };
        const own = ledgerMayBeOffChain || role !== "live" ? nameOf(reader) : "";
        const key = `${positionText(position)} ${String(options.confirmations)} ${String(options.hostEvents)} ${own}`;
        const cohort = cohorts.get(key) ?? { readers: new Map<number, Reader>(), position, options, until, role, ledgerMayBeOffChain };
        cohort.readers.set(reader.webhookId, reader);
        cohorts.set(key, cohort);
      }
    }
    return [...cohorts.values()];
  };
};

/** Ends a replay that has seen its last height. */
const createEndReplay = ({ store, logger }: PositionsNeeds, { isCurrent, remove }: Readers) => (reader: Reader): void => {
  const end = (): void => {
    if (!isCurrent(reader)) return;
    const progress = store.progress(reader.webhookId);
    store.putProgress(reader.webhookId, { ...progress, replays: (progress.replays ?? []).filter(({ id }) => id !== reader.role) });
    remove(reader);
  };
  store.transactionSoon(end).catch((error: unknown) => logger.error(`webhooks: the end of a replay cannot be written: ${messageOf(error)}`));
};

/** The positions of all enabled webhooks and their replays. */
export const createPositions = (needs: PositionsNeeds) => {
  const { register } = needs;
  const readers = createReaders(needs);
  const endReplay = createEndReplay(needs, readers);
  const { all, live, isCurrent, write, drop, keep, keepOne, hasMoved } = readers;

  return {
    drop,
    keep,
    keepOne,
    hasMoved,
    isCurrent,
    loadMissing: createLoadMissing(needs, readers),
    cohorts: createCohorts(needs, readers),
    /** Those of some readers that are at a position, and can go on. */
    present: (some: ReadonlyMap<number, Reader>, position: Position): Map<number, Reader> => {
      const webhooks = register.rows();
      const isThere = ({ webhookId, isGone, isFull, position: own }: Reader): boolean =>
        !isGone && !isFull && webhooks.get(webhookId)?.enabled === true && samePosition(own, position);
      return new Map([...some].filter(([, reader]) => isThere(reader)));
    },
    /** Writes a position; within a transaction. `floor`: of its webhook's ledger, if that is higher than before. */
    put: (reader: Reader, position: Position, floor?: number): void => {
      reader.position = position;
      write(reader, floor);
    },
    /** Moves on, without writing it at once. */
    move: (reader: Reader, position: Position): void => {
      if (!samePosition(reader.position, position)) Object.assign(reader, { position, isDirty: true });
    },
    /** Of a replay's webhook: where that is, apart from the replay. */
    liveOf: ({ webhookId }: Reader): Position | undefined => live(webhookId)?.position,
    /** Marks all as resting before the read, so that a `stir` during it is not lost. `endRead` unmarks those that have more to read. */
    beginRead: (cohort: Cohort): void => cohort.readers.forEach((reader) => void (reader.isResting = true)),
    /** All but those at this position have more to read. `isOver`: a replay that is there has reached its last height. */
    endRead: (cohort: Cohort, position: Position | undefined, isOver: boolean): void => {
      for (const reader of cohort.readers.values()) {
        if (position === undefined || !samePosition(reader.position, position)) reader.isResting = false;
        else if (isOver && reader.role !== "live") endReplay(reader);
      }
    },
    /** There may be something new. */
    stir: (): void => {
      for (const reader of all.values()) reader.isResting = false;
    },
  };
};

export type ReaderPositions = ReturnType<typeof createPositions>;
