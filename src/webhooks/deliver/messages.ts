import { LRUCache } from "lru-cache";
import type { Message } from "../rows/rows.js";
import type { WebhookStore } from "../rows/store.js";

/** A message, and what its last delivery was sent with. */
export interface LoadedEvent {
  message: Message;
  made?: { event: string; isLast: boolean; json: string };
}

/** Characters of payloads that are kept: the deliveries of a message to many webhooks are sent at about the same time. */
const keptCharacters = 2 ** 23;

/** The messages that were written or sent last. */
export const createMessages = (store: Pick<WebhookStore, "message">) => {
  const loaded = new LRUCache<number, LoadedEvent>({ maxSize: keptCharacters, sizeCalculation: ({ message }) => 2 * message.json.length + 500 });
  const keep = (id: number, message: Message): LoadedEvent => {
    const event = { message };
    loaded.set(id, event);
    return event;
  };
  return {
    /** A message was written: most are sent in a moment. */
    note: (id: number, message: Message): void => void (loaded.has(id) || keep(id, message)),
    load: (id: number): LoadedEvent | undefined => {
      const known = loaded.get(id);
      if (known !== undefined) return known;
      const message = store.message(id);
      return message && keep(id, message);
    },
  };
};

export type Messages = ReturnType<typeof createMessages>;
