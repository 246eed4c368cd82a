import type { WebhookRow, WebhookStore } from "../../types/webhook-store.js";
import { canonicalEvent } from "./known-events.js";
import { createMatcher, type Matcher } from "./matcher.js";

/** The webhooks in memory, as they are matched and sent: read again whenever the store's register has changed, in whatever process. */
export interface Register {
  /** Changes with the register. */
  revision(): number;
  all(): readonly WebhookRow[];
  find(id: number): WebhookRow | undefined;
  matcher(): Matcher;
}

interface Loaded {
  revision: number;
  rows: readonly WebhookRow[];
  byId: ReadonlyMap<number, WebhookRow>;
  matcher: Matcher;
}

const load = (store: WebhookStore, revision: number): Loaded => {
  const rows = store.webhooks();
  return {
    revision,
    rows,
    byId: new Map(rows.map((row) => [row.id, row])),
    matcher: createMatcher(rows.map((row) => ({ ...row, event: canonicalEvent(row.event) }))),
  };
};

export const createRegister = (store: WebhookStore): Register => {
  let loaded: Loaded | undefined;
  const current = (): Loaded => {
    const revision = store.registerRevision();
    if (loaded?.revision !== revision) loaded = load(store, revision);
    return loaded;
  };
  return {
    revision: () => current().revision,
    all: () => current().rows,
    find: (id) => current().byId.get(id),
    matcher: () => current().matcher,
  };
};
