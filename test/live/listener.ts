import { createHash } from "node:crypto";
import { createBookings } from "../../examples/webhook-receiver/bookings.js";

interface Delivery {
  event: string;
  id: string;
  data: { id: string; previousBlock?: string | null };
}

/** What a receiver does with what it is told: the last word on each block and transaction counts. Notices what makes no sense. */
export class Listener {
  readonly onChain = new Map<string, boolean>();
  readonly blocks: string[] = [];
  readonly bookings = createBookings();
  readonly faults: string[] = [];
  private readonly bodies = new Map<string, string>();
  private readonly names = new Map<string, string>();
  repeats = 0;

  /** Notes that a request arrived, whatever it is answered. */
  hear(webhookId: string, body: string): void {
    const { id } = JSON.parse(body) as Delivery;
    if (this.bodies.has(webhookId)) this.repeats++;
    const digest = createHash("sha256").update(body).digest("hex");
    if ((this.bodies.get(webhookId) ?? digest) !== digest) this.faults.push(`${webhookId} has another body`);
    if ((this.names.get(id) ?? webhookId) !== webhookId) this.faults.push(`${id} comes as ${webhookId}, and came as ${this.names.get(id)}`);
    this.bodies.set(webhookId, digest);
    this.names.set(id, webhookId);
  }

  /** `inOrder`: each block has to stand on the one before. */
  take(body: string, inOrder: boolean): void {
    const { event, data } = JSON.parse(body) as Delivery;
    const [kind = "", what] = event.split(".");
    const subject = `${kind} ${data.id}`;
    const isOnChain = what === "applied";
    if ((this.onChain.get(subject) ?? false) === isOnChain) return;
    this.onChain.set(subject, isOnChain);
    this.bookings.book(event, data);
    if (kind !== "block" || !inOrder) return;
    const top = this.blocks.at(-1) ?? null;
    if (isOnChain && top !== data.previousBlock) this.faults.push(`${data.id} applied on ${String(top)}`);
    if (!isOnChain && top !== data.id) this.faults.push(`${data.id} reverted from ${String(top)}`);
    if (isOnChain) this.blocks.push(data.id);
    else this.blocks.pop();
  }
}
