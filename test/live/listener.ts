import { createHash } from "node:crypto";
import { createBookings } from "./bookings.js";

interface Delivery {
  event: string;
  id: string;
  data: { id: string; previousBlock?: string | null; address?: string; in?: string; out?: string; fee?: string };
}

/** What a receiver does with what it is told: the last word on each block and transaction counts. Notices what makes no sense. */
export class Listener {
  readonly onChain = new Map<string, boolean>();
  readonly blocks: string[] = [];
  readonly bookings = createBookings();
  /** Balances by address, as bookings add up. */
  readonly booked = new Map<string, bigint>();
  readonly faults: string[] = [];
  /** Digests of what came under each name, with and without what it takes back. */
  private readonly bodies = new Map<string, { whole: string | undefined; bare: string }>();
  private readonly names = new Map<string, string>();
  repeats = 0;

  /** Notes that a request arrived, whatever it is answered. Returns whether it is the first of its name. */
  hear(webhookId: string, body: string): boolean {
    const { id } = JSON.parse(body) as Delivery;
    const isFirst = !this.bodies.has(webhookId);
    if (!isFirst) this.repeats++;
    const [whole, bare] = [body, body.replace(/"reverts":"[^"]*",/, "")].map((text) => createHash("sha256").update(text).digest("hex")) as [string, string];
    const before = this.bodies.get(webhookId) ?? { whole, bare };
    if (before.bare !== bare || (before.whole ?? whole) !== whole) this.faults.push(`${webhookId} has another body`);
    if ((this.names.get(id) ?? webhookId) !== webhookId) this.faults.push(`${id} comes as ${webhookId}, and came as ${this.names.get(id)}`);
    this.bodies.set(webhookId, { whole, bare });
    this.names.set(id, webhookId);
    return isFirst;
  }

  /** The node is about to forget what it has told: which of several applications of a block a reversal takes back may be another from then on. */
  expectLapse(): void {
    for (const body of this.bodies.values()) body.whole = undefined;
  }

  private book({ address = "", in: received = "", out = "", fee = "" }: Delivery["data"], by: bigint): void {
    this.booked.set(address, (this.booked.get(address) ?? 0n) + by * (BigInt(received) - BigInt(out) - BigInt(fee)));
  }

  /** `inOrder`: each block has to stand on the one before. */
  take(body: string, inOrder: boolean): void {
    const { event, data } = JSON.parse(body) as Delivery;
    const [kind = "", what] = event.split(".");
    const subject = kind === "booking" ? `booking ${String(data.address)} ${data.id}` : `${kind} ${data.id}`;
    const isOnChain = what === "applied";
    if ((this.onChain.get(subject) ?? false) === isOnChain) return;
    this.onChain.set(subject, isOnChain);
    this.bookings.book(event, data);
    if (kind === "booking") this.book(data, isOnChain ? 1n : -1n);
    if (kind !== "block" || !inOrder) return;
    const top = this.blocks.at(-1) ?? null;
    if (isOnChain && top !== data.previousBlock) this.faults.push(`${data.id} applied on ${String(top)}`);
    if (!isOnChain && top !== data.id) this.faults.push(`${data.id} reverted from ${String(top)}`);
    if (isOnChain) this.blocks.push(data.id);
    else this.blocks.pop();
  }
}
