import type { Condition } from "../../../types/webhooks.js";
import { examples } from "../../../src/follow/event-catalogue.js";
import { createMatcher, type Matchable } from "../../../src/webhooks/conditions/matcher.js";
import { payloadJson } from "../../../src/follow/payload.js";
import { below, type Chance, createChance } from "../chain/mixing.js";
import type { Row } from "../table/row.js";

const webhookCount = 1_000;
const payloadCount = 500;

const address = (chance: Chance): string => `A${below(chance, 5_000)}`;

/** Conditions that an index helps with, and ones that it does not. */
const conditionsBy: Record<string, (chance: Chance) => Condition[]> = {
  "two by eq, one by gt": (chance) => [
    { key: "recipientId", condition: "eq", value: address(chance) },
    { key: "senderPublicKey", condition: "eq", value: address(chance) },
    { key: "amount", condition: "gt", value: String(BigInt(below(chance, 1e15)) * 100_000n) },
  ],
  "regexp, between, contains": (chance) => [
    { key: "vendorField", condition: "regexp", value: `^order ${below(chance, 1e6)}$` },
    { key: "amount", condition: "between", value: { min: "99999999999999999999", max: `1${"0".repeat(21 + below(chance, 3))}` } },
    { key: "asset.votes", condition: "contains", value: address(chance) },
  ],
};

/** Payloads a second, parsed from JSON and passed to `look`. */
const rateOf = (payloads: readonly string[], duration: number, look: (payload: unknown) => void): number => {
  let count = 0;
  const begun = performance.now();
  while (performance.now() - begun < duration) {
    for (const json of payloads) look(JSON.parse(json));
    count += payloads.length;
  }
  return (count / (performance.now() - begun)) * 1_000;
};

/** Matching events against a thousand webhooks, compared with parsing them alone. */
export const measureMatching = (duration: number): Row[] =>
  Object.entries(conditionsBy).map(([what, make]) => {
    const chance = createChance(1);
    const webhooks = Array.from(
      { length: webhookCount },
      (_, id): Matchable => ({ id, events: ["transaction.applied"], enabled: true, match: "any", conditions: make(chance) }),
    );
    const matcher = createMatcher(webhooks);
    const payloads = Array.from({ length: payloadCount }, () =>
      payloadJson({ ...examples.transfer, recipientId: address(chance), amount: String(below(chance, 1e9)) }),
    );
    let matched = 0;
    const figure = rateOf(payloads, duration, (payload) => void (matched += matcher.match("transaction.applied", payload).ids.length));
    const peer = rateOf(payloads, duration / 4, () => undefined);
    return {
      group: "webhooks",
      what: `events matched against ${webhookCount.toLocaleString("en")} webhooks of three conditions (${what})`,
      figure,
      unit: "events/s",
      against: "JSON.parse of the events alone",
      peer,
      ratio: figure / peer,
      note: `${Math.round(figure * webhookCount * 3).toLocaleString("en")} conditions a second`,
    };
  });
