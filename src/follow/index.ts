export {
  type BlockName,
  type Cursor,
  type CursorField,
  type CursorText,
  cursorText,
  type LogPlace,
  parseCursor,
  parseCursors,
} from "./cursor.js";
export type { Change, FollowEvent, Group } from "./follow.js";
export type { Batch, Confirmations, Follow, ReadOptions } from "./follow.js";
