import type { DeliveryRow } from "../../../../types/webhook-store.js";
import type { DeliveryState } from "../../../../types/webhooks.js";
import { beyondAll, type WebhookDatabases } from "../databases.js";
import { addToSheet, changeOnSheet, deliveredAt, factsOf, findOnSheet, type OpenSheet, openSheet, packDelivery, readSheet, type SheetFacts, unpackDelivery, waitingOn } from "./sheet.js";

/** The sheets of all webhooks. Each stands under its webhook and the first id that it had: a delivery is on the last sheet from which on its id may be. */

const inState = (state: DeliveryState | undefined) => (delivery: Buffer): boolean => state === undefined || (deliveredAt(delivery) === undefined) === (state === "pending");

/** Whether deliveries in a state may be on sheets; undefined: in any. */
const areOnSheets = (state: DeliveryState | undefined): boolean => state === undefined || state === "pending" || state === "delivered";

/** A sheet and the first id that it had. */
interface Kept {
  first: number;
  sheet: Buffer;
}

/** The last sheet of a webhook that begins at an id or below it. */
const lastFrom = (db: WebhookDatabases, webhookId: number, id: number): Kept | undefined => {
  for (const { key, value } of db.sheets.getRange({ start: [webhookId, id], end: [webhookId, 0], reverse: true, limit: 1 })) return { first: key[1], sheet: value };
  return undefined;
};

/** First ids of the sheets of a webhook that may have deliveries in a state above an id, ascending. */
function* firstsAbove(db: WebhookDatabases, webhookId: number, state: "pending" | "delivered", after: number): Generator<number, void> {
  if (state === "pending") {
    const at = (first: number): [number, "sheet", number] => [webhookId, "sheet", first];
    for (const [, , first] of db.states.getKeys({ start: at(after), end: at(0), reverse: true, limit: 1 })) yield first;
    for (const [, , first] of db.states.getKeys({ start: at(after + 1), end: at(beyondAll) })) yield first;
  } else {
    for (const [, first] of db.sheets.getKeys({ start: [webhookId, after], end: [webhookId, 0], reverse: true, limit: 1 })) yield first;
    for (const [, first] of db.sheets.getKeys({ start: [webhookId, after + 1], end: [webhookId, beyondAll] })) yield first;
  }
}

/** How many webhooks' last places are remembered, at the most. */
const mostRemembered = 10_000;

/** What sheets answer. */
export const createSheetReader = (db: WebhookDatabases) => {
  /** Webhook id -> the sheet on which a delivery was found last: the next one is there, too, mostly, and the sheet need not be sought. */
  const remembered = new Map<number, number>();

  const sheetAt = (webhookId: number, first: number): [id: number, delivery: Buffer][] => {
    const sheet = db.sheets.get([webhookId, first]);
    return sheet === undefined ? [] : readSheet(sheet);
  };

  /** A delivery, and the sheet that it is on. */
  const find = (webhookId: number, id: number): (Kept & { delivery: Buffer }) | undefined => {
    const first = remembered.get(webhookId);
    const sheet = first === undefined || first > id ? undefined : db.sheets.get([webhookId, first]);
    const delivery = sheet && findOnSheet(sheet, id);
    if (first !== undefined && sheet !== undefined && delivery !== undefined) return { first, sheet, delivery };
    const last = lastFrom(db, webhookId, id);
    const found = last && findOnSheet(last.sheet, id);
    if (last === undefined || found === undefined) return undefined;
    if (remembered.size >= mostRemembered) remembered.clear();
    remembered.set(webhookId, last.first);
    return { first: last.first, sheet: last.sheet, delivery: found };
  };

  return {
    sheetWith: (webhookId: number, id: number): Kept | undefined => find(webhookId, id),
    delivery: (webhookId: number, id: number): DeliveryRow | undefined => {
      const found = find(webhookId, id);
      return found && unpackDelivery(found.delivery, webhookId);
    },
    /** Ids of those in a state above an id, ascending. */
    ids: function* (webhookId: number, state: DeliveryState, after: number): Generator<number, void> {
      if (state !== "pending" && state !== "delivered") return;
      const isWanted = inState(state);
      for (const first of firstsAbove(db, webhookId, state, after)) {
        for (const [id, delivery] of sheetAt(webhookId, first)) if (id > after && isWanted(delivery)) yield id;
      }
    },
    /** Those that wait, above an id, ascending. */
    waiting: function* (webhookId: number, after: number): Generator<DeliveryRow, void> {
      for (const first of firstsAbove(db, webhookId, "pending", after)) {
        const sheet = db.sheets.get([webhookId, first]);
        if (sheet !== undefined) yield* waitingOn(sheet, webhookId, after);
      }
    },
    /** Of those in a state, or in any, from an id downwards. */
    idsBelow: function* (webhookId: number, state: DeliveryState | undefined, highest: number): Generator<number, void> {
      if (!areOnSheets(state)) return;
      const isWanted = inState(state);
      for (const { value } of db.sheets.getRange({ start: [webhookId, highest], end: [webhookId, 0], reverse: true })) {
        for (const [id, delivery] of readSheet(value).reverse()) if (id <= highest && isWanted(delivery)) yield id;
      }
    },
    /** Those delivered before a time. */
    deliveredBefore: function* (time: number): Generator<[webhookId: number, id: number], void> {
      for (const [, , webhookId, first] of db.finished.getKeys({ start: ["sheet", -beyondAll, 0, 0], end: ["sheet", time, 0, 0] })) {
        for (const [id, delivery] of sheetAt(webhookId, first)) if ((deliveredAt(delivery) ?? Infinity) < time) yield [webhookId, id];
      }
    },
  };
};

export type SheetReader = ReturnType<typeof createSheetReader>;

/** A sheet that is being written, and the first id that it had. */
interface Open extends OpenSheet {
  first: number;
  /** As it is in the store. */
  before: SheetFacts;
  isChanged: boolean;
}

const writeIndexes = (db: WebhookDatabases, webhookId: number, { first, before }: Open, after: SheetFacts): void => {
  if (before.waits && !after.waits) db.states.removeSync([webhookId, "sheet", first]);
  if (!before.waits && after.waits) db.states.putSync([webhookId, "sheet", first], true);
  if (before.earliest === after.earliest) return;
  if (before.earliest !== undefined) db.finished.removeSync(["sheet", before.earliest, webhookId, first]);
  if (after.earliest !== undefined) db.finished.putSync(["sheet", after.earliest, webhookId, first], true);
};

const write = (db: WebhookDatabases, webhookId: number, one: Open): void => {
  if (!one.isChanged) return;
  const after = factsOf(one.sheet);
  if (one.sheet.length === 0) db.sheets.removeSync([webhookId, one.first]);
  else db.sheets.putSync([webhookId, one.first], one.sheet);
  writeIndexes(db, webhookId, one, after);
  one.before = after;
  one.isChanged = false;
};

/**
 * Writes of one transaction: one sheet of each webhook is at hand, and is written when another is needed, or by `flush`, however many of its
 * deliveries have changed. `lastSheets`: webhook id -> the first id of its last sheet, which need not be sought. It learns others.
 */
export const createSheetWriter = (db: WebhookDatabases, reader: SheetReader, lastSheets = new Map<number, number>()) => {
  const open = new Map<number, Open>();

  const take = (webhookId: number, { first, sheet }: Kept): Open => {
    const taken: Open = { ...openSheet(sheet), first, before: factsOf(sheet), isChanged: false };
    open.set(webhookId, taken);
    return taken;
  };

  /** The sheet on which a delivery is. */
  const sheetWith = (webhookId: number, id: number): Open | undefined => {
    const at = open.get(webhookId);
    if (at !== undefined && findOnSheet(at.sheet, id) !== undefined) return at;
    if (at !== undefined) write(db, webhookId, at);
    const found = reader.sheetWith(webhookId, id);
    return found && take(webhookId, found);
  };

  /** Nobody else adds any meanwhile. */
  const lastOf = (webhookId: number): Kept | undefined => {
    const first = lastSheets.get(webhookId);
    const sheet = first && db.sheets.get([webhookId, first]);
    return first && sheet ? { first, sheet } : lastFrom(db, webhookId, beyondAll);
  };

  /** The last sheet, or a new one where that is full. */
  const tailOf = (webhookId: number, id: number): Open => {
    const at = open.get(webhookId);
    const isTail = at !== undefined && at.first === lastSheets.get(webhookId);
    if (isTail && !factsOf(at.sheet).isFull) return at;
    if (at !== undefined) write(db, webhookId, at);
    const last = isTail ? undefined : lastOf(webhookId);
    const found = last && take(webhookId, last);
    const tail = found === undefined || found.before.isFull ? take(webhookId, { first: id, sheet: Buffer.alloc(0) }) : found;
    lastSheets.set(webhookId, tail.first);
    return tail;
  };

  /** Says whether it was there. */
  const change = (webhookId: number, id: number, delivery?: Buffer): boolean => {
    const found = sheetWith(webhookId, id);
    if (found === undefined || !changeOnSheet(found, id, delivery)) return false;
    found.isChanged = true;
    return true;
  };

  return {
    add: (row: DeliveryRow): void => {
      const tail = tailOf(row.webhookId, row.id);
      addToSheet(tail, packDelivery(row));
      tail.isChanged = true;
    },
    delivery: (webhookId: number, id: number): DeliveryRow | undefined => {
      const found = sheetWith(webhookId, id);
      const delivery = found && findOnSheet(found.sheet, id);
      return delivery && unpackDelivery(delivery, webhookId);
    },
    /** In the place of what it was. Says whether that was on a sheet. */
    put: (row: DeliveryRow): boolean => change(row.webhookId, row.id, packDelivery(row)),
    /** Says whether it was on a sheet. */
    remove: (webhookId: number, id: number): boolean => change(webhookId, id),
    flush: (): void => {
      for (const [webhookId, one] of open) write(db, webhookId, one);
    },
  };
};
