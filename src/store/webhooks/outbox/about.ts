import type { About, Message, WebhookStore } from "../../../../types/webhook-store.js";
import { textDigest } from "../../layout/keys.js";
import { beyondAll, counters, type WebhookDatabases } from "../databases.js";
import type { Tally } from "../tally.js";

/** An id of a host may have any length. */
const digestOf = ({ id }: About): string => textDigest(id).toString("hex");

type Key = [About["event"], string, number];

const rangeOf = (about: About): { start: Key; end: Key } => {
  const digest = digestOf(about);
  return { start: [about.event, digest, 0], end: [about.event, digest, beyondAll] };
};

/** Of those in rows. Within a transaction or not: what has only been counted in one that is open is in `tally`. */
export const messagesAbout = (db: WebhookDatabases, about: About): ReturnType<WebhookStore["messagesAbout"]> =>
  [...db.about.getRange(rangeOf(about))].map(({ key: [, , messageId], value }) => ({ messageId, deliveries: value.map(([webhookId, id]) => ({ webhookId, id })) }));

/** Finds messages in rows by the block or transaction that they are about. */
export const createAboutIndex = (db: WebhookDatabases, tally: Tally) => {
  /** A message about something goes: it is neither counted nor marked any more. */
  const uncount = (messageId: number, about: About, webhookIds: readonly number[]): void => {
    tally.add(counters.about(about.event), -1);
    for (const webhookId of [undefined, ...webhookIds]) {
      const mark = counters.superseded(messageId, webhookId);
      if (tally.get(mark) > 0) tally.add(mark, -tally.get(mark));
    }
  };

  return {
    add: (messageId: number, { about }: Message, deliveries: readonly [webhookId: number, id: number][]): void => {
      if (about === undefined) return;
      db.about.putSync([about.event, digestOf(about), messageId], [...deliveries]);
      tally.add(counters.about(about.event), 1);
    },
    /** To be called before the message itself is removed. */
    remove: (messageId: number): void => {
      const about = db.messages.get(messageId)?.about;
      if (about === undefined) return;
      const key: Key = [about.event, digestOf(about), messageId];
      const deliveries = db.about.get(key) ?? [];
      db.about.removeSync(key);
      uncount(messageId, about, deliveries.map(([webhookId]) => webhookId));
    },
    uncount,
    supersede: (messageId: number, webhookIds: readonly (number | undefined)[] = [undefined]): void => {
      for (const webhookId of webhookIds) if (tally.get(counters.superseded(messageId, webhookId)) === 0) tally.add(counters.superseded(messageId, webhookId), 1);
    },
  };
};
