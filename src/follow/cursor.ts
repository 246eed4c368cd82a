import { inputError, type PorticoError, type Validation } from "../errors.js";

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
export type CursorText =
  { readonly kind: "cursor"; readonly cursor: Cursor } | { readonly kind: "tip" } | { readonly kind: "height"; readonly height: number };

/** What a client gave a cursor as: the error that refuses it says so. */
export interface CursorField {
  readonly source: Validation["source"];
  readonly key: string;
}

const usualField: CursorField = { source: "query", key: "after" };

/** Of more digits than any chain has: such a height is above the tip, not malformed. */
const heightForm = /^(?:0|[1-9][0-9]{0,999})$/;
const blockForm = /^([1-9][0-9]{0,9})-([^~,\s]{1,128})$/;
const placeForm = /^([0-9a-z]{1,32})\.(0|[1-9][0-9]{0,14})$/;
/** Cursors that one request may name, newest first. */
const mostCursors = 32;

/** A 400 for what a client gave as a cursor. */
export const cursorError = (rule: string, { source, key }: CursorField = usualField): PorticoError => inputError(source, key, rule);

const parseBlock = (text: string, malformed: () => PorticoError): BlockName | undefined => {
  if (text === "" || text === "genesis") return undefined;
  const [, height, id] = blockForm.exec(text) ?? [];
  if (height === undefined || id === undefined) throw malformed();
  return { height: Number(height), id };
};

/** Parses one cursor. @throws PorticoError BAD_REQUEST */
export const parseCursor = (text: string, field?: CursorField): CursorText => {
  const malformed = (): PorticoError =>
    cursorError(
      `must be tip, genesis, a height or a cursor (HEIGHT-BLOCKID, as events carry it); not ${JSON.stringify(text.slice(0, 200))}`,
      field,
    );
  if (text === "tip") return { kind: "tip" };
  if (heightForm.test(text)) return { kind: "height", height: Number(text) };
  const split = text.indexOf("~");
  if (text === "") throw malformed();
  if (split === -1) return { kind: "cursor", cursor: { block: parseBlock(text, malformed) } };
  const [, node, sequence] = placeForm.exec(text.slice(split + 1)) ?? [];
  if (node === undefined) throw malformed();
  return { kind: "cursor", cursor: { block: parseBlock(text.slice(0, split), malformed), log: { node, sequence: Number(sequence) } } };
};

/** Parses cursors separated by commas, newest first. @throws PorticoError BAD_REQUEST */
export const parseCursors = (text: string, field?: CursorField): CursorText[] => {
  const texts = text.split(",").map((one) => one.trim());
  if (texts.length > mostCursors) throw cursorError(`must not have more than ${mostCursors} cursors`, field);
  return texts.map((one) => parseCursor(one, field));
};

/** `105-8912345678901234567~a1b2.5512`; `genesis` before the first block; `~a1b2.5512` where there is a log alone. */
export const cursorText = ({ block, log }: Cursor): string => {
  const place = log === undefined ? "" : `~${log.node}.${log.sequence}`;
  if (block !== undefined) return `${block.height}-${block.id}${place}`;
  return place === "" ? "genesis" : place;
};
