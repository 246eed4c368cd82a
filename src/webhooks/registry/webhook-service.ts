import type { Clock } from "../../../types/node-context.js";
import type { WebhookRow, WebhookStore } from "../../../types/webhook-store.js";
import type { Webhook, Webhooks } from "../../../types/webhooks.js";
import { PorticoError } from "../../errors.js";
import { checkDraft, type DraftRules } from "./draft.js";
import type { Timekeeper } from "../timekeeper.js";
import { createToken, secretOf } from "../send/signature.js";

export interface CatalogueNeeds {
  store: WebhookStore;
  clock: Clock;
  time: Timekeeper;
  rules: DraftRules;
  maxWebhooks: number;
  /** Milliseconds. */
  rotationOverlap: number;
  /** Told of every change. */
  onChange(): void;
}

/** Earlier secrets that sign beside the present one, at the most: receivers refuse headers of some 16 KB. */
const mostOlderTokens = 9;

type Catalogue = Pick<Webhooks, "list" | "get" | "create" | "replace" | "remove" | "rotate">;

/** A webhook as it is shown: everything but its secrets. */
const shown = (row: WebhookRow): Webhook => {
  const { id, event, target, enabled, conditions, match, confirmations, createdAt, failingSince, disabledBecause } = row;
  return { id, event, target, enabled, conditions, match, confirmations, createdAt, failingSince, disabledBecause };
};

/** @throws PorticoError WEBHOOK_NOT_FOUND */
export const webhookRow = (store: WebhookStore, id: number): WebhookRow => {
  const row = store.webhook(id);
  if (row === undefined) throw new PorticoError("WEBHOOK_NOT_FOUND");
  return row;
};

/** What clients do with webhooks. */
export const createCatalogue = ({ store, clock, time, rules, maxWebhooks, rotationOverlap, onChange }: CatalogueNeeds): Catalogue => {
  const change = <T>(work: () => T): T => {
    const result = store.transaction(work);
    onChange();
    return result;
  };

  const add: WebhookStore["addWebhook"] = (row) => {
    if (store.webhooks({ offset: 0, limit: 1 }).total >= maxWebhooks) throw new PorticoError("WEBHOOKS_FULL");
    return store.addWebhook(row);
  };

  return {
    list: ({ offset, limit }) => {
      const { rows, total } = store.webhooks({ offset, limit });
      return { rows: rows.map(shown), total };
    },
    get: (id) => shown(webhookRow(store, id)),
    create: (draft) => {
      const token = createToken();
      const fresh = { ...checkDraft(draft, rules), token, olderTokens: [], createdAt: clock.now(), failingSince: null, disabledBecause: null };
      return { ...shown(change(() => add(fresh))), ...secretOf(token) };
    },
    replace: (id, draft) => {
      webhookRow(store, id);
      const checked = checkDraft(draft, rules);
      change(() => store.putWebhook({ ...webhookRow(store, id), ...checked, failingSince: null, disabledBecause: null }));
    },
    remove: (id) => {
      change(() => {
        webhookRow(store, id);
        store.removeWebhook(id);
      });
    },
    rotate: (id) => {
      const token = createToken();
      change(() => {
        const row = webhookRow(store, id);
        const now = time.passed();
        const olderTokens = [{ token: row.token, until: now + rotationOverlap }, ...row.olderTokens.filter(({ until }) => until > now)];
        store.putWebhook({ ...row, token, olderTokens: olderTokens.slice(0, mostOlderTokens) });
      });
      return secretOf(token);
    },
  };
};
