import { LRUCache } from "lru-cache";
import type { About, Message, WebhookStore } from "../../../../types/webhook-store.js";
import { textDigest } from "../../layout/keys.js";
import { createAboutIndex, messagesAbout } from "./about.js";
import { beyondAll, counters, type WebhookDatabases } from "../databases.js";
import { beginSheet, deliveriesOn, type DeliveryName, messageOn, type OpenSheet, placesAbout, putOnSheet, type ReadSheet, readSheet, soughtBy, toSheet } from "./message-sheet.js";
import type { Tally } from "../tally.js";

/** Messages: on a sheet with others of their block, or in a row each. */

type Found = ReturnType<WebhookStore["messagesAbout"]>[number];

const blockKey = (blockId: string): string => textDigest(blockId).toString("hex");

/**
 * Sheets that are kept as they were read, some 15 kB each. When a block is reverted, all of its sheets are asked for each of its transactions: one of
 * 150 transactions has as many as these if a hundred chunks of webhooks (plan.ts) are each told of all, and three if one is.
 */
const mostRead = 256;

/** What messages answer. What is open in a transaction is to be flushed before. */
export const createMessageReader = (db: WebhookDatabases) => {
  const read = new LRUCache<number, ReadSheet>({ max: mostRead });

  const sheetAt = (first: number): ReadSheet | undefined => {
    const known = read.get(first);
    if (known !== undefined) return known;
    const value = db.messageSheets.get(first);
    if (value === undefined) return undefined;
    const made = readSheet(value);
    read.set(first, made);
    return made;
  };

  /** The sheet on which a message is, and the number of its first. */
  const sheetWith = (number: number): { first: number; sheet: ReadSheet } | undefined => {
    for (const first of db.messageSheets.getKeys({ start: number, end: 0, reverse: true, limit: 1 })) {
      const found = sheetAt(first);
      if (found !== undefined && number - first < found[2].length) return { first, sheet: found };
    }
    return undefined;
  };

  const onSheet = (number: number): Message | undefined => {
    const found = sheetWith(number);
    return found && messageOn(found.sheet, number - found.first);
  };

  const aboutOnSheets = (about: About): Found[] => {
    const sought = soughtBy(about);
    if (sought === undefined) return [];
    const key = blockKey(sought.blockId);
    const found: Found[] = [];
    for (const [, first] of db.blocks.getKeys({ start: [key, 0], end: [key, beyondAll] })) {
      const sheet = sheetAt(first);
      if (sheet === undefined) continue;
      for (const place of placesAbout(sheet, sought.subject)) found.push({ messageId: first + place, deliveries: deliveriesOn(sheet, place) });
    }
    return found;
  };

  return {
    sheetWith,
    message: (number: number): Message | undefined => db.messages.get(number) ?? onSheet(number),
    about: (about: About): Found[] => [...messagesAbout(db, about), ...aboutOnSheets(about)].sort((a, b) => a.messageId - b.messageId),
    /** A sheet is written or removed under this number: one of a transaction that failed may have been read under it. */
    forget: (first: number): void => void read.delete(first),
  };
};

export type MessageReader = ReturnType<typeof createMessageReader>;

/** Writes of one transaction, at whose end it is to be flushed. */
export const createMessageWriter = (db: WebhookDatabases, tally: Tally, reader: MessageReader) => {
  const rows = createAboutIndex(db, tally);
  let open: OpenSheet | undefined;

  /** `about`: only if the sheet may have something about it. A sheet that was written gets no more, and what is asked about between two messages is seldom of their block. */
  const flush = (about?: About): void => {
    if (open === undefined || (about !== undefined && soughtBy(about)?.blockId !== open.sheet[0][1])) return;
    const { first, sheet } = open;
    db.messageSheets.putSync(first, sheet);
    db.blocks.putSync([blockKey(sheet[0][1]), first], true);
    reader.forget(first);
    open = undefined;
  };

  /** Returns the number under which its deliveries are counted: that of its row, or of its sheet. */
  const put = (number: number, message: Message, deliveries: readonly DeliveryName[]): number => {
    const sheeted = toSheet(message, deliveries);
    if (sheeted === undefined) {
      db.messages.putSync(number, message);
      rows.add(number, message, deliveries);
      return number;
    }
    if (open === undefined || !putOnSheet(open, number, sheeted)) {
      flush();
      open = beginSheet(number, sheeted.head);
      putOnSheet(open, number, sheeted);
    }
    if (message.about !== undefined) tally.add(counters.about(message.about.event), 1);
    return open.first;
  };

  const removeRow = (number: number): void => {
    rows.remove(number);
    db.messages.removeSync(number);
  };

  const removeSheet = (first: number, sheet: ReadSheet): void => {
    for (const place of sheet[2].keys()) {
      const about = messageOn(sheet, place)?.about;
      if (about !== undefined) rows.uncount(first + place, about, deliveriesOn(sheet, place).map(({ webhookId }) => webhookId));
    }
    db.blocks.removeSync([blockKey(sheet[0][1]), first]);
    db.messageSheets.removeSync(first);
    reader.forget(first);
  };

  return {
    add: (number: number, message: Message, deliveries: readonly DeliveryName[]): void => {
      const at = put(number, message, deliveries);
      tally.add(counters.references(at), deliveries.length);
    },
    /** A delivery of it is gone. With the last of its deliveries, or of those of its sheet, the message goes. */
    release: (number: number): void => {
      flush();
      const found = reader.sheetWith(number);
      if (tally.add(counters.references(found?.first ?? number), -1) > 0) return;
      if (found === undefined) removeRow(number);
      else removeSheet(found.first, found.sheet);
    },
    supersede: rows.supersede,
    flush,
  };
};
