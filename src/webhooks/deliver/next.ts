import type { DeliveryRow } from "../rows/rows.js";
import type { WebhookStore } from "../rows/store.js";
import type { Next, Queue, Queues, Target, UnderWay } from "./queues.js";

/** What a target is to be sent next. */

export interface Times {
  /** Of the schedule. */
  schedule: number;
  monotonic: number;
}

export interface NextNeeds {
  store: WebhookStore;
  queues: Queues;
  underWay: UnderWay;
  isWithdrawn(id: number): boolean;
  settle(row: DeliveryRow): void;
  /** Deliveries of one webhook that may be open: no more can come together. */
  window: number;
}

const isPing = (row: DeliveryRow): boolean => row.state === "pending";

/** Whether first attempts of a queue go out in the order of all that its target is sent. */
const isOrdered = ({ webhook }: Queue): boolean => webhook.order !== "none";

/** Whether a first attempt of a queue waits for others. */
const isBehind = (queue: Queue): boolean => (queue.webhook.order === "strict" && queue.open.count > 0) || (isOrdered(queue) && queue.target.firsts > 0);

/** Whether an attempt is under way for a block that was reverted since: the reversal waits for its end, whatever the order of others. */
const isOvertaken = ({ underWay }: Target): boolean => {
  for (const attempt of underWay) if (attempt.isOvertaken) return true;
  return false;
};

const isFree = ({ underWay, isWithdrawn }: NextNeeds, id: number): boolean => !underWay.has(id) && !isWithdrawn(id);

/** In strict order, a delivery that is to be tried again holds up all after it: the lowest of those. */
const heldUpFrom = ({ store }: NextNeeds, { webhook }: Queue): number => (webhook.order === "strict" ? (store.deliveryIds(webhook.id, "retrying", 0, 1)[0] ?? Infinity) : Infinity);

/** First attempts. */
const createNextFirst = (needs: NextNeeds) => {
  const { queues, window } = needs;

  const firstOf = (queue: Queue, { schedule, monotonic }: Times): Next | undefined => {
    if (isBehind(queue) || queue.mayAt > monotonic) return undefined;
    const { batch } = queue.webhook;
    const size = Math.min(batch?.size ?? 1, window);
    const ready = queues.first(queue, size);
    if (ready.length === 0) return undefined;
    const from = heldUpFrom(needs, queue);
    const rows = from === Infinity ? ready : ready.filter(({ id }) => id < from);
    if (rows.length === 0) return undefined;
    if (batch !== null && rows.length < size) {
      queue.batchSince ??= schedule;
      if (schedule - queue.batchSince < batch.wait) return undefined;
    }
    return { queue, rows, kind: "first" };
  };

  /** The earliest first attempt of all the target's queues. */
  const nextFirst = (target: Target, times: Times): Next | undefined => {
    if (isOvertaken(target)) return undefined;
    let next: Next | undefined;
    for (const queue of target.queues.values()) {
      const found = firstOf(queue, times);
      if (found !== undefined && (found.rows[0]?.id ?? Infinity) < (next?.rows[0]?.id ?? Infinity)) next = found;
    }
    return next;
  };

  return nextFirst;
};

/**
 * In strict order, the lowest of what is to be tried again goes first, though another may be due before it; nothing does until it is due, nor before a first
 * attempt of what is lower: a client may have asked for one that was not attempted yet.
 */
const inStrictOrder = (needs: NextNeeds, queue: Queue, row: DeliveryRow, now: number): DeliveryRow | undefined => {
  const { store } = needs;
  const { webhook } = queue;
  if (webhook.order !== "strict") return row;
  const [lowest, [pending = Infinity]] = [heldUpFrom(needs, queue), store.deliveryIds(webhook.id, "pending", 0, 1)];
  if (pending < lowest) return undefined;
  if (lowest === row.id) return row;
  const first = store.delivery(webhook.id, lowest);
  const dueAt = first?.dueAt ?? 0;
  if (dueAt <= now && isFree(needs, lowest)) return first;
  queue.nextDue = Math.max(queue.nextDue, dueAt);
  return undefined;
};

/** Retries and pings. */
const createNextDue = (needs: NextNeeds) => {
  const { store, underWay, settle } = needs;

  /** Deliveries that were sent as one, and are due again. */
  const sameBatch = (queue: Queue, first: DeliveryRow): DeliveryRow[] => {
    if (first.batch === undefined) return [first];
    const due = store.retries(queue.webhook.id, queue.open.taken + 100, first.dueAt ?? 0).filter(({ id, dueAt }) => dueAt === first.dueAt && isFree(needs, id));
    return due.map(({ id }) => store.delivery(queue.webhook.id, id)).filter((row) => row !== undefined && row.batch === first.batch) as DeliveryRow[];
  };

  /** What is due: a ping before all else. */
  const dueRow = (queue: Queue, now: number): DeliveryRow | undefined => {
    if (queue.nextDue > now) return undefined;
    const all = store.retries(queue.webhook.id, queue.open.taken + 1);
    const waiting = all.find(({ id }) => isFree(needs, id));
    queue.skipped = all.some(({ id }) => underWay.has(id));
    queue.nextDue = waiting?.dueAt ?? Infinity;
    const row = waiting !== undefined && waiting.dueAt <= now ? store.delivery(queue.webhook.id, waiting.id) : undefined;
    if (row?.isTakenBack !== true) return row;
    // Whoever has settled it looks again.
    settle(row);
    queue.nextDue = Infinity;
    return undefined;
  };

  const nextRetry = (target: Target, { schedule, monotonic }: Times): Next | undefined => {
    for (const queue of target.queues.values()) {
      if (queue.mayAt > monotonic || (queue.webhook.order === "strict" && queue.open.count > 0)) continue;
      const row = dueRow(queue, schedule);
      if (row === undefined || isPing(row)) continue;
      const first = inStrictOrder(needs, queue, row, schedule);
      if (first !== undefined) return { queue, rows: sameBatch(queue, first), kind: "retry" };
    }
    return undefined;
  };

  const nextPing = (target: Target, { schedule }: Times): Next | undefined => {
    for (const queue of target.queues.values()) {
      const row = dueRow(queue, schedule);
      if (row !== undefined && isPing(row)) return { queue, rows: [row], kind: "ping" };
    }
    return undefined;
  };

  return { nextRetry, nextPing };
};

export const createNext = (needs: NextNeeds) => {
  const nextFirst = createNextFirst(needs);
  const { nextRetry, nextPing } = createNextDue(needs);

  /** Undefined if there is nothing now. */
  return (target: Target, times: Times): Next | undefined => {
    const ping = nextPing(target, times);
    if (ping !== undefined || target.pausedUntil > times.schedule) return ping;
    const first = (): Next | undefined => nextFirst(target, times);
    const retry = (): Next | undefined => nextRetry(target, times);
    return target.last === "first" ? (retry() ?? first()) : (first() ?? retry());
  };
};
