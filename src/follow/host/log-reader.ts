import type { HostLog } from "../../../types/host-log.js";
import { PorticoError } from "../../errors.js";
import { type CursorText, parseCursors } from "../cursor.js";
import type { Follow } from "../follow.js";
import { cursorOf, hostGroup, placeOf } from "./host-events.js";

/** Events read at a time, where a reader does not say how many. */
const usualLimit = 200;

const noLog = (): PorticoError => new PorticoError("NOT_SUPPORTED", "This node's chain offers no changes, and it has no data folder to keep the host's events in.");

/** Following where there is the log of the host's events alone. */
export const createLogReader = (log: () => HostLog | undefined): Pick<Follow, "locate" | "tip" | "after" | "behind"> => {
  const open = (): HostLog => {
    const found = log();
    if (found === undefined) throw noLog();
    return found;
  };

  const sequenceOf = (text: CursorText): number | undefined => {
    const { node, last } = open();
    if (text.kind === "tip") return last();
    if (text.kind === "height") throw new PorticoError("BAD_REQUEST", "This node follows its host's events alone: a cursor must be genesis, tip, or one that it gave.");
    const { block, log: place } = text.cursor;
    if (place === undefined) return block === undefined ? 0 : undefined;
    return place.node === node && place.sequence <= last() ? place.sequence : undefined;
  };

  return {
    locate: (text) => {
      for (const one of parseCursors(text)) {
        const sequence = sequenceOf(one);
        if (sequence !== undefined) return cursorOf(undefined, placeOf(open().node, sequence));
      }
      throw new PorticoError("CURSOR_UNKNOWN", undefined, { members: { code: "CURSOR_UNKNOWN" } });
    },
    tip: () => cursorOf(undefined, placeOf(open().node, open().last())),
    after: (cursor, { limit = usualLimit } = {}) => {
      const { node, read } = open();
      const events = read(cursor.log?.sequence ?? 0, limit);
      let at = cursor;
      const groups = events.map((event) => {
        const group = hostGroup(node, event, at);
        at = cursorOf(undefined, placeOf(node, event.sequence));
        return group;
      });
      return { groups, cursor: at, atEnd: events.length < limit };
    },
    behind: () => 0,
  };
};
