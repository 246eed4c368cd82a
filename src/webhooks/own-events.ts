import type { EventDescription } from "../../types/webhooks.js";
import { describeEvents } from "../follow/event-catalogue.js";

const own: EventDescription[] = [
  { event: "webhook.disabled", description: "A webhook was disabled: its target answered 410, or every attempt failed for too long.", example: { webhook: 1, reason: "the target answered 410" } },
  { event: "webhook.failing", description: "A webhook whose every attempt fails will be disabled in a day.", example: { webhook: 1, reason: "every attempt fails; it will be disabled in a day" } },
  { event: "webhook.enabled", description: "A webhook was enabled again.", example: { webhook: 1, reason: "a client enabled it" } },
  {
    event: "delivery.dead",
    description: "A delivery was given up.",
    example: { webhook: 1, delivery: 12, event: "block.applied", reason: "The target answered 500." },
  },
].map((one) => ({ ...one, source: "webhooks", confirmations: false }));

/** The events that a webhook of this node can listen to: those that can be followed, and those about webhooks themselves. */
export const describeWebhookEvents = (declared: readonly string[], keepsChain: boolean): EventDescription[] => [...describeEvents(declared, keepsChain), ...own];
