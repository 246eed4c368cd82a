import type { Logger } from "../../../../types/node-context.js";
import type { Progress, WebhookRow, WebhookStore } from "../../../../types/webhook-store.js";
import { messageOf, PorticoError } from "../../../errors.js";
import { derivedEvents } from "../../../follow/derive.js";
import { namesEvent } from "../../../follow/event-names.js";
import { type Cursor, type CursorField, cursorText, type Follow, type ReadOptions } from "../../../follow/index.js";
import { isOwnEvent } from "../../deliver/health.js";

export interface LocateNeeds {
  store: WebhookStore;
  follow: Follow;
  logger: Logger;
  keepsChain: boolean;
}

/** Whether a webhook may be told of events that only the host emits. */
const wantsHostEvents = ({ events }: Pick<WebhookRow, "events">): boolean => events.some((name) => !derivedEvents.includes(name) && !isOwnEvent(name));

/** Whether a webhook may be told of events that follow from the chain. */
export const wantsChainEvents = ({ events }: Pick<WebhookRow, "events">): boolean => derivedEvents.some((event) => namesEvent(events, event));

/** How the chain is read for a webhook. */
export const optionsOf = (webhook: Pick<WebhookRow, "events" | "confirmations">, keepsChain: boolean): ReadOptions =>
  keepsChain ? { confirmations: webhook.confirmations, hostEvents: wantsHostEvents(webhook) } : {};

/** Where a client says that a webhook begins. */
export const fromField: CursorField = { source: "payload", key: "from" };

export const isNotReady = (error: unknown): boolean => error instanceof PorticoError && error.code === "NOT_READY";

/** Finds where a webhook begins that has no place yet. */
export const createLocateOne = ({ store, follow, logger, keepsChain }: LocateNeeds) => {
  /** The cursor from which a webhook begins. */
  const beginningOf = async (webhook: WebhookRow, from: NonNullable<Progress["from"]>): Promise<Cursor> => {
    const options = optionsOf(webhook, keepsChain);
    if (from === "tip") return follow.tip(options);
    if (typeof from === "string") return follow.locate(from, { ...options, field: fromField });
    const { block } = await follow.tip({ hostEvents: false });
    return follow.locate(String(Math.max(0, (block?.height ?? 0) - from.below)), options);
  };

  return async (webhook: WebhookRow): Promise<void> => {
    const { from = "tip" } = store.progress(webhook.id);
    let cursor: Cursor;
    try {
      cursor = await beginningOf(webhook, from);
    } catch (error) {
      if (isNotReady(error)) return;
      logger.error(`webhooks: webhook ${webhook.id} begins at the tip, as ${JSON.stringify(from)} is not known: ${messageOf(error)}`);
      cursor = await follow.tip(optionsOf(webhook, keepsChain));
    }
    await store.transactionSoon(() => {
      const progress = store.progress(webhook.id);
      if (progress.cursor === undefined && store.webhook(webhook.id) !== undefined) store.putProgress(webhook.id, { ...progress, cursor: cursorText(cursor), from: undefined });
    });
  };
};
