import type { About, Message } from "../../../../types/webhook-store.js";

/**
 * A sheet of messages: messages that follow each other and tell of one block that was applied, in one value. On it are nearly all that have few
 * deliveries. What they share is written once, what follows from something else not at all: a row for each, with an entry in an index for the block or
 * transaction that it is about, takes ten times the room. Messages with many deliveries have rows (messages.ts): they are found faster, and what
 * they take is shared by more.
 */

/** Bytes on a sheet, about: so many fill a page of LMDB. */
const mostBytes = 3_900;

/** Deliveries of a message that is put on a sheet, at the most. */
const mostDeliveries = 8;

/** Characters of its texts together: whatever has more gets a row of its own. */
const longestTexts = 600;

export type DeliveryName = [webhookId: number, id: number];

/** What all messages of a sheet share. Null: that which follows from the block. */
type Head = [height: number, blockId: string, before: string, after: string | null, idPrefix: string | null, at: number];

/** What a message is about: nothing, its block, or a transaction in it, by its id. */
type Subject = null | true | string;

/** The end of the event's id, its name as a place among those of the sheet, what it is about, and the deliveries, one after the other. */
type Entry<S> = [idRest: string, name: number, subject: S, deliveries: number[]];

/** As it is written, as MessagePack: most ids of transactions are 32 bytes. */
export type MessageSheet = [head: Head, names: string[], entries: Entry<Subject | Uint8Array>[]];

/** As it is in memory. */
export type ReadSheet = [head: Head, names: string[], entries: Entry<Subject>[]];

type OfBlock = { [Name in "block" | "eventId" | "event" | "before" | "after"]-?: NonNullable<Message[Name]> };

const isOfBlock = (message: Message): message is Message & OfBlock => {
  const { json, block, eventId, event, before, after } = message;
  return json === undefined && block !== undefined && eventId !== undefined && event !== undefined && before !== undefined && after !== undefined;
};

const afterOf = (height: number, blockId: string): string => `${height}-${blockId}`;
const idPrefixOf = (blockId: string): string => `${blockId}.applied.`;

/** All up to the second dot: `BLOCK.applied.` where the event is of the chain. */
const prefixIn = (eventId: string): string => eventId.slice(0, eventId.indexOf(".", eventId.indexOf(".") + 1) + 1);

const isHexId = (id: string): boolean => /^[0-9a-f]{64}$/.test(id);

/** The block whose sheets may have messages about something, and what stands there for it; undefined where none has. */
export const soughtBy = ({ event, id }: About): { blockId: string; subject: true | string } | undefined => {
  if (event === "block.applied") return { blockId: id, subject: true };
  const space = id.lastIndexOf(" ");
  return event === "transaction.applied" && space >= 0 ? { blockId: id.slice(space + 1), subject: id.slice(0, space) } : undefined;
};

/** Undefined: it is found otherwise than by this block. */
const subjectOf = (about: About | undefined, blockId: string): Subject | undefined => {
  if (about === undefined) return null;
  const sought = soughtBy(about);
  return sought?.blockId === blockId ? sought.subject : undefined;
};

const packed = (subject: Subject): Subject | Uint8Array => (typeof subject === "string" && isHexId(subject) ? Buffer.from(subject, "hex") : subject);
const unpacked = (subject: Subject | Uint8Array): Subject => (subject instanceof Uint8Array ? Buffer.from(subject).toString("hex") : subject);

const aboutOf = (subject: Subject, blockId: string): About | undefined => {
  if (subject === null) return undefined;
  return subject === true ? { event: "block.applied", id: blockId } : { event: "transaction.applied", id: `${subject} ${blockId}` };
};

/** A message as it stands on a sheet. */
export interface Sheeted {
  head: Head;
  entry: { idRest: string; event: string; subject: Subject | Uint8Array; deliveries: readonly DeliveryName[] };
}

/** Undefined: it gets a row. */
export const toSheet = (message: Message, deliveries: readonly DeliveryName[]): Sheeted | undefined => {
  if (deliveries.length > mostDeliveries || !isOfBlock(message)) return undefined;
  const { at, block, eventId, event, before, after, about } = message;
  const subject = subjectOf(about, block.id);
  if (subject === undefined || eventId.length + event.length + before.length + after.length + (about?.id.length ?? 0) > longestTexts) return undefined;
  const prefix = prefixIn(eventId);
  const head: Head = [block.height, block.id, before, after === afterOf(block.height, block.id) ? null : after, prefix === idPrefixOf(block.id) ? null : prefix, at];
  return { head, entry: { idRest: eventId.slice(prefix.length), event, subject: packed(subject), deliveries } };
};

const isSameHead = (one: Head, other: Head): boolean => one.every((value, index) => value === other[index]);

/** Bytes that an entry takes, about. */
const sizeOf = ({ idRest, subject, deliveries }: Sheeted["entry"]): number => 8 + idRest.length + (subject === null || subject === true ? 1 : subject.length + 2) + 10 * deliveries.length;

/** A sheet that is being written. */
export interface OpenSheet {
  /** Number of its first message. */
  readonly first: number;
  readonly sheet: MessageSheet;
  size: number;
}

export const beginSheet = (first: number, head: Head): OpenSheet => ({ first, sheet: [head, [], []], size: 200 });

/** Says whether it was put there: the sheet may be full, or another's. */
export const putOnSheet = (open: OpenSheet, number: number, { head, entry }: Sheeted): boolean => {
  const [sharedHead, names, entries] = open.sheet;
  const size = sizeOf(entry);
  if (open.first + entries.length !== number || !isSameHead(sharedHead, head) || (entries.length > 0 && open.size + size > mostBytes)) return false;
  const known = names.indexOf(entry.event);
  const name = known >= 0 ? known : names.push(entry.event) - 1;
  entries.push([entry.idRest, name, entry.subject, entry.deliveries.flat()]);
  open.size += size;
  return true;
};

export const readSheet = ([head, names, entries]: MessageSheet): ReadSheet => [
  head,
  names,
  entries.map(([idRest, name, subject, deliveries]) => [idRest, name, unpacked(subject), deliveries]),
];

/** The message at a place. */
export const messageOn = ([[height, id, before, after, idPrefix, at], names, entries]: ReadSheet, place: number): Message | undefined => {
  const entry = entries[place];
  if (entry === undefined) return undefined;
  const [idRest, name, subject] = entry;
  const message: Message = { at, eventId: `${idPrefix ?? idPrefixOf(id)}${idRest}`, event: names[name] ?? "", block: { height, id }, before, after: after ?? afterOf(height, id) };
  const about = aboutOf(subject, id);
  if (about !== undefined) message.about = about;
  return message;
};

/** The deliveries that a message was written with. */
export const deliveriesOn = ([, , entries]: ReadSheet, place: number): { webhookId: number; id: number }[] => {
  const flat = entries[place]?.[3] ?? [];
  return Array.from({ length: flat.length / 2 }, (_, index) => ({ webhookId: flat[2 * index] ?? 0, id: flat[2 * index + 1] ?? 0 }));
};

/** Places of the messages about something. */
export const placesAbout = ([, , entries]: ReadSheet, sought: true | string): number[] => {
  const places: number[] = [];
  for (let place = 0; place < entries.length; place++) if (entries[place]?.[2] === sought) places.push(place);
  return places;
};
