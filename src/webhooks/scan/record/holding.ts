import type { DeliveryRow, Recipient, WebhookRow, WebhookStore } from "../../../../types/webhook-store.js";
import type { FollowEvent } from "../../../follow/index.js";
import type { Timekeeper } from "../../timekeeper.js";

/**
 * Confirmations where the host keeps the chain and offers no changes of it: its events are not held back by following, so the deliveries of
 * blocks and transactions are written at once, and held until the host has emitted enough blocks.
 */
export interface Holding {
  beginOf(webhook: WebhookRow, event: FollowEvent): Recipient["begin"];
  /** A block was applied: releases what has enough confirmations. One was reverted: drops what waited. Returns whose deliveries changed. */
  look(event: FollowEvent, webhookIds: ReadonlySet<number>): number[];
}

/** Stands for a block whose height the host does not tell: the next block that is applied. */
const nextBlock = Number.MAX_SAFE_INTEGER;

const heightIn = (data: unknown, name: string): number | undefined => {
  const height = typeof data === "object" && data !== null ? (data as Record<string, unknown>)[name] : undefined;
  return Number.isSafeInteger(height) ? (height as number) : undefined;
};

/** Confirmations are counted as the interface shows them: a block's from 0, a transaction's from 1. */
const releaseHeightOf = (isTransaction: boolean, height: number, confirmations: number): number =>
  height === nextBlock ? nextBlock : height + confirmations - (isTransaction ? 1 : 0);

export interface HoldingNeeds {
  store: WebhookStore;
  time: Timekeeper;
  /** Confirmations that a webhook waits for. */
  confirmationsOf(webhookId: number): number;
}

export const createHolding = ({ store, time, confirmationsOf }: HoldingNeeds): Holding => {
  const changeAll = (found: { webhookId: number; id: number }[], webhookIds: ReadonlySet<number>, change: (row: DeliveryRow) => DeliveryRow): number[] =>
    found.flatMap(({ webhookId, id }) => {
      const row = webhookIds.has(webhookId) ? store.delivery(webhookId, id) : undefined;
      if (row !== undefined) store.changeDelivery(row, change(row));
      return row === undefined ? [] : [webhookId];
    });
  const all = Number.MAX_SAFE_INTEGER;

  return {
    beginOf: ({ id }, { event, block, data }) => {
      const confirmations = block === null ? confirmationsOf(id) : 0;
      const isTransaction = event === "transaction.applied";
      if (confirmations === 0 || (!isTransaction && event !== "block.applied")) return { state: "pending" };
      const blockHeight = heightIn(data, isTransaction ? "blockHeight" : "height") ?? nextBlock;
      const releaseHeight = releaseHeightOf(isTransaction, blockHeight, confirmations);
      return releaseHeight === blockHeight && releaseHeight !== nextBlock ? { state: "pending" } : { state: "held", releaseHeight, blockHeight };
    },
    look: ({ event, data }, webhookIds) => {
      const height = heightIn(data, "height");
      if (height === undefined) return [];
      if (event === "block.reverted") {
        return changeAll(store.heldFrom(height, all), webhookIds, (row) => ({ ...row, state: "dropped", hold: null, finishedAt: time.passed() }));
      }
      if (event !== "block.applied") return [];
      changeAll(store.heldFrom(nextBlock, all), webhookIds, (row) => ({
        ...row,
        hold: { blockHeight: height, releaseHeight: releaseHeightOf(true, height, confirmationsOf(row.webhookId)) },
      }));
      return changeAll(store.releasable(height, all), webhookIds, (row) => ({ ...row, state: "pending", hold: null }));
    },
  };
};
