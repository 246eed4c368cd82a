import type { MaybePromise } from "../../types/chain-adapter.js";
import { inputError, PorticoError, type Validation } from "../errors.js";
import { type InputKind, InputOf } from "../http/input/schema.js";
import { didYouMean } from "../text/known-names.js";
import { canonicalEvent, eventsFor, isNameAmong } from "../follow/event-names.js";
import type { Confirmations, FollowEvent, Group } from "../follow/follow.js";
import { loopShare } from "../async/loop-share.js";
import { isPromised } from "../async/maybe-promise.js";

/** Picks events by their names, and by conditions on their payloads as webhooks have them. */
export interface Filter {
  listens(event: string): boolean;
  matches(event: FollowEvent): MaybePromise<boolean>;
}

/** What a client asks for. */
export interface SelectionInput {
  event?: readonly string[] | undefined;
  conditions?: readonly unknown[] | undefined;
  match?: "any" | "all" | undefined;
}

/** Makes filters. */
export interface Filters {
  /**
   * Returns how many characters the values of conditions have as JSON. `source`: where the client gave them. @throws PorticoError
   * BAD_REQUEST
   */
  check(conditions: readonly unknown[], source: Validation["source"]): number;
  /** Of conditions that have been checked: in slices, as one may list a hundred thousand addresses. */
  compile(events: readonly string[], conditions: readonly unknown[], match: "any" | "all"): Promise<Filter>;
}

export interface Selection {
  filter: Filter;
  /** Whether events of the host may be among those picked. */
  hostEvents: boolean;
}

interface SelectionNeeds {
  filters: Filters;
  /** All events that there may be. */
  eventNames: readonly string[];
  /** Those that come from the chain. */
  chainEvents: readonly string[];
  /** Of a replica: URL of the node, which alone tells of its host's events. */
  node: string | undefined;
}

export const createSelect =
  ({ filters, eventNames, chainEvents, node }: SelectionNeeds) =>
  /** `source`: where the client gave it. `admit` is told how long the conditions are, before they take more memory. */
  async (
    { event = ["*"], conditions = [], match = "any" }: SelectionInput,
    source: Validation["source"],
    admit?: (length: number) => void,
  ): Promise<Selection> => {
    const wrong = event.find((name) => !isNameAmong(name, eventNames));
    if (wrong !== undefined)
      throw inputError(
        source,
        "event",
        `must be patterns such as block.*, or names among ${eventNames.join(", ")}; not "${wrong.slice(0, 100)}"${didYouMean(wrong, eventNames)}`,
      );
    const hosts = node === undefined ? undefined : event.find((name) => !isNameAmong(name, chainEvents));
    if (hosts !== undefined)
      throw new PorticoError("NOT_SUPPORTED", `This replica does not have ${hosts} events. Its node has them, at ${node ?? ""}.`);
    const length = filters.check(conditions, source);
    admit?.(length);
    const filter = await filters.compile(event.map(canonicalEvent), conditions, match);
    return { filter, hostEvents: eventNames.some((name) => !chainEvents.includes(name) && filter.listens(name)) };
  };

const confirmationsKind: InputKind<Confirmations> = {
  parse: (value) => {
    if (value === "final") return { value };
    const number = typeof value === "string" && /^\d{1,9}$/.test(value) ? Number(value) : value;
    return typeof number === "number" && Number.isSafeInteger(number) && number >= 0
      ? { value: number }
      : { rule: 'must be a whole number from 0, or "final"' };
  },
  accepts: { anyOf: [{ type: "integer", minimum: 0 }, { const: "final" }] },
};

/** How far behind the tip a reader stays. */
export const ConfirmationsInput = InputOf(confirmationsKind, {
  description:
    "Blocks by which the reader stays behind the tip; `final`: as many as make a block final. A block that is reverted before that is never sent.",
});

/**
 * The events of a group that a filter picks. Looked for in its share of the event loop: a hundred conditions on each payment of each of 150
 * transactions take 140 ms.
 */
export const pick = async (group: Group, filter: Filter): Promise<FollowEvent[]> => {
  const events = eventsFor(group, filter.listens);
  const picked: FollowEvent[] = [];
  let next = 0;

  /** Goes on for as long as there is room, or until a match has to be waited for. */
  const look = (): MaybePromise<void> => {
    for (let event = events[next]; event !== undefined; event = events[next]) {
      const looked = event;
      next++;
      const matches: MaybePromise<boolean> = filter.listens(looked.event) && filter.matches(looked);
      if (isPromised(matches)) return matches.then((isMatch) => void (isMatch && picked.push(looked)));
      if (matches) picked.push(looked);
      if (!loopShare.hasRoom()) return;
    }
  };

  while (next < events.length) await loopShare.run(look);
  return picked;
};
