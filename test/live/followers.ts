import { request } from "undici";
import { createBookings } from "./bookings.js";
import type { BlockData } from "../../types/events.js";
import { actors } from "../../src/conformance/chain/actors.js";
import { book, type Ledger, rules } from "../follow/schedule.js";

/** Clients of a node that do what they are told over HTTP, may leave and come back at any moment, and notice what makes no sense. */

interface Event {
  id: string;
  event: string;
  timestamp: number;
  data: { id: string; previousBlock?: string | null };
  cursor: string;
}

/** Rings whenever a client was told something. */
export class Bell {
  private waiting: (() => void)[] = [];

  readonly ring = (): void => this.waiting.splice(0).forEach((wake) => wake());

  /** Resolves when `isSo`. @throws Error if it is not so in 30 s */
  async until(isSo: () => boolean, what: () => string): Promise<void> {
    let [isLate, timer] = [false, undefined as NodeJS.Timeout | undefined];
    timer = setTimeout(() => {
      isLate = true;
      this.ring();
    }, 30_000);
    while (!isSo() && !isLate) await new Promise<void>((resolve) => this.waiting.push(resolve));
    clearTimeout(timer);
    if (isLate) throw new Error(what());
  }
}

/** What all clients are told together: an event has the same id whenever and wherever it is read. */
export type Known = Map<string, string>;

export interface FollowerNeeds {
  /** The node's address, to which it comes back. */
  api: string;
  confirmations: number;
  bell: Bell;
  known: Known;
}

export abstract class Follower {
  readonly blocks: string[] = [];
  readonly faults: string[] = [];
  cursor = "genesis";
  readonly needs: FollowerNeeds;

  constructor(needs: FollowerNeeds) {
    this.needs = needs;
  }

  abstract readonly ledger: Ledger;

  get name(): string {
    return `${this.constructor.name} with ${this.needs.confirmations} confirmations`;
  }

  protected move(what: string, id: string, previous: string | null | undefined): void {
    const top = this.blocks.at(-1) ?? null;
    if (what === "applied") {
      if (top !== previous) this.faults.push(`${id} applied on ${String(top)}`);
      this.blocks.push(id);
    } else {
      if (top !== id) this.faults.push(`${id} reverted from ${String(top)}`);
      this.blocks.pop();
    }
  }
}

/** Follows by events, by whole groups. */
abstract class EventFollower extends Follower {
  private readonly seen = new Set<string>();
  private readonly bookings = createBookings();

  get ledger(): Ledger {
    const { balances, forged } = this.bookings;
    const ledger = new Map(balances);
    const { publicKey, address } = actors.origin;
    ledger.set(address, (ledger.get(address) ?? 0n) + (forged.get(publicKey) ?? 0n));
    return ledger;
  }

  protected take(group: readonly Event[], after: string): void {
    for (const [place, { id, event, timestamp, data, cursor }] of group.entries()) {
      if (this.seen.has(id)) this.faults.push(`${id} told twice`);
      this.seen.add(id);
      const text = `${event} ${timestamp} ${JSON.stringify(data)}`;
      const before = this.needs.known.get(id) ?? text;
      if (before !== text) this.faults.push(`${id} is ${text}, but was ${before}`);
      this.needs.known.set(id, text);
      const isLast = place === group.length - 1;
      if ((cursor === after) !== isLast) this.faults.push(`${id}, ${isLast ? "the last" : "not the last"} of its group, carries ${cursor}`);
      const [kind, what = ""] = event.split(".");
      if (kind === "block") this.move(what, data.id, data.previousBlock);
      this.bookings.book(event, data);
    }
    this.cursor = after;
    this.needs.bell.ring();
  }
}

export const wanted = ["block.applied", "block.reverted", "transaction.applied", "transaction.reverted"];
const query = ({ confirmations }: FollowerNeeds): string => `event=${wanted.join()}&confirmations=${confirmations}`;

/** Whoever reads one long reply. */
export interface Connected {
  /** Does nothing while there is a connection. */
  connect(): void;
  /** Cuts the connection, wherever it is. Resolves when nothing more arrives. */
  leave(): Promise<void>;
}

class Connection implements Connected {
  private open: { leaving: AbortController; ended: Promise<void> } | undefined;
  private readonly read: (signal: AbortSignal) => Promise<void>;

  constructor(read: (signal: AbortSignal) => Promise<void>) {
    this.read = read;
  }

  connect(): void {
    if (this.open !== undefined) return;
    const leaving = new AbortController();
    const ended = this.read(leaving.signal)
      // The node may have gone.
      .catch(() => undefined)
      .finally(() => (this.open = undefined));
    this.open = { leaving, ended };
  }

  async leave(): Promise<void> {
    this.open?.leaving.abort();
    await this.open?.ended;
  }
}

/** Whole parts of a reply as they come; what stands after the last end is dropped with the connection. */
async function* partsOf(url: string, headers: Record<string, string>, end: string, signal: AbortSignal): AsyncGenerator<string> {
  const { body, statusCode } = await request(url, { headers, signal });
  if (statusCode !== 200) throw new Error(`${statusCode} ${await body.text()}`);
  let rest = "";
  for await (const chunk of body) {
    const parts = (rest + String(chunk)).split(end);
    rest = parts.pop() ?? "";
    yield* parts;
  }
}

/** `/events`, and on after the last whole group by `Last-Event-ID`. */
export class StreamFollower extends EventFollower implements Connected {
  private readonly connection = new Connection(async (signal) => {
    const { api } = this.needs;
    let group: Event[] = [];
    for await (const message of partsOf(`${api}/events?${query(this.needs)}`, { "last-event-id": this.cursor }, "\n\n", signal)) {
      const fields = new Map(message.split("\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]));
      const [data, id] = [fields.get("data"), fields.get("id")];
      if (data !== undefined) group.push(JSON.parse(data) as Event);
      if (id === undefined) continue;
      this.take(group, id);
      group = [];
    }
  });

  connect(): void {
    this.connection.connect();
  }

  leave(): Promise<void> {
    return this.connection.leave();
  }
}

/** `/events/feed`, page by page. */
export class FeedFollower extends EventFollower {
  /** Reads a page. Returns whether there is more. */
  async step(limit: number): Promise<boolean> {
    const { api } = this.needs;
    const { body } = await request(`${api}/events/feed?${query(this.needs)}&after=${this.cursor}&limit=${limit}`);
    const { data, meta } = (await body.json()) as { data: Event[]; meta: { cursor: string; more: boolean } };
    let group: Event[] = [];
    for (const event of data) {
      group.push(event);
      // Within a group, the cursor is the one before it.
      if (event.cursor === this.cursor) continue;
      this.take(group, event.cursor);
      group = [];
    }
    if (group.length > 0) this.faults.push(`a page ends within the group of ${String(group[0]?.id)}`);
    this.cursor = meta.cursor;
    return meta.more;
  }
}

interface Line {
  kind: "applied" | "reverted";
  block: BlockData;
  cursor: string;
}

/** `/changes`, in parts or on and on. */
export class ChangesFollower extends Follower implements Connected {
  readonly ledger: Ledger = new Map();

  private async read(parameters: string, signal: AbortSignal): Promise<number> {
    let count = 0;
    for await (const line of partsOf(`${this.needs.api}/changes?after=${this.cursor}${parameters}`, {}, "\n", signal)) {
      const { kind, block, cursor } = JSON.parse(line) as Line;
      const full = rules.parseBlock(block);
      this.move(kind, full.block.id, full.block.previousBlock);
      book(this.ledger, full, kind === "applied" ? 1n : -1n);
      this.cursor = cursor;
      count++;
      this.needs.bell.ring();
    }
    return count;
  }

  private readonly connection = new Connection(async (signal) => void (await this.read("&follow=true", signal)));

  connect(): void {
    this.connection.connect();
  }

  leave(): Promise<void> {
    return this.connection.leave();
  }

  /** Reads some lines. Returns whether there may be more. */
  async step(limit: number): Promise<boolean> {
    return (await this.read(`&limit=${limit}`, new AbortController().signal)) === limit;
  }
}
