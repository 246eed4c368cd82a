import { openStates, type WebhookRow } from "../rows/rows.js";
import type { WebhookStore } from "../rows/store.js";
import { atOnce, runSliced, type Sliced } from "../../async/time-slicing.js";
import { canonicalEvent } from "../../follow/event-names.js";
import { PorticoError } from "../../errors.js";
import { createMatcher, type Matcher } from "../conditions/matcher.js";
import { parseCursors } from "../../follow/index.js";

/**
 * The webhooks in memory, as they are matched and sent. Kept in step with the store's register, whichever process changes that, by
 * reading again only what has changed.
 */
export interface Register {
  find(id: number): WebhookRow | undefined;
  /** All, by id, as they are now: for many look-ups in a row. */
  rows(): ReadonlyMap<number, WebhookRow>;
  /** Ids of all. */
  ids(): Iterable<number>;
  matcher(): Matcher;
}

/** A webhook as the matcher has it. */
export const asMatched = (row: WebhookRow): WebhookRow => ({ ...row, events: row.events.map(canonicalEvent) });

/**
 * Brings a matcher up to what webhooks are now: in slices, as one may list a hundred thousand addresses, or at once for whoever needs it.
 */
const createUpdating = (matcher: Matcher, rows: ReadonlyMap<number, WebhookRow>) => {
  /** Webhooks that the matcher does not have as they are. */
  const stale = new Set<number>();
  let update: Sliced<void> | undefined;

  function* changeOne(id: number): Sliced<void> {
    const row = rows.get(id);
    try {
      yield* matcher.change(id, row && asMatched(row));
    } catch (error) {
      stale.add(id);
      throw error;
    }
  }

  function* changeAll(): Sliced<void> {
    try {
      for (const id of stale) {
        stale.delete(id);
        yield* changeOne(id);
      }
    } finally {
      update = undefined;
    }
  }

  return {
    add: (id: number): void => void stale.add(id),
    /** What fails is told to whoever needs it at once. */
    begin: (): void => {
      if (stale.size === 0 || update !== undefined) return;
      update = changeAll();
      runSliced(update, "cooperative").catch(() => undefined);
    },
    end: (): void => {
      if (stale.size > 0 || update !== undefined) atOnce((update ??= changeAll()));
    },
  };
};

export const createRegister = (store: WebhookStore): Register => {
  const rows = new Map<number, WebhookRow>();
  const matcher = createMatcher();
  const updating = createUpdating(matcher, rows);
  /** Whoever goes on with it in a later turn does not meet a webhook that has been taken in by half. */
  const whole: Matcher = {
    ...matcher,
    listens: (event) => {
      updating.end();
      return matcher.listens(event);
    },
    match: (event, payload) => {
      updating.end();
      return matcher.match(event, payload);
    },
  };
  let read = -1;

  const put = (id: number, row: WebhookRow | undefined): void => {
    if (row === undefined) rows.delete(id);
    else rows.set(id, row);
    updating.add(id);
  };

  const readAll = (): void => {
    for (const id of [...rows.keys()]) put(id, undefined);
    for (const row of store.webhooks()) put(row.id, row);
  };

  const catchUp = (): void => {
    const revision = store.registerRevision();
    if (revision === read) return;
    const changed = read === -1 ? undefined : store.changedSince(read);
    if (changed === undefined) readAll();
    else for (const id of changed) put(id, store.webhook(id));
    read = revision;
    updating.begin();
  };

  return {
    find: (id) => {
      catchUp();
      return rows.get(id);
    },
    rows: () => {
      catchUp();
      return rows;
    },
    ids: () => {
      catchUp();
      return rows.keys();
    },
    matcher: () => {
      catchUp();
      return whole;
    },
  };
};

/** @throws PorticoError WEBHOOK_NOT_FOUND */
export const webhookRow = (store: WebhookStore, id: number): WebhookRow => {
  const row = store.webhook(id);
  if (row === undefined) throw new PorticoError("WEBHOOK_NOT_FOUND");
  return row;
};

/** From memory: a webhook may be large. @throws PorticoError WEBHOOK_NOT_FOUND */
export const knownRow = (register: Register, id: number): WebhookRow => {
  const row = register.find(id);
  if (row === undefined) throw new PorticoError("WEBHOOK_NOT_FOUND");
  return row;
};

/** Blocks from a cursor to the tip, by height. */
export const blocksBehind = (cursor: string, tip: number): number => {
  const [parsed] = parseCursors(cursor);
  return Math.max(0, tip - (parsed?.kind === "cursor" ? (parsed.cursor.block?.height ?? 0) : 0));
};

/** How webhooks stand, for whoever runs the node. */
export interface WebhookStanding {
  /** How many are enabled and deliver, enabled and fail, disabled. */
  byState: { enabled: number; failing: number; disabled: number };
  /** Deliveries of enabled ones that are not settled. */
  open: { pending: number; retrying: number };
  /** Of the enabled one that is farthest behind: blocks to the tip. */
  blocksBehind: number;
}

/** Looks at all of them, which may be ten thousand. `tip`: its height. */
export function* standingOf({ register, store }: { register: Register; store: WebhookStore }, tip: number): Sliced<WebhookStanding> {
  const standing: WebhookStanding = {
    byState: { enabled: 0, failing: 0, disabled: 0 },
    open: { pending: 0, retrying: 0 },
    blocksBehind: 0,
  };
  for (const { id, enabled } of register.rows().values()) {
    yield;
    const progress = enabled ? store.progress(id) : undefined;
    if (progress === undefined) {
      standing.byState.disabled++;
      continue;
    }
    for (const state of openStates) standing.open[state] += store.countOf(id, state);
    standing.byState[progress.failing === undefined ? "enabled" : "failing"]++;
    if (progress.cursor !== undefined) standing.blocksBehind = Math.max(standing.blocksBehind, blocksBehind(progress.cursor, tip));
  }
  return standing;
}
