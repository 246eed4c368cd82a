import type { About, Message } from "../../../types/webhook-store.js";

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

/** Characters: whatever has longer texts gets a row of its own. */
const longestText = 300;

export type DeliveryName = [webhookId: number, id: number];

/** What a message is, and which deliveries it was written with. */
export interface Told {
  message: Message;
  deliveries: readonly DeliveryName[];
}

/** What all messages of a sheet share. Null: that which follows from the block. */
type Head = [height: number, blockId: string, before: string, after: string | null, idPrefix: string | null, at: number];

/** What a message is about: nothing, its block, or a transaction in it, by its id as 32 bytes or any other text. */
type Subject = null | true | Uint8Array | string;

/** The end of the event's id, its name as a place among those of the sheet, and the deliveries, one after the other. */
type Entry = [idRest: string, name: number, subject: Subject, deliveries: number[]];

/** As it is written, as MessagePack. */
export type MessageSheet = [head: Head, names: string[], entries: Entry[]];

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

/** The block whose sheets may have messages about something; undefined where none has. */
export const blockIn = ({ event, id }: About): string | undefined => {
  if (event === "block.applied") return id;
  const space = id.lastIndexOf(" ");
  return event === "transaction.applied" && space >= 0 ? id.slice(space + 1) : undefined;
};

const subjectOf = (about: About | undefined, blockId: string): Subject | undefined => {
  if (about === undefined) return null;
  if (blockIn(about) !== blockId) return undefined;
  if (about.event === "block.applied") return true;
  const id = about.id.slice(0, -blockId.length - 1);
  return isHexId(id) ? Buffer.from(id, "hex") : id;
};

const aboutOf = (subject: Subject, blockId: string): About | undefined => {
  if (subject === null) return undefined;
  if (subject === true) return { event: "block.applied", id: blockId };
  const id = typeof subject === "string" ? subject : Buffer.from(subject).toString("hex");
  return { event: "transaction.applied", id: `${id} ${blockId}` };
};

/** A message as it stands on a sheet. */
export interface Sheeted {
  head: Head;
  entry: Omit<Told, "message"> & { idRest: string; event: string; subject: Subject };
}

/** Undefined: it gets a row. */
export const toSheet = ({ message, deliveries }: Told): Sheeted | undefined => {
  if (deliveries.length > mostDeliveries || !isOfBlock(message)) return undefined;
  const { at, block, eventId, event, before, after, about } = message;
  const subject = subjectOf(about, block.id);
  if (subject === undefined || eventId.length + event.length + before.length + after.length + (about?.id.length ?? 0) > 2 * longestText) return undefined;
  const prefix = prefixIn(eventId);
  const head: Head = [block.height, block.id, before, after === afterOf(block.height, block.id) ? null : after, prefix === idPrefixOf(block.id) ? null : prefix, at];
  return { head, entry: { deliveries, idRest: eventId.slice(prefix.length), event, subject } };
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

const pairsOf = (flat: readonly number[]): DeliveryName[] => Array.from({ length: flat.length / 2 }, (_, index) => [flat[2 * index] ?? 0, flat[2 * index + 1] ?? 0]);

/** The messages of a sheet, in the order of their numbers. */
export const readMessages = ([[height, id, before, after, idPrefix, at], names, entries]: MessageSheet): Told[] =>
  entries.map(([idRest, name, subject, flat]) => {
    const block = { height, id };
    const message: Message = { at, eventId: `${idPrefix ?? idPrefixOf(id)}${idRest}`, event: names[name] ?? "", block, before, after: after ?? afterOf(height, id) };
    const about = aboutOf(subject, id);
    if (about !== undefined) message.about = about;
    return { message, deliveries: pairsOf(flat) };
  });
