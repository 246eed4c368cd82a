import type { WebhookRow, WebhookStore } from "../../../types/webhook-store.js";
import { canonicalEvent } from "../../follow/host/known-events.js";
import { createMatcher, type Matcher } from "../conditions/matcher.js";

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

const everything = { offset: 0, limit: Number.MAX_SAFE_INTEGER };

export const createRegister = (store: WebhookStore): Register => {
  const rows = new Map<number, WebhookRow>();
  const matcher = createMatcher();
  let read = -1;

  const put = (id: number, row: WebhookRow | undefined): void => {
    if (row === undefined) rows.delete(id);
    else rows.set(id, row);
    matcher.put(id, row && asMatched(row));
  };

  const readAll = (): void => {
    for (const id of [...rows.keys()]) put(id, undefined);
    for (const row of store.webhooks(everything).rows) put(row.id, row);
  };

  const catchUp = (): void => {
    const revision = store.registerRevision();
    if (revision === read) return;
    const changed = read === -1 ? undefined : store.changedSince(read);
    if (changed === undefined) readAll();
    else for (const id of changed) put(id, store.webhook(id));
    read = revision;
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
      return matcher;
    },
  };
};
