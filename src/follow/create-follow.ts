import type { HostLog } from "../../types/host-log.js";
import { PorticoError } from "../errors.js";
import { cursorError, type CursorField, type CursorText, parseCursors } from "./cursor.js";
import type { Follow } from "./follow.js";
import { cursorOf, hostGroup, placeOf } from "./host-events.js";
import type { ChainChanges } from "../../types/chain-adapter.js";
import type { ChainRules } from "../chain/rules.js";
import { createChainReader } from "./chain-reader.js";

/** Events read at a time, where a reader does not say how many. */
const usualLimit = 200;

const noLog = (): PorticoError =>
  new PorticoError("NOT_SUPPORTED", "This node's chain offers no changes, and the node has no data folder for the host's events.");

const unknown = (): PorticoError =>
  new PorticoError(
    "CURSOR_UNKNOWN",
    'This node does not know the cursor, or has removed events that come after it (followHostEvents). Start again from "genesis", the oldest event that it has, or from "tip".',
    { members: { code: "CURSOR_UNKNOWN" } },
  );

/** Following where there is the log of the host's events alone. */
const createLogReader = (log: () => HostLog | undefined): Pick<Follow, "locate" | "tip" | "after" | "height"> => {
  const open = (): HostLog => {
    const found = log();
    if (found === undefined) throw noLog();
    return found;
  };

  /** Whether events were removed that come after a place. */
  const hasLost = (sequence: number): boolean =>
    sequence > 0 && sequence < open().last() && open().read(sequence, 1)[0]?.sequence !== sequence + 1;

  const sequenceOf = (text: CursorText, field: CursorField | undefined): number | undefined => {
    const { node, last } = open();
    if (text.kind === "tip") return last();
    if (text.kind === "height")
      throw cursorError("must be genesis, tip, or a cursor of this node, because it follows only its host's events", field);
    const { block, log: place } = text.cursor;
    if (place === undefined) return block === undefined ? 0 : undefined;
    return place.node === node && place.sequence <= last() ? place.sequence : undefined;
  };

  return {
    locate: (text, { whole = false, field } = {}) => {
      for (const one of parseCursors(text, field)) {
        const sequence = sequenceOf(one, field);
        if (sequence !== undefined && !(whole && hasLost(sequence))) return cursorOf(undefined, placeOf(open().node, sequence));
      }
      throw unknown();
    },
    tip: () => cursorOf(undefined, placeOf(open().node, open().last())),
    after: (cursor, { limit = usualLimit, whole = false } = {}) => {
      const { node, read } = open();
      const seen = cursor.log?.sequence ?? 0;
      if (whole && hasLost(seen)) throw unknown();
      const events = read(seen, limit);
      let at = cursor;
      const groups = events.map((event) => {
        const group = hostGroup(node, event, at);
        at = cursorOf(undefined, placeOf(node, event.sequence));
        return group;
      });
      return { groups, cursor: at, atEnd: events.length < limit };
    },
    height: () => 0,
  };
};

interface FollowNeeds {
  /** Undefined: the chain is a host's own that offers no changes, and there is the log alone. */
  changes: ChainChanges | undefined;
  /** Undefined: this node keeps no events of its host. */
  log: () => HostLog | undefined;
  rules: ChainRules;
  /** The option `finality`. */
  finality: number | undefined;
}

/** Following, and the way in which its readers learn of new events in the log. */
export interface FollowRoom extends Follow {
  /** To be called when the log has new events. */
  logged(): void;
}

export const createFollow = ({ changes, log, rules, finality }: FollowNeeds): FollowRoom => {
  const listeners = new Set<() => void>();
  const tell = (): void => listeners.forEach((listener) => listener());
  let leave: (() => void) | undefined;
  const reader = changes === undefined ? createLogReader(log) : createChainReader({ changes, log, rules, finality });
  return {
    ...reader,
    logged: tell,
    watch: (changed) => {
      // Each call is a watcher of its own, even of the same function.
      const listener = (): void => changed();
      if (listeners.size === 0) leave = changes?.watch(tell);
      listeners.add(listener);
      return () => {
        if (!listeners.delete(listener) || listeners.size > 0) return;
        leave?.();
        leave = undefined;
      };
    },
  };
};
