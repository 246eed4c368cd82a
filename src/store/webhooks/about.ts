import type { About, Message, WebhookStore } from "../../../types/webhook-store.js";
import { textDigest } from "../layout/keys.js";
import { beyondAll, counters, type WebhookDatabases } from "./databases.js";
import type { Tally } from "./tally.js";

/** An id of a host may have any length. */
const digestOf = ({ id }: About): string => textDigest(id).toString("hex");

type Key = [About["event"], string, number];

const rangeOf = (about: About): { start: Key; end: Key } => {
  const digest = digestOf(about);
  return { start: [about.event, digest, 0], end: [about.event, digest, beyondAll] };
};

export const isAbout = (db: WebhookDatabases, about: About): boolean =>
  db.counters.doesExist(counters.about(about.event)) && db.about.getKeysCount({ ...rangeOf(about), limit: 1 }) > 0;

/** Finds messages by the block or transaction that they are about. */
export const createAboutIndex = (db: WebhookDatabases, tally: Tally) => ({
  add: (messageId: number, { about }: Message, deliveries: [webhookId: number, id: number][]): void => {
    if (about === undefined) return;
    db.about.putSync([about.event, digestOf(about), messageId], deliveries);
    tally.add(counters.about(about.event), 1);
  },
  /** To be called before the message itself is removed. */
  remove: (messageId: number): void => {
    const about = db.messages.get(messageId)?.about;
    if (about === undefined) return;
    db.about.removeSync([about.event, digestOf(about), messageId]);
    tally.add(counters.about(about.event), -1);
    tally.add(counters.superseded(messageId), -tally.get(counters.superseded(messageId)));
  },
  supersede: ((about) => {
    // Nearly always there is no message about a reversal: then a block that is applied costs nothing here.
    if (tally.get(counters.about(about.event)) === 0) return [];
    const found = [...db.about.getRange(rangeOf(about))];
    const fresh = found.filter(({ key: [, , messageId] }) => tally.get(counters.superseded(messageId)) === 0);
    for (const { key } of fresh) tally.add(counters.superseded(key[2]), 1);
    return fresh.flatMap(({ value }) => value.map(([webhookId, id]) => ({ webhookId, id })));
  }) satisfies WebhookStore["supersede"],
});
