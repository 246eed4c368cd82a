import { LRUCache } from "lru-cache";
import type { About, Message, WebhookStore } from "../../../types/webhook-store.js";
import { textDigest } from "../layout/keys.js";
import { createAboutIndex, messagesAbout } from "./about.js";
import { beyondAll, counters, type WebhookDatabases } from "./databases.js";
import { beginSheet, blockIn, type DeliveryName, type OpenSheet, putOnSheet, readMessages, type Told, toSheet } from "./message-sheet.js";
import type { Tally } from "./tally.js";

/** Messages: on a sheet with others of their block, or in a row each. */

type Found = ReturnType<WebhookStore["messagesAbout"]>[number];

const blockKey = (blockId: string): string => textDigest(blockId).toString("hex");

const nameOf = ({ event, id }: About): string => `${event} ${id}`;

/** A sheet as it was read: it never changes. */
interface ReadSheet {
  told: readonly Told[];
  /** By what they are about: places on the sheet. */
  byAbout: ReadonlyMap<string, readonly number[]>;
}

const indexed = (told: readonly Told[]): ReadSheet => {
  const byAbout = new Map<string, number[]>();
  for (const [place, { message }] of told.entries()) {
    if (message.about === undefined) continue;
    const name = nameOf(message.about);
    const there = byAbout.get(name);
    if (there === undefined) byAbout.set(name, [place]);
    else there.push(place);
  }
  return { told, byAbout };
};

/** Sheets that are kept as they were read: those of a block are asked one after the other for each of its transactions when it is reverted. */
const mostRead = 64;

/** What messages answer. What is open in a transaction is to be flushed before. */
export const createMessageReader = (db: WebhookDatabases) => {
  const read = new LRUCache<number, ReadSheet>({ max: mostRead });

  const sheet = (first: number): ReadSheet | undefined => {
    const known = read.get(first);
    if (known !== undefined) return known;
    const value = db.messageSheets.get(first);
    if (value === undefined) return undefined;
    const made = indexed(readMessages(value));
    read.set(first, made);
    return made;
  };

  /** Number of the first message on the sheet that has a message; undefined for one that is on none. */
  const firstWith = (number: number): number | undefined => {
    for (const first of db.messageSheets.getKeys({ start: number, end: 0, reverse: true, limit: 1 })) {
      const found = sheet(first);
      if (found !== undefined && number - first < found.told.length) return first;
    }
    return undefined;
  };

  const onSheet = (number: number): Message | undefined => {
    const first = firstWith(number);
    return first === undefined ? undefined : sheet(first)?.told[number - first]?.message;
  };

  const aboutOnSheets = (about: About): Found[] => {
    const blockId = blockIn(about);
    if (blockId === undefined) return [];
    const key = blockKey(blockId);
    const found: Found[] = [];
    for (const [, first] of db.blocks.getKeys({ start: [key, 0], end: [key, beyondAll] })) {
      const { told, byAbout } = sheet(first) ?? indexed([]);
      for (const place of byAbout.get(nameOf(about)) ?? []) {
        found.push({ messageId: first + place, deliveries: (told[place]?.deliveries ?? []).map(([webhookId, id]) => ({ webhookId, id })) });
      }
    }
    return found;
  };

  return {
    sheet,
    firstWith,
    message: (number: number): Message | undefined => db.messages.get(number) ?? onSheet(number),
    about: (about: About): Found[] => [...messagesAbout(db, about), ...aboutOnSheets(about)].sort((a, b) => a.messageId - b.messageId),
    /** The sheet that begins with this number is written anew, or no more: a transaction that failed may have left another under it. */
    forget: (first: number): void => void read.delete(first),
  };
};

export type MessageReader = ReturnType<typeof createMessageReader>;

/** Writes of one transaction, at whose end it is to be flushed. */
export const createMessageWriter = (db: WebhookDatabases, tally: Tally, reader: MessageReader) => {
  const rows = createAboutIndex(db, tally);
  let open: OpenSheet | undefined;

  /** `about`: only if something on the sheet may be about it. Nothing more is put on a sheet that was written, and what is asked for between two messages is seldom of their block. */
  const flush = (about?: About): void => {
    if (open === undefined || (about !== undefined && blockIn(about) !== open.sheet[0][1])) return;
    const { first, sheet } = open;
    db.messageSheets.putSync(first, sheet);
    db.blocks.putSync([blockKey(sheet[0][1]), first], true);
    reader.forget(first);
    open = undefined;
  };

  /** Returns the number under which its deliveries are counted: that of its row, or of its sheet. */
  const put = (number: number, message: Message, deliveries: readonly DeliveryName[]): number => {
    const sheeted = toSheet({ message, deliveries });
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

  const removeSheet = (first: number): void => {
    const { told } = reader.sheet(first) ?? indexed([]);
    for (const [place, { message: { about } }] of told.entries()) {
      if (about !== undefined) rows.uncount(first + place, about);
    }
    const blockId = told[0]?.message.block?.id;
    if (blockId !== undefined) db.blocks.removeSync([blockKey(blockId), first]);
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
      const first = reader.firstWith(number);
      if (tally.add(counters.references(first ?? number), -1) > 0) return;
      if (first === undefined) removeRow(number);
      else removeSheet(first);
    },
    supersede: rows.supersede,
    flush,
  };
};
