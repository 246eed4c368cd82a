import type { DeliveryRow, Message, Place, Progress, WebhookRow, WebhookStore } from "../../../../types/webhook-store.js";
import { isReversal } from "../../../follow/event-names.js";
import type { Timekeeper } from "../../timekeeper.js";
import { blockAt, cursorOf, distinctTold, hasLog, heightOf, toldOf } from "./place.js";

/** Where a webhook that is disabled goes on once it is enabled: before what it was not told, without losing sight of what it was told beyond that. */

/** A delivery that is open, and its message, which has a place. */
interface Open {
  row: DeliveryRow;
  message: Message & { before: string };
}

/** What is known of attempts besides what the rows of open deliveries have. */
interface Attempts extends Pick<RewindNeeds, "isUnderWay"> {
  /** Whether one that a client asked for, and that failed since, comes before all that is open. */
  isHeldUp: boolean;
}

/** Whether it takes a block back, or what followed from it: its receiver may take that for applied. */
const takesBack = ({ row, message }: Open): boolean => message.block !== undefined && isReversal(row.event);

/** The place of an event in its group, which its id ends in but for how often the block was applied before. */
const placeInGroup = ({ eventId }: Message): number => Number(eventId?.split(".")[2]) || 0;

/** Before the event of a message. */
const placeBefore = ({ message }: Open): Place => {
  const { block, before, after } = message;
  const taken = placeInGroup(message);
  if (block === undefined || after === undefined || taken === 0) return { cursor: before };
  // All transactions of its group may have been told of: if not now, then when the block was applied before.
  return { cursor: after, part: { before, taken, transactions: Number.MAX_SAFE_INTEGER } };
};

/** Before what comes first of what is open: on the chain the lowest block of it, and in the host's log the first event. */
const placeBeforeAll = (open: readonly [Open, ...Open[]], live: Place): Place => {
  const heightBefore = ({ message }: Open): number => heightOf(message.before);
  const lowest = open.reduce((low, one) => (heightBefore(one) < heightBefore(low) ? one : low));
  const { before } = lowest.message;
  const hostEvent = open.find(({ message }) => message.block === undefined);
  // What a replay sends has no place in the log.
  const log = hostEvent?.message.before ?? (hasLog(before) ? before : live.cursor);
  const cursor = cursorOf(before, log);
  return cursor === before ? placeBefore(lowest) : { cursor };
};

/**
 * In strict order, a webhook may have been told of all before the first delivery after which none was attempted: the place before that. The first that is
 * open counts as attempted, unless what a client asked for is tried again before it, and so does what is sent again by a replay.
 */
const toldInStrictOrder = (open: readonly Open[], live: Place, { isUnderWay, isHeldUp }: Attempts): Place => {
  const last = open.findLastIndex(({ row }) => row.attemptCount > 0 || row.again === true || isUnderWay(row));
  const next = open[(isHeldUp ? last : Math.max(0, last)) + 1];
  if (next === undefined) return live;
  const { block, before, after = before } = next.message;
  // Of its block a part was told.
  return { cursor: block !== undefined && !takesBack(next) && placeInGroup(next.message) > 0 ? after : before };
};

/** The blocks whose reversals are open, but for those that another leads to. */
const notTakenBack = (open: readonly Open[]): Place[] => {
  const reversals = open.filter(takesBack);
  const below = new Set(reversals.map(({ message: { after = "" } }) => blockAt({ cursor: after })));
  return reversals.map(placeBefore).filter((place) => !below.has(blockAt(place)));
};

/** Where a webhook goes on, and what it may have been told beyond that. */
const placesBefore = (order: WebhookRow["order"], open: readonly Open[], progress: Progress, attempts: Attempts): Pick<Progress, "cursor" | "part" | "told"> => {
  const { cursor, part } = progress;
  if (cursor === undefined) return {};
  const live = { cursor, part };
  const [first, ...others] = open.filter((one) => !takesBack(one));
  const place = first === undefined ? live : placeBeforeAll([first, ...others], live);
  const beyond = order === "strict" ? toldInStrictOrder(open, live, attempts) : live;
  const told = distinctTold([...toldOf(progress), ...notTakenBack(open), ...(first === undefined ? [] : [beyond])], place);
  return { cursor: place.cursor, part: place.part, told: told.length === 0 ? undefined : [...told] };
};

/** A delivery that a client asked for once more, as what it had been: it can be asked for again. What was never attempted had been nothing. */
const asItWas = ({ onRequest: _, batch: __, stepSince: ___, ...row }: DeliveryRow, finishedAt: number): DeliveryRow => {
  const hasArrived = row.attempts.some(({ stage }) => stage === null);
  return { ...row, state: hasArrived ? "delivered" : "dead", dueAt: null, finishedAt, hold: null };
};

export interface RewindNeeds {
  store: WebhookStore;
  time: Pick<Timekeeper, "passed">;
  /** Whether an attempt of a delivery is, or has been, that its row does not have yet. */
  isUnderWay(row: DeliveryRow): boolean;
}

/**
 * The webhook's cursor goes back to before the first of what is open, which is then forgotten: it is found again from there, but for what a client
 * asked for.
 */
export const rewind = ({ store, time, isUnderWay }: RewindNeeds, { id: webhookId, order }: Pick<WebhookRow, "id" | "order">): void => {
  const ids = (["pending", "retrying", "held"] as const).flatMap((state) => store.deliveryIds(webhookId, state, 0, Number.MAX_SAFE_INTEGER)).sort((a, b) => a - b);
  const rows = ids.map((id) => store.delivery(webhookId, id)).filter((row) => row !== undefined);
  const open = rows.flatMap((row): Open[] => {
    const message = store.message(row.messageId);
    return row.onRequest === true || message?.before === undefined ? [] : [{ row, message: { ...message, before: message.before } }];
  });
  const isHeldUp = rows.some(({ id, onRequest, failures }) => onRequest === true && failures > 0 && id < (open[0]?.row.id ?? 0));
  for (const row of rows) if (row.onRequest === true && row.attempts.length > 0) store.changeDelivery(row, asItWas(row, time.passed()));
  const progress = store.progress(webhookId);
  store.putProgress(webhookId, { ...progress, ...placesBefore(order, open, progress, { isUnderWay, isHeldUp }), replays: [], epoch: (progress.epoch ?? 0) + 1 });
  store.forgetDeliveries(webhookId);
};
