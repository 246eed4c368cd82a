import type { DeliveryRow, WebhookStore } from "../../../../types/webhook-store.js";
import { firstSize, type Lane, type LaneRules, type Next, type Target, type Times } from "./lanes.js";

/** What a target is to be sent next. */

/** Reads ahead until `count` are ready, if there are so many. */
const fill = (lane: Lane, store: WebhookStore, count: number): void => {
  while (lane.ready.length < count && lane.more !== undefined) {
    const size = lane.more;
    // Read before the rows: what is written after this is handed over.
    const lastWritten = store.lastDelivery();
    const rows = store.waiting(lane.webhook.id, lane.passed, size);
    const isEnd = rows.length < size;
    lane.passed = Math.max(lane.passed, rows.at(-1)?.id ?? 0, isEnd ? lastWritten : 0);
    lane.more = isEnd ? undefined : Math.min(lane.mostReady(), 2 * size);
    // What is under way now may have been delivered when its turn comes.
    lane.ready.push(...rows.filter(({ id, dueAt }) => dueAt === null && !lane.underWay.has(id)));
  }
};

/** The next first attempts, at most `count`. */
const readyRows = (lane: Lane, store: WebhookStore, count: number): DeliveryRow[] => {
  const rows: DeliveryRow[] = [];
  while (rows.length < count) {
    fill(lane, store, rows.length + 1);
    const row = lane.ready[rows.length];
    if (row === undefined) break;
    // Taken back since, or taken as a retry.
    if (lane.isWithdrawn(row.id) || lane.underWay.has(row.id)) lane.ready.splice(rows.length, 1);
    else rows.push(row);
  }
  return rows;
};

/** Deliveries that were sent as one, and are due again. */
const sameBatch = (lane: Lane, store: WebhookStore, first: DeliveryRow): DeliveryRow[] => {
  if (first.batch === undefined) return [first];
  const due = store.retries(lane.webhook.id, lane.open.taken + 100, first.dueAt ?? 0).filter(({ id, dueAt }) => dueAt === first.dueAt && !lane.underWay.has(id) && !lane.isWithdrawn(id));
  return due.map(({ id }) => store.delivery(lane.webhook.id, id)).filter((row) => row !== undefined && row.batch === first.batch) as DeliveryRow[];
};

/** What is due: a ping before all else. */
const dueRow = (lane: Lane, store: WebhookStore, now: number): DeliveryRow | undefined => {
  if (lane.nextDue > now) return undefined;
  const all = store.retries(lane.webhook.id, lane.open.taken + 1);
  const waiting = all.find(({ id }) => !lane.underWay.has(id) && !lane.isWithdrawn(id));
  lane.skipped = all.some(({ id }) => lane.underWay.has(id));
  lane.nextDue = waiting?.dueAt ?? Infinity;
  return waiting !== undefined && waiting.dueAt <= now ? store.delivery(lane.webhook.id, waiting.id) : undefined;
};

const isPing = (row: DeliveryRow): boolean => row.state === "pending";

/** Whether first attempts of a lane go out in the order of all that its target is sent. */
const isOrdered = ({ webhook }: Lane, { ordered }: LaneRules): boolean => ordered && webhook.order !== "none";

/** Whether a first attempt of a lane waits for others. */
const isBehind = (lane: Lane, rules: LaneRules): boolean => {
  const { webhook, target, open } = lane;
  if (webhook.order === "strict" && open.count > 0) return true;
  return isOrdered(lane, rules) && target.firsts > 0;
};

/** In strict order, a delivery that is to be tried again holds up all after it: the lowest of those. */
const heldUpFrom = ({ webhook }: Lane, store: WebhookStore): number => {
  const [retrying = Infinity] = webhook.order === "strict" ? store.deliveryIds(webhook.id, "retrying", 0, 1) : [];
  return retrying;
};

/** Deliveries that are sent as one. No more than may be open can come together. */
const sizeOf = ({ batch }: Lane["webhook"], { window }: LaneRules): number => Math.min(batch?.size ?? 1, window);

const firstOf = (lane: Lane, store: WebhookStore, rules: LaneRules, { schedule, monotonic }: Times): Next | undefined => {
  if (isBehind(lane, rules) || lane.mayAt > monotonic) return undefined;
  const { batch } = lane.webhook;
  const size = sizeOf(lane.webhook, rules);
  const ready = readyRows(lane, store, size);
  if (ready.length === 0) return undefined;
  const from = heldUpFrom(lane, store);
  const rows = ready.filter(({ id }) => id < from);
  if (rows.length === 0) return undefined;
  if (batch !== null && rows.length < size) {
    lane.batchSince ??= schedule;
    if (schedule - lane.batchSince < batch.wait) return undefined;
  }
  return { lane, rows, kind: "first" };
};

/** Whether an attempt is under way for a block that was reverted since: the reversal waits for its end, whatever the order of others. */
const isOvertaken = ({ underWay }: Target): boolean => {
  for (const attempt of underWay) if (attempt.isOvertaken) return true;
  return false;
};

const idOf = (next: Next | undefined): number => next?.rows[0]?.id ?? Infinity;

/** With a delivery that was read, earlier ones may have been committed that are not handed over yet. Has lanes that may have one read on; says whether there are any. */
const readBefore = (id: number, { lanes }: Target, rules: LaneRules): boolean => {
  let found = false;
  for (const lane of lanes.values()) {
    const { more, ready, webhook, passed, handed } = lane;
    const hasEnough = ready.length >= sizeOf(webhook, rules);
    if (more !== undefined || hasEnough || Math.max(passed, handed.upTo) >= id) continue;
    lane.more = firstSize;
    found = true;
  }
  return found;
};

/** The earliest first attempt of all the target's lanes, as far as they know. */
const earliest = (target: Target, store: WebhookStore, rules: LaneRules, times: Times): Next | undefined => {
  let next: Next | undefined;
  for (const lane of target.lanes.values()) {
    const found = firstOf(lane, store, rules, times);
    if (idOf(found) < idOf(next)) next = found;
  }
  return next;
};

const nextFirst = (target: Target, store: WebhookStore, rules: LaneRules, times: Times): Next | undefined => {
  const next = earliest(target, store, rules, times);
  if (next === undefined || isOvertaken(target)) return undefined;
  return isOrdered(next.lane, rules) && readBefore(idOf(next), target, rules) ? earliest(target, store, rules, times) : next;
};

/**
 * In strict order, the lowest of what is to be tried again goes first, though another may be due before it; nothing does until it is due, nor before a first
 * attempt of what is lower: a client may have asked for one that was not attempted yet.
 */
const inStrictOrder = (lane: Lane, store: WebhookStore, row: DeliveryRow, now: number): DeliveryRow | undefined => {
  const { webhook, underWay, isWithdrawn } = lane;
  if (webhook.order !== "strict") return row;
  const [lowest, [pending = Infinity]] = [heldUpFrom(lane, store), store.deliveryIds(webhook.id, "pending", 0, 1)];
  if (pending < lowest) return undefined;
  if (lowest === row.id) return row;
  const first = store.delivery(webhook.id, lowest);
  const dueAt = first?.dueAt ?? 0;
  if (dueAt <= now && !underWay.has(lowest) && !isWithdrawn(lowest)) return first;
  lane.nextDue = Math.max(lane.nextDue, dueAt);
  return undefined;
};

const nextRetry = (target: Target, store: WebhookStore, { schedule, monotonic }: Times): Next | undefined => {
  for (const lane of target.lanes.values()) {
    if (lane.mayAt > monotonic || (lane.webhook.order === "strict" && lane.open.count > 0)) continue;
    const row = dueRow(lane, store, schedule);
    if (row === undefined || isPing(row)) continue;
    const first = inStrictOrder(lane, store, row, schedule);
    if (first === undefined) continue;
    return { lane, rows: sameBatch(lane, store, first), kind: "retry" };
  }
  return undefined;
};

const nextPing = (target: Target, store: WebhookStore, { schedule }: Times): Next | undefined => {
  for (const lane of target.lanes.values()) {
    const row = dueRow(lane, store, schedule);
    if (row !== undefined && isPing(row)) return { lane, rows: [row], kind: "ping" };
  }
  return undefined;
};

/** What a target is to be sent next; undefined if there is nothing now. */
export const nextOf = (target: Target, store: WebhookStore, rules: LaneRules, times: Times): Next | undefined => {
  const ping = nextPing(target, store, times);
  if (ping !== undefined || target.pausedUntil > times.schedule) return ping;
  const first = (): Next | undefined => nextFirst(target, store, rules, times);
  const retry = (): Next | undefined => nextRetry(target, store, times);
  return target.last === "first" ? (retry() ?? first()) : (first() ?? retry());
};

