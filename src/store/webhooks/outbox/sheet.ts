import { Packr, RESERVE_START_SPACE } from "msgpackr";
import type { DeliveryRow } from "../../../../types/webhook-store.js";
import type { Attempt } from "../../../../types/webhooks.js";

/**
 * A sheet: deliveries of one webhook in one value, ascending by id. On it are those that wait for their first attempt, and those that it
 * delivered: nearly all. A row of its own, with an entry in every index, takes two and a half times the room and twice the time to write.
 *
 * Each is a head (its length, 2 bytes; its id, 6; when it was delivered, as a double, NaN while it waits), and the rest as MessagePack.
 */

/** Deliveries on a sheet: about so many fill a page of LMDB. */
const mostOnSheet = 28;

/** Characters: whatever has longer texts gets a row of its own. */
const [longestBody, longestText] = [64, 300];

const offsets = { id: 2, deliveredAt: 8, rest: 16 } as const;

/** Whole numbers may have any size. */
const packr = new Packr({ useRecords: false });

/** Whether it is the last of its group; with other marks, the sum of all. */
type Marks = boolean | number;
const marks = { last: 1, again: 2, onRequest: 4 } as const;

type Rest = [messageId: number, key: string, event: string, at: number, marks: Marks, reverts: string | null, attempt?: [at: number, duration: number, status: number | null, body: string]];

const isPlain = ({ stage, error, body }: Attempt): boolean => stage === null && error === null && body.length <= longestBody;

/** Whether a sheet can have it as it is. */
export const fitsOnSheet = (row: DeliveryRow): boolean => {
  const { state, key, event, reverts, dueAt, finishedAt, hold, batch, stepSince, failures, attemptCount, attempts } = row;
  if (dueAt !== null || hold !== null || batch !== undefined || stepSince !== undefined || failures > 0 || attemptCount !== attempts.length) return false;
  if (key.length + event.length + (reverts?.length ?? 0) > longestText) return false;
  if (state === "pending") return finishedAt === null && attemptCount === 0;
  return state === "delivered" && finishedAt !== null && attemptCount <= 1 && attempts.every(isPlain);
};

const marksOf = ({ last = false, again, onRequest }: DeliveryRow): Marks => {
  const sum = marks.last * Number(last) + marks.again * Number(again ?? false) + marks.onRequest * Number(onRequest ?? false);
  return sum > marks.last ? sum : last;
};

export const packDelivery = (row: DeliveryRow): Buffer => {
  const { id, messageId, key, event, at, reverts, finishedAt, attempts: [attempt] } = row;
  const rest: Rest = [messageId, key, event, at, marksOf(row), reverts ?? null];
  if (attempt !== undefined) rest.push([attempt.at, attempt.duration, attempt.status, attempt.body]);
  const bytes = packr.pack(rest, RESERVE_START_SPACE + offsets.rest);
  bytes.writeUInt16BE(bytes.length, 0);
  bytes.writeUIntBE(id, offsets.id, 6);
  bytes.writeDoubleBE(finishedAt ?? Number.NaN, offsets.deliveredAt);
  return bytes;
};

const attemptOf = ([at, duration, status, body]: NonNullable<Rest[6]>): Attempt => ({ at, duration, status, stage: null, error: null, body });

/** The parts of a delivery's head, where it begins in some bytes. */
const idAt = (bytes: Buffer, at: number): number => bytes.readUIntBE(at + offsets.id, 6);
const timeAt = (bytes: Buffer, at: number): number => bytes.readDoubleBE(at + offsets.deliveredAt);

/** When it was delivered, a time of `KeptTime.passed`; undefined while it waits. */
export const deliveredAt = (delivery: Buffer): number | undefined => {
  const at = timeAt(delivery, 0);
  return Number.isNaN(at) ? undefined : at;
};

export const unpackDelivery = (delivery: Buffer, webhookId: number): DeliveryRow => {
  const finishedAt = deliveredAt(delivery) ?? null;
  const [messageId, key, event, at, marked, reverts, attempt] = packr.unpack(delivery.subarray(offsets.rest)) as Rest;
  const attempts = attempt === undefined ? [] : [attemptOf(attempt)];
  const state = finishedAt === null ? "pending" : "delivered";
  const row: DeliveryRow = { id: idAt(delivery, 0), webhookId, messageId, key, event, at, state, dueAt: null, finishedAt, hold: null, failures: 0, attemptCount: attempts.length, attempts };
  const sum = Number(marked);
  if ((sum & marks.last) > 0) row.last = true;
  if ((sum & marks.again) > 0) row.again = true;
  if ((sum & marks.onRequest) > 0) row.onRequest = true;
  if (reverts !== null) row.reverts = reverts;
  return row;
};

/** Where the delivery that begins at a place ends. @throws Error if the sheet is damaged */
const endOf = (sheet: Buffer, at: number): number => {
  const length = sheet.length - at < offsets.rest ? 0 : sheet.readUInt16BE(at);
  if (length <= offsets.rest || at + length > sheet.length) throw new Error("a sheet of deliveries is cut off");
  return at + length;
};

/** The deliveries on a sheet, ascending by id. @throws Error if it is damaged */
export const readSheet = (sheet: Buffer): [id: number, delivery: Buffer][] => {
  const deliveries: [number, Buffer][] = [];
  for (let at = 0; at < sheet.length; at = endOf(sheet, at)) deliveries.push([idAt(sheet, at), sheet.subarray(at, endOf(sheet, at))]);
  return deliveries;
};

/** Those that wait, above an id: each is unpacked when it is asked for. @throws Error if the sheet is damaged */
export const waitingOn = function* (sheet: Buffer, webhookId: number, after: number): Generator<DeliveryRow, void> {
  for (let at = 0; at < sheet.length; at = endOf(sheet, at)) {
    if (idAt(sheet, at) > after && Number.isNaN(timeAt(sheet, at))) yield unpackDelivery(sheet.subarray(at, endOf(sheet, at)), webhookId);
  }
};

/** Where a delivery begins, found without a look at the others but at their heads; undefined if it is not there. @throws Error if the sheet is damaged */
const placeOf = (sheet: Buffer, id: number): number | undefined => {
  for (let at = 0; at < sheet.length; at = endOf(sheet, at)) if (idAt(sheet, at) === id) return at;
  return undefined;
};

/** @throws Error if the sheet is damaged */
export const findOnSheet = (sheet: Buffer, id: number): Buffer | undefined => {
  const at = placeOf(sheet, id);
  return at === undefined ? undefined : sheet.subarray(at, endOf(sheet, at));
};

/** A sheet that is being written: the bytes that it takes of a buffer with room for more. */
export interface OpenSheet {
  sheet: Buffer;
  room: Buffer;
}

/** Bytes of room for what is added, so that a sheet is not copied with each change. */
const spare = 2_048;

/** `sheet` is changed in its place. */
export const openSheet = (sheet: Buffer): OpenSheet => ({ sheet, room: sheet });

/** Puts a delivery, or nothing, in the place of some bytes. */
const replace = (open: OpenSheet, from: number, to: number, delivery: Buffer | undefined): void => {
  const { sheet, room } = open;
  const end = from + (delivery?.length ?? 0);
  const length = sheet.length - to + end;
  if (length <= room.length) room.copyWithin(end, to, sheet.length);
  else {
    open.room = Buffer.allocUnsafe(length + spare);
    sheet.copy(open.room, 0, 0, from);
    sheet.copy(open.room, end, to);
  }
  delivery?.copy(open.room, from);
  open.sheet = open.room.subarray(0, length);
};

/** Adds a delivery: its id is above all others. */
export const addToSheet = (open: OpenSheet, delivery: Buffer): void => replace(open, open.sheet.length, open.sheet.length, delivery);

/** Puts a delivery in the place of what it was or, without one, takes that away. Says whether it was there. */
export const changeOnSheet = (open: OpenSheet, id: number, delivery?: Buffer): boolean => {
  const at = placeOf(open.sheet, id);
  if (at === undefined) return false;
  replace(open, at, endOf(open.sheet, at), delivery);
  return true;
};

/** What is to be known of a sheet. */
export interface SheetFacts {
  /** Whether nothing more is to be put on it. */
  isFull: boolean;
  /** Whether a delivery on it waits for its first attempt. */
  waits: boolean;
  /** When the first of those delivered was; undefined: none is. */
  earliest: number | undefined;
}

/** @throws Error if the sheet is damaged */
export const factsOf = (sheet: Buffer): SheetFacts => {
  let [size, waits, earliest] = [0, false, Infinity];
  for (let at = 0; at < sheet.length; at = endOf(sheet, at)) {
    const time = timeAt(sheet, at);
    size++;
    if (Number.isNaN(time)) waits = true;
    else earliest = Math.min(earliest, time);
  }
  return { isFull: size >= mostOnSheet, waits, earliest: earliest === Infinity ? undefined : earliest };
};
