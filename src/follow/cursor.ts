import { PorticoError } from "../errors.js";

/** A block by height and id. */
export interface BlockName {
  readonly height: number;
  readonly id: string;
}

/** A place in one node's log of its host's events. */
export interface LogPlace {
  /** The log's random name. */
  readonly node: string;
  /** Number of the last event seen. */
  readonly sequence: number;
}

/**
 * What a reader has seen: everything up to and including `block`, and the host's events up to `log`. It names a block, not a place in one
 * node's store, so a reader may go on at any node of the network; `log` means something only to the node that it names.
 */
export interface Cursor {
  /** Undefined before the first block. */
  readonly block: BlockName | undefined;
  readonly log?: LogPlace | undefined;
}

/** A cursor as a client writes it. */
export type CursorText = { readonly kind: "cursor"; readonly cursor: Cursor } | { readonly kind: "tip" } | { readonly kind: "height"; readonly height: number };

const heightForm = /^(?:0|[1-9][0-9]{0,9})$/;
const blockForm = /^([1-9][0-9]{0,9})-([^~,\s]{1,128})$/;
const placeForm = /^([0-9a-z]{1,32})\.(0|[1-9][0-9]{0,14})$/;
/** Cursors that one request may name, newest first. */
export const mostCursors = 32;

const malformed = (text: string): PorticoError =>
  new PorticoError("BAD_REQUEST", `${JSON.stringify(text.slice(0, 200))} is not a cursor: it must be "genesis", "tip", a height, or HEIGHT-BLOCKID as events carry it`);

const parseBlock = (text: string, whole: string): BlockName | undefined => {
  if (text === "" || text === "genesis") return undefined;
  const [, height, id] = blockForm.exec(text) ?? [];
  if (height === undefined || id === undefined) throw malformed(whole);
  return { height: Number(height), id };
};

/** Parses one cursor. @throws PorticoError BAD_REQUEST */
export const parseCursor = (text: string): CursorText => {
  if (text === "tip") return { kind: "tip" };
  if (heightForm.test(text)) return { kind: "height", height: Number(text) };
  const split = text.indexOf("~");
  if (text === "") throw malformed(text);
  if (split === -1) return { kind: "cursor", cursor: { block: parseBlock(text, text) } };
  const [, node, sequence] = placeForm.exec(text.slice(split + 1)) ?? [];
  if (node === undefined) throw malformed(text);
  return { kind: "cursor", cursor: { block: parseBlock(text.slice(0, split), text), log: { node, sequence: Number(sequence) } } };
};

/** Parses cursors separated by commas, newest first. @throws PorticoError BAD_REQUEST */
export const parseCursors = (text: string): CursorText[] => {
  const texts = text.split(",").map((one) => one.trim());
  if (texts.length > mostCursors) throw new PorticoError("BAD_REQUEST", `at most ${mostCursors} cursors may be named`);
  return texts.map(parseCursor);
};

/** `105-8912345678901234567~a1b2.5512`; `genesis` before the first block; `~a1b2.5512` where there is a log alone. */
export const cursorText = ({ block, log }: Cursor): string => {
  const place = log === undefined ? "" : `~${log.node}.${log.sequence}`;
  if (block !== undefined) return `${block.height}-${block.id}${place}`;
  return place === "" ? "genesis" : place;
};
