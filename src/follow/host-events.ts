import type { ChangesView } from "../../types/chain-adapter.js";
import type { HostLog, LoggedEvent } from "../../types/host-log.js";
import { ask, type Asking } from "../async/maybe-promise.js";
import type { BlockName, Cursor, LogPlace } from "./cursor.js";
import type { FollowEvent, Group } from "./follow.js";

/** An event of the host, as the log keeps it. */
class HostEvent implements FollowEvent {
  readonly id: string;
  readonly event: string;
  readonly at: number;
  readonly block = null;
  readonly json: string;
  private parsed: { value: unknown } | undefined;

  constructor(node: string, { sequence, at, event, json }: LoggedEvent) {
    this.id = `${node}.${sequence}`;
    this.event = event;
    this.at = at;
    this.json = json;
  }

  get data(): unknown {
    this.parsed ??= { value: JSON.parse(this.json) as unknown };
    return this.parsed.value;
  }
}

/** A cursor's place in this node's log; none before the first event. */
export const placeOf = (node: string, sequence: number): LogPlace | undefined => (sequence === 0 ? undefined : { node, sequence });

export const cursorOf = (block: BlockName | undefined, log: LogPlace | undefined): Cursor =>
  log === undefined ? { block } : { block, log };

/** The group of one event of the host, for a reader at a block. */
export const hostGroup = (node: string, logged: LoggedEvent, before: Cursor): Group => {
  const events = [new HostEvent(node, logged)];
  const after = cursorOf(before.block, placeOf(node, logged.sequence));
  return { change: undefined, before, after, events, eventsWithBookings: events };
};

/** Ancestors that are looked at, at the most, to find where an event's block left the chain. */
const furthestFork = 1_000;

/**
 * Height of the block after which an event comes among the changes: that of the tip when it arrived, or if that block has left the chain
 * since, of its last ancestor that has not.
 */
export function* heightOnChain(view: ChangesView, position: BlockName | null): Asking<number> {
  let block = position;
  for (let steps = 0; block !== null && steps < furthestFork; steps++) {
    if ((yield* ask(view.idAt(block.height))) === block.id) return block.height;
    const orphan = yield* ask(view.orphan(block.id));
    if (orphan === undefined) return 0;
    block = orphan.block.previousBlock === null ? null : { height: block.height - 1, id: orphan.block.previousBlock };
  }
  return 0;
}

/**
 * Where in the log a reader begins whose cursor has no place in it, as that of another node: after the events that arrived before the tip
 * was at its block, or where that has left the chain, at its last ancestor that has not. It may be told of some events again: heights in
 * the log ascend but for reorganisations.
 */
export function* sequenceFrom(view: ChangesView, log: HostLog, block: BlockName | undefined): Asking<number> {
  if (block === undefined || log.last() === 0) return 0;
  const from = yield* heightOnChain(view, block);
  let low = (log.read(0, 1)[0]?.sequence ?? 1) - 1;
  let high = log.last();
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const height = log.read(middle, 1)[0]?.position?.height ?? 0;
    if (height < from) low = middle + 1;
    else high = middle;
  }
  return low;
}
