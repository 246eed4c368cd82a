import type { DeliveryRow, Message, Place, Progress, WebhookRow, WebhookStore } from "../../../types/webhook-store.js";
import { isReversal } from "../../follow/event-names.js";

/** Where a webhook that is disabled goes on once it is enabled: before what it was not told, without losing sight of what it was told beyond that. */

type Opening = Pick<Progress, "cursor" | "part" | "told">;

/** A delivery that is open, and its message, which has a place. */
interface Open {
  row: DeliveryRow;
  message: Message;
}

const takesBack = ({ row }: Open): boolean => isReversal(row.event);

/** Whether a webhook has been told, or is to be, of something that was applied after a delivery. */
const tellsOfMore = (store: WebhookStore, { webhookId, id }: DeliveryRow): boolean => {
  for (let last = id; ; ) {
    const next = Math.min(...(["delivered", "dead", "pending", "retrying"] as const).flatMap((state) => store.deliveryIds(webhookId, state, last, 1)));
    const row = next === Infinity ? undefined : store.delivery(webhookId, next);
    if (row === undefined) return false;
    if (!isReversal(row.event)) return true;
    last = next;
  }
};

/** The place of an event in its group, which its id ends in but for how often the block was applied before. */
const placeInGroup = ({ eventId }: Message): number => Number(eventId?.split(".")[2]) || 0;

/** Before the event of a message, or after it. All transactions of its group may have been told of: if not now, then when the block was applied before. */
const placeAt = (message: Message, by: 0 | 1 = 0): Place => {
  const { block, before = "", after } = message;
  const part = { before, taken: placeInGroup(message) + by, transactions: Number.MAX_SAFE_INTEGER };
  return block === undefined || after === undefined ? { cursor: before, part: undefined } : { cursor: after, part };
};

/** Where a webhook goes on beside what it had been told before its cursor went back the last time: what is reverted is of that, the rest is what it is told again. */
const placeAgain = (open: readonly Open[], { cursor, part, told }: Progress): Opening => {
  const [reversal, again] = [open.find(takesBack), open.find((one) => !takesBack(one))];
  return { told: reversal === undefined ? told : placeAt(reversal.message), ...(again === undefined ? { cursor, part } : placeAt(again.message)) };
};

/** In strict order, only what is under way may have been told of from the first on that is open. */
const placeInStrictOrder = (open: readonly [Open, ...Open[]], isUnderWay: (row: DeliveryRow) => boolean): Opening => {
  const [first] = open;
  const last = open.findLast(({ row }) => row.attemptCount > 0 || isUnderWay(row)) ?? first;
  const isElsewhere = !takesBack(first) && last.message.before !== first.message.before;
  return { ...placeAt(first.message), ...(isElsewhere && { told: placeAt(last.message, 1) }) };
};

/** Where a webhook goes on: before the first of what is open, beyond which it may have been told of more. How far is noted (`Progress.told`). */
const placeBefore = (store: WebhookStore, order: WebhookRow["order"], open: readonly Open[], progress: Progress, isUnderWay: (row: DeliveryRow) => boolean): Opening => {
  const [first, ...others] = open;
  const { cursor, part, told } = progress;
  if (first === undefined || cursor === undefined) return { cursor, part, told };
  if (told !== undefined) return placeAgain(open, progress);
  if (order === "strict") return placeInStrictOrder([first, ...others], isUnderWay);
  if (takesBack(first) && !tellsOfMore(store, first.row)) return placeAt(first.message);
  return { ...placeAt(first.message), told: { cursor, part } };
};

/**
 * The webhook's cursor goes back to before the first of what is open, which is then forgotten: it is found again from there. `isUnderWay`: whether an
 * attempt of a delivery is, or has been, that its row does not have yet.
 */
export const rewind = (store: WebhookStore, { id: webhookId, order }: Pick<WebhookRow, "id" | "order">, isUnderWay: (row: DeliveryRow) => boolean): void => {
  const ids = (["pending", "retrying"] as const).flatMap((state) => store.deliveryIds(webhookId, state, 0, Number.MAX_SAFE_INTEGER)).sort((a, b) => a - b);
  const open = ids.flatMap((id): Open[] => {
    const row = store.delivery(webhookId, id);
    const message = row && store.message(row.messageId);
    return row === undefined || message?.before === undefined ? [] : [{ row, message }];
  });
  const progress = store.progress(webhookId);
  store.putProgress(webhookId, { ...progress, ...placeBefore(store, order, open, progress, isUnderWay), replays: [], epoch: (progress.epoch ?? 0) + 1 });
  store.forgetDeliveries(webhookId);
};
