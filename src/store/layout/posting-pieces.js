// @ts-check
/**
 * How appended lists are stored: in pieces of `pieceLength` numbers under (owner, list, piece), so that a page of a list takes one read
 * or two, and a long part of it few.
 *
 * Blocks append and remove single numbers, each under (owner, list, ordinal), and read nothing for it: the thread that commits merges
 * them into the pieces. JavaScript, as commit-thread.js imports it.
 */

/** Numbers in one piece: a page of LMDB's holds seven full pieces. */
export const pieceLength = 128;

const numberLength = 4;
const keyLength = 9;
const placeOffset = keyLength - 4;

/**
 * Key of a number in a log of entries, or of a piece in the store.
 * @param {number} list
 * @param {number} owner
 * @param {number} place Of the number in the list, or of the piece among its pieces.
 */
export const listKey = (list, owner, place) => {
  const key = Buffer.allocUnsafe(keyLength);
  key.writeUInt32BE(owner, 0);
  key[4] = list;
  key.writeUInt32BE(place, placeOffset);
  return key;
};

/** @param {Buffer} key Key of a piece. */
export const pieceParts = (key) => ({ owner: key.readUInt32BE(0), list: key.readUInt8(4), piece: key.readUInt32BE(placeOffset) });

/** @param {Buffer} name Key of a number. @returns {Buffer} Key of the piece that has it. */
export const pieceKeyOf = (name) => {
  const key = Buffer.from(name);
  key.writeUInt32BE(Math.floor(name.readUInt32BE(placeOffset) / pieceLength), placeOffset);
  return key;
};

/**
 * @typedef {object} Change A change of one number of a list.
 * @property {Buffer} name Key of the number.
 * @property {Buffer | null} value null: it is removed, as are all that follow it.
 */

/**
 * @param {readonly Change[]} changes
 * @returns {Iterable<[key: Buffer, changes: Change[]]>}
 */
const byPiece = (changes) => {
  /** @type {Map<string, [Buffer, Change[]]>} */
  const pieces = new Map();
  for (const change of changes) {
    const key = pieceKeyOf(change.name);
    const text = key.toString("latin1");
    const piece = pieces.get(text);
    if (piece === undefined) pieces.set(text, [key, [change]]);
    else piece[1].push(change);
  }
  return pieces.values();
};

/** @param {Change} change */
const placeIn = ({ name }) => name.readUInt32BE(placeOffset) % pieceLength;

/**
 * A piece with its changes: numbers put in place or added at its end, then those removed cut off. Applying the same changes again
 * changes nothing.
 * @param {Buffer} piece
 * @param {readonly Change[]} changes
 */
const changed = (piece, changes) => {
  const before = piece.length / numberLength;
  const [added, removed] = [changes.filter(({ value }) => value !== null), changes.filter(({ value }) => value === null)];
  const length = added.reduce((most, change) => Math.max(most, placeIn(change) + 1), before);
  if (added.filter((change) => placeIn(change) >= before).length !== length - before) throw new Error("a list would have a gap");
  const after = Buffer.alloc(length * numberLength);
  piece.copy(after);
  for (const change of added) change.value?.copy(after, placeIn(change) * numberLength);
  const kept = removed.reduce((least, change) => Math.min(least, placeIn(change)), length);
  return after.subarray(0, kept * numberLength);
};

const nothing = Buffer.alloc(0);

/**
 * To be called within a transaction.
 * @param {Pick<import("lmdb").Database<Buffer, Buffer>, "get" | "putSync" | "removeSync">} database
 * @param {readonly Change[]} changes
 */
export const changeLists = (database, changes) => {
  for (const [key, ofPiece] of byPiece(changes)) {
    const piece = changed(database.get(key) ?? nothing, ofPiece);
    if (piece.length === 0) database.removeSync(key);
    else database.putSync(key, piece);
  }
};

/** @param {Buffer} piece @param {number} place */
export const numberIn = (piece, place) => piece.readUInt32BE(place * numberLength);

/**
 * @param {Buffer | null} piece @param {Buffer} name Key of a number. @returns {Buffer | null} The number's bytes; null: the piece does not
 * have it.
 */
export const numberBytes = (piece, name) => {
  const at = placeIn({ name, value: null }) * numberLength;
  return piece === null || at >= piece.length ? null : piece.subarray(at, at + numberLength);
};
